// SPDX-License-Identifier: GPL-2.0-or-later
// RPC-over-RDMA messages: what a Send means for its connection.
#pragma once

#include "referee/rules/checks.hpp"
#include "trace/events.hpp"
#include "wire/rpcrdma.hpp"

namespace rpcrdma::referee {

/// What is known of an RDMA_NOMSG with a Position-Zero Read chunk from elsewhere than the message.
enum class LongForm : std::uint8_t { not_asked, call, reply, undecided };

/// `scratch` is reused from message to message. Sets connection.kind as soon as it can be told.
void take_message(Context& context, Connection& connection, const trace::Send& event, wire::HeaderV1& scratch,
                  LongForm form = LongForm::not_asked);

/// True when nothing but the data it names can tell whether it is a Long Call or an offered Reply; then `scratch` holds
/// its header.
[[nodiscard]] bool call_or_offer(Connection& connection, const trace::Send& event, wire::HeaderV1& scratch);

/// True when the message cannot be told yet: it is kept in connection.held until the next one.
[[nodiscard]] bool hold_message(Connection& connection, const trace::Send& event, wire::HeaderV1& scratch);

/// Is it the Call that the message in connection.held would be the Reply to?
[[nodiscard]] bool call_of_held(const Connection& connection, const trace::Send& event, wire::HeaderV1& scratch);

/// Does the message in connection.held name memory with this handle? Then an operation on it is the answer to a Call.
[[nodiscard]] bool held_names(const Connection& connection, std::uint32_t handle, wire::HeaderV1& scratch);

}  // namespace rpcrdma::referee
