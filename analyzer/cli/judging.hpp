// SPDX-License-Identifier: GPL-2.0-or-later
// What a run comes to, without a word about it.
#pragma once

#include "cli/options.hpp"
#include "report/report.hpp"

namespace rpcrdma::cli {

/// The referee's options.
[[nodiscard]] referee::Options judged_by(const Options& options);

/// All that would be in the report of the captures, read one after the other.
[[nodiscard]] report::Run judged(const Options& options);

}  // namespace rpcrdma::cli
