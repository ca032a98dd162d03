// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/mount/assessment.hpp"

#include <algorithm>
#include <utility>

#include "trace/spans.hpp"

namespace rpcrdma::referee {

namespace {

using Outcome = Attempt::Outcome;
using State = MountFacts::State;

/// Repeated so often, over so long, without anything from the other side: it is not there.
constexpr std::uint64_t repeats_that_count = 2;
constexpr TimeNs silence_that_counts = 1'000'000'000;
constexpr std::uint64_t loop = 3;  // attempts in a row that are more than bad luck

[[nodiscard]] bool later(FrameRef a, FrameRef b) noexcept { return a.number > b.number; }
void keep_later(FrameRef& newest, FrameRef frame) noexcept {
  if (later(frame, newest)) newest = frame;
}

[[nodiscard]] const Life* life_with(const Mount& mount, ConnectionId id) {
  const auto at = std::find_if(mount.lives.begin(), mount.lives.end(), [&](const Life& life) { return life.id == id; });
  return at == mount.lives.end() ? nullptr : &*at;
}

/// With what is known at the end: repeats of an MPA Request, and whether nobody answered.
[[nodiscard]] Attempt settled(const Mount& mount, Attempt attempt) {
  if (attempt.connection != 0 && attempt.outcome == Outcome::open) {
    const Life* life = life_with(mount, attempt.connection);
    if (life != nullptr && life->established()) {
      attempt.outcome = Outcome::established;
    } else if (life != nullptr && attempt.transport == trace::Transport::iwarp) {
      const auto& sent = life->liveness[index(Side::active)];
      if (sent && sent->copies > attempt.copies) {
        attempt.copies = sent->copies;
        keep_later(attempt.last, sent->last_copy);
      }
    }
  }
  return attempt;
}

/// Nobody answers any more: it was repeated, is old, or was followed by another.
[[nodiscard]] bool unanswered(const Attempt& attempt, bool followed, FrameRef end, TimeNs wait) noexcept {
  if (!attempt.waits()) return false;
  return followed || attempt.outcome == Outcome::given_up || attempt.copies >= repeats_that_count ||
         end.time - attempt.first.time >= wait;
}

void take_attempts(Assessment& a, const Mount& mount, TimeNs wait) {
  a.attempts = mount.counted;
  a.series = mount.series;
  std::vector<Attempt> attempts;
  for (const Attempt& attempt : mount.attempts) {
    if (attempt.outcome != Outcome::other) attempts.push_back(settled(mount, attempt));
  }
  // A request that gets no answer is known as one only when the next comes.
  std::stable_sort(attempts.begin(), attempts.end(),
                   [](const Attempt& x, const Attempt& y) { return x.first.number < y.first.number; });
  for (std::size_t i = 0; i < attempts.size(); ++i) {
    const Life* life = life_with(mount, attempts[i].connection);
    if (life != nullptr && life->answer == Life::Answer::missing && !attempts[i].answered_no()) {
      ++a.attempts.made;  // whatever came of it
      continue;
    }
    const Attempt& attempt = attempts[i];
    // With nconnect several begin at once.
    const bool followed = attempts.back().client_port != attempt.client_port &&
                          attempts.back().first.time - attempt.last.time >= silence_that_counts;
    if (attempt.outcome == Outcome::unreadable) {
      ++a.attempts.made;  // whatever came of it
      continue;
    }
    if (attempt.waits() && !unanswered(attempt, followed, a.end, wait)) {
      ++a.attempts.made;  // still under way
      continue;
    }
    count_attempt(a.attempts, attempt);
    if (a.series.empty() || a.series.back().ended_by.number != 0) a.series.emplace_back();
    add_attempt(a.series.back(), attempt);
  }
  // The attempt that came through may be the one that the capture lacks.
  for (const Life& life : mount.lives) {
    const bool attempted = std::any_of(mount.attempts.begin(), mount.attempts.end(),
                                       [&](const Attempt& attempt) { return attempt.connection == life.id; });
    if (!life.established() || attempted || a.series.empty() || a.series.back().ended_by.number != 0) continue;
    if (later(life.opened, a.series.back().last)) a.series.back().ended_by = life.opened;
  }
  std::erase_if(a.series, [&](const AttemptSeries& series) {
    const bool to_the_end = series.ended_by.number == 0 && &series == &a.series.back();
    return series.attempts == 0 || (!to_the_end && series.attempts < loop);
  });
  if (!a.series.empty() && a.series.back().ended_by.number == 0) a.failing = &a.series.back();
}

/// The side that the other one repeats itself to in vain.
void take_silence(Assessment& a, const Mount& mount) {
  std::array<FrameRef, 2> heard;
  for (const Life& life : mount.lives) {
    for (const std::size_t side : {0U, 1U}) keep_later(heard[side], life.heard[side]);
  }
  for (const Attempt& attempt : mount.attempts) {
    keep_later(heard[index(Side::passive)], attempt.answer);
    keep_later(heard[index(Side::passive)], attempt.receipt);
  }
  const auto consider = [&](Side silent, FrameRef first, FrameRef repeat, FrameRef last, std::uint64_t copies) {
    if (copies < repeats_that_count || last.time - first.time < silence_that_counts) return;
    if (later(heard[index(silent)], repeat)) return;
    if (a.silence && !later(last, a.silence->last_copy)) return;
    a.silence = Assessment::Silence{silent, first, last, copies, heard[index(silent)]};
  };
  for (const Life& life : mount.lives) {
    if (life.orderly) continue;
    for (const Side side : {Side::active, Side::passive}) {
      const auto& sent = life.liveness[index(side)];
      if (sent && sent->copies > 0)
        consider(other(side), sent->first_copy, sent->first_repeat, sent->last_copy, sent->copies);
    }
  }
  for (const Attempt& attempt : mount.attempts) {
    if (attempt.waits() && attempt.outcome != Outcome::accepted) {
      consider(Side::passive, attempt.first, attempt.first, attempt.last, attempt.copies);
    }
  }
  const bool no_answer = a.failing != nullptr && a.failing->unanswered == a.failing->attempts;
  if (no_answer && a.failing->only_tcp == 0 && a.failing->attempts > 1) {
    consider(Side::passive, a.failing->first, a.failing->first, a.failing->last, a.failing->attempts - 1);
  }
}

/// Does the client try to connect again after this?
[[nodiscard]] bool tries_again(const Mount& mount, FrameRef after, ConnectionId ended) {
  return std::any_of(mount.attempts.begin(), mount.attempts.end(), [&](const Attempt& attempt) {
    return (attempt.connection == 0 || attempt.connection != ended) && later(attempt.last, after);
  });
}

/// A connection, not this one, that carried a Reply behind `frame`.
[[nodiscard]] bool worked_after(const Mount& mount, FrameRef frame, const Life* but) {
  return std::any_of(mount.lives.begin(), mount.lives.end(),
                     [&](const Life& life) { return &life != but && later(life.last_reply, frame); });
}

/// What would have ended a wait that began there may stand where nobody captured it.
[[nodiscard]] bool end_may_be_lost(const Mount& mount, FrameRef begun) {
  return gap_behind(mount, begun) ||
         std::any_of(mount.lives.begin(), mount.lives.end(), [](const Life& life) { return life.one_way; });
}

/// What may have been answered in the frames that the capture lacks: is it worth a doubt? A Call on a connection that
/// was closed in good order is not, nor one that the client would have sent again long since.
[[nodiscard]] bool may_matter(const Mount& mount, const OpenCall& call) {
  constexpr TimeNs sent_again_after = 120'000'000'000;
  if (call.ended.number != 0) {
    const Life* life = life_with(mount, call.connection);
    return life == nullptr || !life->orderly;
  }
  return call.waited < sent_again_after;
}

void take_calls(Assessment& a, const Mount& mount, TimeNs wait) {
  const auto consider = [&](OpenCall call, FrameRef until) {
    call.waited = until.time - call.first.time;
    if (call.waited < wait) return;
    // Its responder had that long to answer it, or is only now without credit.
    constexpr TimeNs drought = 2'000'000'000;
    const bool could = trace::passed(call.first.time, call.no_credit.time, wait) ||
                       trace::elapsed(call.no_credit.time, until.time) <= drought;
    if (call.no_credit.number != 0 && could) call.no_credit = {};
    if (call.hidden) {
      a.hidden += may_matter(mount, call) ? 1 : 0;
    } else if (call.ended.number != 0 && worked_after(mount, call.ended, nullptr)) {
      a.given_up.push_back(std::move(call));
    } else {
      a.hanging.push_back(std::move(call));
    }
  };
  for (const OpenCall& call : mount.open_calls) consider(call, a.end);
  for (const OpenCall& call : mount.lost_calls) {
    // Once another connection has carried a Reply, the client is connected again, and has given this Call up.
    const bool goes_on = tries_again(mount, call.ended, call.connection) && !worked_after(mount, call.ended, nullptr);
    if (goes_on && !call.hidden && a.end.time - call.first.time >= wait && end_may_be_lost(mount, call.ended)) {
      ++a.hidden;  // it may have been sent again there, and answered
      continue;
    }
    consider(call, goes_on ? a.end : call.ended);
  }
  for (std::vector<OpenCall>* calls : {&a.hanging, &a.given_up}) {
    std::stable_sort(calls->begin(), calls->end(),
                     [](const OpenCall& x, const OpenCall& y) { return x.first.number < y.first.number; });
  }
}

/// A callback that its client's adapter never acknowledged: nobody there knows of it.
[[nodiscard]] bool never_came(const Mount& mount, const Recall& recall) {
  const auto is_it = [&](const OpenCall& call) {
    return call.requester == Side::passive && call.frame.number == recall.callback.number && !call.delivered;
  };
  return recall.answer.number == 0 && (std::any_of(mount.open_calls.begin(), mount.open_calls.end(), is_it) ||
                                       std::any_of(mount.lost_calls.begin(), mount.lost_calls.end(), is_it));
}

/// What NFS itself lets the mount wait for.
void take_nfs(Assessment& a, const Mount& mount, TimeNs wait) {
  a.newest_callback = mount.nfs.newest_callback;
  for (const AsyncCopy& copy : mount.nfs.copies) {
    if (copy.ended.number != 0 || a.end.time - copy.reply.time < wait) continue;
    if (end_may_be_lost(mount, copy.reply)) {
      ++a.hidden;
    } else if (later(mount.nfs.unread, copy.reply)) {
      a.unread_copy = &copy;
    } else {
      a.copies.push_back(&copy);
    }
  }
  for (const Recall& recall : mount.nfs.recalls) {
    const bool over = recall.ended.number != 0;
    const FrameRef until = over ? recall.ended : a.end;
    if (trace::elapsed(recall.callback.time, until.time) < wait) continue;
    if (!over && never_came(mount, recall)) continue;  // what is felt is that the callback gets no answer
    if (!over && later(mount.nfs.unread, recall.callback)) {
      a.unread_recall = &recall;
    } else if (!end_may_be_lost(mount, recall.callback)) {
      (over ? a.late_recalls : a.recalls).push_back(&recall);
    } else if (!over) {
      ++a.hidden;
    }
  }
}

/// The capture shows all that was ever asked on these connections.
[[nodiscard]] bool begins_with_the_mount(const Mount& mount) {
  const auto asked_for = [&](const Life& life) {
    return std::any_of(mount.attempts.begin(), mount.attempts.end(),
                       [&](const Attempt& attempt) { return attempt.connection == life.id; });
  };
  return mount.forgotten_lives == 0 && std::all_of(mount.lives.begin(), mount.lives.end(), asked_for);
}

/// The server answers, and does nothing of what it is asked for.
void take_nothing_done(Assessment& a, const Mount& mount, TimeNs wait) {
  const Outcomes& outcomes = mount.nfs.outcomes;
  const NothingDone& run = outcomes.run;
  if (run.times == 0 || gap_behind(mount, run.first)) return;
  // Who was never served by RPC needs no time to see that; but a client asks for another context, or with NULL
  // whether there is anybody, as a matter of course.
  const bool all = outcomes.done == 0 && run.for_good == run.times && (outcomes.nulls == 0 || run.asking != 0);
  if (all && begins_with_the_mount(mount)) {
    a.nothing_since = Assessment::Since::the_start;
  } else if (!lasting(run, wait)) {
    return;
  }
  a.nothing_done = &run;
}

[[nodiscard]] Assessment::Doubt doubt_of(const Assessment& a, const Mount& mount) {
  bool sends = false;
  bool readable = false;
  bool both = false;
  bool one_way = false;
  for (const Life& life : mount.lives) {
    sends = sends || life.messages > 0;
    readable = readable || life.readable > 0 || life.cut == 0;
    one_way = one_way || life.one_way;
  }
  // A connection that carried no message shows only who shook hands.
  for (const Life& life : mount.lives) both = both || (!life.one_way && (life.messages > 0 || !sends));
  const auto any = [&](Life::Answer answer) {
    return std::any_of(mount.lives.begin(), mount.lives.end(), [&](const Life& life) { return life.answer == answer; });
  };
  if (any(Life::Answer::missing) && !any(Life::Answer::taken) && a.failing == nullptr) {
    return Assessment::Doubt::answer_missing;
  }
  if (one_way && !both) return Assessment::Doubt::one_direction;
  if (sends && !readable) return Assessment::Doubt::nothing_readable;
  const bool only_tcp = std::any_of(mount.attempts.begin(), mount.attempts.end(), [](const Attempt& attempt) {
    return (attempt.outcome == Outcome::accepted || attempt.outcome == Outcome::unreadable) && attempt.connection == 0;
  });
  if (mount.lives.empty() && only_tcp && a.failing == nullptr) return Assessment::Doubt::only_tcp;
  if (a.hanging.empty() && a.copies.empty() && a.recalls.empty() && a.hidden > 0) {
    return Assessment::Doubt::frames_missing;
  }
  return Assessment::Doubt::none;
}

/// The connection that ended last with Calls of the client open, if nothing has carried a Reply since: they are still
/// outstanding, also where the newest connection was closed in good order.
[[nodiscard]] const Life* left_calls_open(const Mount& mount) {
  const Life* last = nullptr;
  for (const Life& life : mount.lives) {
    if (!life.established() || !life.closed || life.open_calls == 0) continue;
    if (last == nullptr || later(life.closed->frame, last->closed->frame)) last = &life;
  }
  return last != nullptr && !worked_after(mount, last->closed->frame, nullptr) ? last : nullptr;
}

/// Who is refused at another port asked for another service.
[[nodiscard]] bool asks_elsewhere(const Mount& mount, const AttemptSeries& series, const Life& life) {
  const auto its = std::find_if(mount.attempts.begin(), mount.attempts.end(),
                                [&](const Attempt& attempt) { return attempt.connection == life.id; });
  return its != mount.attempts.end() && its->server_port && series.port && its->server_port != series.port;
}

[[nodiscard]] State state_of(Assessment& a, const Mount& mount) {
  if (a.doubt != Assessment::Doubt::none) return State::unknown;
  for (const Life& life : mount.lives) {
    if (life.established() && (a.newest == nullptr || later(life.opened, a.newest->opened))) a.newest = &life;
  }
  if (a.newest == nullptr) return State::never_up;
  const bool elsewhere = a.failing != nullptr && asks_elsewhere(mount, *a.failing, *a.newest);
  const bool attempts_fail = a.failing != nullptr && later(a.failing->first, a.newest->opened) && !elsewhere &&
                             !worked_after(mount, a.failing->last, nullptr);
  const Life& newest = *a.newest;
  const bool over = newest.closed.has_value();
  if (over && (!newest.orderly || newest.open_calls > 0 || attempts_fail) &&
      !worked_after(mount, newest.closed->frame, &newest)) {
    a.since = newest.closed->frame;
    // Closed in good order, and with nothing open, it was not down before somebody wanted it again.
    if (newest.orderly && newest.open_calls == 0) a.since = a.failing->first;
    if (newest.closed->by != Party::client || a.since->number == newest.closed->frame.number) a.lost = &newest;
    return State::down;
  }
  if (attempts_fail && !worked_after(mount, a.failing->first, nullptr)) {
    a.since = a.failing->first;
    return State::down;
  }
  const bool another_is_open = std::any_of(mount.lives.begin(), mount.lives.end(), [](const Life& life) {
    return life.established() && !life.closed && life.messages > 0;
  });
  if (over && !another_is_open) {
    if (const Life* with_calls = left_calls_open(mount)) {
      a.lost = with_calls;
      a.since = with_calls->closed->frame;
      a.vain = static_cast<std::uint64_t>(std::count_if(mount.lives.begin(), mount.lives.end(), [&](const Life& life) {
        return life.established() && later(life.opened, *a.since);
      }));
      return State::down;
    }
    if (!elsewhere && tries_again(mount, newest.closed->frame, newest.id)) return State::working;  // under way
    a.since = newest.closed->frame;
    return State::closed;
  }
  if (!a.hanging.empty()) {
    a.since = a.hanging.front().first;
    return State::waiting;
  }
  if (!a.copies.empty()) {
    a.since = a.copies.front()->call;
    return State::waiting;
  }
  if (!a.recalls.empty()) {
    a.since = a.recalls.front()->callback;
    return State::waiting;
  }
  if (a.unread_copy != nullptr || a.unread_recall != nullptr) {
    a.doubt = Assessment::Doubt::message_unread;
    return State::unknown;
  }
  return State::working;
}

/// The side that could move; nothing: which of them is not known.
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
  return call.no_credit.number != 0 ? call.requester : other(call.requester);
}

/// Who closed the mount in good order waits for nothing any more, nor does the other side.
void end_waits_with_the_mount(Assessment& a, TimeNs wait) {
  const TimeNs closed = a.since->time;
  std::erase_if(a.copies, [&](const AsyncCopy* copy) { return trace::elapsed(copy->reply.time, closed) < wait; });
  std::erase_if(a.recalls, [&](const Recall* recall) { return trace::elapsed(recall->callback.time, closed) < wait; });
}

/// The newest connection on which the client could have sent again what was lost with another one: it is open, or the
/// client itself closed it in good order.
[[nodiscard]] const Life* connected_since(const Mount& mount, FrameRef ended) {
  const Life* since = nullptr;
  for (const Life& life : mount.lives) {
    const bool could = !life.closed || (life.orderly && life.closed->by == Party::client);
    if (!life.established() || !could || !later(life.opened, ended)) continue;
    if (since == nullptr || later(life.opened, since->opened)) since = &life;
  }
  return since;
}

/// The oldest Call that waits was lost with its connection, and the client has, or had, another since.
void take_reconnect(Assessment& a, const Mount& mount) {
  if (a.hanging.empty()) return;
  const FrameRef ended = a.hanging.front().ended;
  if (ended.number != 0) a.again = connected_since(mount, ended);
}

/// Its requester closed the connection in good order, before it had waited for longer than the server has needed for
/// another Call: `umount -f`, or a process that was killed. Nobody has failed to answer it.
[[nodiscard]] bool left_unawaited(const Mount& mount, const OpenCall& call, const Life& life) {
  constexpr TimeNs a_moment = 100'000'000;
  if (!life.orderly || call.requester != Side::active || life.closed->by != Party::client) return false;
  return trace::elapsed(call.first.time, call.ended.time) < std::max(a_moment, mount.waits.worst_time);
}

/// Who has to move for this Call, whose connection is over. Acknowledged, it had come to its responder. Not where the
/// requester's own fault ended the connection, or what refused the Call itself; nor what could have been sent again
/// since, and was not.
[[nodiscard]] std::optional<Side> owed_by(const Mount& mount, const OpenCall& call) {
  const Life* life = life_with(mount, call.connection);
  const std::optional<Side> fault = life != nullptr ? life->fault : std::nullopt;
  if (!call.delivered || connected_since(mount, call.ended) != nullptr) return std::nullopt;
  if (life != nullptr && left_unawaited(mount, call, *life)) return std::nullopt;
  if (fault == call.requester) return call.pulling.number != 0 ? fault : std::nullopt;
  if (!fault && call.refused.number != 0) return std::nullopt;
  return other(call.requester);
}

/// The client ended TCP itself, before it had waited for an answer as long as that counts: nobody owes it one.
[[nodiscard]] bool left_early(const Mount& mount, const AttemptSeries& series, TimeNs wait) {
  return std::all_of(mount.attempts.begin(), mount.attempts.end(), [&](const Attempt& attempt) {
    const bool of_it = attempt.first.number >= series.first.number && attempt.first.number <= series.last.number;
    const bool early = attempt.left.number != 0 && attempt.copies < repeats_that_count &&
                       trace::elapsed(attempt.first.time, attempt.left.time) < wait;
    return !of_it || early;
  });
}

[[nodiscard]] Owes owes_of(const Assessment& a, const Mount& mount, TimeNs wait) {
  const auto alive = [](Side side) { return side == Side::active ? Owes::client : Owes::server; };
  const auto gone = [](Side side) {
    return side == Side::active ? Owes::client_unreachable : Owes::server_unreachable;
  };
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
  const bool refused = a.failing != nullptr && a.failing->last_answer.number != 0 &&
                       a.failing->rejected + a.failing->refused + a.failing->unreachable > 0;
  if (a.failing != nullptr && a.failing->declined == a.failing->attempts) return Owes::client;
  if (a.failing != nullptr && a.failing->unconfirmed == a.failing->attempts && !a.silence) return Owes::client;
  const bool gone_since = a.silence && a.silence->side == Side::passive;
  if (refused && !gone_since) return Owes::server;
  using Roles = MountFacts::Roles;
  if (a.roles == Roles::guessed || (a.newest != nullptr && a.newest->roles == Roles::guessed)) return Owes::unknown;
  if (a.silence) return gone(a.silence->side);
  const auto heard_since = [&](Side side, FrameRef frame) {
    return std::any_of(mount.lives.begin(), mount.lives.end(),
                       [&](const Life& life) { return later(life.heard[index(side)], frame); });
  };
  // Its machine acknowledges, and nobody there answers. To what went no further than TCP there is nothing to answer.
  const bool asked = a.failing != nullptr && a.failing->only_tcp < a.failing->attempts;
  const bool has_request = asked && a.failing->receipt.number != 0;
  if (asked && left_early(mount, *a.failing, wait)) return Owes::unknown;
  if (asked && a.hanging.empty() && (has_request || heard_since(Side::passive, a.failing->last))) return Owes::server;
  if (a.state == State::down && a.hanging.empty()) {
    const auto open = std::find_if(mount.lost_calls.begin(), mount.lost_calls.end(), [&](const OpenCall& call) {
      const bool unanswered = call.answer.number == 0 && call.sent == OpenCall::Sent::whole;
      return a.lost != nullptr && call.connection == a.lost->id && unanswered && !call.hidden && owed_by(mount, call);
    });
    return open != mount.lost_calls.end() ? alive(*owed_by(mount, *open)) : Owes::unknown;
  }
  if (a.hanging.empty() && !a.copies.empty()) return Owes::server;
  if (a.hanging.empty() && !a.recalls.empty()) return Owes::client;
  if (a.hanging.empty()) return Owes::unknown;
  const OpenCall& oldest = a.hanging.front();
  const Side responder = other(oldest.requester);
  // Nobody can answer what was not sent whole, nor anything before the requester grants.
  if (oldest.sent != OpenCall::Sent::whole || oldest.no_credit.number != 0) {
    const std::optional<Side> side = mover(oldest);
    return side ? alive(*side) : Owes::unknown;
  }
  if (oldest.pulling.number != 0 && heard_since(Side::active, oldest.pulling)) return Owes::client;
  // Refused, or lost with its connection, it never came to who has to answer it. Where it was sent nobody can answer
  // it any more, and where the client is connected now it has not been sent.
  const bool may_come = oldest.ended.number == 0;
  if (may_come && oldest.refused.number != 0) return Owes::unknown;
  if (may_come) return oldest.delivered || heard_since(responder, oldest.frame) ? alive(responder) : Owes::unknown;
  const std::optional<Side> owes = owed_by(mount, oldest);
  return owes ? alive(*owes) : Owes::unknown;
}

}  // namespace

Life life_of(const Connection& connection) {
  const ConnectionFacts& facts = connection.facts;
  Life life;
  life.id = connection.id();
  life.opened = facts.opened;
  life.last_reply = connection.last_answer;
  life.messages = connection.messages;
  life.readable = connection.messages_read;
  life.cut = connection.messages_cut;
  life.closed = facts.closed;
  const bool told = facts.closed && facts.closed->how == Closed::How::disconnect;
  life.orderly = told && (!facts.closed->cause || facts.closed->cause->rule == RuleId::cm_dreq);
  life.one_way = facts.one_way;
  life.fault = connection.fault;
  life.asked_in_vain = connection.asked_in_vain;
  if (!connection.roles_known()) life.roles = MountFacts::Roles::guessed;
  const bool taken =
      connection.reply_seen() || connection.ready_seen || connection.messages > 0 || !facts.handshake_seen;
  if (!connection.rejected() && taken) {
    life.answer = Life::Answer::taken;
  } else if (!connection.rejected() && connection.of(Side::passive).gaps > 0) {
    life.answer = Life::Answer::missing;
  }
  for (const Side side : {Side::active, Side::passive}) {
    const SideState& state = connection.of(side);
    life.newest_gap[index(side)] = state.newest_gap;
    FrameRef& heard = life.heard[index(side)];
    heard = state.last_event;
    if (state.liveness) keep_later(heard, state.liveness->heard);
    life.liveness[index(side)] = state.liveness;
  }
  return life;
}

void count_attempt(MountFacts::Attempts& counts, const Attempt& attempt) {
  ++counts.made;
  if (attempt.outcome == Outcome::established) {
    ++counts.established;
  } else if (attempt.answered_no()) {
    ++counts.refused;
  } else {
    ++counts.unanswered;
    counts.only_tcp += attempt.outcome == Outcome::accepted ? 1 : 0;
  }
}

void add_attempt(AttemptSeries& series, const Attempt& attempt) {
  if (attempt.outcome == Outcome::established) {
    series.ended_by = attempt.first;
    return;
  }
  if (series.attempts++ == 0) series.first = attempt.first;
  series.last = attempt.last;
  if (attempt.answered_no()) keep_later(series.last_answer, attempt.answer);
  if (attempt.reason) series.reason = attempt.reason;
  if (attempt.server_port) series.port = attempt.server_port;
  series.rejected += attempt.outcome == Outcome::rejected ? 1 : 0;
  series.declined += attempt.outcome == Outcome::declined ? 1 : 0;
  series.unconfirmed += attempt.outcome == Outcome::unconfirmed ? 1 : 0;
  series.refused += attempt.outcome == Outcome::refused ? 1 : 0;
  series.unreachable += attempt.outcome == Outcome::unreachable ? 1 : 0;
  series.unanswered += attempt.answered_no() ? 0 : 1;
  series.receipt = attempt.answered_no() ? FrameRef{} : attempt.receipt;
  series.acknowledged += series.receipt.number != 0 ? 1 : 0;
  series.only_tcp += attempt.outcome == Outcome::accepted ? 1 : 0;
  if (attempt.connection != 0 && series.connections.size() < Mount::most_connections_named) {
    series.connections.push_back(attempt.connection);
  }
}

Assessment assess(const Mount& mount, FrameRef end, TimeNs wait) {
  Assessment a;
  a.end = end;
  a.roles = mount.roles();
  if (!mount.lives.empty()) a.begin = mount.lives.front().opened;
  take_attempts(a, mount, wait);
  take_calls(a, mount, wait);
  take_nfs(a, mount, wait);
  take_nothing_done(a, mount, wait);
  a.doubt = doubt_of(a, mount);
  a.state = state_of(a, mount);
  if (a.state == State::closed) end_waits_with_the_mount(a, wait);
  if (a.state == State::never_up && a.failing != nullptr) a.since = a.failing->first;
  // Attempts that failed before the wait began have nothing to do with it.
  if (a.state == State::waiting && a.failing != nullptr && !later(a.failing->last, *a.since)) a.failing = nullptr;
  take_silence(a, mount);
  take_reconnect(a, mount);
  a.owes = owes_of(a, mount, wait);
  return a;
}

}  // namespace rpcrdma::referee
