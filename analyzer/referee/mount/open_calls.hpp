// SPDX-License-Identifier: GPL-2.0-or-later
// Calls that wait when their connection, or the capture, ends: for what, and whether that may be missing.
#pragma once

namespace rpcrdma::referee {

struct Connection;

/// The connection is over, or the capture: its mount learns which of its Calls wait. To be called before they are
/// forgotten.
void keep_open_calls(Connection& connection);

}  // namespace rpcrdma::referee
