// SPDX-License-Identifier: GPL-2.0-or-later
// Analyze → Follow, and -z follow,rpcrdma,ascii,CONNECTION: what both sides of one connection say, a line each.
#pragma once

namespace rpcrdma::plugin {

void register_follower();

}  // namespace rpcrdma::plugin
