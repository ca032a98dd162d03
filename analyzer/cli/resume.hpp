// SPDX-License-Identifier: GPL-2.0-or-later
// --resume: what an earlier run of --each has done already.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include <tl/expected.hpp>

#include "cli/exit_status.hpp"

namespace rpcrdma::cli {

struct Held {
  std::map<std::string, ExitStatus> captures;  ///< by the path as it was named
  bool torn = false;                           ///< the file's last line has no end
  /// A run was broken off: what stands behind so many octets belongs to no capture that was finished.
  std::optional<std::uint64_t> broken_behind;
};

/// What an ndjson file of --each holds: captures of which the last row is there. A file that is not there holds
/// nothing. The error is one line for a person.
[[nodiscard]] tl::expected<Held, std::string> held_in(const std::string& path);

}  // namespace rpcrdma::cli
