// SPDX-License-Identifier: GPL-2.0-or-later
// A Reply with its chunks: where the octets that were written by RDMA belong (RFC 8166 section 3.5, RFC 8267).
#pragma once

#include "payload/assembler.hpp"

namespace rpcrdma::payload {

/// `pieces`: what was written into the chunks of the Reply's exchange.
[[nodiscard]] RpcMessage put_back(const referee::MessageSeen& reply, const Pieces& pieces);

/// The same where the Reply itself was read: its stream is at hand, and lacks what Write chunks hold.
void put_written_into(RpcMessage& reply, const Written& written, const Pieces& pieces);

}  // namespace rpcrdma::payload
