// SPDX-License-Identifier: GPL-2.0-or-later
// What was counted of a connection, as its facts have it.
#pragma once

namespace rpcrdma::referee {

struct Connection;

/// Fills in credits, procedures and latency. Nothing more is heard of it.
void sum_up(Connection& connection);

}  // namespace rpcrdma::referee
