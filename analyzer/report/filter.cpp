// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/compile.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <vector>

#include "report/report.hpp"

namespace rpcrdma::report {

std::string display_filter(const referee::Finding& finding) {
  // Wireshark's frame.number is a 32-bit field: a larger number would make the whole filter invalid.
  std::vector<std::uint64_t> frames;
  std::copy_if(finding.frames.begin(), finding.frames.end(), std::back_inserter(frames),
               [](std::uint64_t n) { return n != 0 && n <= std::numeric_limits<std::uint32_t>::max(); });
  std::sort(frames.begin(), frames.end());
  frames.erase(std::unique(frames.begin(), frames.end()), frames.end());
  if (frames.empty()) return {};
  if (frames.size() == 1) return fmt::format(FMT_COMPILE("frame.number == {}"), frames.front());
  return fmt::format("frame.number in {{{}}}", fmt::join(frames, ", "));
}

}  // namespace rpcrdma::report
