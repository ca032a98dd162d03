// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/exchange/version1_exchanges.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "referee/docket/cases.hpp"
#include "referee/exchange/answers.hpp"
#include "referee/exchange/calls.hpp"
#include "referee/rules/checks.hpp"
#include "referee/state/lifetime.hpp"
#include "referee/state/mount.hpp"
#include "referee/state/nfs_watch.hpp"
#include "referee/state/possible_calls.hpp"
#include "referee/state/procedures.hpp"

namespace rpcrdma::referee::v1 {

namespace {

using wire::Proc;

[[nodiscard]] bool has_lists(const wire::HeaderV1& header) noexcept {
  return !header.reads.empty() || !header.writes.empty() || header.reply.has_value();
}

// --- Calls

/// What RFC 8166 section 4.5.2 counts among the broken headers although it can be decoded: RDMA_NOMSG whose lists hold
/// no message, and another XID than that of the RPC message.
[[nodiscard]] bool has_to_be_refused(const Turn& turn) {
  if (!turn.lists_complete() || turn.event.holes) return false;
  const Reading& reading = turn.reading;
  if (reading.rpc) return reading.rpc->type == 0 && reading.rpc->xid != turn.xid();
  const bool nowhere = reading.direction == Direction::call && !reading.guessed && reading.ill_formed;
  if (!turn.is(Proc::nomsg) || (has_lists(turn.header) && !nowhere)) return false;
  // One that may have been meant as a Reply is dropped without a word.
  return turn.connection.find(other(turn.side()), turn.xid()) == nullptr;
}

/// RDMA_DONE for what may be an offered Reply stands before it in the file, as it may where directions are late.
[[nodiscard]] bool done_before(const Witness& witness, const Transaction& call) {
  if (!call.may_be_offer()) return false;
  const auto done = std::erase_if(witness.connection.cases, [&](const Case& waited) {
    return waited.is<Case::Done>() != nullptr && waited.xid == call.xid && waited.accused == other(call.requester);
  });
  if (done == 0) return false;
  witness.unchecked(RuleId::rdma_done_sent, "what it is about, a Long Call or an offered Reply, cannot be told");
  return true;
}

/// As its header tells it.
[[nodiscard]] Transaction fresh_call(const Turn& turn) {
  const trace::Send& event = turn.event;
  Transaction fresh;
  fresh.xid = turn.xid();
  fresh.requester = turn.side();
  if (turn.side() == Side::active && turn.connection.roles_known()) fresh.from = Transaction::From::client;
  fresh.call = event.frame;
  fresh.call_last = event.last;
  fresh.call_ordinal = event.ordinal;
  fresh.version = turn.header.fixed.version;
  fresh.credit = turn.header.fixed.credit;
  fresh.wire_length = event.wire_length;
  fresh.lists_known = turn.lists_known();
  if (turn.reading.guessed && !turn.captured_whole()) fresh.says_call = Transaction::SaysCall::cut;
  if (turn.reading.ill_formed) fresh.found_ill_formed();
  if (has_to_be_refused(turn)) {
    fresh.refusal = Transaction::Refusal::due;
  } else if (turn.is(Proc::msgp)) {
    fresh.refusal = Transaction::Refusal::due_for_msgp;
  }
  fresh.responder_gaps = turn.connection.of(other(turn.side())).gaps;
  if (fresh.lists_known) {
    fresh.reads = turn.header.reads;
    fresh.writes = turn.header.writes;
    fresh.reply_chunk = turn.header.reply;
    fresh.lists_changed();
  }
  if (turn.has_payload() && turn.captured_whole()) {
    fresh.payload = Transaction::Payload{hash_of_payload(turn.payload()), turn.behind()};
  }
  return fresh;
}

/// The memory that it names is not known, or not whose it is.
void doubt_lists(const Turn& turn) {
  if (!turn.lists_complete()) {
    // Chunks that were not captured: operations on them would look like operations on unknown memory (U3).
    turn.connection.distrust(kept_finished, Doubt::cut_message);
  } else if (has_lists(turn.header)) {
    doubt_memory(turn.connection, turn.event, {});
  }
  turn.connection.of(turn.side()).lists_not_read(Transactions::key(turn.side(), turn.xid()));
}

}  // namespace

void take_call(const Turn& turn) {
  Connection& connection = turn.connection;
  const bool reverse = turn.side() == Side::passive;
  ++(reverse ? connection.facts.messages.reverse_calls : connection.facts.messages.calls);
  if (!turn.lists_known()) doubt_lists(turn);
  turn.send.direction = Direction::call;
  Transaction& call = enter_exchange(turn, turn.event, fresh_call(turn));
  turn.send.exchange = call.id;
  credit_call(turn, turn.event, call, turn.send);
  if (turn.has_payload()) note_procedure(connection, call, turn.payload(), turn.behind());
  const Lists lists = turn.lists_complete() ? Lists::whole : Lists::cut;
  cancel_accesses_of(turn, turn.event, call, lists);
  judge_early_access(turn, turn.event, call, lists);
  judge_offered_memory(turn, turn.event, call);
  const bool guessed = turn.reading.guessed;
  if (turn.event.invalidated && !guessed) {
    judge_misplaced_invalidation(turn, turn.event, call.xid, "a Call", turn.send);
  }
  if (!reverse && !call.procedure) connection.back_channel.could_not_read(call.call);
  if (reverse && !guessed) judge_reverse_call(turn, turn.event, call);
  // Which of its two XIDs its responder goes by nobody knows.
  const auto& rpc = turn.reading.rpc;
  if (rpc && rpc->xid != turn.xid()) connection.diary.undirected.add({rpc->xid, turn.side(), turn.event.frame});
  judge_call_form(turn, turn.event, call);
  if (call.lists_known && call.copies == 1) judge_call_lists(turn, turn.event, turn.header, call);
  if (answered_before(turn, turn.event, call.xid) || done_before(turn, call)) end_unseen(connection, call);
}

namespace {

// --- Replies

/// What its credit word says, if that is a grant.
[[nodiscard]] std::optional<std::uint32_t> grant_of(const Turn& turn) {
  if (turn.reading.guessed && turn.header.fixed.credit == 0) return std::nullopt;
  return turn.header.fixed.credit;
}

/// RDMA_NOMSG with a Position-Zero Read chunk: offered to be read (pull completion).
[[nodiscard]] bool offers(const Turn& turn) {
  return turn.lists_known() && turn.is(Proc::nomsg) && wire::has_position_zero(turn.header);
}

/// No message at all: that has been said. It may have been meant as a Call: what it names may be used, it may be
/// refused, and its credit word is perhaps no grant (RFC 8167 section 4.1).
void take_no_message(const Turn& turn) {
  Connection& connection = turn.connection;
  const Side requester = other(turn.side());
  if (turn.header.reads.empty() && has_lists(turn.header)) doubt_memory(connection, turn.event, {});
  connection.diary.undirected.add({turn.xid(), turn.side(), turn.event.frame});
  end_wait(connection, requester, turn.xid(), turn.event.frame);
  ++connection.ledger(turn.side()).unanswered;
  credit_refusal(connection, turn.event, requester, grant_of(turn));
}

/// It looks like a Reply that offers itself to be read, and may be a Long Call.
void doubt_offered(const Turn& turn) {
  const bool nothing_else = turn.lists_complete() && turn.header.writes.empty() && !turn.header.reply;
  doubt_memory(turn.connection, turn.event, {}, nothing_else ? Lends::to_be_read : Lends::what_it_names);
}

/// The open Call with this XID in its RPC message, and another one in its header.
[[nodiscard]] Transaction* named_by_its_message(Connection& connection, Side requester, std::uint32_t xid) {
  const ErrorDiary::Sent* sent = connection.diary.undirected.newest(
      [&](const ErrorDiary::Sent& each) { return each.side == requester && each.xid == xid; });
  if (sent == nullptr) return nullptr;
  const RecentSend* call = connection.of(requester).sends.newest(
      [&](const RecentSend& send) { return send.call() && send.frame.number == sent->frame.number; });
  return call != nullptr ? connection.open_call(requester, call->xid) : nullptr;
}

/// The Call whose Reply chunk it returns, where what was written into that has the XID of this Call and of no other:
/// its header names another one.
void judge_returned_reply_chunk(const Turn& turn, Side requester) {
  Connection& connection = turn.connection;
  const auto& chunk = turn.header.reply;
  if (!turn.is(Proc::nomsg) || !turn.lists_complete() || !chunk || chunk->empty() || !connection.whole()) return;
  const wire::Segment& first = chunk->front();
  if (first.length == 0 || !turn.header.reads.empty()) return;
  const MemoryMap::Hit hit = connection.of(requester).memory.find(first.handle, first.offset, first.length, true);
  const Transaction* call = hit.exposure != nullptr ? connection.find(hit.exposure->owner) : nullptr;
  if (call == nullptr || call->answered() || call->copies != 1 || !call->reply_chunk || call->xid == turn.xid()) return;
  const bool its_own = !call->reply_chunk->empty() && call->reply_chunk->front().handle == first.handle &&
                       call->reply_chunk->front().offset == first.offset;
  if (!its_own || wire::first_word(call->reply_body.octets()) != call->xid) return;
  judge_xid_by_rdma(turn, turn.event.frame, turn.side(), Role::responder, turn.xid(), call->xid, call->reply_written,
                    call);
}

/// Its Call is nowhere.
void take_orphan(const Turn& turn) {
  Connection& connection = turn.connection;
  const Side requester = other(turn.side());
  const Reading& reading = turn.reading;
  if (turn.lists_known() && !turn.header.reads.empty()) {
    turn.send.exchange = judge_offer(turn, turn.event, turn.header, nullptr, requester, reading.inferred);
  }
  judge_returned_reply_chunk(turn, requester);
  end_wait(connection, requester, turn.xid(), turn.event.frame);
  ++connection.ledger(turn.side()).unanswered;  // it took a Receive that was posted for something else
  // Nothing of what is open was answered, and who did not ask drops it. Where no RPC message says that it is a Reply,
  // its credit word may be a request.
  if (reading.rpc) {
    credit_answer(turn, turn.event, requester, grant_of(turn), Granted::perhaps);
  } else {
    credit_refusal(connection, turn.event, requester, grant_of(turn));
  }
  if (reading.guessed) {
    connection.distrust(kept_finished, Doubt::cut_message);  // cut before it says whether it is a Reply at all
    turn.unchecked(RuleId::reply_without_call, "a message was cut before its direction");
    return;
  }
  if (reading.inferred) {
    doubt_offered(turn);
    turn.unchecked(RuleId::reply_without_call, "the message that it answers looked like an offered Reply");
    return;
  }
  if (reading.rpc && turn.lists_known()) judge_stray_reply_chunk(turn, turn.event, turn.header);
  if (Transaction* asked = reading.rpc ? named_by_its_message(connection, requester, turn.xid()) : nullptr) {
    end_unseen(connection, *asked);
    turn.unchecked(RuleId::reply_without_call, "it may answer a Call that has two XIDs");
    return;
  }
  // Its form alone says that it is a Reply: it may be a callback without its message.
  if (!reading.rpc) connection.diary.undirected.add({turn.xid(), turn.side(), turn.event.frame});
  if (judge_answer_to_done(turn, turn.event, turn.xid())) return;
  judge_orphan(turn, turn.event, requester, turn.xid(), reading.rpc ? AnswerIs::reply : AnswerIs::by_its_form);
}

/// Its Call has been answered.
void take_second_reply(const Turn& turn, const Transaction& call) {
  Connection& connection = turn.connection;
  const Side requester = call.requester;
  const Reading& reading = turn.reading;
  turn.send.answers = RecentSend::Answers::answered_call;
  const bool says_reply = reading.rpc && !reading.guessed;
  if (says_reply && turn.lists_known()) judge_stray_reply_chunk(turn, turn.event, turn.header);
  ++connection.ledger(turn.side()).unanswered;
  // Who did not ask drops it, unless this is the answer, and what looked like an offered one was a Long Call.
  const bool answers = possible_long_call(connection, turn.side(), turn.xid()) && !reading.guessed;
  credit_answer(turn, turn.event, requester, grant_of(turn), answers ? Granted::surely : Granted::perhaps);
  // Wrong as it is, what it offers is there to be read, and it is no answer to RDMA_DONE.
  const bool offered = offers(turn);
  if (!offered && judge_answer_to_done(turn, turn.event, turn.xid())) return;
  if (reading.guessed) connection.distrust(kept_finished, Doubt::direction);  // or a Call of its own with that XID
  judge_duplicate(turn, turn.event, call);
  if (reading.inferred) doubt_offered(turn);
  // A Read list that offers nothing is wrong by itself, if this is no Call.
  if (!turn.lists_known() || turn.header.reads.empty() || reading.guessed) return;
  turn.send.exchange = judge_offer(turn, turn.event, turn.header, &call, requester, reading.inferred);
}

/// What its RPC message and its version say.
void look_at_message(const Turn& turn, Transaction& call) {
  judge_reply_version(turn, turn.event, turn.header.fixed.version, call);
  settle_version(turn.connection, turn.event, turn.header.fixed.version, call);
  judge_msgp_answer(turn, turn.event, call);
  if (!turn.reading.rpc || !turn.has_payload()) return;
  judge_rpc_status(turn, turn.event.frame, turn.side(), turn.payload(), turn.behind(), call);
  if (call.answers == 0) {
    watch_reply(turn.connection, call, turn.event.frame, turn.payload(), turn.behind(), &turn.header.writes);
  }
}

/// What its lists say, against those of its Call.
void look_at_lists(const Turn& turn, Transaction& call) {
  judge_reply_form(turn, turn.event, turn.header, call);
  const std::optional<RpcStream> stream = reply_stream(turn.event, turn.header, call);
  const bool same = judge_reply_lists(turn, turn.event, turn.header, call);
  // What a Long Call moved where it may not shows only now: nobody has to pull that.
  if (same && !call.call_body.empty()) judge_pulled_call(turn, call, turn.event.frame);
  judge_pulled(turn, turn.event, call, stream);
  if (same && !call.writes.empty()) judge_reply_items(turn, turn.event, turn.header, call, stream);
}

/// The answer to an open Call.
void take_answer(const Turn& turn, Transaction& call) {
  Connection& connection = turn.connection;
  const Reading& reading = turn.reading;
  if (!reading.guessed) look_at_message(turn, call);
  call.answer = reading.inferred || (reading.guessed && calls_possible(connection, turn.side()))
                    ? Transaction::Answer::inferred
                    : Transaction::Answer::plain;
  judge_invalidation(turn, turn.event, call, turn.send);
  // If it is a Long Call all the same, what it names is there to be used, and the open Call goes on.
  if (reading.inferred) doubt_offered(turn);
  const bool judged = turn.lists_known() && !reading.inferred;
  if (judged) look_at_lists(turn, call);
  // A responder may have tried the Reply chunk first: what it left there is no reply.
  if (turn.is(Proc::msg)) call.reply_body.clear();
  if (judged) judge_returned_lengths(turn, turn.event, turn.header, call);
  if (turn.lists_known() && !turn.header.reads.empty()) {
    judge_offer(turn, turn.event, turn.header, &call, call.requester, reading.inferred);
  }
  credit_answer(turn, turn.event, call.requester, grant_of(turn));
  end_outstanding(connection, call);
  finish_answer(turn, turn.event, call, turn.lists_complete() ? &turn.header.writes : nullptr);
  if (call.answered() && !reading.inferred) retire(connection, call, turn.event.frame);
  complete_one(connection);
}

}  // namespace

void take_reply(const Turn& turn) {
  Connection& connection = turn.connection;
  const Reading& reading = turn.reading;
  const Side requester = other(turn.side());
  ++(requester == Side::passive ? connection.facts.messages.reverse_replies : connection.facts.messages.replies);
  turn.send.direction = Direction::reply;
  // An offer that cannot be told apart; or a Call of this side, that has the XID of an open one.
  const bool offers = !turn.header.reads.empty() || !turn.header.writes.empty() || turn.header.reply;
  if (reading.guessed && offers) {
    if (turn.lists_complete()) {
      doubt_memory(connection, turn.event, {});
    } else {
      connection.distrust(kept_finished, Doubt::cut_message);
    }
  }
  Transaction* call = connection.find(requester, turn.xid());
  if (call == nullptr && reading.guessed && turn.captured_whole()) return take_no_message(turn);
  if (call == nullptr) return take_orphan(turn);
  turn.send.exchange = call->id;
  if (call->answered()) return take_second_reply(turn, *call);
  if (reading.guessed && reading.ill_formed && turn.captured_whole() && calls_possible(connection, turn.side())) {
    call->broken_reply = turn.event.frame;  // or a Call of its own: neither ends the open one
    call->answer = Transaction::Answer::inferred;
    return;
  }
  const bool of_its_time = call->refusal == Transaction::Refusal::due_for_msgp;
  if (turn.is(Proc::msgp) && !of_its_time) return drop_answer(turn, turn.event, grant_of(turn), *call);
  take_answer(turn, *call);
}

}  // namespace rpcrdma::referee::v1
