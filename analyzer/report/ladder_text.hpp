// SPDX-License-Identifier: GPL-2.0-or-later
// Ladders in plain text, at most 100 columns wide: client left, server right, time downwards.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "report/ladder.hpp"
#include "report/report.hpp"

namespace rpcrdma::report {

struct LadderStyle {
  bool color = false;
  bool ascii = false;
  std::size_t rows = 60;  ///< of one connection; of longer ones the beginning, what is near findings, and the end
};

/// One ladder for each connection of the run. `ladder` is finished, with the findings of the run.
[[nodiscard]] std::string ladder_text(const Run& run, const Ladder& ladder, const LadderStyle& style);

/// The same drawing with the letters of ASCII only.
[[nodiscard]] std::string in_ascii(std::string_view drawing);

}  // namespace rpcrdma::report
