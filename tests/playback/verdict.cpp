// SPDX-License-Identifier: GPL-2.0-or-later
#include "playback/verdict.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/names.hpp"
#include "trace/trace.hpp"

namespace playback {

using rpcrdma::referee::Finding;
using rpcrdma::referee::Report;
using rpcrdma::referee::Severity;

Report judge(const Take& take, const rpcrdma::referee::Options& options) {
  rpcrdma::referee::Referee referee(options);
  rpcrdma::trace::Trace trace({options.service_ports, false}, referee);
  rpcrdma::trace::FrameRef last;
  for (rpcrdma::trace::Frame frame : take) {
    frame.ref.number = last.number + 1;
    last = frame.ref;
    trace.frame(frame);
  }
  trace.finish();
  return referee.finish(last);
}

Accusations accusations(const Report& report) {
  Accusations found;
  for (const Finding& finding : report.findings) {
    if (finding.severity != Severity::note) found.emplace(finding.rule, finding.violator);
  }
  return found;
}

std::string told(const Finding& finding) {
  const rpcrdma::referee::Rule& rule = rpcrdma::referee::rule(finding.rule);
  return fmt::format("{} {} by {} at frames {}: {}", rpcrdma::referee::text(finding.severity), rule.name,
                     finding.violator ? rpcrdma::report::name(*finding.violator) : "nobody", finding.frames,
                     finding.message);
}

}  // namespace playback
