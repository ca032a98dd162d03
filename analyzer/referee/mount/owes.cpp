// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/mount/owes.hpp"

#include <algorithm>
#include <optional>

#include "referee/mount/lives.hpp"
#include "referee/mount/series.hpp"
#include "trace/spans.hpp"

namespace rpcrdma::referee {

namespace {

/// The side that could move; nothing: which of them is not known.
[[nodiscard]] bool unanswerable(const OpenCall& call) noexcept {
  return call.no_credit.number != 0 || call.no_window.number != 0;
}

[[nodiscard]] std::optional<Side> mover(const OpenCall& call) noexcept {
  switch (call.sent) {
    case OpenCall::Sent::in_part:
      return call.requester;
    case OpenCall::Sent::in_part_perhaps:
      return std::nullopt;
    case OpenCall::Sent::for_want_of_credit:
      return other(call.requester);
    case OpenCall::Sent::whole:
      break;
  }
  return unanswerable(call) ? call.requester : other(call.requester);
}

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
/// refused something, and whose fault that was is not proven; nor what could have been sent again since, and was not.
[[nodiscard]] std::optional<Side> owed_by(const Mount& mount, const OpenCall& call) {
  const Life* life = life_with(mount, call.connection);
  const std::optional<Side> fault = life != nullptr ? life->fault : std::nullopt;
  if (!call.delivered || connected_since(mount, call.ended) != nullptr) return std::nullopt;
  if (life != nullptr && left_unawaited(mount, call, *life)) return std::nullopt;
  if (fault == call.requester) return call.pulling.number != 0 ? fault : std::nullopt;
  if (!fault && (call.refused.number != 0 || call.perhaps_refused.number != 0)) return std::nullopt;
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
[[nodiscard]] std::optional<Owes> owes_by_answers(const Assessment& a) {
  if (a.failing == nullptr) return std::nullopt;
  const AttemptSeries& failing = *a.failing;
  if (failing.declined == failing.attempts) return Owes::client;
  if (failing.unconfirmed == failing.attempts && !a.silence) return Owes::client;
  // A router that says that nobody can be reached is not the server.
  const std::uint64_t by_server = failing.rejected + failing.refused + failing.unreachable - failing.by_others;
  const bool refused = failing.last_answer.number != 0 && by_server > 0;
  const bool gone_since = a.silence && a.silence->side == Side::passive;
  if (refused && !gone_since) return Owes::server;
  // Both were there, and what lies between them is a likely reason.
  const bool both_there = !a.silence || !a.silence->gone();
  return failing.unheard + failing.by_others != 0 && both_there ? std::optional(Owes::unknown) : std::nullopt;
}

/// Its machine acknowledges, and nobody there answers; nullopt: that is not how they fail.
[[nodiscard]] std::optional<Owes> owes_an_answer(const Assessment& a, const Mount& mount, TimeNs wait) {
  // To what went no further than TCP there is nothing to answer.
  if (a.failing == nullptr || a.failing->only_tcp == a.failing->attempts) return std::nullopt;
  if (left_early(mount, *a.failing, wait)) return Owes::unknown;
  const bool there = a.failing->receipt.number != 0 || heard_since(mount, Side::passive, a.failing->last);
  return a.hanging.empty() && there ? std::optional(Owes::server) : std::nullopt;
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

/// For the oldest Call that waits.
[[nodiscard]] Owes owes_for(const Mount& mount, const OpenCall& call) {
  const Side responder = other(call.requester);
  // Nobody can answer what was not sent whole, nor anything before the requester grants.
  if (call.sent != OpenCall::Sent::whole || unanswerable(call)) return alive_or_unknown(mover(call));
  if (call.pulling.number != 0 && heard_since(mount, Side::active, call.pulling)) return Owes::client;
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
  if (call.vain == OpenCall::Vain::no_receive) return alive(call.answer.number != 0 ? call.requester : responder);
  return call.delivered || heard_since(mount, responder, call.frame) ? alive(responder) : Owes::unknown;
}

}  // namespace

Owes owes_of(const Assessment& a, const Mount& mount, TimeNs wait) {
  using State = MountFacts::State;
  using Roles = MountFacts::Roles;
  switch (a.state) {
    case State::working:
    case State::closed:
      return Owes::nobody;
    case State::unknown:
      return Owes::unknown;
    case State::never_up:
    case State::down:
    case State::waiting:
      break;
  }
  if (const auto owes = owes_by_answers(a)) return *owes;
  if (a.roles == Roles::guessed || (a.newest != nullptr && a.newest->roles == Roles::guessed)) return Owes::unknown;
  if (a.silence && a.silence->gone()) return gone(a.silence->side);
  if (a.sent_away.size() >= attempts_of_a_loop) return Owes::server;
  if (const auto owes = owes_an_answer(a, mount, wait)) return *owes;
  if (!a.hanging.empty()) return owes_for(mount, a.hanging.front());
  if (a.state == State::down) return owes_for_the_lost(a, mount);
  if (!a.copies.empty()) return Owes::server;
  return a.recalls.empty() ? Owes::unknown : Owes::client;
}

Blocked blocked(const Assessment& a) noexcept {
  if (a.failing != nullptr || a.hanging.empty()) return Blocked::no;
  const OpenCall& oldest = a.hanging.front();
  if (oldest.sent == OpenCall::Sent::in_part) return Blocked::never_whole;
  if (oldest.sent == OpenCall::Sent::for_want_of_credit) return Blocked::rest_without_credit;
  if (oldest.no_window.number != 0) return Blocked::answer_without_window;
  return oldest.no_credit.number != 0 ? Blocked::answer_without_credit : Blocked::no;
}

}  // namespace rpcrdma::referee
