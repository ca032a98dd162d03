// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/mount/obstacle.hpp"

#include <algorithm>
#include <optional>

#include "referee/mount/lives.hpp"
#include "referee/mount/series.hpp"
#include "trace/spans.hpp"

namespace rpcrdma::referee {

namespace {

/// And who has to move it.
struct Plight {
  Obstacle obstacle = Obstacle::not_known;
  Owes owes = Owes::unknown;
};

/// Its requester closed the connection in good order, before it had waited for longer than the server has needed for
/// another Call: `umount -f`, or a process that was killed. Nobody has failed to answer it.
[[nodiscard]] bool left_unawaited(const Mount& mount, const OpenCall& call, const Life& life) {
  constexpr TimeNs a_moment = 100'000'000;
  if (!life.orderly() || call.requester != Side::active || life.closed->by != Party::client) return false;
  return trace::elapsed(call.first.time, call.ended.time) < std::max(a_moment, mount.waits.worst_time);
}

/// Its requester ended the connection because of something that its responder did, which cannot answer since.
[[nodiscard]] bool ended_by_a_refusal(const Life& life, Side requester) {
  const bool refusal = life.closed->how == Closed::How::nak || life.closed->how == Closed::How::terminate;
  return refusal && life.closed->by == party(requester);
}

/// Who has to move for this Call, whose connection is over. Acknowledged, it had come to its responder. Not where the
/// requester's own fault ended the connection, or what refused the Call itself, or may have; nor where the requester
/// refused something, or left a Read of its memory without an answer, and whose fault that was is not proven; nor what
/// could have been sent again since, and was not.
[[nodiscard]] std::optional<Side> owed_by(const Mount& mount, const OpenCall& call) {
  const Life* life = life_with(mount, call.connection);
  const std::optional<Side> fault = life != nullptr ? life->fault : std::nullopt;
  if (!call.delivered || connected_since(mount, call.ended) != nullptr) return std::nullopt;
  if (life != nullptr && left_unawaited(mount, call, *life)) return std::nullopt;
  if (fault == call.requester) return call.pulling.op.number != 0 ? fault : std::nullopt;
  const bool refused = call.refused.number != 0 || call.perhaps_refused.number != 0;
  if (!fault && (refused || call.pulling.op.number != 0)) return std::nullopt;
  if (!fault && life != nullptr && life->closed && ended_by_a_refusal(*life, call.requester)) return std::nullopt;
  return other(call.requester);
}

[[nodiscard]] Owes alive(Side side) noexcept { return side == Side::active ? Owes::client : Owes::server; }
[[nodiscard]] Owes gone(Side side) noexcept {
  return side == Side::active ? Owes::client_unreachable : Owes::server_unreachable;
}
[[nodiscard]] Owes alive_or_unknown(std::optional<Side> side) noexcept { return side ? alive(*side) : Owes::unknown; }

[[nodiscard]] bool heard_since(const Mount& mount, Side side, FrameRef frame) {
  return std::any_of(mount.lives.begin(), mount.lives.end(),
                     [&](const Life& life) { return later(life.heard[index(side)], frame); });
}

/// How the attempts that fail at the end were answered says it; nullopt: it does not.
[[nodiscard]] std::optional<Plight> by_their_answers(const Assessment& a) {
  const AttemptSeries& failing = *a.failing;
  if (failing.declined == failing.attempts) return Plight{Obstacle::declined, Owes::client};
  if (failing.unconfirmed == failing.attempts && !a.silence) return Plight{Obstacle::unconfirmed, Owes::client};
  // A router that says that nobody can be reached is not the server.
  const std::uint64_t by_server = failing.rejected + failing.refused + failing.unreachable - failing.by_others;
  const bool refused = failing.last_answer.number != 0 && by_server > 0;
  const bool gone_since = a.silence && a.silence->side == Side::passive;
  if (refused && !gone_since) {
    if (failing.unreachable == failing.attempts) return Plight{Obstacle::unreachable, Owes::server};
    return Plight{failing.receipt.number != 0 ? Obstacle::undecided : Obstacle::refused, Owes::server};
  }
  // Both were there, and what lies between them is a likely reason.
  const bool both_there = !a.silence || !a.silence->gone();
  if (failing.unheard + failing.by_others != 0 && both_there) return Plight{Obstacle::on_the_way, Owes::unknown};
  return std::nullopt;
}

/// Nothing waits for as long as counts: to what was open when the connection was lost.
[[nodiscard]] Owes owes_for_the_lost(const Assessment& a, const Mount& mount) {
  if (a.lost == nullptr) return Owes::unknown;
  for (const OpenCall& call : mount.lost_calls) {
    const bool unanswered = call.answer.number == 0 && call.sent == OpenCall::Sent::whole;
    if (call.connection != a.lost->id || !unanswered || !call.surely_waits()) continue;
    if (const std::optional<Side> owes = owed_by(mount, call)) return alive(*owes);
  }
  return Owes::unknown;
}

/// Why nobody can answer it, or nothing: it could be answered.
[[nodiscard]] std::optional<Plight> held_up(const OpenCall& call) noexcept {
  switch (call.sent) {
    case OpenCall::Sent::in_part:
      return Plight{Obstacle::never_whole, alive(call.requester)};
    case OpenCall::Sent::in_part_perhaps:
      return Plight{};
    case OpenCall::Sent::for_want_of_credit:
      return Plight{Obstacle::rest_without_credit, alive(other(call.requester))};
    case OpenCall::Sent::whole:
      break;
  }
  if (call.no_window.number != 0) return Plight{Obstacle::answer_without_window, alive(call.requester)};
  if (call.no_credit.number != 0) return Plight{Obstacle::answer_without_credit, alive(call.requester)};
  return std::nullopt;
}

/// A Read of what a Call offers waits for its requester's adapter, which answers by itself: long enough to say so, and
/// the machine has been heard of since?
[[nodiscard]] bool leaves_read_unanswered(const Assessment& a, const Mount& mount, const OpenCall& call, TimeNs wait) {
  if (call.pulling.newest_copy.number != 0) return false;  // it, or its answer, does not arrive
  const FrameRef until = call.ended.number != 0 ? call.ended : a.end;
  return trace::elapsed(call.pulling.op.time, until.time) >= wait &&
         heard_since(mount, call.requester, call.pulling.op);
}

/// Who has to move for a Call that could be answered.
[[nodiscard]] Owes owes_for(const Assessment& a, const Mount& mount, const OpenCall& call, TimeNs wait) {
  const Side responder = other(call.requester);
  if (call.pulling.op.number != 0) {
    if (leaves_read_unanswered(a, mount, call, wait)) return alive(call.requester);
    // Its responder is at work on it, and waits itself.
    if (call.ended.number == 0) return Owes::unknown;
  }
  // Likewise: it has begun to answer.
  if (call.pushing.op.number != 0) return Owes::unknown;
  // Lost with its connection: there nobody can answer it any more, and where the client is connected now it has not
  // been sent.
  if (call.ended.number != 0) return alive_or_unknown(owed_by(mount, call));
  // Refused, or repeated in vain, it never came to who has to answer it, or its answer to who waits for that. Who has
  // no Receive for it has to post one.
  if (call.refused.number != 0 || call.vain == OpenCall::Vain::lost) return Owes::unknown;
  // An adapter answers a Read by itself.
  if (call.fetching.read.number != 0) {
    return heard_since(mount, responder, call.fetching.read) ? alive(responder) : Owes::unknown;
  }
  // Whether it asked in vain, or was not heard, is nowhere seen.
  if (call.denied.number != 0) return Owes::unknown;
  if (call.vain == OpenCall::Vain::no_receive) return alive(call.answer.number != 0 ? call.requester : responder);
  return call.delivered || heard_since(mount, responder, call.frame) ? alive(responder) : Owes::unknown;
}

/// The oldest Call that waits.
[[nodiscard]] Plight of_call(const Assessment& a, const Mount& mount, const OpenCall& call, TimeNs wait) {
  Plight plight;
  if (const auto held = held_up(call)) {
    plight = *held;
  } else {
    plight = {Obstacle::unserved, owes_for(a, mount, call, wait)};
  }
  if (plight.owes == Owes::unknown) {
    if (call.denied.number != 0) return {Obstacle::not_sent_again, Owes::unknown};
    const bool rdma_lost = call.pulling.newest_copy.number + call.pushing.newest_copy.number != 0;
    const bool lost = call.vain == OpenCall::Vain::lost || rdma_lost;
    return {lost ? Obstacle::lost_on_the_way : Obstacle::not_known, Owes::unknown};
  }
  if (plight.obstacle != Obstacle::unserved) return plight;
  if (call.vain == OpenCall::Vain::no_receive) {
    plight.obstacle = Obstacle::no_receive;
  } else if (plight.owes == Owes::client) {
    return plight;
  } else if (call.answer.number != 0) {
    plight.obstacle = Obstacle::refused_answer;
  } else if (call.wrong == OpenCall::Wrong::call) {
    plight.obstacle = Obstacle::broken_call;
  } else if (call.wrong == OpenCall::Wrong::answer) {
    plight.obstacle = Obstacle::broken_answer;
  } else if (call.ended.number != 0 && call.requester == Side::active) {
    const Life* life = life_with(mount, call.connection);
    const bool by_server = life != nullptr && life->closed && life->closed->by == Party::server;
    if (by_server) plight.obstacle = Obstacle::closed_instead;
  }
  return plight;
}

/// It was lost with its connection, and whether it came through is not known.
[[nodiscard]] bool lost_unanswered(const Recall& recall, const Mount& mount) {
  const Life* life = life_with(mount, recall.connection);
  return recall.answer.number == 0 && life != nullptr && life->closed.has_value();
}

/// Of all that is recalled, and not given back.
[[nodiscard]] bool none_came_through(const Mount& mount) {
  const std::vector<Recall>& recalls = mount.nfs.promises.recalls;
  return std::all_of(recalls.begin(), recalls.end(),
                     [&](const Recall& recall) { return recall.ended.number != 0 || lost_unanswered(recall, mount); });
}

/// Leaving aside attempts to connect.
[[nodiscard]] Plight of_what_waits(const Assessment& a, const Mount& mount, TimeNs wait) {
  if (!a.hanging.empty()) return of_call(a, mount, a.hanging.front(), wait);
  if (a.state == MountFacts::State::down) return {Obstacle::lost_calls, owes_for_the_lost(a, mount)};
  if (!a.copies.empty()) return {Obstacle::copy, Owes::server};
  return a.recalls.empty() ? Plight{} : Plight{Obstacle::recall, a.recall_owes};
}

[[nodiscard]] bool nobody_is_named(const Assessment& a) noexcept {
  using Roles = MountFacts::Roles;
  return a.roles == Roles::guessed || (a.newest != nullptr && a.newest->roles == Roles::guessed);
}

/// The attempts to connect fail to the end.
[[nodiscard]] Plight of_attempts(const Assessment& a, const Mount& mount, TimeNs wait) {
  if (const auto plight = by_their_answers(a)) return *plight;
  if (nobody_is_named(a)) return {Obstacle::unanswered, Owes::unknown};
  if (a.silence && a.silence->gone()) return {Obstacle::silence, gone(a.silence->side)};
  const AttemptSeries& failing = *a.failing;
  const Obstacle obstacle = failing.receipt.number != 0 ? Obstacle::undecided : Obstacle::unanswered;
  if (a.sent_away.size() >= attempts_of_a_loop) return {obstacle, Owes::server};
  // To what went no further than TCP there is nothing to answer.
  if (failing.only_tcp != failing.attempts) {
    if (left_early(mount, failing, wait)) return {Obstacle::awaited_briefly, Owes::unknown};
    // Its machine acknowledges, and nobody there answers.
    const bool there = failing.receipt.number != 0 || heard_since(mount, Side::passive, failing.last);
    if (a.hanging.empty() && there) return {obstacle, Owes::server};
  }
  return {obstacle, of_what_waits(a, mount, wait).owes};
}

[[nodiscard]] Plight plight_of(const Assessment& a, const Mount& mount, TimeNs wait) {
  using State = MountFacts::State;
  switch (a.state) {
    case State::working:
    case State::closed:
      return {Obstacle::none, Owes::nobody};
    case State::unknown:
      return {};
    case State::never_up:
    case State::down:
    case State::waiting:
      break;
  }
  if (a.failing != nullptr) return of_attempts(a, mount, wait);
  if (nobody_is_named(a)) {
    const bool lost = !a.hanging.empty() && a.hanging.front().vain == OpenCall::Vain::lost;
    return {lost ? Obstacle::lost_on_the_way : Obstacle::not_known, Owes::unknown};
  }
  if (a.silence && a.silence->gone()) return {Obstacle::silence, gone(a.silence->side)};
  if (a.sent_away.size() >= attempts_of_a_loop) return {Obstacle::sent_away, Owes::server};
  return of_what_waits(a, mount, wait);
}

}  // namespace

void take_obstacle(Assessment& a, const Mount& mount, TimeNs wait) {
  if (!a.recalls.empty() && none_came_through(mount)) a.recall_owes = Owes::unknown;
  const Plight plight = plight_of(a, mount, wait);
  a.obstacle = plight.obstacle;
  a.owes = plight.owes;
}

}  // namespace rpcrdma::referee
