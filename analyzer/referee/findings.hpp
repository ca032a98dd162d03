// SPDX-License-Identifier: GPL-2.0-or-later
// The book of findings: where rules write, bounded, with habits folded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "referee/facts.hpp"

namespace rpcrdma::referee {

/// Filled by a rule, then given to FindingBook.
struct Verdict {
  RuleId rule = RuleId::private_data_absent;
  ConnectionId connection = 0;
  std::initializer_list<FrameRef> frames;  ///< offending frame first; frames with number 0 are left out
  std::string message;
  std::optional<Severity> severity;  ///< when an undecidable condition lowers it
  std::optional<std::uint32_t> xid;
  std::optional<Party> violator;
  std::optional<Role> role;
};

class FindingBook {
 public:
  /// Findings of one rule on one connection that are kept one by one; more are counted on the last one.
  static constexpr std::size_t kept_each = 200;
  static constexpr std::size_t kept_few = 16;
  static constexpr std::size_t frames_each = 16;

  /// One finding a call. Returns its index (stable until take()).
  std::size_t add(const Verdict& verdict) { return add_up_to(verdict, kept_each); }
  /// For habits: the first few one by one, the rest counted on the last of them.
  std::size_t add_few(const Verdict& verdict) { return add_up_to(verdict, kept_few); }
  /// One finding for each (rule, connection, violator): the first frame stays the primary one.
  std::size_t fold(const Verdict& verdict);
  /// fold() without the cost of a message nobody will read: true when that finding exists and was counted up.
  bool fold_again(RuleId rule, ConnectionId connection, FrameRef frame, std::optional<Party> violator = std::nullopt);
  /// Adds evidence to a finding.
  void evidence(std::size_t index, FrameRef frame);
  [[nodiscard]] Finding& at(std::size_t index) noexcept { return findings_[index]; }

  /// Among the last few hundred findings, the oldest one of a connection for which `wanted` holds.
  template <class Predicate>
  [[nodiscard]] const Finding* oldest(ConnectionId connection, Predicate wanted) const {
    constexpr std::size_t most = 512;
    for (std::size_t i = findings_.size() > most ? findings_.size() - most : 0; i < findings_.size(); ++i) {
      const Finding& finding = findings_[i];
      if (finding.connection == connection && wanted(finding)) return &finding;
    }
    return nullptr;
  }

  /// "Not checked because ...": once for each (rule, connection).
  void unchecked(RuleId rule, ConnectionId connection, std::string_view reason);

  [[nodiscard]] const std::vector<Finding>& findings() const noexcept { return findings_; }
  [[nodiscard]] bool has(RuleId rule, ConnectionId connection) const;

  /// For tests: findings of this rule are written, but not handed over.
  void leave_out(std::optional<RuleId> rule) noexcept { left_out_ = rule; }

  [[nodiscard]] std::vector<Finding> take_findings();
  [[nodiscard]] std::vector<Unchecked> take_unchecked();

 private:
  struct Tally {
    std::size_t count = 0;
    std::size_t last = 0;
  };
  [[nodiscard]] static std::uint64_t key(RuleId rule, ConnectionId connection, std::uint64_t extra = 0) noexcept {
    return (static_cast<std::uint64_t>(connection) << 24U) | (static_cast<std::uint64_t>(rule) << 4U) | extra;
  }
  std::size_t add_up_to(const Verdict& verdict, std::size_t most);
  [[nodiscard]] std::size_t append(const Verdict& verdict);

  std::optional<RuleId> left_out_;
  std::vector<Finding> findings_;
  std::vector<Unchecked> unchecked_;
  std::unordered_map<std::uint64_t, Tally> tallies_;       // by rule and connection
  std::unordered_map<std::uint64_t, std::size_t> folded_;  // by rule, connection, violator
  std::unordered_map<std::uint64_t, bool> unchecked_seen_;
};

}  // namespace rpcrdma::referee
