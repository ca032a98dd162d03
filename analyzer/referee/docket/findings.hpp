// SPDX-License-Identifier: GPL-2.0-or-later
// The book of findings: where rules write, bounded, with habits folded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "referee/facts.hpp"
#include "referee/held_finding.hpp"
#include "referee/observer.hpp"
#include "trace/moment.hpp"

namespace rpcrdma::referee {

/// What the witness says, in full.
struct Testimony {
  RuleId rule = RuleId::private_data_absent;
  ConnectionId connection = 0;
  std::initializer_list<FrameRef> frames = {};  ///< offending frame first; frames with number 0 are left out
  std::string message = {};
  Severity severity = Severity::error;  ///< at most the rule's
  std::optional<std::uint32_t> xid = {};
  std::optional<Party> violator = {};
  std::optional<Role> role = {};
  bool habit = false;  ///< told once, whatever the rule's row says
};

/// How often a rule was broken, or, where nobody is to blame, how often it was met.
struct Breach {
  RuleId rule = RuleId{};
  Severity severity = Severity::note;
  std::uint64_t count = 0;
  std::uint64_t first = 0;  ///< frame; 0: none
  bool blames = false;      ///< a sentence of a specification was broken
};
void count_breach(std::vector<Breach>& breaches, const Finding& finding);

/// 0: none.
[[nodiscard]] inline std::uint64_t first_frame(const Finding& finding) noexcept {
  return finding.frames.empty() ? 0 : finding.frames.front();
}

/// What was said, and when.
template <class What>
struct Said {
  What what;
  trace::Moment when;
};

void pack(PackedOctets& to, PackedWords& words, const Said<Finding>& said);
void unpack(const std::uint8_t*& from, const PackedWords& words, Said<Finding>& into);

class FindingBook {
 public:
  /// Findings of one rule on one connection that are kept one by one; more are counted on the last one.
  static constexpr std::size_t kept_each = 200;
  static constexpr std::size_t kept_few = 16;
  static constexpr std::size_t frames_each = 16;

  FindingBook() = default;
  FindingBook(const FindingBook&) = delete;
  FindingBook& operator=(const FindingBook&) = delete;
  ~FindingBook() = default;

  /// Who does not keep what is returned cannot amend it.
  HeldFinding add(const Testimony& verdict);
  /// At the end of the capture, when its connection may be concluded already.
  void add_symptom(Finding&& finding);
  /// The numbers of its findings about attempts (Row::of_attempt) that have not been told.
  [[nodiscard]] std::vector<std::size_t> untold_attempts(ConnectionId connection) const;
  /// Those of them that are still there become one note, which counts and names their connections.
  void fold_together(const std::vector<std::size_t>& numbers);
  /// For what is told once: true when that finding exists and was counted up.
  bool fold_again(RuleId rule, ConnectionId connection, FrameRef frame, std::optional<Party> violator = std::nullopt);
  /// What it rests on has turned out not to be known: it is not told, or counted once less.
  void withdraw(const HeldFinding& held);
  /// It has not been withdrawn.
  [[nodiscard]] bool stands(const HeldFinding& held) const;
  /// Adds evidence to a finding.
  void evidence(const HeldFinding& held, FrameRef frame);
  [[nodiscard]] Finding& at(const HeldFinding& held) { return entry(held.index_).finding; }

  /// Among the last few hundred findings, the oldest one of a connection for which `wanted` holds.
  template <class Predicate>
  [[nodiscard]] const Finding* oldest(ConnectionId connection, Predicate wanted) const {
    constexpr std::size_t most = 512;
    const auto of = connections_.find(connection);
    if (of == connections_.end()) return nullptr;
    for (const std::size_t index : of->second.numbers) {
      if (index + most < next_) continue;
      const auto at = entries_.find(index);
      const bool stands = at != entries_.end() && at->second.stage != Entry::Stage::withdrawn;
      if (stands && wanted(at->second.finding)) return &at->second.finding;
    }
    return nullptr;
  }

  /// "Not checked because ...": once for each (rule, connection).
  void unchecked(RuleId rule, ConnectionId connection, std::string_view reason);

  /// How many there were so far, and each by its number from 0. Not for a book that tells, nor for what rests.
  [[nodiscard]] std::size_t size() const noexcept { return next_; }
  [[nodiscard]] const Finding& finding(std::size_t number) const { return entries_.at(number).finding; }
  [[nodiscard]] bool has(RuleId rule, ConnectionId connection) const;

  /// For tests: findings of this rule are written, but not handed over.
  void leave_out(std::optional<RuleId> rule) noexcept { left_out_ = rule; }

  /// Where it is to be remembered when things were said: what says now. Outlives the book.
  void follow(const trace::Moment& now) noexcept { now_ = &now; }
  [[nodiscard]] trace::Moment now() const noexcept { return now_ != nullptr ? *now_ : trace::Moment(); }

  /// The connection is over: what is said of it takes less room, but for what a mount may still tell with others. From
  /// now on it is not asked what there is of the connection. Not for a book that tells.
  void rest(ConnectionId connection);

  /// By first frame, and then as they were said; those for which `wanted` holds.
  using Wanted = std::function<bool(const Finding&)>;
  [[nodiscard]] PackedList<Said<Finding>> take_findings(const Wanted& wanted);
  /// As they were said.
  [[nodiscard]] std::vector<Said<Unchecked>> take_unchecked();
  /// What was told, of a book that tells.
  [[nodiscard]] const std::vector<Breach>& breaches() const noexcept { return breaches_; }

  // Telling findings before the end, each once, as soon as nothing can change it any more; and forgetting them.
  void tell_to(Listener* listener) noexcept { listener_ = listener; }
  [[nodiscard]] bool anything_settled() const noexcept { return !settled_.empty(); }
  /// Those of connections for which `certain` holds; the others wait for conclude() or reconsider().
  template <class Predicate>
  void tell_settled(Predicate certain) {
    std::vector<std::size_t> settled;
    settled.swap(settled_);
    settled_.reserve(settled.capacity());
    for (const std::size_t index : settled) tell_if_settled(index, certain);
  }
  /// What is settled of this connection is to be told at the next tell_settled().
  void reconsider(ConnectionId connection);
  /// The connection is over: what there is of it is told if it is `reported`, and forgotten but for what is still held.
  void conclude(ConnectionId connection, bool reported);
  /// Nothing is held any more: what belongs to the capture as a whole.
  void conclude_all();

 private:
  struct Entry {
    Finding finding;
    std::weak_ptr<void> token;  ///< of those who hold it
    bool open_ended = false;    ///< counts on until its connection ends
    enum class Stage : std::uint8_t {
      written,
      concluded,  ///< its connection is over, and it is told as soon as nobody holds it
      told,
      withdrawn  ///< never told
    } stage = Stage::written;
    trace::Moment said;
  };
  /// What is written again and again is asked for with each message: few entries, side by side.
  struct OfConnection {
    struct Tally {
      RuleId rule = RuleId{};
      std::size_t count = 0;
      std::size_t last = 0;
    };
    struct Folded {
      RuleId rule = RuleId{};
      std::optional<Party> violator;
      std::size_t index = 0;
      Finding* finding = nullptr;  ///< in entries_, for as long as this is here
    };
    std::vector<Tally> tallies;
    std::vector<Folded> folded;
    struct Unjudged {
      RuleId rule = RuleId{};
      std::size_t number = 0;  ///< in unchecked_
    };
    std::vector<Unjudged> unchecked;
    std::vector<std::size_t> numbers;  ///< of all its findings
    [[nodiscard]] Folded* find(RuleId rule, std::optional<Party> violator);
  };
  static void fold_into(Finding& first, const Finding& finding);
  /// Wakes what rests.
  [[nodiscard]] Entry& entry(std::size_t index);
  HeldFinding add_up_to(const Testimony& verdict, std::size_t most);
  HeldFinding fold(const Testimony& verdict);
  [[nodiscard]] std::size_t append(const Testimony& verdict);
  [[nodiscard]] HeldFinding hold(std::size_t index);
  void let_go(std::size_t index) noexcept;
  /// So that letting go never allocates.
  void make_room(std::size_t more);
  void tell(const Finding& finding);
  /// Of a connection that was concluded.
  void forget(std::size_t index);
  template <class Predicate>
  void tell_if_settled(std::size_t index, Predicate certain) {
    const auto at = entries_.find(index);
    if (at == entries_.end() || at->second.stage == Entry::Stage::told || !at->second.token.expired()) return;
    Entry& entry = at->second;
    const bool concluded = entry.stage == Entry::Stage::concluded;
    if (entry.stage == Entry::Stage::withdrawn) {
      entries_.erase(at);
      return;
    }
    if (!concluded && (entry.open_ended || !certain(entry.finding.connection))) return;
    entry.stage = Entry::Stage::told;
    tell(entry.finding);
    if (concluded) forget(index);
  }

  std::optional<RuleId> left_out_;
  Listener* listener_ = nullptr;
  std::shared_ptr<void> nobody_waits_ = std::make_shared<char>();  ///< every token of a book that does not tell
  std::map<std::size_t, Entry> entries_;                           // by number, from 0
  std::size_t next_ = 0;
  PackedList<Said<Finding>> resting_;
  std::vector<std::uint32_t> place_of_;  // in resting_, from 1, by number; 0: it does not rest
  const trace::Moment* now_ = nullptr;
  std::map<std::size_t, Said<Unchecked>> unchecked_;  // by number, from 0
  std::size_t next_unchecked_ = 0;
  std::vector<Breach> breaches_;
  std::unordered_map<ConnectionId, OfConnection> connections_;
  // Only of a book that tells.
  std::vector<std::size_t> settled_;  // capacity for every token that is held: letting go never allocates
  std::size_t tokens_ = 0;
};

}  // namespace rpcrdma::referee
