// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/stream.hpp"

#include <string>

#include "cli/selection.hpp"

namespace rpcrdma::cli {

void Stream::put(const std::string& line) {
  if (written_ != Printed::whole) return;
  if (!opened_) written_ = print_out(report::ndjson::opening());
  opened_ = true;
  if (written_ == Printed::whole) written_ = print_out(line);
}

void Stream::finding(const referee::Finding& finding) {
  if (!shows(options_, finding)) return;
  switch (finding.severity) {
    case referee::Severity::error:
      ++totals_.errors;
      break;
    case referee::Severity::warning:
      ++totals_.warnings;
      break;
    case referee::Severity::note:
      ++totals_.notes;
      break;
  }
  failed_ = failed_ || (options_.fail_on && finding.severity >= *options_.fail_on);
  put(report::ndjson::line(finding));
}

void Stream::connection(const referee::ConnectionFacts& connection) {
  ++connections_;
  if (!shows(options_, connection)) return;
  ++totals_.connections;
  totals_.rdma_messages += messages_of(connection);
  put(report::ndjson::line(connection));
}

void Stream::unchecked(const referee::Unchecked& unchecked) {
  if (shows(options_, unchecked)) put(report::ndjson::line(unchecked));
}

void Stream::finish(const report::Run& run) {
  for (const referee::MountFacts& mount : run.report.mounts) put(report::ndjson::line(mount));
  put(report::ndjson::line(run.report.verdict));
  for (const report::Input& input : run.inputs) put(report::ndjson::line(input));
  if (run.taps) put(report::ndjson::line(*run.taps));
  totals_.frames = run.frames;
  if (!options_.connection) totals_.rdma_messages = run.report.rdma_messages;
  put(report::ndjson::line(totals_));
}

}  // namespace rpcrdma::cli
