// SPDX-License-Identifier: GPL-2.0-or-later
// Edit → Preferences → Protocols → RPCRDMA, and -o rpcrdma.NAME:VALUE: the analyzer's options of the same names.
#pragma once

#include "journal/journal.hpp"

namespace rpcrdma::plugin {

void register_preferences();

/// Wireshark's own dissector is to do the work: by the preference, or because our protocol is disabled.
[[nodiscard]] bool given_back();
[[nodiscard]] journal::Options options();

}  // namespace rpcrdma::plugin
