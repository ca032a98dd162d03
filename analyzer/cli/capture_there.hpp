// SPDX-License-Identifier: GPL-2.0-or-later
// What kind of capture a file is that is to be replaced.
#pragma once

#include <cstdint>
#include <string>

namespace rpcrdma::cli {

enum class CaptureThere : std::uint8_t {
  none,    ///< nothing, or no pcapng
  pcapng,  ///< somebody's, or a copy of it with comments on its packets (--annotate)
  own      ///< its section says that this program wrote it
};
[[nodiscard]] CaptureThere capture_there(const std::string& path);

}  // namespace rpcrdma::cli
