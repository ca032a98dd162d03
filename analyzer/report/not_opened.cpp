// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/not_opened.hpp"

#include <fmt/format.h>

namespace rpcrdma::report {
namespace {

[[nodiscard]] std::string counted_frames(std::uint64_t n) { return n == 1 ? "1 frame" : fmt::format("{} frames", n); }

}  // namespace

std::string not_opened(const trace::Statistics& statistics) {
  std::string list;
  std::uint64_t frames = statistics.not_opened_others;
  for (const auto& [what, count] : statistics.not_opened) {
    list += fmt::format("{}{} in {}", list.empty() ? "" : ", ", what.text(), counted_frames(count));
    frames += count;
  }
  if (list.empty()) return list;
  if (statistics.not_opened_others != 0) list += fmt::format(", others in {}", statistics.not_opened_others);
  return fmt::format("{} of the {} are not opened; what is RDMA in them is not judged: {}", frames,
                     counted_frames(statistics.frames), list);
}

}  // namespace rpcrdma::report
