// SPDX-License-Identifier: GPL-2.0-or-later
// Folders among the captures.
#pragma once

#include <string>
#include <vector>

#include <tl/expected.hpp>

namespace rpcrdma::cli {

/// Every capture below each folder that is named, in the order of their paths; what is no folder stays as it is. A
/// capture is a file that is named or begins like one; hidden files, and links to folders, are passed over. The error
/// is one line for a person: a folder that cannot be read, or has none.
[[nodiscard]] tl::expected<std::vector<std::string>, std::string> with_captures_below(
    const std::vector<std::string>& paths);

}  // namespace rpcrdma::cli
