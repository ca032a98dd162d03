// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/mount/lost_input.hpp"

#include <algorithm>

#include "referee/mount/lives.hpp"

namespace rpcrdma::referee {

namespace {

using Outcome = Attempt::Outcome;
using State = MountFacts::State;

/// What was sent again, or late, proves by itself that nothing had come until then.
[[nodiscard]] bool unanswered_before(const Attempt& attempt, const Life* life, TimeNs wait) {
  std::uint64_t copies = attempt.copies;
  FrameRef last = attempt.last;
  if (life != nullptr && life->liveness[index(Side::active)]) {
    copies = std::max(copies, life->liveness[index(Side::active)]->copies);
    keep_later(last, life->liveness[index(Side::active)]->last_copy);
  }
  return copies >= repeats_that_count || trace::elapsed(attempt.first.time, last.time) >= wait;
}

/// Of what fell silent the end is known by the end of the capture alone: what shows it is what was heard last.
[[nodiscard]] FrameRef end_of(const Life& life) noexcept {
  if (life.closed->how != Closed::How::timeout) return life.closed->frame;
  FrameRef heard = life.heard[0];
  keep_later(heard, life.heard[1]);
  return heard;
}

/// Newest sign of what keeps the mount from working: who asks for a connection has none.
[[nodiscard]] FrameRef trouble(const Assessment& a, const Mount& mount) noexcept {
  FrameRef newest;
  if (a.newest != nullptr && a.newest->closed) {
    newest = end_of(*a.newest);
    if (a.since && a.since->number != a.newest->closed->frame.number) keep_later(newest, *a.since);
  }
  for (const Attempt& attempt : mount.attempts) {
    if (attempt.outcome == Outcome::other) continue;
    keep_later(newest, attempt.last);
    keep_later(newest, attempt.answer);
  }
  if (a.failing != nullptr) {
    keep_later(newest, a.failing->last);
    keep_later(newest, a.failing->last_answer);
  }
  return newest;
}

}  // namespace

void doubt_attempts(Mount& mount, TimeNs wait) {
  for (Attempt& attempt : mount.attempts) {
    if (!attempt.waits() || attempt.outcome == Outcome::given_up || !later(mount.input_lost, attempt.last)) continue;
    const Life* life = life_with(mount, attempt.connection);
    if (life != nullptr && life->established()) continue;
    if (!unanswered_before(attempt, life, wait)) attempt.outcome = Outcome::unreadable;
  }
}

bool lost_input_hides(const Assessment& a, const Mount& mount) {
  if (mount.input_lost.number == 0) return false;
  const bool fails = a.state == State::down || a.state == State::never_up || a.doubt == Assessment::Doubt::only_tcp;
  return fails && later(mount.input_lost, trouble(a, mount));
}

void forget_trouble(Assessment& a) {
  a.state = State::unknown;
  a.hidden = std::max(a.hidden, a.newest != nullptr ? a.newest->open_calls : 0);
  a.doubt = Assessment::Doubt::input_lost;
  a.since.reset();
  a.lost = nullptr;
  a.vain = 0;
}

}  // namespace rpcrdma::referee
