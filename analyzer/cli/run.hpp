// SPDX-License-Identifier: GPL-2.0-or-later
// From the command line to the exit status.
#pragma once

#include "cli/exit_status.hpp"
#include "cli/options.hpp"

namespace rpcrdma::cli {

[[nodiscard]] ExitStatus run(const Options& options);

/// Prints what takes the place of a run.
[[nodiscard]] ExitStatus stop(const Stop& stop);

}  // namespace rpcrdma::cli
