// SPDX-License-Identifier: GPL-2.0-or-later
// The rule table: one row a rule. It feeds --list-rules, --explain, the documents, the reports and the plugin.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "referee/rules/list.hpp"

namespace rpcrdma::referee {

enum class Severity : std::uint8_t { note, warning, error };
enum class Versions : std::uint8_t { v1, v2, both };

#define RPCRDMA_NAME(name) name,
enum class RuleId : std::uint16_t {
  RPCRDMA_RULES_OF_VERSION_1_AND_BOTH(RPCRDMA_NAME) RPCRDMA_RULES_OF_VERSION_2(RPCRDMA_NAME)
      RPCRDMA_RULES_OF_PEERS(RPCRDMA_NAME) RPCRDMA_RULES_OF_MOUNTS(RPCRDMA_NAME) count_
};
#undef RPCRDMA_NAME

/// How often one rule is told of one connection.
enum class Repetition : std::uint8_t {
  each,  ///< one finding each time, up to a bound
  few,   ///< the first few one by one, the rest counted on the last of them
  once   ///< a habit: one finding for each violator, which counts
};

/// What has to be known before a rule may accuse anybody. Where it is not, the rule is unchecked, with the reason.
struct Needs {
  /// Of what was sent earlier: "never seen" has to prove "never sent".
  enum class Past : std::uint8_t {
    any,
    trusted,    ///< nothing is missing that may still have an effect
    whole,      ///< and both directions are in the capture
    from_start  ///< and the handshake
  } past = Past::any;
  /// Of the Call that is answered.
  enum class Call : std::uint8_t {
    any,
    sent_once,      ///< one that was sent again has registered its memory anew, and either may be the one answered
    answered_whole  ///< and nothing of its responder is missing since
  } call = Call::any;
  bool lists = false;       ///< all its chunk lists have been read
  bool file_order = false;  ///< packets stand in the file in the order of the wire: nothing else tells it
};

/// What stands above a rule's check.
struct Row {
  char group = 0;                      ///< 'A'..'N'
  Severity severity = Severity::note;  ///< the most a finding of this rule says; an undecidable condition lowers it
  Versions versions = Versions::both;
  Repetition repetition = Repetition::each;
  Needs needs = {};
  /// What an earlier breach may have brought about: it is listed under the finding whose offending frame it names.
  bool consequence = false;
  /// About one attempt to connect: once the capture has ended, a mount may tell several of them as one.
  bool of_attempt = false;
  std::string_view source;       ///< "RFC 8166 section 3.3.2; RFC 8797 section 4.2"
  std::string_view who;          ///< "sender", "requester", "responder", "client", "server", "nobody"
  std::string_view title;        ///< one line, no full stop
  std::string_view explanation;  ///< the requirement in plain words (own words), and what breaks when it is not kept
  std::string_view evidence;     ///< what on the wire proves it here, and when it cannot be decided
  std::string_view next;         ///< what to look at next on the host (tracepoint, counter, setting)
};

struct Rule : Row {
  RuleId id = RuleId::count_;
  std::string_view name;  ///< stable: "inline-threshold-exceeded"; a NUL follows
};

/// What kind of thing a finding of a rule is. `habit`: legal, and worth knowing.
enum class FindingKind : std::uint8_t { violation, symptom, habit, capture };
[[nodiscard]] FindingKind kind(RuleId rule) noexcept;

/// All rules, indexed by RuleId.
[[nodiscard]] std::span<const Rule> all_rules() noexcept;
[[nodiscard]] const Rule& rule(RuleId id) noexcept;
[[nodiscard]] const Rule* find_rule(std::string_view name) noexcept;
[[nodiscard]] std::string_view text(Severity severity) noexcept;
[[nodiscard]] std::string_view text(Versions versions) noexcept;  // "1", "2", "1, 2"

}  // namespace rpcrdma::referee
