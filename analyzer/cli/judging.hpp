// SPDX-License-Identifier: GPL-2.0-or-later
// What a run comes to, without a word about it.
#pragma once

#include <string>

#include "cli/options.hpp"
#include "report/report.hpp"
#include "trace/trace.hpp"

namespace rpcrdma::cli {

/// What of the capture could not be opened, for a person; empty: all was opened that could be.
[[nodiscard]] std::string not_opened(const trace::Statistics& statistics);

/// The referee's options.
[[nodiscard]] referee::Options judged_by(const Options& options);

/// All that would be in the report of the captures, read one after the other.
[[nodiscard]] report::Run judged(const Options& options);

}  // namespace rpcrdma::cli
