// SPDX-License-Identifier: GPL-2.0-or-later
// What the page draws beside the report's own document: rows, octets, charts, texts, as compact JSON.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/html.hpp"

namespace rpcrdma::report::page {

/// `run`: as the page shows it, findings in the order of its JSON; `whole`: all of it, for sums. The format is the
/// business of page/data.js alone. `left_out`: a JSON object of how much of the run the page does not hold.
[[nodiscard]] std::string drawing(const Run& run, const Run& whole, const PageRecorder& recorder,
                                  const PageLimits& limits, std::string_view left_out);

/// Where a finding was made: several connections when it is folded; 0 is the capture as a whole.
[[nodiscard]] std::vector<trace::ConnectionId> places(const referee::Finding& finding);

/// A string of JSON with its quotes. Octets that are no UTF-8 are replaced.
[[nodiscard]] std::string json_string(std::string_view text);

}  // namespace rpcrdma::report::page
