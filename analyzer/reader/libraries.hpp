// SPDX-License-Identifier: GPL-2.0-or-later
// The libraries that captures are read with, as they are found when the program runs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rpcrdma::reader {

struct Library {
  std::string_view name;
  std::string version;
};

[[nodiscard]] std::vector<Library> libraries();

}  // namespace rpcrdma::reader
