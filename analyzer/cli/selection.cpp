// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/selection.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace rpcrdma::cli {
namespace {

[[nodiscard]] bool contains(const std::vector<referee::RuleId>& rules, referee::RuleId rule) noexcept {
  return std::find(rules.begin(), rules.end(), rule) != rules.end();
}

[[nodiscard]] std::uint64_t messages_of(const referee::ConnectionFacts& connection) {
  const auto& m = connection.messages;
  return std::accumulate(m.v2.begin(), m.v2.end(), m.rdma_msg + m.rdma_nomsg + m.rdma_msgp + m.rdma_done + m.rdma_error,
                         [](std::uint64_t sum, const auto& kind) { return sum + kind.second; });
}

}  // namespace

void select(referee::Report& report, const Options& options) {
  const auto other_rule = [&](referee::RuleId rule) {
    return (!options.only_rules.empty() && !contains(options.only_rules, rule)) || contains(options.hidden_rules, rule);
  };
  const auto other_connection = [&](trace::ConnectionId id) { return options.connection && *options.connection != id; };

  std::erase_if(report.findings, [&](const referee::Finding& finding) {
    return finding.severity < options.least || other_rule(finding.rule) || other_connection(finding.connection);
  });
  std::erase_if(report.unchecked, [&](const referee::Unchecked& unchecked) {
    return other_rule(unchecked.rule) || other_connection(unchecked.connection);
  });
  if (options.connection) {
    std::erase_if(report.connections,
                  [&](const referee::ConnectionFacts& connection) { return other_connection(connection.id); });
    report.rdma_messages = std::accumulate(
        report.connections.begin(), report.connections.end(), std::uint64_t{0},
        [](std::uint64_t sum, const referee::ConnectionFacts& connection) { return sum + messages_of(connection); });
  }
}

bool fails(const referee::Report& report, std::optional<referee::Severity> fail_on) noexcept {
  return fail_on && std::any_of(report.findings.begin(), report.findings.end(),
                                [&](const referee::Finding& finding) { return finding.severity >= *fail_on; });
}

}  // namespace rpcrdma::cli
