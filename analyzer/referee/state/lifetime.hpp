// SPDX-License-Identifier: GPL-2.0-or-later
// How long a transaction, and the memory its Call exposed, are remembered.
#pragma once

#include <cstddef>

#include "referee/state/connection.hpp"
#include "trace/events.hpp"

namespace rpcrdma::referee {

/// Answered transactions of a connection that are kept for late arrivals; of those that were sent again, and wait for
/// another answer, as many besides.
inline constexpr std::size_t kept_finished = 256;

/// Enters the Call's chunks into its requester's memory map. False: not all of them, a bound is met.
[[nodiscard]] bool expose(Connection& connection, const Transaction& call, FrameRef frame);
/// What memory a message may lend: that of the handles among its words, or any, where nobody knows its layout.
/// What it names is to be read where it is a Call and a Reply alike.
enum class Lends : std::uint8_t { to_be_read, what_it_names, anything };
/// What this message exposes is not known: whoever acts on what it seems to name may do so.
void doubt_memory(Connection& connection, const trace::Send& event, HeldFinding finding,
                  Lends lends = Lends::what_it_names);
/// Who refused it has not acted on it.
void refused_doubtful(Connection& connection, Side sender, std::uint32_t xid);
/// What it names is known by now.
void settle_doubtful(Connection& connection, Side sender, FrameRef frame);
/// The Reply ends the use of that memory.
void retire(Connection& connection, const Transaction& call, FrameRef by);
void forget(Connection& connection, const Transaction& call);

/// Keeps an answered transaction for a while; the oldest one goes.
void remember_finished(Connection& connection, const Transaction& call);
/// Counts a completed transaction. When trust returns, what was open at the gap counts as outstanding no more: it may
/// have been resolved unseen. Its answer is still known if it comes.
void complete_one(Connection& connection);
/// A message of the Call's responder that may have been its answer is missing, or was not read.
[[nodiscard]] bool answer_may_be_unseen(const Connection& connection, const Transaction& call);
/// The Call counts against its requester's credits once more.
void count_outstanding(Connection& connection, Transaction& call) noexcept;
/// The Call has an answer, or needs none: none of its copies counts any more.
void end_outstanding(Connection& connection, Transaction& call) noexcept;
/// The same Call once more, with these chunks.
[[nodiscard]] bool expose_copy(Connection& connection, Transaction& call, const Transaction& copy, FrameRef frame);

}  // namespace rpcrdma::referee
