// SPDX-License-Identifier: GPL-2.0-or-later
// Calls that wait when their connection, or the capture, ends: for what, and whether that may be missing.
#pragma once

namespace rpcrdma::referee {

struct Connection;
struct Transaction;

/// The connection is over, or the capture: its mount learns which of its Calls wait. To be called before they are
/// forgotten.
void keep_open_calls(Connection& connection);
/// The client sent it when the server had closed the connection already, and did not know: nobody answers it there.
void keep_call_behind_close(Connection& connection, const Transaction& call);

}  // namespace rpcrdma::referee
