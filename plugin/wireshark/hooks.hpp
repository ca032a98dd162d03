// SPDX-License-Identifier: GPL-2.0-or-later
// Where Wireshark's own dissectors lead to us.
#pragma once

namespace rpcrdma::plugin {

void register_preferences();
void install_hooks(bool builtin);  ///< at handoff; false: this Wireshark has no RPC-over-RDMA of its own

}  // namespace rpcrdma::plugin
