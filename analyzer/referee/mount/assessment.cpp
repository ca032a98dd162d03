// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/mount/assessment.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "referee/mount/lives.hpp"
#include "referee/mount/lost_direction.hpp"
#include "referee/mount/lost_input.hpp"
#include "referee/mount/obstacle.hpp"
#include "referee/mount/series.hpp"
#include "trace/spans.hpp"

namespace rpcrdma::referee {

namespace {

using Outcome = Attempt::Outcome;
using State = MountFacts::State;

/// The side that the other one repeats itself to in vain.
void take_silence(Assessment& a, const Mount& mount) {
  const std::array<FrameRef, 2> heard = newest_of_each_side(mount);
  const auto consider = [&](Side silent, FrameRef first, FrameRef repeat, FrameRef last, std::uint64_t copies) {
    if (!repeats_count(copies, first, last)) return;
    if (later(heard[index(silent)], repeat)) return;
    if (a.silence && !later(last, a.silence->last_copy)) return;
    const auto behind = [&](FrameRef frame) { return later(frame, repeat) ? frame : FrameRef{}; };
    const Present& present = mount.present[index(silent)];
    a.silence = Assessment::Silence{
        silent, first, last, copies, heard[index(silent)], behind(present.surely), behind(present.perhaps)};
  };
  for (const Life& life : mount.lives) {
    if (life.orderly()) continue;
    for (const Side side : {Side::active, Side::passive}) {
      const auto& sent = life.liveness[index(side)];
      if (!sent || sent->unheard.copies == 0) continue;
      const trace::Liveness::Unheard& unheard = sent->unheard;
      consider(other(side), unheard.first, unheard.first_repeat, sent->last_copy, unheard.copies);
    }
  }
  for (const Attempt& attempt : mount.attempts) {
    if ((attempt.waits() && attempt.outcome != Outcome::accepted) || attempt.answered_by_another()) {
      consider(Side::passive, attempt.first, attempt.first, attempt.last, attempt.copies);
    }
    const Attempt::Acceptance& acceptance = attempt.acceptance;
    if (attempt.outcome == Outcome::unheard && acceptance.copies != 0) {
      consider(Side::active, acceptance.first, acceptance.first_repeat, acceptance.last, acceptance.copies);
    }
  }
  const bool no_answer = a.failing != nullptr && a.failing->unanswered + a.failing->by_others == a.failing->attempts;
  if (no_answer && a.failing->only_tcp == 0 && a.failing->attempts > 1) {
    consider(Side::passive, a.failing->first, a.failing->first, a.failing->last, a.failing->attempts - 1);
  }
}

/// What may have been answered in the frames that the capture lacks: is it worth a doubt? A Call on a connection that
/// was closed in good order is not, nor one whose sender was heard from so late that it would have sent it again long
/// since, nor what was lost with a connection, and another has carried a Reply since.
[[nodiscard]] bool may_matter(const Mount& mount, const OpenCall& call, const std::array<TimeNs, 2>& heard_until) {
  constexpr TimeNs sent_again_after = 120'000'000'000;
  if (call.ended.number != 0) {
    const Life* life = life_with(mount, call.connection);
    return (life == nullptr || !life->orderly()) && !worked_after(mount, call.ended, nullptr);
  }
  // Where nothing of its own connection is missing, that is all the same: it may just as well hang.
  const bool all_its_own =
      call.waits == OpenCall::Waits::perhaps_beside || call.waits == OpenCall::Waits::perhaps_again;
  if (all_its_own) return true;
  return trace::elapsed(call.first.time, heard_until[index(call.requester)]) < sent_again_after;
}

/// When each side was last heard from, on any connection of the mount.
[[nodiscard]] std::array<TimeNs, 2> last_heard(const Mount& mount) {
  std::array<TimeNs, 2> newest{};
  newest.fill(std::numeric_limits<TimeNs>::min());
  for (const Life& life : mount.lives) {
    for (const Side side : {Side::active, Side::passive}) {
      const FrameRef& heard = life.heard[index(side)];
      if (heard.number != 0) newest[index(side)] = std::max(newest[index(side)], heard.time);
    }
  }
  return newest;
}

/// The client has had no connection in the place of the Call's, tries to have one, and fails to the end: that others,
/// which it had before, work on (nconnect) does not help who waits.
[[nodiscard]] bool tries_in_vain(const Assessment& a, const Mount& mount, const OpenCall& call) {
  constexpr TimeNs between_attempts = 60'000'000'000;  // Linux waits for half of that at most
  // A callback may come over another connection, with another XID.
  if (call.requester != Side::active || a.failing == nullptr || !later(a.failing->first, call.ended)) return false;
  const Life* of_it = life_with(mount, call.connection);
  if (of_it == nullptr || what_it_asks_for(*a.failing, *of_it) != AsksFor::its_service) return false;
  const bool replaced = std::any_of(mount.lives.begin(), mount.lives.end(), [&](const Life& life) {
    return life.established() && later(life.opened, call.ended);
  });
  return !replaced && trace::elapsed(a.failing->last.time, a.end.time) < between_attempts;
}

void take_calls(Assessment& a, const Mount& mount, TimeNs wait) {
  const std::array<TimeNs, 2> heard_until = last_heard(mount);
  const auto consider = [&](OpenCall call, FrameRef until, std::vector<OpenCall>& where) {
    call.waited = until.time - call.first.time;
    if (call.waited < wait) return;
    if (call.fetching.read.number != 0 && trace::elapsed(call.fetching.read.time, until.time) < wait) return;
    // Its responder had that long to answer it, or is only now without credit, or room.
    constexpr TimeNs drought = 2'000'000'000;
    for (FrameRef* const since : {&call.no_credit, &call.no_window}) {
      const bool could =
          trace::passed(call.first.time, since->time, wait) || trace::elapsed(since->time, until.time) <= drought;
      if (since->number != 0 && could) *since = {};
    }
    if (!call.surely_waits()) {
      if (!may_matter(mount, call, heard_until)) return;
      ++a.hidden;
      if (call.waits == OpenCall::Waits::perhaps_again) ++a.not_compared;
      if (call.waits == OpenCall::Waits::perhaps_cut) ++a.cut;
      if (call.waits != OpenCall::Waits::perhaps_no_call) return;
      if (a.doubtful++ == 0) a.doubted = call.frame;
    } else {
      where.push_back(std::move(call));
    }
  };
  for (const OpenCall& call : mount.open_calls) consider(call, a.end, a.hanging);
  for (const OpenCall& call : mount.lost_calls) {
    // Once another connection has carried a Reply, the client is connected again, and has given this Call up.
    const bool perhaps = later(mount.unrecognised, call.ended);
    const bool given_up = worked_after(mount, call.ended, nullptr) && !tries_in_vain(a, mount, call);
    const bool goes_on = (perhaps || tries_again(mount, call.ended, call.connection) != nullptr) && !given_up;
    const bool unseen = perhaps || end_may_be_lost(mount, call.ended);
    if (goes_on && call.surely_waits() && a.end.time - call.first.time >= wait && unseen) {
      ++a.hidden;  // it may have been sent again there, and answered
      continue;
    }
    consider(call, goes_on ? a.end : call.ended, given_up ? a.given_up : a.hanging);
  }
  for (std::vector<OpenCall>* calls : {&a.hanging, &a.given_up}) {
    std::stable_sort(calls->begin(), calls->end(),
                     [](const OpenCall& x, const OpenCall& y) { return x.first.number < y.first.number; });
  }
}

/// What waits, but not long enough to call it a hang.
void take_pending(Assessment& a, const Mount& mount, TimeNs wait) {
  constexpr TimeNs worth_a_word = 1'000'000'000;
  for (const OpenCall& call : mount.open_calls) {
    const TimeNs waited = a.end.time - call.first.time;
    if (call.requester != Side::active || !call.surely_waits() || waited < worth_a_word || waited >= wait) continue;
    if (a.pending == nullptr || call.first.number < a.pending->first.number) a.pending = &call;
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

/// A server of NFSv4.0 has opened a connection of its own, perhaps, to call its client: nothing but that it calls tells
/// who is who there, and nothing shows where the client's own Calls go.
[[nodiscard]] bool returned_elsewhere(const Mount& mount, const Recall& recall) {
  const Life* life = life_with(mount, recall.connection);
  if (life == nullptr || life->roles_from != trace::RolesFrom::traffic) return false;
  return std::all_of(mount.lives.begin(), mount.lives.end(), [](const Life& each) { return each.forward == 0; });
}

/// Until then the client could have given it back: until the end, or until the end of the last connection on which it
/// could. One that the server closed counts where it was there for `wait` and served: many are closed while they idle.
[[nodiscard]] FrameRef returnable_until(const Mount& mount, const Recall& recall, FrameRef end, TimeNs wait) {
  const Life* on = life_with(mount, recall.connection);
  if (on != nullptr ? !on->closed : mount.forgotten_lives == 0) return end;
  FrameRef until = on != nullptr ? on->closed->frame : recall.callback;
  if (connected_since(mount, until) != nullptr) return end;
  const FrameRef served = mount.nfs.clients.served(recall.session);
  for (const Life& life : mount.lives) {
    const FrameRef since = later(life.opened, recall.callback) ? life.opened : recall.callback;
    const FrameRef ended = life.closed ? life.closed->frame : end;
    if (!later(life.last_reply, since) || !later(served, since)) continue;
    if (trace::elapsed(since.time, ended.time) >= wait) keep_later(until, ended);
  }
  return until;
}

/// Of two taps one may be a little ahead of the other.
[[nodiscard]] bool may_follow(FrameRef unread, FrameRef promise) noexcept {
  return unread.number != 0 && !trace::passed(unread.time, promise.time, trace::change_of_places);
}

/// What NFS itself lets the mount wait for.
void take_nfs(Assessment& a, const Mount& mount, TimeNs wait) {
  a.newest_callback = mount.nfs.newest_callback;
  const Promises& promises = mount.nfs.promises;
  const NfsClients& clients = mount.nfs.clients;
  const auto shown = [&](const auto& promise, FrameRef sign) {
    return sign.number != 0 && !clients.served_since(promise.session, sign);
  };
  for (const FrameRef& not_kept : {promises.copy_not_kept, promises.recall_not_kept}) {
    if (not_kept.number == 0 || trace::elapsed(not_kept.time, a.end.time) < wait) continue;
    ++a.hidden;
    ++a.not_kept;
  }
  for (const AsyncCopy& copy : promises.copies) {
    if (copy.ended.number != 0 || a.end.time - copy.reply.time < wait) continue;
    if (shown(copy, copy.forgotten.sign) || clients.over_since(copy.session, copy.reply)) continue;
    if (end_may_be_lost(mount, copy.reply) || shown(copy, copy.forgotten.perhaps)) {
      ++a.hidden;
    } else if (copy.elsewhere == Elsewhere::more_than_kept) {
      ++a.hidden;
      ++a.more_ended;
    } else if (may_follow(mount.nfs.unread.of_copies, copy.reply)) {
      a.unread_copy = &copy;
    } else {
      a.copies.push_back(&copy);
    }
  }
  for (const Recall& recall : promises.recalls) {
    const bool over = recall.ended.number != 0;
    if (shown(recall, recall.forgotten.sign)) continue;
    if (!over && clients.over_since(recall.session, recall.callback)) continue;
    const FrameRef until = over ? recall.ended : returnable_until(mount, recall, a.end, wait);
    if (trace::elapsed(recall.callback.time, until.time) < wait) continue;
    if (!over && never_came(mount, recall)) continue;  // what is felt is that the callback gets no answer
    const bool unseen = end_may_be_lost(mount, recall.callback) || recall.perhaps_returned.number != 0 ||
                        recall.revoked == Recall::Revoked::perhaps || shown(recall, recall.forgotten.perhaps) ||
                        returned_elsewhere(mount, recall);
    if (over) {
      if (end_may_be_lost(mount, recall.callback)) {
        a.perhaps_late = &recall;
      } else {
        a.late_recalls.push_back(&recall);
      }
    } else if (may_follow(mount.nfs.unread.any, recall.callback)) {
      a.unread_recall = &recall;
    } else if (!unseen && recall.elsewhere == Elsewhere::more_than_kept) {
      ++a.hidden;
      ++a.more_ended;
    } else if (!unseen) {
      a.recalls.push_back(&recall);
    } else {
      if (a.hidden_recalls++ == 0) a.hidden_recall = &recall;
      ++a.hidden;
    }
  }
}

/// Where something was noticed to be missing, a run ends (outcomes_missing). Of a sample that is all over, and when
/// input was lost, or a connection that is not kept lacked something, tells no more than a frame.
[[nodiscard]] bool answers_missing(const Mount& mount, const NothingDone& run) {
  return later(mount.forgotten_lack, run.first) || later(mount.input_lost, run.first) ||
         std::any_of(mount.lives.begin(), mount.lives.end(), [](const Life& life) { return life.sampled(); });
}

/// Who uses one session is refused to the end, and others are served. Not where it may have ceased to ask.
void take_session_denied(Assessment& a, const Mount& mount, TimeNs wait) {
  for (const SessionDenied& denied : mount.nfs.outcomes.denied) {
    const NothingDone& run = denied.run;
    const bool asks_on = trace::elapsed(run.last.time, a.end.time) <= wait + denied.longest_pause;
    const bool over = mount.nfs.clients.over_since(denied.session, run.first);
    if (!lasting(run, wait) || !asks_on || over || answers_missing(mount, run)) continue;
    if (a.nothing_done != nullptr && a.nothing_done->times >= run.times) continue;
    a.nothing_done = &run;
    a.nothing_of = Assessment::Whose::one_session;
  }
}

/// The server answers, and does nothing of what it is asked for.
void take_nothing_done(Assessment& a, const Mount& mount, TimeNs wait) {
  const Outcomes& outcomes = mount.nfs.outcomes;
  const NothingDone& run = outcomes.run;
  if (run.times == 0 || run.let_in_since != 0 || answers_missing(mount, run)) return;
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

void take_sent_away(Assessment& a, const Mount& mount) {
  std::vector<const Life*> lives;
  FrameRef reply;
  for (const Life& life : mount.lives) {
    keep_later(reply, life.last_reply);
    if (life.established()) lives.push_back(&life);
  }
  std::stable_sort(lives.begin(), lives.end(),
                   [](const Life* x, const Life* y) { return x->opened.number < y->opened.number; });
  while (!lives.empty() && lives.back()->sent_away() && later(lives.back()->opened, reply)) {
    a.sent_away.push_back(lives.back());
    lives.pop_back();
  }
  std::reverse(a.sent_away.begin(), a.sent_away.end());
}

/// Is it known what came of a request that the server answered?
[[nodiscard]] Assessment::Doubt doubt_of(Life::Answer answer) noexcept {
  switch (answer) {
    case Life::Answer::missing:
      return Assessment::Doubt::answer_missing;
    case Life::Answer::repeated:
      return Assessment::Doubt::unconfirmed;
    case Life::Answer::none:
    case Life::Answer::taken:
      break;
  }
  return Assessment::Doubt::none;
}

/// All connections are over, and the last one was not left in good order: to know that, no message has to be read.
[[nodiscard]] bool lost_the_last(const Mount& mount) {
  const Life* newest = nullptr;
  for (const Life& life : mount.lives) {
    if (!life.established()) continue;
    if (!life.closed || life.closed->how == Closed::How::unseen) return false;
    if (newest == nullptr || later(life.opened, newest->opened)) newest = &life;
  }
  return newest != nullptr && !newest->left_in_order();
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
  for (const Life::Answer answer : {Life::Answer::missing, Life::Answer::repeated}) {
    if (any(answer) && !any(Life::Answer::taken) && a.failing == nullptr) return doubt_of(answer);
  }
  if (one_way && !both) return Assessment::Doubt::one_direction;
  if (sends && !readable && !lost_the_last(mount)) return Assessment::Doubt::nothing_readable;
  // Where nothing has gone over TCP yet the attempt is under way, as it is before the server's SYN. Where something
  // has, it may be a mount, whatever other attempts came to.
  const bool only_tcp = std::any_of(mount.attempts.begin(), mount.attempts.end(), [](const Attempt& attempt) {
    return attempt.outcome == Outcome::unreadable && attempt.connection == 0;
  });
  const bool came_up =
      std::any_of(mount.lives.begin(), mount.lives.end(), [](const Life& life) { return life.established(); });
  if (only_tcp && !came_up) return Assessment::Doubt::only_tcp;
  return Assessment::Doubt::none;
}

/// Whether something waits is not known. Of a mount that is down that is no matter.
[[nodiscard]] Assessment::Doubt doubt_of_what_waits(const Assessment& a) {
  if (!a.hanging.empty() || !a.copies.empty() || !a.recalls.empty() || a.hidden == 0) return Assessment::Doubt::none;
  if (a.more_ended == a.hidden) return Assessment::Doubt::more_ended;
  if (a.not_kept == a.hidden) return Assessment::Doubt::not_kept;
  if (a.not_compared == a.hidden) return Assessment::Doubt::not_compared;
  if (a.cut == a.hidden) return Assessment::Doubt::messages_cut;
  return a.doubtful == a.hidden ? Assessment::Doubt::call_or_offer : Assessment::Doubt::frames_missing;
}

[[nodiscard]] State doubted(Assessment& a, Assessment::Doubt otherwise = Assessment::Doubt::none) {
  a.doubt = doubt_of_what_waits(a);
  if (a.doubt == Assessment::Doubt::none) a.doubt = otherwise;
  return State::unknown;
}

/// The oldest of what waits; nullopt: nothing does.
[[nodiscard]] std::optional<FrameRef> waits_since(const Assessment& a) {
  if (!a.hanging.empty()) return a.hanging.front().first;
  if (!a.copies.empty()) return a.copies.front()->call;
  if (!a.recalls.empty()) return a.recalls.front()->callback;
  return std::nullopt;
}

/// It may be a Call that waits, or that waited when its connection was closed.
[[nodiscard]] bool last_words_cut(Assessment& a, const Mount& mount, TimeNs wait) {
  const auto cut = std::find_if(mount.lives.begin(), mount.lives.end(), [&](const Life& life) {
    if (!life.established() || life.last_words.number == 0) return false;
    return life.closed ? &life == a.newest : trace::elapsed(life.last_words.time, a.end.time) >= wait;
  });
  if (cut == mount.lives.end()) return false;
  a.doubt = Assessment::Doubt::last_words_cut;
  a.last_words = cut->last_words;
  return true;
}

/// Somebody waits, or repeats itself unheard, since before the clock was set back, or in a capture without times: for
/// how long, no time tells.
[[nodiscard]] bool clock_hides(Assessment& a, const Mount& mount) {
  const bool no_times = mount.times == Mount::Times::none;
  if (mount.clock_set.number == 0 && !no_times) return false;
  FrameRef since;
  const auto consider = [&](FrameRef frame) {
    if (frame.number == 0 || (!no_times && frame.number >= mount.clock_set.number)) return;
    if (since.number == 0 || frame.number < since.number) since = frame;
  };
  for (const OpenCall& call : mount.open_calls) consider(call.first);
  for (const Life& life : mount.lives) {
    for (const auto& sent : life.liveness) {
      if (!life.closed && sent && sent->unheard.copies != 0) consider(sent->unheard.first);
    }
  }
  if (no_times) {
    for (const AsyncCopy& copy : mount.nfs.promises.copies) consider(copy.ended.number == 0 ? copy.call : FrameRef{});
    for (const Recall& recall : mount.nfs.promises.recalls) {
      consider(recall.ended.number == 0 ? recall.callback : FrameRef{});
    }
  }
  if (since.number == 0) return false;
  a.doubt = no_times ? Assessment::Doubt::no_times : Assessment::Doubt::clock_set;
  a.waits_unknown_since = since;
  return true;
}

[[nodiscard]] State state_of(Assessment& a, const Mount& mount, TimeNs wait) {
  if (a.doubt != Assessment::Doubt::none) return State::unknown;
  for (const Life& life : mount.lives) {
    if (life.established() && (a.newest == nullptr || later(life.opened, a.newest->opened))) a.newest = &life;
  }
  if (a.newest == nullptr) {
    return doubt_of_what_waits(a) != Assessment::Doubt::none ? doubted(a) : State::never_up;
  }
  const AsksFor asked = a.failing != nullptr ? what_it_asks_for(*a.failing, *a.newest) : AsksFor::its_service;
  const bool elsewhere = asked == AsksFor::another;
  const bool attempts_fail = a.failing != nullptr && later(a.failing->first, a.newest->opened) && !elsewhere &&
                             !worked_after(mount, a.failing->last, nullptr);
  const Life& newest = *a.newest;
  const bool over = newest.closed.has_value();
  const bool broken = over && (!newest.left_in_order() || newest.open_calls > 0);
  if (attempts_fail && asked == AsksFor::not_known && !broken && !waits_since(a) &&
      !worked_after(mount, a.failing->first, nullptr)) {
    return doubted(a, Assessment::Doubt::port_missing);
  }
  if (over && later(mount.unrecognised, newest.closed->frame) && !worked_after(mount, newest.closed->frame, &newest)) {
    return doubted(a, Assessment::Doubt::purpose_cut);
  }
  const bool end_unseen = over && newest.closed->how == Closed::How::unseen;
  if (end_unseen && !attempts_fail && !worked_after(mount, newest.closed->frame, &newest)) {
    return doubted(a, Assessment::Doubt::end_unseen);
  }
  if (over && !end_unseen && (broken || attempts_fail) && !worked_after(mount, newest.closed->frame, &newest)) {
    a.since = newest.closed->frame;
    // Closed in good order, and with nothing open, it was not down before somebody wanted it again.
    if (newest.left_in_order() && newest.open_calls == newest.behind_close.calls) {
      a.since = newest.open_calls == 0 ? a.failing->first : newest.behind_close.first;
    }
    if (newest.closed->by != Party::client || a.since->number == newest.closed->frame.number) a.lost = &newest;
    return State::down;
  }
  if (attempts_fail && !worked_after(mount, a.failing->first, nullptr)) {
    a.since = a.failing->first;
    return State::down;
  }
  if (doubt_of_what_waits(a) != Assessment::Doubt::none) return doubted(a);
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
    a.reconnects = elsewhere ? nullptr : tries_again(mount, newest.closed->frame, newest.id);
    if (a.reconnects != nullptr) {
      const Life* life = a.reconnects->connection != 0 ? life_with(mount, a.reconnects->connection) : nullptr;
      const Assessment::Doubt doubt = life != nullptr ? doubt_of(life->answer) : Assessment::Doubt::none;
      return doubt != Assessment::Doubt::none ? doubted(a, doubt) : State::working;
    }
    if (last_words_cut(a, mount, wait)) return State::unknown;
    a.since = newest.closed->frame;
    return State::closed;
  }
  a.since = waits_since(a);
  if (a.since) return State::waiting;
  if (a.unread_copy != nullptr || a.unread_recall != nullptr) {
    a.doubt = Assessment::Doubt::message_unread;
    return State::unknown;
  }
  if (last_words_cut(a, mount, wait) || clock_hides(a, mount)) return State::unknown;
  return State::working;
}

/// Who closed the mount in good order waits for nothing any more, nor does the other side.
void end_waits_with_the_mount(Assessment& a, TimeNs wait) {
  const TimeNs closed = a.since->time;
  std::erase_if(a.copies, [&](const AsyncCopy* copy) { return trace::elapsed(copy->reply.time, closed) < wait; });
  std::erase_if(a.recalls, [&](const Recall* recall) { return trace::elapsed(recall->callback.time, closed) < wait; });
}

/// The oldest Call that waits was lost with its connection, and the client has, or had, another since.
void take_reconnect(Assessment& a, const Mount& mount) {
  if (a.hanging.empty()) return;
  const FrameRef ended = a.hanging.front().ended;
  if (ended.number != 0) a.again = connected_since(mount, ended);
}

}  // namespace

Assessment assess(const Mount& mount, FrameRef end, TimeNs wait) {
  Assessment a;
  a.end = end;
  a.roles = mount.roles();
  if (!mount.lives.empty()) a.begin = mount.lives.front().opened;
  take_attempts(a, mount, wait);
  take_calls(a, mount, wait);
  take_pending(a, mount, wait);
  take_nfs(a, mount, wait);
  take_nothing_done(a, mount, wait);
  if (a.nothing_done == nullptr) take_session_denied(a, mount, wait);
  take_sent_away(a, mount);
  a.doubt = doubt_of(a, mount);
  a.state = state_of(a, mount, wait);
  if (lost_input_hides(a, mount)) forget_trouble(a);
  if (a.state == State::closed) {
    end_waits_with_the_mount(a, wait);
    a.left_at_the_door = closed_at_the_door(mount);
  }
  if (a.state == State::never_up && a.failing != nullptr) a.since = a.failing->first;
  // Attempts that failed before the wait began have nothing to do with it, nor those for another service.
  if (a.state == State::waiting && a.failing != nullptr &&
      (!later(a.failing->last, *a.since) || what_it_asks_for(*a.failing, *a.newest) == AsksFor::another)) {
    a.failing = nullptr;
  }
  take_silence(a, mount);
  take_reconnect(a, mount);
  take_obstacle(a, mount, wait);
  if (const auto lost = lost_direction(a, mount)) forget_silence(a, *lost);
  return a;
}

}  // namespace rpcrdma::referee
