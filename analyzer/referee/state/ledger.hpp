// SPDX-License-Identifier: GPL-2.0-or-later
// Credits of one direction, and what waiting for them costs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "referee/facts.hpp"
#include "referee/held_finding.hpp"
#include "trace/spans.hpp"

namespace rpcrdma::referee {

/// What a legal habit costs: one folded finding, completed at the end of the connection.
struct Cost {
  HeldFinding finding;
  std::uint64_t times = 0;
  std::uint64_t timed = 0;  ///< those of which the time is known
  TimeNs total = 0;
  TimeNs longest = 0;
  std::uint64_t octets = 0;

  void took(TimeNs time) noexcept {
    if (time <= 0) return;  // a clock step, or a clock that stands
    ++timed;
    total = trace::plus(total, time);
    longest = longest > time ? longest : time;
  }
};

/// One direction's credit ledger (RFC 8166 section 3.3.1); the index is the requester.
struct Ledger {
  std::optional<std::uint32_t> requested;
  std::optional<std::uint32_t> granted;  ///< newest grant seen
  struct Grant {
    std::uint64_t ordinal = 0;  ///< of the Reply that carried it
    std::uint32_t stated = 0;   ///< 0 counts as 1
    std::uint64_t ended = 0;    ///< Ledger::ended in front of that Reply
    FrameRef acknowledged;      ///< where its requester is first seen to have received it; number 0: nowhere yet
    [[nodiscard]] std::uint32_t value() const noexcept { return std::max(stated, 1U); }
  };
  std::vector<Grant> grants;  ///< those that may still be in force: the newest that was surely taken, and later ones
  std::uint64_t outstanding = 0;
  std::uint64_t ended = 0;  ///< how many of them an answer has ended
  /// At most so many of those are no Calls at all: the capture cut them before they say so.
  std::uint64_t uncertain = 0;
  std::uint64_t peak = 0;
  bool answered = false;  ///< a Reply or RDMA_ERROR has been seen in this epoch
  /// Messages of this side since its peer's newest one that take a Receive and need not get an answer: broken ones,
  /// stray Replies, RDMA_DONE, RDMA_ERROR.
  std::uint64_t unanswered = 0;
  std::uint64_t dones = 0;  ///< of these, RDMA_DONE
  FrameRef first_call;
  FrameRef last_reply;
  bool over = false;  ///< inside an episode of too many Calls
  std::uint64_t episodes = 0;
  std::uint64_t reported_episode = 0;
  HeldFinding episode_finding;
  std::uint64_t stalls = 0;
  FrameRef full_since;  ///< in-flight equals the grant, or the requester's own lower wish, since then; number 0: no
  std::uint32_t full_of_wish = 0;  ///< that wish; 0: it is the grant
  bool full_reported = false;
  Cost full;   ///< all times that it did, however short
  Cost stall;  ///< those that lasted

  /// So many of the open Calls need no answer any more.
  void end(std::uint64_t calls) noexcept;
  /// What was cut before it said so was one: it has an answer.
  void one_was_a_call() noexcept {
    if (uncertain > 0) --uncertain;
  }
  /// Nothing is outstanding: it is counted anew.
  void recount() noexcept {
    outstanding = 0;
    for (Grant& grant : grants) grant.ended = ended;
  }
  /// The limit that the requester is bound by, giving it every benefit of the doubt. 0 counts as 1.
  [[nodiscard]] std::uint32_t limit() const noexcept;
  /// Calls that the requester had outstanding, and what it was allowed.
  struct Bound {
    std::uint64_t outstanding = 0;
    std::uint64_t limit = 1;
  };
  /// The one of those that may be in force that leaves the requester the most room. Who has not taken a Reply yet is
  /// not bound by its grant, but has the Call open that it answers.
  [[nodiscard]] Bound widest() const noexcept;
  /// By one of them at least it would be above its limit.
  [[nodiscard]] bool above_one() const noexcept;
};

inline void Ledger::end(std::uint64_t calls) noexcept {
  calls = std::min(calls, outstanding);
  outstanding -= calls;
  ended += calls;
  uncertain = std::min(uncertain, outstanding);
}

inline std::uint32_t Ledger::limit() const noexcept {
  std::uint32_t best = 1;  // RFC 8166 section 3.3.3: one until the first Reply
  for (const Grant& grant : grants) best = std::max(best, grant.value());
  return best;
}

inline bool Ledger::above_one() const noexcept {
  bool above = outstanding > (grants.empty() ? 1 : grants.back().value());
  for (std::size_t i = 1; i < grants.size(); ++i) {
    above = above || outstanding + (ended - grants[i].ended) > grants[i - 1].value();
  }
  return above;
}

inline Ledger::Bound Ledger::widest() const noexcept {
  Bound best{outstanding, grants.empty() ? 1 : grants.back().value()};
  for (std::size_t i = 1; i < grants.size(); ++i) {
    const Bound before{outstanding + (ended - grants[i].ended), grants[i - 1].value()};
    if (before.limit + best.outstanding > best.limit + before.outstanding) best = before;
  }
  return best;
}

}  // namespace rpcrdma::referee
