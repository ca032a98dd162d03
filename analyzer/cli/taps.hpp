// SPDX-License-Identifier: GPL-2.0-or-later
// The first reading of captures that are to be put together by time: how their clocks stand to each other.
#pragma once

#include <string>

#include "cli/options.hpp"
#include "report/report.hpp"

namespace rpcrdma::cli {

/// `standard_input`: a path of the octets of "-", where they have been kept. What cannot be read twice is not measured.
[[nodiscard]] report::Taps compared(const Options& options, const std::string& standard_input);

}  // namespace rpcrdma::cli
