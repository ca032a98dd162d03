// SPDX-License-Identifier: GPL-2.0-or-later
// RPC-over-RDMA messages: what a Send means for its connection.
#pragma once

#include "referee/rules/checks.hpp"
#include "trace/events.hpp"
#include "wire/rpcrdma.hpp"

namespace rpcrdma::referee {

/// `scratch` is reused from message to message. Sets connection.kind as soon as it can be told.
void take_message(Context& context, Connection& connection, const trace::Send& event, wire::HeaderV1& scratch);

/// True when the message cannot be told yet: it is kept in connection.held until the next one.
[[nodiscard]] bool hold_message(Connection& connection, const trace::Send& event, wire::HeaderV1& scratch);

// What version 2 shares with version 1.
/// Enters a Call; of one that is sent again, the one that is known.
Transaction& enter_exchange(Context& context, Connection& connection, const trace::Send& event, Transaction&& fresh);
/// The answer was delivered before this Call.
[[nodiscard]] bool answered_before(Connection& connection, const trace::Send& event, std::uint32_t xid);
void cancel_accesses_of(Context& context, Connection& connection, const Transaction& call);
[[nodiscard]] std::uint64_t hash_of_payload(wire::Bytes octets);

}  // namespace rpcrdma::referee
