// SPDX-License-Identifier: GPL-2.0-or-later
// What ends a transaction: a Reply, or RDMA_ERROR.
#pragma once

#include "referee/rules/checks.hpp"

namespace rpcrdma::referee {

/// A Call got an answer: times, what its chunks have shown, and how long it is remembered. `writes`: the Write list of
/// a Reply; nullptr: it is none, or that is not known.
void finish_answer(const Witness& witness, const trace::Send& event, Transaction& call,
                   const std::vector<wire::WriteChunk>* writes);

/// RDMA_ERROR (RFC 8166 section 4.5), whole.
void take_error(const Witness& witness, const trace::Send& event, const wire::HeaderV1& header, RecentSend& send);

/// A requester must drop RDMA_MSGP (RFC 8166 section 4.6.1), unless it asked with RDMA_MSGP itself (that one is of the
/// time when it was allowed), and an RDMA_ERROR that cannot be decoded; it waits on. Another that takes it goes on as
/// if it had been answered: nobody is accused of what would be right then.
void drop_answer(const Witness& witness, const trace::Send& event, std::optional<std::uint32_t> grant,
                 Transaction& call);

/// An RDMA_ERROR of another code, or cut off by its sender. The receiver drops it, or takes it as an end: for the
/// credits it is one, to accuse nobody.
void take_undecodable_error(const Witness& witness, const trace::Send& event, const wire::FixedWords& fixed,
                            const wire::DecodeError& error, RecentSend& send);

}  // namespace rpcrdma::referee
