// SPDX-License-Identifier: GPL-2.0-or-later
// Of the RPC message inside: program, version, procedure, and the operations of an NFSv4 COMPOUND.
#pragma once

#include <cstddef>

#include "referee/rules/checks.hpp"
#include "wire/bytes.hpp"

namespace rpcrdma::referee {

/// Counts the Call under its procedure, once. `message` begins with the RPC XID; it may be cut.
void note_procedure(Connection& connection, Transaction& call, wire::Bytes message, std::size_t wire_length);

/// Looks at what came by RDMA Read (a Long Call) or went by RDMA Write (a Long Reply), when the Reply comes.
void look_at_heads(Context& context, Connection& connection, Transaction& call, FrameRef reply, trace::Side responder);

}  // namespace rpcrdma::referee
