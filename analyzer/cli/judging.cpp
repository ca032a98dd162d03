// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/judging.hpp"

#include <utility>

#include <fmt/format.h>

#include "cli/inputs.hpp"
#include "referee/referee.hpp"

namespace rpcrdma::cli {
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

referee::Options judged_by(const Options& options) {
  return {.profile = options.profile,
          .pull_timeout = options.pull_timeout,
          .wait = options.wait,
          .service_ports = options.service_ports,
          .without = options.without};
}

report::Run judged(const Options& options) {
  referee::Referee judge(judged_by(options), nullptr, nullptr);
  trace::Trace trace({options.service_ports, options.check_crc, nullptr}, judge);
  Inputs inputs(options.captures, false);
  while (const trace::Frame* frame = inputs.next()) {
    if (inputs.packet()) trace.frame(*frame);
  }
  trace.finish();
  report::Run run{inputs.report(), judge.finish(inputs.last(), inputs.first()), inputs.frames()};
  if (std::string closed = not_opened(trace.statistics()); !closed.empty()) {
    run.report.unchecked.push_back({referee::RuleId::not_rpcrdma, 0, std::move(closed)});
  }
  return run;
}

}  // namespace rpcrdma::cli
