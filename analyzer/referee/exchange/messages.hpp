// SPDX-License-Identifier: GPL-2.0-or-later
// RPC-over-RDMA messages: what a Send means for its connection.
#pragma once

#include "referee/message/direction.hpp"
#include "referee/rules/checks.hpp"
#include "trace/events.hpp"
#include "wire/rpcrdma.hpp"

namespace rpcrdma::referee {

/// `scratch` is reused from message to message. Sets connection.kind as soon as it can be told.
void take_message(const Witness& witness, const trace::Send& event, wire::HeaderV1& scratch, LongForm form);

}  // namespace rpcrdma::referee
