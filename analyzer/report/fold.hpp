// SPDX-License-Identifier: GPL-2.0-or-later
// What says the same is said once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "referee/facts.hpp"

namespace rpcrdma::report {

/// `text` without what differs from one case to the next: numbers, lists of them, units of time, plural or singular.
/// Two messages that say the same of different frames become equal.
[[nodiscard]] std::string pattern_of(std::string_view text);

/// Findings that say the same; the first one speaks for all.
struct Fold {
  const referee::Finding* first = nullptr;
  std::vector<const referee::Finding*> others;

  /// How often it happened: what the referee counted on one finding included.
  [[nodiscard]] std::uint64_t times() const;
  /// Where, ascending; empty: it is about the capture as a whole.
  [[nodiscard]] std::vector<trace::ConnectionId> connections() const;
};

/// In the order of their first findings. On one connection a rule that the same side breaks at the same severity is
/// one; on several it is one where the message has the same pattern as well. `each_alone`: nothing is folded.
[[nodiscard]] std::vector<Fold> folded(const std::vector<const referee::Finding*>& findings, bool each_alone);

/// The connections of a finding, ascending; empty: it is about the capture as a whole.
[[nodiscard]] std::vector<trace::ConnectionId> connections_of(const referee::Finding& finding);
/// Is it one of them?
[[nodiscard]] bool concerns(const referee::Finding& finding, trace::ConnectionId connection);

}  // namespace rpcrdma::report
