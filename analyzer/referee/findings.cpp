// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/findings.hpp"

#include <algorithm>
#include <utility>

namespace rpcrdma::referee {

namespace {

void add_frame(Finding& finding, std::uint64_t number) {
  if (number == 0 || finding.frames.size() >= FindingBook::frames_each) return;
  if (std::find(finding.frames.begin(), finding.frames.end(), number) != finding.frames.end()) return;
  finding.frames.push_back(number);
}

[[nodiscard]] std::uint64_t who(std::optional<Party> violator) noexcept {
  if (!violator) return 0;
  return *violator == Party::client ? 1 : 2;
}

}  // namespace

std::size_t FindingBook::append(const Verdict& verdict) {
  Finding finding;
  finding.rule = verdict.rule;
  const Severity most = rule(verdict.rule).severity;
  finding.severity = verdict.severity ? std::min(*verdict.severity, most) : most;
  finding.connection = verdict.connection;
  for (const FrameRef& frame : verdict.frames) add_frame(finding, frame.number);
  for (const FrameRef& frame : verdict.frames) {
    if (frame.number != 0) {
      finding.time = frame.time;
      break;
    }
  }
  finding.xid = verdict.xid;
  finding.violator = verdict.violator;
  finding.role = verdict.role;
  finding.message = verdict.message;
  findings_.push_back(std::move(finding));
  return findings_.size() - 1;
}

std::size_t FindingBook::add_up_to(const Verdict& verdict, std::size_t most) {
  Tally& tally = tallies_[key(verdict.rule, verdict.connection)];
  if (tally.count >= most) {
    ++findings_[tally.last].occurrences;
    return tally.last;
  }
  ++tally.count;
  tally.last = append(verdict);
  return tally.last;
}

std::size_t FindingBook::fold(const Verdict& verdict) {
  const auto [found, fresh] = folded_.try_emplace(key(verdict.rule, verdict.connection, who(verdict.violator)), 0);
  if (fresh) {
    found->second = append(verdict);
    return found->second;
  }
  Finding& finding = findings_[found->second];
  ++finding.occurrences;
  for (const FrameRef& frame : verdict.frames) {
    add_frame(finding, frame.number);
    break;
  }
  return found->second;
}

bool FindingBook::fold_again(RuleId rule, ConnectionId connection, FrameRef frame, std::optional<Party> violator) {
  const auto found = folded_.find(key(rule, connection, who(violator)));
  if (found == folded_.end()) return false;
  Finding& finding = findings_[found->second];
  ++finding.occurrences;
  add_frame(finding, frame.number);
  return true;
}

void FindingBook::evidence(std::size_t index, FrameRef frame) { add_frame(findings_[index], frame.number); }

void FindingBook::unchecked(RuleId rule, ConnectionId connection, std::string_view reason) {
  if (!unchecked_seen_.try_emplace(key(rule, connection), true).second) return;
  unchecked_.push_back({rule, connection, std::string(reason)});
}

bool FindingBook::has(RuleId rule, ConnectionId connection) const {
  return std::any_of(findings_.begin(), findings_.end(),
                     [&](const Finding& f) { return f.rule == rule && f.connection == connection; });
}

std::vector<Finding> FindingBook::take_findings() {
  std::erase_if(findings_, [&](const Finding& finding) { return finding.rule == left_out_; });
  std::stable_sort(findings_.begin(), findings_.end(), [](const Finding& a, const Finding& b) {
    const std::uint64_t fa = a.frames.empty() ? 0 : a.frames.front();
    const std::uint64_t fb = b.frames.empty() ? 0 : b.frames.front();
    return fa < fb;
  });
  return std::exchange(findings_, {});
}

std::vector<Unchecked> FindingBook::take_unchecked() { return std::exchange(unchecked_, {}); }

}  // namespace rpcrdma::referee
