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
void judge_close(const Witness& witness, const trace::Disconnect& event);
/// At the end of the capture: it ended with the FIN that nobody answered. True when there was one.
bool end_if_leaving(const Witness& witness);
enum class NoticedBy : std::uint8_t {
  close,
  successor,    ///< of the same endpoints
  capture_end,  ///< whose frame may be anybody's
};
/// What ended it: the frame in which it was noticed, or the last of its own.
FrameRef judge_lost(const Witness& witness, FrameRef noticed, NoticedBy by);
/// Refused, and nothing more: the close itself is not in the capture.
[[nodiscard]] bool ended_by_refusal(const Connection& connection);
/// Traffic stopped: retransmissions that nobody answered. True when that is proven enough to speak of a loss.
[[nodiscard]] bool retries_exhausted(const Connection& connection, FrameRef successor);

}  // namespace rpcrdma::referee
