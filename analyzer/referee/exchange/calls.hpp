// SPDX-License-Identifier: GPL-2.0-or-later
// Calls on their way into the table of transactions; both versions share it.
#pragma once

#include "referee/rules/checks.hpp"
#include "trace/events.hpp"

namespace rpcrdma::referee {

/// Enters the Call's chunks into its requester's memory map.
void expose_chunks(const Witness& witness, const Transaction& call, FrameRef frame);
/// Enters a Call; of one that is sent again, the one that is known.
Transaction& enter_exchange(const Witness& witness, const trace::Send& event, Transaction&& fresh);
/// True when the Call's answer was delivered before it; what was held back about that answer is forgotten.
[[nodiscard]] bool answered_before(const Witness& witness, const trace::Send& event, std::uint32_t xid);
/// Ends such a Call. That it is the one that was answered is likely, not proven: its memory may still be used.
void end_unseen(Connection& connection, Transaction& call);
[[nodiscard]] std::uint32_t hash_of_payload(wire::Bytes octets);

}  // namespace rpcrdma::referee
