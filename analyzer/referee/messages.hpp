// SPDX-License-Identifier: GPL-2.0-or-later
// RPC-over-RDMA messages: what a Send means for its connection.
#pragma once

#include "referee/rules/checks.hpp"
#include "trace/events.hpp"
#include "wire/rpcrdma.hpp"

namespace rpcrdma::referee {

/// `scratch` is reused from message to message. Sets connection.kind as soon as it can be told.
void take_message(Context& context, Connection& connection, const trace::Send& event, wire::HeaderV1& scratch);

/// Settles accusations that were held back; those older than what `side` has now sent, or all of them.
void settle_pending(Context& context, Connection& connection, Side side, std::uint64_t before_frame);
/// `complete`: this side's stream is known to be in the capture to its last octet.
void settle_all_pending(Context& context, Connection& connection, std::optional<Side> complete);
/// True when the message cannot be told yet: it is kept in connection.held until the next one.
[[nodiscard]] bool hold_message(Connection& connection, const trace::Send& event, wire::HeaderV1& scratch);

}  // namespace rpcrdma::referee
