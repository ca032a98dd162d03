// SPDX-License-Identifier: GPL-2.0-or-later
// Where Wireshark's own dissectors lead to us.
#pragma once

#include "journal/journal.hpp"

namespace rpcrdma::plugin {

/// At handoff. False: this Wireshark has no protocol of that name.
void install_hooks(bool builtin_protocol);

/// The user has disabled the heuristic of its transport.
[[nodiscard]] bool left_out(const journal::Journal& journal, std::uint32_t connection);

}  // namespace rpcrdma::plugin
