// SPDX-License-Identifier: GPL-2.0-or-later
// Group L: what was refused, why a connection ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "referee/facts.hpp"
#include "referee/rules/checks.hpp"

namespace rpcrdma::referee {

// --- refusals.cpp
void judge_refusal(const Witness& witness, const trace::Refusal& refusal);

// --- refused_access.cpp
/// NAK 0x62 or a protection Terminate.
void judge_access_refused(const Witness& witness, const trace::Refusal& refusal);

// --- consequences.cpp
/// Which findings follow from another. Hears all of the report, in their order.
class Consequences {
 public:
  void hear(const Finding& finding);
  /// Those are all: each one that names an accused frame follows from that accusation.
  void link(PackedList<Finding>& findings) const;

 private:
  struct Accusation {
    RuleId rule = RuleId{};
    Severity severity = Severity::note;
  };
  /// The gravest about each frame, the first of them where several are as grave.
  std::map<std::pair<ConnectionId, std::uint64_t>, Accusation> accused_;
  std::vector<std::size_t> followers_;  ///< places of those that may follow from another
  std::size_t heard_ = 0;
};

// --- lost.cpp
/// It is over, and why was judged.
void dismiss_suspects(const Witness& witness);
void judge_close(const Witness& witness, const trace::Disconnect& event);
/// The capture ends, and it does not show that the connection did. `successor`: the first request behind it
/// between the same ends; number 0: none.
void judge_still_open(const Witness& witness, FrameRef last, FrameRef successor);

}  // namespace rpcrdma::referee
