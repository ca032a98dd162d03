// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/mount/lives.hpp"

#include <algorithm>

namespace rpcrdma::referee {

namespace {

/// Only an established connection is closed with a DREQ, and only to one does DREP answer (IBA chapter 12.9): what
/// established it is not in the capture.
[[nodiscard]] bool closed_as_established(const Connection& connection) noexcept {
  return connection.facts.transport != trace::Transport::iwarp &&
         (connection.sides[0].farewell.number != 0 || connection.sides[1].farewell.number != 0);
}

/// The newest Reply to a Call of this side whose Read, in front of it, shows no answer: who answers a Call has its
/// data, so this side did send. Number 0: there is none.
[[nodiscard]] FrameRef answered_unseen(const Connection& connection, Side side) {
  const SideState& responder = connection.of(other(side));
  if (responder.reads.open.empty()) return {};
  const auto unread = [&](const TransactionId& call) {
    return responder.ops.newest([&](const JudgedOp& op) {
      return op.transaction == call && !writes(op.verb) && responder.reads.waits(op.op);
    }) != nullptr;
  };
  const RecentSend* const reply = responder.sends.newest(
      [&](const RecentSend& send) { return send.reply() && send.exchange.generation != 0 && unread(send.exchange); });
  return reply != nullptr ? reply->frame : FrameRef{};
}

/// The newest connection that began where the capture lacks something, as it lacks its request; number 0: there is
/// none.
[[nodiscard]] FrameRef begun_unseen(const Mount& mount) {
  FrameRef newest;
  for (const Life& life : mount.lives) {
    if (life.request == Life::Request::missing) keep_later(newest, life.opened);
  }
  return newest;
}

}  // namespace

Life life_of(const Connection& connection) {
  const ConnectionFacts& facts = connection.facts;
  Life life;
  life.id = connection.id();
  life.opened = facts.opened;
  life.server_port = facts.server.port;
  life.last_reply = connection.last_answer;
  life.messages = connection.messages;
  life.readable = connection.messages_read;
  life.cut = connection.messages_cut;
  life.callbacks = facts.messages.reverse_calls;
  life.forward = facts.messages.calls + facts.messages.replies;
  life.roles_from = facts.roles_from;
  life.errors = facts.messages.rdma_error;
  if (!facts.handshake_seen || connection.gaps() != 0 || connection.passed_over != 0) life.seen = Life::Seen::in_part;
  life.closed = facts.closed;
  const bool told = facts.closed && facts.closed->how == Closed::How::disconnect;
  const bool for_a_fault = told && facts.closed->cause && facts.closed->cause->rule != RuleId::cm_dreq;
  if (told && !for_a_fault) life.left = Life::Left::in_order;
  if (for_a_fault && !facts.closed->cause->proven) life.left = Life::Left::perhaps_for_a_fault;
  // Who is answered has asked, and who confirms has been answered.
  const bool only_answers =
      connection.reply_seen() && !connection.request_seen() && connection.of(Side::active).events == 0;
  const bool only_confirms =
      connection.ready_seen && !connection.reply_seen() && connection.of(Side::passive).events == 0;
  life.one_way = facts.one_way || only_answers || only_confirms;
  life.fault = connection.fault;
  life.asked_in_vain = connection.asked_in_vain;
  if (!connection.roles_known()) life.roles = MountFacts::Roles::guessed;
  const bool taken =
      connection.reply_seen() || connection.ready_seen || connection.messages > 0 || !facts.handshake_seen;
  if (!connection.rejected() && taken && !connection.accepts_in_vain()) {
    life.answer = connection.perhaps_unconfirmed() ? Life::Answer::repeated : Life::Answer::taken;
  } else if (!connection.rejected() && !taken &&
             (connection.of(Side::passive).gaps > 0 || closed_as_established(connection))) {
    life.answer = Life::Answer::missing;
  }
  if (connection.request_seen()) life.request = Life::Request::seen;
  life.last_words = connection.of(Side::active).last_words;
  for (const Side side : {Side::active, Side::passive}) {
    const SideState& state = connection.of(side);
    life.newest_lack[index(side)] = state.newest_lack();
    keep_later(life.newest_lack[index(side)], answered_unseen(connection, side));
    FrameRef& heard = life.heard[index(side)];
    heard = state.last_event;
    if (state.liveness) keep_later(heard, state.liveness->heard);
    life.liveness[index(side)] = state.liveness;
  }
  return life;
}

const Life* life_with(const Mount& mount, ConnectionId id) {
  const auto at = std::find_if(mount.lives.begin(), mount.lives.end(), [&](const Life& life) { return life.id == id; });
  return at == mount.lives.end() ? nullptr : &*at;
}

const Attempt* tries_again(const Mount& mount, FrameRef after, ConnectionId ended) {
  const auto newest = std::find_if(mount.attempts.rbegin(), mount.attempts.rend(), [&](const Attempt& attempt) {
    const bool counts = attempt.outcome != Attempt::Outcome::other;
    return counts && (attempt.connection == 0 || attempt.connection != ended) && later(attempt.last, after);
  });
  return newest == mount.attempts.rend() ? nullptr : &*newest;
}

bool worked_after(const Mount& mount, FrameRef frame, const Life* but) {
  return std::any_of(mount.lives.begin(), mount.lives.end(),
                     [&](const Life& life) { return &life != but && later(life.last_reply, frame); });
}

void doubt_answers(Mount& mount, TimeNs wait) {
  const bool sampled = std::any_of(mount.lives.begin(), mount.lives.end(), [](const Life& l) { return l.sampled(); });
  const FrameRef unseen = begun_unseen(mount);
  // The capture began before that connection did, or so it seems: one that was idle until then looks the same.
  const auto hole_behind = [&](const OpenCall& call) {
    if (!later(unseen, call.quiet_since)) return false;
    const Life* own = life_with(mount, call.connection);
    return own != nullptr && own->request == Life::Request::seen;
  };
  const auto may_be_missing = [&](const OpenCall& call) {
    if (!call.surely_waits() || call.quiet_since.number == 0) return false;
    // By then it had waited for long.
    if (trace::passed(call.first.time, call.quiet_since.time, wait)) return false;
    return sampled || later(call.lack_beside, call.quiet_since) || hole_behind(call);
  };
  for (OpenCall& call : mount.open_calls) {
    if (may_be_missing(call)) call.waits = OpenCall::Waits::perhaps_beside;
  }
  for (OpenCall& call : mount.lost_calls) {
    if (!may_be_missing(call)) continue;
    call.waits = OpenCall::Waits::perhaps_beside;
    const auto of = std::find_if(mount.lives.begin(), mount.lives.end(),
                                 [&](const Life& life) { return life.id == call.connection; });
    if (of != mount.lives.end() && call.requester == Side::active) --of->open_calls;
  }
}

bool end_may_be_lost(const Mount& mount, FrameRef begun) {
  return gap_behind(mount, begun) ||
         std::any_of(mount.lives.begin(), mount.lives.end(), [](const Life& life) { return life.one_way; });
}

const Life* connected_since(const Mount& mount, FrameRef ended) {
  const Life* since = nullptr;
  for (const Life& life : mount.lives) {
    const bool could = !life.closed || (life.orderly() && life.closed->by == Party::client);
    if (!life.established() || !could || !later(life.opened, ended)) continue;
    if (since == nullptr || later(life.opened, since->opened)) since = &life;
  }
  return since;
}

bool connected_just_now(const Life& life, FrameRef end) noexcept {
  constexpr TimeNs a_moment = 1'000'000'000;  // a client sends again what waits as soon as it is connected
  return trace::elapsed(life.opened.time, life.closed ? life.closed->frame.time : end.time) < a_moment;
}

const Life* left_calls_open(const Mount& mount) {
  const Life* last = nullptr;
  for (const Life& life : mount.lives) {
    if (!life.established() || !life.closed || life.open_calls == 0) continue;
    if (last == nullptr || later(life.closed->frame, last->closed->frame)) last = &life;
  }
  return last != nullptr && !worked_after(mount, last->closed->frame, nullptr) ? last : nullptr;
}

bool begins_with_the_mount(const Mount& mount) {
  const auto asked_for = [&](const Life& life) {
    return std::any_of(mount.attempts.begin(), mount.attempts.end(),
                       [&](const Attempt& attempt) { return attempt.connection == life.id; });
  };
  return mount.forgotten_lives == 0 && std::all_of(mount.lives.begin(), mount.lives.end(), asked_for);
}

std::uint64_t closed_at_the_door(const Mount& mount) {
  const Outcomes& outcomes = mount.nfs.outcomes;
  const bool only_let_in =
      outcomes.introductions != 0 && outcomes.introductions == outcomes.done && outcomes.run.times == 0;
  if (!only_let_in || !begins_with_the_mount(mount)) return 0;
  std::uint64_t closed = 0;
  for (const Life& life : mount.lives) {
    if (!life.established()) continue;
    const bool by_server = life.orderly() && life.closed->by == Party::server;
    if (!by_server || life.one_way || life.seen != Life::Seen::whole || life.open_calls != 0) return 0;
    ++closed;
  }
  return closed;
}

std::array<FrameRef, 2> newest_of_each_side(const Mount& mount) {
  std::array<FrameRef, 2> heard;
  for (const Life& life : mount.lives) {
    for (const std::size_t side : {0U, 1U}) keep_later(heard[side], life.heard[side]);
  }
  for (const Attempt& attempt : mount.attempts) {
    keep_later(heard[index(Side::active)], attempt.last);
    if (!attempt.answered_by_another()) keep_later(heard[index(Side::passive)], attempt.answer);
    keep_later(heard[index(Side::passive)], attempt.receipt);
  }
  return heard;
}

}  // namespace rpcrdma::referee
