// SPDX-License-Identifier: GPL-2.0-or-later
// Captures that this program wrote (--annotate, --sanitize).
#pragma once

#include <string>

namespace rpcrdma::cli {

/// A pcapng file whose section says so or, where that is a copy of somebody's, one of whose packets has a comment of
/// ours. Of a long file no more is read than it takes.
[[nodiscard]] bool is_own_capture(const std::string& path);

}  // namespace rpcrdma::cli
