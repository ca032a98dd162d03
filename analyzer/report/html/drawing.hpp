// SPDX-License-Identifier: GPL-2.0-or-later
// What the page draws beside the report's own document: rows, octets, charts, texts, as compact JSON.
#pragma once

#include <string>
#include <string_view>

#include "report/html.hpp"

namespace rpcrdma::report::page {

/// `run`: as the page shows it, findings in the order of its JSON. The format is the business of page/data.js alone.
/// `verdict`: the run in one sentence; `left_out`: a JSON object of how much of it the page does not hold.
[[nodiscard]] std::string drawing(const Run& run, const PageRecorder& recorder, const PageLimits& limits,
                                  std::string_view verdict, std::string_view left_out);

/// A string of JSON with its quotes. Octets that are no UTF-8 are replaced.
[[nodiscard]] std::string json_string(std::string_view text);

}  // namespace rpcrdma::report::page
