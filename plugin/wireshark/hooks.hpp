// SPDX-License-Identifier: GPL-2.0-or-later
// Where Wireshark's own dissectors lead to us.
#pragma once

namespace rpcrdma::plugin {

/// At handoff. False: this Wireshark has no protocol of that name.
void install_hooks(bool builtin_protocol);

}  // namespace rpcrdma::plugin
