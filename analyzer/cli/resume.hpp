// SPDX-License-Identifier: GPL-2.0-or-later
// --resume: what an earlier run of --each has done already.
#pragma once

#include <map>
#include <string>

#include <tl/expected.hpp>

#include "cli/exit_status.hpp"

namespace rpcrdma::cli {

/// By name_in_rows() of the path as it was named.
using Held = std::map<std::string, ExitStatus>;

/// What an ndjson file of --each holds: captures of which the last row is there. A file that is not there holds
/// nothing. The error is one line for a person: also where rows stand at its end without the last one of their capture,
/// and would be said again.
[[nodiscard]] tl::expected<Held, std::string> held_in(const std::string& path);

}  // namespace rpcrdma::cli
