// SPDX-License-Identifier: GPL-2.0-or-later
// What RDMA brings of RPC messages that travel in chunks: Long Calls that are pulled, Long Replies that are written.
#pragma once

#include "referee/rules/checks.hpp"
#include "trace/events.hpp"

namespace rpcrdma::referee {

/// The first packet of an RDMA Write, which is inside of `region`: keeps what belongs to a Reply chunk.
void keep_written(const Witness& witness, TransactionId owner, const trace::Write& event);
/// A later packet, while its side's connection.body_writes is open.
void keep_more_written(const Witness& witness, const trace::Write& event);
/// Keeps what belongs to a Position-Zero Read chunk; says so when that is no Call (direction-mismatch).
void keep_pulled(const Witness& witness, const trace::ReadResponse& event);

}  // namespace rpcrdma::referee
