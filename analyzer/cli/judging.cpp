// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/judging.hpp"

#include <utility>

#include "cli/inputs.hpp"
#include "referee/referee.hpp"
#include "report/not_opened.hpp"

namespace rpcrdma::cli {

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
  if (std::string closed = report::not_opened(trace.statistics()); !closed.empty()) {
    run.report.unchecked.push_back({referee::RuleId::not_rpcrdma, 0, std::move(closed)});
  }
  return run;
}

}  // namespace rpcrdma::cli
