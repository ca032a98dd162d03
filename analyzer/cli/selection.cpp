// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/selection.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "report/fold.hpp"

namespace rpcrdma::cli {
namespace {

[[nodiscard]] bool contains(const std::vector<referee::RuleId>& rules, referee::RuleId rule) noexcept {
  return std::find(rules.begin(), rules.end(), rule) != rules.end();
}

[[nodiscard]] bool shows_connection(const Options& options, trace::ConnectionId id) noexcept {
  return !options.connection || *options.connection == id;
}

}  // namespace

std::uint64_t messages_of(const referee::ConnectionFacts& connection) {
  const auto& m = connection.messages;
  return std::accumulate(m.v2.begin(), m.v2.end(), m.rdma_msg + m.rdma_nomsg + m.rdma_msgp + m.rdma_done + m.rdma_error,
                         [](std::uint64_t sum, const auto& kind) { return sum + kind.second; });
}

bool shows(const Options& options, referee::RuleId rule) {
  return (options.only_rules.empty() || contains(options.only_rules, rule)) && !contains(options.hidden_rules, rule);
}

bool shows(const Options& options, const referee::Finding& finding) {
  return finding.severity >= options.least && shows(options, finding.rule) &&
         (!options.connection || report::concerns(finding, *options.connection));
}

bool shows(const Options& options, const referee::Unchecked& unchecked) {
  return shows(options, unchecked.rule) && shows_connection(options, unchecked.connection);
}

bool shows(const Options& options, const referee::ConnectionFacts& connection) {
  return shows_connection(options, connection.id);
}

std::size_t select(referee::Report& report, const Options& options) {
  const bool all = options.least == referee::Severity::note && options.only_rules.empty() &&
                   options.hidden_rules.empty() && !options.connection;
  if (all) return 0;
  const auto hidden = [&](const auto& each) { return !shows(options, each); };
  const auto grave = [&](const referee::Finding& finding) {
    return finding.severity != referee::Severity::note && hidden(finding);
  };
  std::uint64_t left_out = 0;
  erase_if(report.findings, [&](const referee::Finding& finding) {
    left_out += grave(finding) ? 1U : 0U;
    return hidden(finding);
  });
  std::erase_if(report.unchecked, hidden);
  if (options.connection) {
    erase_if(report.connections, hidden);
    report.rdma_messages = std::accumulate(
        report.connections.begin(), report.connections.end(), std::uint64_t{0},
        [](std::uint64_t sum, const referee::ConnectionFacts& connection) { return sum + messages_of(connection); });
  }
  return static_cast<std::size_t>(left_out);
}

bool fails(const referee::Report& report, std::optional<referee::Severity> fail_on) {
  return fail_on && std::any_of(report.findings.begin(), report.findings.end(),
                                [&](const referee::Finding& finding) { return finding.severity >= *fail_on; });
}

}  // namespace rpcrdma::cli
