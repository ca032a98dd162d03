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
  const std::size_t index = next_++;
  entries_.emplace_hint(entries_.end(), index, Entry{std::move(finding), {}, false, false, false});
  if (listener_ != nullptr) numbers_[verdict.connection].push_back(index);
  return index;
}

HeldFinding FindingBook::hold(std::size_t index) {
  if (listener_ == nullptr) return {index, nobody_waits_};
  Entry& entry = entries_.at(index);
  std::shared_ptr<void> token = entry.token.lock();
  if (token == nullptr) {
    settled_.reserve(settled_.size() + tokens_ + 1);
    token = std::shared_ptr<void>(this, [index](void* book) { static_cast<FindingBook*>(book)->let_go(index); });
    ++tokens_;
    entry.token = token;
  }
  return {index, std::move(token)};
}

void FindingBook::let_go(std::size_t index) noexcept {
  --tokens_;
  settled_.push_back(index);
}

HeldFinding FindingBook::add_up_to(const Verdict& verdict, std::size_t most) {
  Tally& tally = tallies_[key(verdict.rule, verdict.connection)];
  if (tally.count >= most) {
    ++entries_.at(tally.last).finding.occurrences;
    return hold(tally.last);
  }
  tally.last = append(verdict);
  if (++tally.count == most) entries_.at(tally.last).open_ended = true;
  return hold(tally.last);
}

HeldFinding FindingBook::fold(const Verdict& verdict) {
  const auto [found, fresh] = folded_.try_emplace(key(verdict.rule, verdict.connection, who(verdict.violator)), 0);
  if (fresh) {
    found->second = append(verdict);
    entries_.at(found->second).open_ended = true;
    return hold(found->second);
  }
  Finding& finding = entries_.at(found->second).finding;
  ++finding.occurrences;
  for (const FrameRef& frame : verdict.frames) {
    add_frame(finding, frame.number);
    break;
  }
  return hold(found->second);
}

bool FindingBook::fold_again(RuleId rule, ConnectionId connection, FrameRef frame, std::optional<Party> violator) {
  const auto found = folded_.find(key(rule, connection, who(violator)));
  if (found == folded_.end()) return false;
  Finding& finding = entries_.at(found->second).finding;
  ++finding.occurrences;
  add_frame(finding, frame.number);
  return true;
}

void FindingBook::evidence(const HeldFinding& held, FrameRef frame) { add_frame(at(held), frame.number); }

void FindingBook::unchecked(RuleId rule, ConnectionId connection, std::string_view reason) {
  if (!unchecked_seen_.try_emplace(key(rule, connection), true).second) return;
  unchecked_.push_back({rule, connection, std::string(reason)});
}

bool FindingBook::has(RuleId rule, ConnectionId connection) const {
  constexpr std::uint64_t violators = 0xf;
  const std::uint64_t lowest = key(rule, connection);
  const auto folded = folded_.lower_bound(lowest);
  return tallies_.contains(lowest) || (folded != folded_.end() && folded->first <= (lowest | violators));
}

std::vector<Finding> FindingBook::take_findings() {
  std::vector<Finding> findings;
  findings.reserve(entries_.size());
  for (auto& [index, entry] : entries_) {
    if (entry.finding.rule != left_out_) findings.push_back(std::move(entry.finding));
  }
  entries_.clear();
  std::stable_sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
    const std::uint64_t fa = a.frames.empty() ? 0 : a.frames.front();
    const std::uint64_t fb = b.frames.empty() ? 0 : b.frames.front();
    return fa < fb;
  });
  return findings;
}

std::vector<Unchecked> FindingBook::take_unchecked() { return std::exchange(unchecked_, {}); }

void FindingBook::tell(const Finding& finding) {
  if (finding.rule != left_out_) listener_->finding(finding);
}

void FindingBook::reconsider(ConnectionId connection) {
  const auto numbers = numbers_.find(connection);
  if (numbers == numbers_.end()) return;
  settled_.reserve(settled_.size() + tokens_ + numbers->second.size());
  settled_.insert(settled_.end(), numbers->second.begin(), numbers->second.end());
}

void FindingBook::conclude(ConnectionId connection, bool reported) {
  if (listener_ == nullptr) return;
  if (const auto numbers = numbers_.find(connection); numbers != numbers_.end()) {
    for (const std::size_t index : numbers->second) {
      const auto at = entries_.find(index);
      if (at == entries_.end()) continue;
      Entry& entry = at->second;
      const bool wanted = reported || entry.finding.rule == RuleId::not_rpcrdma;
      if (wanted && !entry.told && !entry.token.expired()) {
        entry.concluded = true;
        continue;
      }
      if (wanted && !entry.told) tell(entry.finding);
      entries_.erase(at);
    }
    numbers_.erase(numbers);
  }
  std::erase_if(unchecked_, [&](const Unchecked& unchecked) {
    if (unchecked.connection != connection) return false;
    if (reported) listener_->unchecked(unchecked);
    return true;
  });
  const auto forget = [&](auto& map) {
    map.erase(map.lower_bound(key(RuleId{}, connection)), map.lower_bound(key(RuleId{}, connection + 1)));
  };
  forget(tallies_);
  forget(folded_);
  forget(unchecked_seen_);
}

void FindingBook::conclude_all() {
  if (listener_ == nullptr) return;
  tell_settled([](ConnectionId) { return false; });
  conclude(0, true);
  while (!numbers_.empty()) conclude(numbers_.begin()->first, false);
  unchecked_.clear();
}

}  // namespace rpcrdma::referee
