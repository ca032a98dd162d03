// SPDX-License-Identifier: GPL-2.0-or-later
// --each: many captures, each a trace of its own.
#pragma once

#include <functional>

#include "cli/exit_status.hpp"
#include "cli/options.hpp"

namespace rpcrdma::cli {

/// Each capture is analysed in a process of its own, several at a time, so that none can harm the others; what they say
/// comes out in their order. `analyse`: a run over the one capture of its options. The worst status of all.
[[nodiscard]] ExitStatus batch(const Options& options, const std::function<ExitStatus(const Options&)>& analyse);

}  // namespace rpcrdma::cli
