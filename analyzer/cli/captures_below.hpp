// SPDX-License-Identifier: GPL-2.0-or-later
// Folders among the captures.
#pragma once

#include <string>
#include <vector>

namespace rpcrdma::cli {

struct Below {
  /// In the order of their paths. A folder that cannot be read, or has none, stands there itself.
  std::vector<std::string> captures;
  std::vector<std::string> closed;  ///< folders that cannot be read, and why; a line each for a person
  std::vector<std::string> empty;   ///< folders that were named, and have no capture below them
};

/// Every capture below each folder that is named; what is no folder stays as it is. A capture is a file that is named
/// or begins like one; hidden files, and links to folders, are passed over.
[[nodiscard]] Below with_captures_below(const std::vector<std::string>& paths);

}  // namespace rpcrdma::cli
