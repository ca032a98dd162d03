// SPDX-License-Identifier: GPL-2.0-or-later
// Calls that wait when their connection, or the capture, ends: for what, and whether that may be missing.
#pragma once

namespace rpcrdma::referee {

struct Connection;
struct Mount;
struct OpenCall;
struct Transaction;

/// The connection is over, or the capture: its mount learns which of its Calls wait. To be called before they are
/// forgotten.
void keep_open_calls(Connection& connection);
/// The client sent it when the server had closed the connection already, and did not know: nobody answers it there.
void keep_call_behind_close(Connection& connection, const Transaction& call);
/// It was kept so, and behind that the server says more, which it said before, as it stands in the file too late.
[[nodiscard]] bool answer_behind_close_may_be_missing(const Connection& connection, const OpenCall& call) noexcept;
/// A client that was restarted waits for nothing that it had asked for, and answers no callback, on a connection that
/// it had before: such Calls ended when it came back (RFC 8881 sections 8.4.2.1 and 18.35). At the end.
void end_calls_of_the_gone(Mount& mount);

}  // namespace rpcrdma::referee
