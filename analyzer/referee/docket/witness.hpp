// SPDX-License-Identifier: GPL-2.0-or-later
// How rules speak: the witness knows the connection, the book, and what each rule's row says about telling it.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "referee/docket/findings.hpp"
#include "referee/options.hpp"
#include "referee/state/connection.hpp"

namespace rpcrdma::referee {

class Observer;

struct Context {
  const Options& options;
  FindingBook& book;
  BodyStore& bodies;
  Observer* observer = nullptr;
  FrameRef unplaced = {};  ///< newest packet, of whatever connection, whose header the capture cut; number 0: none
};

/// What is said of one thing that happened; the row says the rest. What is left out is not known, or is nobody.
struct Statement {
  std::initializer_list<FrameRef> frames = {};  ///< offending frame first, then the evidence; number 0: left out
  std::optional<Side> by = {};                  ///< who broke the rule
  std::optional<Role> as = {};
  std::optional<std::uint32_t> xid = {};
  const Transaction* call = nullptr;   ///< that was answered, where what is said rests on which one that is
  Severity at_most = Severity::error;  ///< lower than the row's where something is not certain
  bool habit = false;                  ///< told once and counted, whatever the row says
  std::string what = {};               ///< for a person: what happened, with numbers
};

/// `value` where `known`.
template <class T>
[[nodiscard]] constexpr std::optional<T> when(bool known, T value) {
  return known ? std::optional<T>(std::move(value)) : std::optional<T>();
}

/// A field of what may not be there.
template <class T, class Field>
[[nodiscard]] constexpr std::optional<Field> when(const T* there, Field T::*field) {
  return there != nullptr ? std::optional<Field>(there->*field) : std::optional<Field>();
}

struct Witness {
  Context& context;
  Connection& connection;

  /// May this rule accuse anybody now? Where what its row needs is not there it is unchecked, with the reason.
  [[nodiscard]] bool may(RuleId rule) const;
  /// The same for a rule about a Call and its answer.
  [[nodiscard]] bool may(RuleId rule, const Transaction& call) const;
  /// A finding, unless the rule may not accuse. Who does not keep what is returned cannot amend it.
  HeldFinding say(RuleId rule, const Statement& statement) const;
  /// An accusation that waits for its proof, unless the rule may not accuse. Where too many wait already it is given
  /// up, and the report says so.
  void wait(Case accusation, const Transaction* call = nullptr) const;
  /// What became of a case: its rule was asked when it began to wait.
  HeldFinding conclude(const Case& waited, const Statement& statement) const;
  /// The same, of a case that is no finding of its own: it goes on what `held` says.
  void conclude_as(const Case& waited, const HeldFinding& held) const;
  /// True when a rule that is told once has been told and was counted up: nothing needs to be put into words.
  [[nodiscard]] bool again(RuleId rule, FrameRef frame, std::optional<Side> by = std::nullopt) const;
  /// What a finding of this connection says instead.
  void reword(Finding& finding, std::string_view what) const;
  /// "Not checked because ...": once for each rule.
  void unchecked(RuleId rule, std::string_view why) const;

 private:
  HeldFinding write(RuleId rule, const Statement& statement) const;
};

/// The cause of its end, once nothing can change it any more, in the words of its findings.
void word_cause(Connection& connection);

}  // namespace rpcrdma::referee
