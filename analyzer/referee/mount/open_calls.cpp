// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/mount/open_calls.hpp"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "referee/mount/lives.hpp"
#include "referee/rules/checks.hpp"
#include "referee/rules/v2_turn.hpp"
#include "referee/state/lifetime.hpp"
#include "referee/state/mount.hpp"
#include "trace/spans.hpp"
#include "wire/rpc_numbers.hpp"

namespace rpcrdma::referee {

namespace {

/// The messages of NLM are answered by messages of their own, in the other direction.
[[nodiscard]] bool without_reply(const Transaction& call) {
  constexpr std::uint32_t test_msg = 6;
  constexpr std::uint32_t granted_res = 15;
  if (!call.procedure) return false;
  const auto [program, version, procedure] = *call.procedure;
  return program == wire::nlm_program && procedure >= test_msg && procedure <= granted_res;
}

/// Its header is broken, and still it was a Call, which its responder has to refuse: who made it waits for that.
[[nodiscard]] bool refusal_awaited(const Connection& connection, const Transaction& call) {
  return call.requester == Side::active && call.refusal == Transaction::Refusal::due &&
         connection.find(Side::passive, call.xid) == nullptr;
}

/// Of a Call whose pieces are all in the capture, as far as they were sent.
[[nodiscard]] OpenCall::Sent sent_of(const Connection& connection, const Transaction& call) {
  // What could not be read may have been its last piece.
  if (!call.v2.incomplete || connection.of(call.requester).unread.number > call.call.number) {
    return OpenCall::Sent::whole;
  }
  const v2::Credits& credits = connection.v2.of(call.requester).credits;
  if (credits.dry_to_the_end.number != 0) return OpenCall::Sent::for_want_of_credit;
  if (!v2::all_seen(connection) || credits.base != v2::Credits::Base::zero) return OpenCall::Sent::in_part_perhaps;
  // Until the peer is heard, the limit is one message.
  return credits.heard ? OpenCall::Sent::in_part : OpenCall::Sent::for_want_of_credit;
}

/// The Send that begins in this frame was refused, and that ended the connection: its receiver never had it.
[[nodiscard]] bool refused_for_good(const Connection& connection, FrameRef send) {
  const auto& closed = connection.facts.closed;
  if (!connection.over() || !closed || send.number == 0) return false;
  return std::any_of(connection.suspects.begin(), connection.suspects.end(), [&](const Suspect& suspect) {
    return suspect.refused.number == send.number && suspect.frame.number == closed->frame.number;
  });
}

/// Its responder ended the connection because of something that had come, and what that was is not told or not in the
/// capture: it may be this Call.
[[nodiscard]] bool may_be_refused(const Connection& connection, const Transaction& call) {
  const auto& closed = connection.facts.closed;
  if (!connection.over() || !closed || call.answers != 0) return false;
  return std::any_of(connection.suspects.begin(), connection.suspects.end(), [&](const Suspect& suspect) {
    const bool names_nothing = suspect.frames.size() == 1 && suspect.frames.front() == suspect.frame.number;
    return names_nothing && suspect.frame.number == closed->frame.number && suspect.by == party(other(call.requester));
  });
}

/// What came as its answer was refused by who had asked, who will ask again.
[[nodiscard]] bool answer_refused(const Connection& connection, const Transaction& call) {
  return call.answers == 1 && refused_for_good(connection, call.reply);
}

/// It, or something in front of it, is sent again and again, and no acknowledgement of it is in the capture.
[[nodiscard]] bool repeated_unacknowledged(const SideState& sender, FrameRef send, std::uint64_t ordinal) {
  const auto& sent = sender.liveness;
  return sent && ordinal > sender.acknowledged && send.number <= sent->last_copy.number &&
         repeats_count(sent->copies, sent->first_copy, sent->last_copy);
}

/// What its sender repeats, to the end, is taken by nobody.
[[nodiscard]] OpenCall::Vain repeated_in_vain(const Connection& connection, Side sender) {
  const auto& sent = connection.of(sender).liveness;
  const auto& heard = connection.of(other(sender)).liveness;
  if (connection.over() || !sent || !heard) return OpenCall::Vain::no;
  // Its acknowledgements may be missing from the capture: it says itself that it lacks it, or nothing new any more.
  const bool repeats_itself = heard->heard.number == heard->last_copy.number &&
                              heard->first_copy.number < sent->first_repeat.number &&
                              heard->acknowledging.number < sent->first_repeat.number;
  const trace::Liveness::Unheard& unheard = sent->unheard;
  const bool silent = repeats_count(unheard.copies, unheard.first, sent->last_copy) &&
                      heard->heard.number < unheard.first_repeat.number;
  if (repeats_itself || silent) return OpenCall::Vain::lost;
  const bool denied = sent->denied.number > sent->first_repeat.number &&
                      heard->heard.number <= std::max(sent->denied.number, sent->last_copy.number);
  if (!denied) return OpenCall::Vain::no;
  return sent->denial == trace::Liveness::Denial::not_ready ? OpenCall::Vain::no_receive : OpenCall::Vain::lost;
}

/// Its receiver's last word is that it has not taken it, and it was not sent again since. (Any segment of TCP would say
/// so, also one that was under way when this one was sent.)
[[nodiscard]] FrameRef denied_to_the_end(const Connection& connection, Side sender, FrameRef send,
                                         std::uint64_t ordinal) {
  const SideState& state = connection.of(sender);
  const auto& sent = state.liveness;
  const auto& heard = connection.of(other(sender)).liveness;
  if (connection.over() || !sent || !heard || connection.facts.transport == trace::Transport::iwarp) return {};
  const std::uint64_t newest_copy = std::max(send.number, sent->last_copy.number);
  const bool last_word = sent->denied.number > newest_copy && heard->heard.number <= sent->denied.number;
  return ordinal > state.acknowledged && last_word ? sent->denied : FrameRef{};
}

/// Its sender has sent nothing since: what is not acknowledged is in front of it, or a later packet of it.
[[nodiscard]] bool nothing_behind(const SideState& sender, const JudgedOp& op) {
  const JudgedOp* newest = sender.ops.newest([](const JudgedOp&) { return true; });
  return newest == &op && op.sends_before == sender.sent;
}

/// Its sender repeats this Send, or something in front of it, to the end, and nobody takes it.
[[nodiscard]] OpenCall::Vain sent_in_vain(const Connection& connection, Side sender, FrameRef send,
                                          std::uint64_t ordinal) {
  if (!repeated_unacknowledged(connection.of(sender), send, ordinal)) return OpenCall::Vain::no;
  return repeated_in_vain(connection, sender);
}

/// What the responder does for the Call is repeated, or what stands in front of it, and comes to nothing.
[[nodiscard]] OpenCall::AtWork at_work(const Connection& connection, Side responder, const JudgedOp& op) {
  const SideState& state = connection.of(responder);
  const auto& sent = state.liveness;
  OpenCall::AtWork work{op.frame, {}};
  if (!sent || !repeats_count(sent->copies, sent->first_copy, sent->last_copy)) return work;
  if (later(sent->unacknowledged, op.frame) && !nothing_behind(state, op)) return work;
  if (repeated_in_vain(connection, responder) == OpenCall::Vain::lost) work.newest_copy = sent->last_copy;
  return work;
}

/// The newest Read of the Call's own chunks, if it waits for its answer.
[[nodiscard]] OpenCall::AtWork read_in_flight(const Connection& connection, const Transaction& call) {
  const SideState& responder = connection.of(other(call.requester));
  const JudgedOp* its =
      responder.ops.newest([&](const JudgedOp& op) { return !writes(op.verb) && op.transaction == call.id; });
  if (its == nullptr || !responder.reads.waits(its->op)) return {};
  return at_work(connection, other(call.requester), *its);
}

/// The newest Write of its results, if nobody has acknowledged it.
[[nodiscard]] OpenCall::AtWork write_in_flight(const Connection& connection, const Transaction& call) {
  const SideState& responder = connection.of(other(call.requester));
  const auto& sent = responder.liveness;
  if (call.answers != 0 || connection.over() || !sent || sent->unacknowledged.number == 0) return {};
  const JudgedOp* its =
      responder.ops.newest([&](const JudgedOp& op) { return writes(op.verb) && op.transaction == call.id; });
  if (its == nullptr || (later(sent->unacknowledged, its->frame) && !nothing_behind(responder, *its))) return {};
  return at_work(connection, other(call.requester), *its);
}

[[nodiscard]] OpenCall::Vain answered_in_vain(const Connection& connection, const Transaction& call) {
  if (call.answers != 1) return OpenCall::Vain::no;
  const Side responder = other(call.requester);
  // Asked of each Call that is remembered: mostly nobody repeats anything.
  const auto& sent = connection.of(responder).liveness;
  if (connection.over() || !sent || sent->copies == 0) return OpenCall::Vain::no;
  const RecentSend* reply = connection.of(responder).sends.newest(
      [&](const RecentSend& send) { return send.frame.number == call.reply.number; });
  if (reply == nullptr) return OpenCall::Vain::no;
  return sent_in_vain(connection, responder, call.reply, reply->ordinal);
}

/// It had been counted as answered.
void takes_back(Connection& connection, const Transaction& call) {
  const bool counted = call.answered_as.number == 0;
  if (call.requester != Side::active) {
    if (counted) forget_wait(connection.mount->callback_waits, call);
    return;
  }
  if (counted) {
    --connection.mount->waits.answered;
    forget_wait(connection.mount->waits, call);
  }
  if (connection.last_answer.number == call.reply.number) connection.last_answer = connection.answer_before;
}

/// A DREQ has no number among the packets: where the capture lost some not long before, the last Reply may be another,
/// together with its acknowledgement. One tap sees both directions. Behind so many whole transactions as bring trust
/// back, it is not one that loses something here and there.
[[nodiscard]] bool last_may_be_missing(const Connection& connection) {
  constexpr TimeNs lately = 5'000'000'000;  // as long a wait as counts for one, unless --wait says otherwise
  const auto& closed = connection.facts.closed;
  return connection.facts.transport != trace::Transport::iwarp && closed && closed->how == Closed::How::disconnect &&
         !connection.trusted() &&
         std::any_of(connection.sides.begin(), connection.sides.end(), [&](const SideState& side) {
           return side.newest_gap.number != 0 && !trace::passed(side.newest_gap.time, closed->frame.time, lately);
         });
}

/// The newest frame of its responder that has a place in its stream, or the Call itself: what would stand between is
/// known to be missing, or was not sent.
[[nodiscard]] FrameRef whole_until(const Connection& connection, const Transaction& call) {
  const SideState& responder = connection.of(other(call.requester));
  FrameRef until = call.call;
  keep_later(until, responder.last_event);
  const bool each_has = connection.facts.transport == trace::Transport::iwarp;
  if (each_has && responder.liveness) keep_later(until, responder.liveness->heard);
  return until;
}

[[nodiscard]] OpenCall::Leaves leaves_of(const Transaction& call) {
  if (!call.procedure) return OpenCall::Leaves::nothing;
  const auto [program, version, procedure] = *call.procedure;
  if (procedure == 0) {
    // One that was cut in front of its credential may be either.
    return call.leaves != Transaction::Leaves::nothing ? OpenCall::Leaves::state : OpenCall::Leaves::nothing;
  }
  const bool of_nfs = program == wire::nfs_program && version == 4;
  const bool destroys = call.operation == "DESTROY_SESSION" || call.operation == "DESTROY_CLIENTID";
  return of_nfs && destroys ? OpenCall::Leaves::state : OpenCall::Leaves::nothing;
}

/// Which Call it is, whatever became of it.
[[nodiscard]] OpenCall named(const Connection& connection, const Transaction& call) {
  OpenCall open;
  open.connection = connection.id();
  open.xid = call.xid;
  open.requester = call.requester;
  open.first = call.first_copy.number != 0 ? call.first_copy : call.call;
  open.frame = call.call;
  if (connection.over() && connection.facts.closed) open.ended = connection.facts.closed->frame;
  if (call.malformed()) {
    open.operation = "broken call";
  } else if (call.procedure.has_value() || !call.operation.empty()) {
    open.operation = operation_name(call);
  }
  open.likeness = call.likeness();
  open.wire_length = call.wire_length;
  open.session = call.session;
  open.leaves = leaves_of(call);
  return open;
}

/// Nobody has asked the client for anything on this connection: what it sends asks, however little of that was read.
[[nodiscard]] bool only_client_asks(const Connection& connection, const Transaction& call) {
  return call.requester == Side::active && call.version == 1 && connection.roles_known() &&
         connection.facts.handshake_seen && connection.facts.messages.reverse_calls == 0 &&
         connection.of(Side::passive).unread.number == 0;
}

[[nodiscard]] OpenCall open_call_of(const Connection& connection, const Transaction& call) {
  OpenCall open = named(connection, call);
  const bool answered = call.answers != 0;
  open.vain = answered ? answered_in_vain(connection, call)
                       : sent_in_vain(connection, call.requester, call.call, call.call_ordinal);
  if (open.vain != OpenCall::Vain::no) {
    const Side sender = answered ? other(call.requester) : call.requester;
    open.newest_copy = connection.of(sender).liveness->last_copy;
  } else if (!answered) {
    open.denied = denied_to_the_end(connection, call.requester, call.call, call.call_ordinal);
  }
  const bool refused_last = answer_refused(connection, call);
  const bool not_taken = refused_last || (answered && open.vain != OpenCall::Vain::no);
  open.answer = not_taken ? call.reply : call.refused_answer;
  if (call.fetching.number != 0) open.fetching = {call.reply, call.fetching};
  if (refused_last || refused_for_good(connection, call.call)) open.refused = connection.facts.closed->frame;
  if (may_be_refused(connection, call)) open.perhaps_refused = connection.facts.closed->frame;
  if (call.malformed()) {
    open.wrong = OpenCall::Wrong::call;
  } else if (call.answer_dropped() || call.broken_reply.number != 0) {
    open.wrong = OpenCall::Wrong::answer;
  }
  open.delivered = connection.of(call.requester).acknowledged >= call.call_ordinal;
  const SideState& responder = connection.of(other(call.requester));
  // A Call with a hole in it is read when the hole is given up; its Reply may have come before.
  const bool with_hole = !call.payload && connection.of(call.requester).newest_lack().number >= call.call.number;
  // What was cut before it says whether it is a Call, and what may be a Reply that offers itself to be read. In version
  // 2 its type says it.
  const bool refused = refusal_awaited(connection, call) && connection.whole();
  const bool says_call = call.version == 2 || (call.lists_known && call.requester == Side::active);
  const bool asked = (says_call && !call.may_be_offer()) || only_client_asks(connection, call);
  const bool any_call = call.procedure || asked || refused;
  // The same endpoints began anew, and what lies between is not in the capture.
  const auto& closed = connection.facts.closed;
  const bool end_unseen = closed && (closed->how == Closed::How::superseded || closed->how == Closed::How::unseen);
  // The requester's acknowledgements show answers in front of the capture, perhaps to this Call: of two taps one is
  // late.
  const bool before_capture = responder.liveness && responder.liveness->before_capture.number > call.call.number;
  const bool lacking = answer_may_be_unseen(connection, call) || before_capture || connection.facts.one_way ||
                       with_hole || end_unseen || last_may_be_missing(connection);
  if (lacking || !any_call) {
    const bool perhaps_offer = !lacking && call.may_be_offer();
    const bool cut = !lacking && (!call.lists_known || call.says_call == Transaction::SaysCall::cut);
    open.waits = perhaps_offer ? OpenCall::Waits::perhaps_no_call
                 : cut         ? OpenCall::Waits::perhaps_cut
                               : OpenCall::Waits::perhaps;
  } else if (connection.mount->not_compared.perhaps_again(call.requester, call.xid, open.frame)) {
    open.waits = OpenCall::Waits::perhaps_again;
  }
  const bool never_taken = repeated_unacknowledged(connection.of(call.requester), call.call, call.call_ordinal);
  const bool never_answered = open.answer.number != 0 || open.refused.number != 0 || never_taken;
  if (!never_answered) open.quiet_since = whole_until(connection, call);
  open.pulling = read_in_flight(connection, call);
  open.pushing = write_in_flight(connection, call);
  open.sent = sent_of(connection, call);
  const auto& requester_is = connection.of(call.requester).liveness;
  if (requester_is && !connection.over()) open.no_window = requester_is->window_closed;
  open.no_credit = connection.v2.of(other(call.requester)).credits.dry_to_the_end;
  return open;
}

}  // namespace

namespace {

/// Those that have waited longest stay; what was lost in front of the newest Reply, and is given up, goes first.
/// Counts those of the client that go.
void leave_out_youngest(Mount& mount, std::vector<OpenCall>& calls) {
  if (calls.size() <= Mount::most_lost_calls) return;
  FrameRef newest_reply;
  for (const Life& life : mount.lives) keep_later(newest_reply, life.last_reply);
  const auto place = [&](const OpenCall& call) {
    const bool given_up = call.ended.number != 0 && later(newest_reply, call.ended);
    const TimeNs waited = given_up ? trace::elapsed(call.first.time, call.ended.time) : 0;
    return std::tuple(given_up, -waited, call.first.number);
  };
  const auto most = calls.begin() + static_cast<std::ptrdiff_t>(Mount::most_lost_calls);
  std::nth_element(calls.begin(), most, calls.end(),
                   [&](const OpenCall& a, const OpenCall& b) { return place(a) < place(b); });
  for (auto call = most; call != calls.end(); ++call) {
    if (call->requester != Side::active || !call->surely_waits()) continue;
    if (&calls == &mount.open_calls) {
      ++mount.open_left_out;
      continue;
    }
    ++mount.lost_left_out;
    if (mount.left_out.size() < Mount::most_left_out) mount.left_out.insert(call->xid);
  }
  calls.erase(most, calls.end());
}

}  // namespace

void keep_call_behind_close(Connection& connection, const Transaction& call) {
  const auto& closed = connection.facts.closed;
  if (connection.mount == nullptr || !closed || call.requester != Side::active || without_reply(call)) return;
  const bool left = closed->how == Closed::How::disconnect && closed->by == Party::server;
  if (!left || call.call.number <= closed->frame.number) return;
  // What the server says behind its farewell it said before, as it stands in the file too late: perhaps the answer.
  // What is missing of it from before does not matter.
  const SideState& server = connection.of(Side::passive);
  const bool silent = !later(server.last_event, closed->frame) && !later(server.newest_gap, closed->frame);
  if (!silent || connection.facts.one_way || !connection.roles_known() || connection.order_lost()) return;
  std::vector<OpenCall>& calls = connection.mount->lost_calls;
  const bool again = std::any_of(calls.begin(), calls.end(), [&](const OpenCall& lost) {
    return lost.connection == connection.id() && lost.xid == call.xid && lost.requester == call.requester;
  });
  if (again || calls.size() >= Mount::most_lost_calls) return;
  calls.push_back(named(connection, call));
}

bool answer_behind_close_may_be_missing(const Connection& connection, const OpenCall& call) noexcept {
  const auto& closed = connection.facts.closed;
  return call.connection == connection.id() && closed && later(call.frame, closed->frame) &&
         later(connection.of(other(call.requester)).last_event, closed->frame);
}

void keep_open_calls(Connection& connection) {
  if (connection.mount == nullptr) return;
  Mount& mount = *connection.mount;
  constexpr std::size_t room = 2 * Mount::most_lost_calls;
  const bool over = connection.over();
  std::vector<OpenCall>& calls = over ? mount.lost_calls : mount.open_calls;
  const std::size_t before = calls.size();
  const FrameRef beside = mount.gaps.beside(connection.id());
  for (const auto& [key, call] : connection.transactions) {
    const bool without_it = call.fetching.number != 0 || answer_refused(connection, call) ||
                            answered_in_vain(connection, call) != OpenCall::Vain::no;
    if (call.answers != 0 && without_it) takes_back(connection, call);
    if ((call.answers != 0 && !without_it) || call.settled_elsewhere() || without_reply(call)) continue;
    if (call.malformed() && !refusal_awaited(connection, call)) continue;  // perhaps a Reply, or dropped by rule
    if (calls.size() >= room) leave_out_youngest(mount, calls);
    calls.push_back(open_call_of(connection, call));
    calls.back().lack_beside = beside;
  }
  if (calls.size() == before) return;
  leave_out_youngest(mount, calls);
  std::sort(calls.begin(), calls.end(),
            [](const OpenCall& a, const OpenCall& b) { return a.first.number < b.first.number; });
}

void end_calls_of_the_gone(Mount& mount) {
  // Where its client is heard behind that, it is there, whatever another says in its name.
  const auto gone = [&](const OpenCall& call) {
    const FrameRef since = mount.nfs.clients.user_gone(call.session);
    const Life* life = life_with(mount, call.connection);
    const bool silent = life != nullptr && !later(life->heard[index(Side::active)], since);
    return later(since, call.frame) && silent ? since : FrameRef{};
  };
  for (OpenCall& call : mount.lost_calls) {
    const FrameRef since = gone(call);
    if (since.number != 0 && later(call.ended, since)) call.ended = since;
  }
  for (OpenCall& call : mount.open_calls) {
    call.ended = gone(call);
    if (call.ended.number != 0) mount.lost_calls.push_back(std::move(call));
  }
  std::erase_if(mount.open_calls, [](const OpenCall& call) { return call.ended.number != 0; });
}

}  // namespace rpcrdma::referee
