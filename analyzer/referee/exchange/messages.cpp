// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/exchange/messages.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "referee/docket/cases.hpp"
#include "referee/exchange/answers.hpp"
#include "referee/exchange/calls.hpp"
#include "referee/exchange/observation.hpp"
#include "referee/exchange/version2.hpp"
#include "referee/state/lifetime.hpp"
#include "referee/state/mount.hpp"
#include "referee/state/nfs_watch.hpp"
#include "referee/state/procedures.hpp"
#include "wire/rpc.hpp"

namespace rpcrdma::referee {

namespace {

using wire::Proc;

constexpr std::uint64_t judge_other_after = 4;

// --- Calls

/// All of it is in the capture: what cannot be read in it, its sender did not write.
[[nodiscard]] bool captured_whole(const trace::Send& event) noexcept {
  return !event.holes && event.octets.size() == event.wire_length;
}

/// Neither its procedure nor what the client agrees to with it is known: cut, or pulled later by RDMA Read.
void not_read(Connection& connection, const Transaction& call) {
  BackChannel& channel = connection.back_channel;
  if (channel.agreed.number == 0 && channel.not_read == 0) channel.not_read = call.call.number;
}

[[nodiscard]] bool has_lists(const wire::HeaderV1& header) noexcept {
  return !header.reads.empty() || !header.writes.empty() || header.reply.has_value();
}

/// What RFC 8166 section 4.5.2 counts among the broken headers although it can be decoded: RDMA_NOMSG whose lists hold
/// no message, and another XID than that of the RPC message.
[[nodiscard]] bool has_to_be_refused(Connection& connection, const trace::Send& event, const wire::HeaderV1& header,
                                     const Reading& reading, bool lists_complete) {
  if (!lists_complete || event.holes) return false;
  if (reading.rpc) return reading.rpc->type == 0 && reading.rpc->xid != header.fixed.xid;
  const bool nowhere = reading.direction == Direction::call && !reading.guessed && reading.ill_formed;
  if (static_cast<Proc>(header.fixed.proc) != Proc::nomsg || (has_lists(header) && !nowhere)) return false;
  // One that may have been meant as a Reply is dropped without a word.
  return connection.find(other(event.side), header.fixed.xid) == nullptr;
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

void take_call(const Witness& witness, const trace::Send& event, const wire::HeaderV1& header, const Reading& reading,
               bool lists_complete, RecentSend& send) {
  Connection& connection = witness.connection;
  const bool reverse = event.side == Side::passive;
  ++(reverse ? connection.facts.messages.reverse_calls : connection.facts.messages.calls);
  Transaction fresh;
  fresh.xid = header.fixed.xid;
  fresh.requester = event.side;
  fresh.call = event.frame;
  fresh.call_last = event.last;
  fresh.call_ordinal = event.ordinal;
  fresh.version = header.fixed.version;
  fresh.credit = header.fixed.credit;
  fresh.wire_length = event.wire_length;
  fresh.lists_known = lists_complete && !reading.guessed;
  if (reading.guessed && !captured_whole(event)) fresh.says_call = Transaction::SaysCall::cut;
  if (reading.ill_formed) fresh.found_ill_formed();
  if (has_to_be_refused(connection, event, header, reading, lists_complete)) {
    fresh.refusal = Transaction::Refusal::due;
  } else if (static_cast<Proc>(header.fixed.proc) == Proc::msgp) {
    fresh.refusal = Transaction::Refusal::due_for_msgp;
  }
  fresh.responder_gaps = connection.of(other(event.side)).gaps;
  if (fresh.lists_known) {
    fresh.reads = header.reads;
    fresh.writes = header.writes;
    fresh.reply_chunk = header.reply;
    fresh.lists_changed();
  } else if (!lists_complete) {
    // Chunks that were not captured: operations on them would look like operations on unknown memory (U3).
    connection.distrust(kept_finished, Doubt::cut_message);
  } else if (has_lists(header)) {
    doubt_memory(connection, event, {});  // whose chunks they are is not known
  }
  if (!fresh.lists_known) connection.of(event.side).lists_unknown = Transactions::key(event.side, fresh.xid);
  const bool whole_payload =
      lists_complete && event.octets.size() == event.wire_length && event.octets.size() > header.length && !event.holes;
  if (whole_payload) {
    fresh.payload =
        Transaction::Payload{hash_of_payload(event.octets.subspan(header.length)), event.wire_length - header.length};
  }
  send.direction = Direction::call;
  Transaction& call = enter_exchange(witness, event, std::move(fresh));
  send.exchange = call.id;
  credit_call(witness, event, call, send);
  if (lists_complete && event.octets.size() > header.length) {
    note_procedure(connection, call, event.octets.subspan(header.length), event.wire_length - header.length);
  }
  cancel_accesses_of(witness, call);
  judge_early_access(witness, call);
  judge_offered_memory(witness, event, call);
  if (event.invalidated && !reading.guessed) {
    judge_misplaced_invalidation(witness, event, call.xid, "a Call", send);
  }
  if (!reverse && !call.procedure) not_read(connection, call);
  if (reverse && !reading.guessed) judge_reverse_call(witness, event, call);
  judge_call_form(witness, event, call);
  if (call.lists_known && call.copies == 1) judge_call_lists(witness, event, header, call);
  if (answered_before(witness, event, call.xid) || done_before(witness, call)) end_unseen(connection, call);
}

// --- Replies

/// A requester must drop RDMA_MSGP (RFC 8166 section 4.6.1), and waits on, unless it asked with RDMA_MSGP itself: that
/// one is of the time when it was allowed. Another that takes it goes on as if it had been answered: nobody is accused
/// of what would be right then.
void drop_answer(Connection& connection, const trace::Send& event, Transaction& call) {
  if (call.answer != Transaction::Answer::dropped) connection.ledger(call.requester).end_one();
  call.answer = Transaction::Answer::dropped;
  retire(connection, call, event.frame);
}

void take_reply(const Witness& witness, const trace::Send& event, const wire::HeaderV1& header, const Reading& reading,
                bool lists_complete, RecentSend& send) {
  Connection& connection = witness.connection;
  const Side requester = other(event.side);
  const bool reverse = requester == Side::passive;
  const std::uint32_t xid = header.fixed.xid;
  ++(reverse ? connection.facts.messages.reverse_replies : connection.facts.messages.replies);
  send.direction = Direction::reply;
  if (reading.guessed && !header.reads.empty()) {  // an offer that cannot be told apart
    if (lists_complete) {
      doubt_memory(connection, event, {});
    } else {
      connection.distrust(kept_finished, Doubt::cut_message);
    }
  }
  Transaction* call = connection.find(requester, xid);
  const std::optional<std::uint32_t> grant =
      reading.guessed && header.fixed.credit == 0 ? std::nullopt : std::optional(header.fixed.credit);
  if (call == nullptr && reading.guessed && captured_whole(event)) {
    // No message at all: that has been said. It may have been meant as a Call: what it names may be used, it may be
    // refused, and its credit word is perhaps no grant (RFC 8167 section 4.1).
    if (header.reads.empty() && has_lists(header)) doubt_memory(connection, event, {});
    connection.diary.undirected.add({xid, event.side, event.frame});
    end_wait(connection, requester, xid);
    ++connection.ledger(event.side).unanswered;
    credit_refusal(connection, event, requester, grant);
    return;
  }
  if (call == nullptr) {
    if (lists_complete && !header.reads.empty() && !reading.guessed) {
      send.exchange = judge_offer(witness, event, header, nullptr, requester, reading.inferred);
    }
    end_wait(connection, requester, xid);
    ++connection.ledger(event.side).unanswered;  // it took a Receive that was posted for something else
    // Nothing of what is open was answered, and who did not ask drops it. Where no RPC message says that it is a Reply,
    // its credit word may be a request.
    if (reading.rpc) {
      credit_answer(witness, event, requester, grant, Granted::perhaps);
    } else {
      credit_refusal(connection, event, requester, grant);
    }
    if (reading.guessed) {
      connection.distrust(kept_finished, Doubt::cut_message);  // cut before it says whether it is a Reply at all
      witness.unchecked(RuleId::reply_without_call, "a message was cut before its direction");
      return;
    }
    if (reading.inferred) {
      doubt_memory(connection, event, {});  // a Long Call, after all?
      witness.unchecked(RuleId::reply_without_call, "the message that it answers looked like an offered Reply");
      return;
    }
    // Its form alone says that it is a Reply: it may be a callback without its message.
    if (!reading.rpc) connection.diary.undirected.add({xid, event.side, event.frame});
    if (judge_answer_to_done(witness, event, xid)) return;
    judge_orphan(witness, event, requester, xid);
    return;
  }
  send.exchange = call->id;
  if (call->answered()) {
    ++connection.ledger(event.side).unanswered;
    // As above, unless this is the answer, and what looked like an offered one was a Long Call.
    const bool answers = offer_may_be_call(connection, requester, xid) && !reading.guessed;
    credit_answer(witness, event, requester, grant, answers ? Granted::surely : Granted::perhaps);
    // Wrong as it is, what it offers is there to be read, and it is no answer to RDMA_DONE.
    const bool offers = lists_complete && !reading.guessed && static_cast<Proc>(header.fixed.proc) == Proc::nomsg &&
                        wire::has_position_zero(header);
    if (!offers && judge_answer_to_done(witness, event, xid)) return;
    if (reading.guessed) connection.distrust(kept_finished, Doubt::direction);  // or a Call of its own with that XID
    judge_duplicate(witness, event, *call);
    if (reading.inferred) doubt_memory(connection, event, {});
    if (offers) send.exchange = judge_offer(witness, event, header, call, requester, reading.inferred);
    return;
  }
  if (reading.guessed && reading.ill_formed && captured_whole(event) && calls_possible(connection, event.side)) {
    call->broken_reply = event.frame;  // or a Call of its own: neither ends the open one
    call->answer = Transaction::Answer::inferred;
    return;
  }
  const bool of_its_time = call->refusal == Transaction::Refusal::due_for_msgp;
  if (static_cast<Proc>(header.fixed.proc) == Proc::msgp && !of_its_time) {
    credit_answer(witness, event, requester, grant, Granted::perhaps);
    drop_answer(connection, event, *call);
    return;
  }
  if (!reading.guessed) {
    judge_reply_version(witness, event, header.fixed.version, *call);
    settle_version(connection, event, header.fixed.version, *call);
    judge_msgp_answer(witness, event, *call);
    if (reading.rpc && event.octets.size() > header.length) {
      judge_rpc_status(witness, event.frame, event.side, event.octets.subspan(header.length),
                       event.wire_length - header.length, *call);
      if (call->answers == 0) {
        watch_reply(connection, *call, event.frame, event.octets.subspan(header.length),
                    event.wire_length - header.length);
      }
    }
  }
  call->answer = reading.inferred || (reading.guessed && calls_possible(connection, event.side))
                     ? Transaction::Answer::inferred
                     : Transaction::Answer::plain;
  judge_invalidation(witness, event, *call, send);
  if (reading.inferred) {
    // If it is a Long Call all the same, what it names is there to be used, and the open Call goes on.
    doubt_memory(connection, event, {});
    judge_offer(witness, event, header, call, requester, true);
  } else if (lists_complete && !reading.guessed) {
    judge_reply_form(witness, event, header, *call);
    judge_pulled(witness, event, *call, reply_stream(event, header, *call));
    if (judge_reply_lists(witness, event, header, *call)) {
      if (!call->call_body.empty()) judge_pulled_call(witness, *call, event.frame);
      if (!call->writes.empty()) {
        judge_reply_items(witness, event, header, *call, reply_stream(event, header, *call));
      }
    }
    // A responder may have tried the Reply chunk first: what it left there is no reply.
    if (static_cast<Proc>(header.fixed.proc) == Proc::msg) call->reply_body.clear();
    judge_returned_lengths(witness, event, header, *call);
    if (!header.reads.empty()) judge_offer(witness, event, header, call, requester, false);
  } else if (static_cast<Proc>(header.fixed.proc) == Proc::msg) {
    call->reply_body.clear();
  }
  credit_answer(witness, event, requester, grant);
  connection.ledger(requester).end_one();
  finish_answer(witness, event, *call);
  if (call->answered() && !reading.inferred) retire(connection, *call, event.frame);
  complete_one(connection);
}

/// RDMA_DONE is said about a Reply: what looks like a Long Call with that XID may be one, offered to be read, whose
/// Call is over or not in the capture. It waits for no answer.
void end_doubtful_call(Connection& connection, Side sender, std::uint32_t xid) {
  if (newest_offer(connection, sender, xid) != nullptr) return;
  Transaction* call = connection.open_call(other(sender), xid);
  if (call == nullptr || !call->may_be_offer()) return;
  end_unseen(connection, *call);
}

/// A Call whose header is broken: the RDMA_ERROR that follows answers it.
void enter_malformed(const Witness& witness, const trace::Send& event, const wire::FixedWords& fixed) {
  Connection& connection = witness.connection;
  ++connection.ledger(event.side).unanswered;
  constexpr std::uint32_t least_answered = 28;  // RFC 8166 section 4.5: what is shorter is dropped silently
  if (Transaction* theirs = connection.open_call(other(event.side), fixed.xid)) {
    theirs->broken_reply = event.frame;  // to be dropped silently
    // Where a version is settled, and for one that does not exist, it has been said that this is another.
    if (fixed.version == 2 && connection.diary.settled.version == 0) {
      judge_reply_version(witness, event, fixed.version, *theirs);
    }
    if (calls_possible(connection, event.side)) theirs->answer = Transaction::Answer::inferred;
    return;
  }
  if (Transaction* mine = connection.open_call(event.side, fixed.xid)) {
    ++mine->copies;  // which of them an answer belongs to is not known
    return;
  }
  Transaction fresh;
  fresh.xid = fixed.xid;
  fresh.requester = event.side;
  fresh.call = event.frame;
  fresh.call_last = event.last;
  fresh.version = fixed.version;
  fresh.call_ordinal = event.ordinal;
  fresh.responder_gaps = connection.of(other(event.side)).gaps;
  fresh.lists_known = false;
  fresh.form = Transaction::Form::malformed;
  if (event.wire_length >= least_answered && !event.holes) fresh.refusal = Transaction::Refusal::due;
  enter_exchange(witness, event, std::move(fresh));
}

void count_proc(ConnectionFacts::Messages& counts, Proc proc) {
  switch (proc) {
    case Proc::msg:
      ++counts.rdma_msg;
      break;
    case Proc::nomsg:
      ++counts.rdma_nomsg;
      break;
    case Proc::msgp:
      ++counts.rdma_msgp;
      break;
    case Proc::done:
      ++counts.rdma_done;
      break;
    case Proc::error:
      ++counts.rdma_error;
      break;
  }
}

/// After the close: counted, never judged.
void count_late_message(const Witness& witness, const trace::Send& event, wire::HeaderV1& header) {
  Connection& connection = witness.connection;
  if (v2::count_late(connection, event)) {
    observe_message(witness, event, MessageSeen::Kind::other, {}, {});
    return;
  }
  const auto decoded = wire::decode_header_v1(event.octets, event.wire_length, header);
  if (!decoded || header.fixed.version != 1) return;
  ++connection.messages;
  const auto proc = static_cast<Proc>(header.fixed.proc);
  count_proc(connection.facts.messages, proc);
  auto kind = MessageSeen::Kind::other;
  if (proc == Proc::done) kind = MessageSeen::Kind::done;
  if (proc == Proc::error) kind = MessageSeen::Kind::error;
  if (kind == MessageSeen::Kind::other) {
    const Reading reading = read_direction(connection, event, header, true, LongForm::not_asked);
    const bool active = event.side == Side::active;
    ConnectionFacts::Messages& counts = connection.facts.messages;
    if (reading.direction == Direction::call) {
      kind = MessageSeen::Kind::call;
      ++(active ? counts.calls : counts.reverse_calls);
      Transaction late;
      if (event.octets.size() > header.length) {
        note_procedure(connection, late, event.octets.subspan(header.length), event.wire_length - header.length);
      }
    } else if (reading.direction == Direction::reply) {
      kind = MessageSeen::Kind::reply;
      ++(active ? counts.reverse_replies : counts.replies);
      if (header.reads.empty()) end_wait_behind_close(connection, other(event.side), header.fixed.xid, event.frame);
    }
  }
  observe_message(witness, event, kind, {&header, nullptr}, {});
}

[[nodiscard]] bool accept_as_rpcrdma(const Witness& witness, const trace::Send& event) {
  Connection& connection = witness.connection;
  using Kind = Connection::Kind;
  if (connection.kind == Kind::other) return false;
  if (connection.messages > 0 && connection.kind == Kind::rpcrdma) return true;
  switch (wire::plausible_rpcrdma(event.octets, event.wire_length)) {
    case wire::Plausible::strong:
      connection.kind = Kind::rpcrdma;
      return true;
    case wire::Plausible::weak:
      // Whole octets that still do not make a message are no message, unless the connection was set up for one.
      if (connection.kind != Kind::rpcrdma && event.octets.size() == event.wire_length) break;
      if (++connection.weakly_plausible >= 2 || connection.kind == Kind::rpcrdma) {
        connection.kind = Kind::rpcrdma;
        return true;
      }
      return false;
    case wire::Plausible::no:
      break;
  }
  // Set up for RPC-over-RDMA (port or private data): what comes is judged as such.
  if (connection.kind == Kind::rpcrdma) return true;
  ++connection.implausible;
  ++connection.facts.sends_unrecognised;
  if (connection.implausible >= judge_other_after && connection.messages == 0) {
    connection.kind = Kind::other;
    judge_other_protocol(witness, event.frame);
    return false;
  }
  return false;
}

}  // namespace

void take_message(const Witness& witness, const trace::Send& event, wire::HeaderV1& scratch, LongForm form) {
  Connection& connection = witness.connection;
  if (event.wire_length == 0 && connection.messages == 0) return;  // makes a connection ready, over iWARP
  if (connection.over()) {
    if (connection.rpcrdma()) count_late_message(witness, event, scratch);
    return;
  }
  if (!accept_as_rpcrdma(witness, event)) {
    ++connection.passed_over;
    return;
  }
  if (connection.passed_over != 0 && connection.messages == 0) {
    connection.distrust(kept_finished, Doubt::unrecognised);
    witness.unchecked(RuleId::xdr_malformed,
                      "messages came before it could be told that the connection carries RPC-over-RDMA");
  }
  ++connection.messages;
  connection.ledger(other(event.side)).unanswered = 0;

  RecentSend send;
  send.ordinal = event.ordinal;
  send.frame = event.frame;
  send.wire_length = event.wire_length;
  if (event.holes) send.extent = RecentSend::Extent::holes;
  send.unanswered = connection.ledger(event.side).unanswered;
  auto kind = MessageSeen::Kind::other;
  Headers readable;
  const auto finish = [&] {
    if (event.invalidated) {
      SideState& owner = connection.of(other(event.side));
      owner.memory.invalidate(*event.invalidated, event.frame);
      owner.invalidated.invalidated(*event.invalidated, event.frame);
    }
    observe_message(witness, event, kind, readable, send.exchange);
    const bool cut = event.octets.size() < event.wire_length;
    if (cut && (send.direction == Direction::unknown || send.guessed)) {
      connection.of(event.side).unread = event.frame;
      ++connection.messages_cut;
      for (Offer& offer : connection.offers) offer.undecidable = true;  // it may be the offer, or what ends one
    } else {
      ++connection.messages_read;
    }
    connection.of(event.side).sends.add(std::move(send));
  };

  if (v2::take(witness, event, send, kind, readable.version2)) {
    finish();
    return;
  }
  const auto fixed = wire::decode_fixed_words(event.octets, event.wire_length);
  if (!fixed) {
    judge_undecodable(witness, event, {}, fixed.error());
    ++connection.ledger(event.side).unanswered;
    if (fixed.error().fault == wire::Fault::truncated) {
      connection.distrust(kept_finished, Doubt::cut_message);
      connection.v2.of(event.side).lose_track();  // it may be a piece, before the version is known
    }
    finish();
    return;
  }
  send.xid = fixed->xid;
  send.version = fixed->version;
  send.htype = fixed->proc;
  // RDMA_ERROR looks alike in both versions: on a connection without version 2 it answers a probe.
  const bool refused_probe = fixed->proc == static_cast<std::uint32_t>(Proc::error) && !connection.version2 &&
                             (connection.open_call(other(event.side), fixed->xid) != nullptr);
  if (fixed->proc != static_cast<std::uint32_t>(Proc::error)) {
    judge_version_constancy(witness, event, *fixed, direction_by_words(connection, event, *fixed));
  }
  const bool version_2 = fixed->version == 2 && !wire::htype_name_v2(fixed->proc).empty() && !refused_probe;
  if (version_2 && connection.settled_on_version_1()) {
    // Astray: judged alone, it changes nothing for what follows (RFC 8797 section 4).
    ++connection.facts.messages.v2[std::string(wire::htype_name_v2(fixed->proc))];
  } else if (version_2) {
    connection.version2 = true;
    connection.facts.version = 2;
    ++connection.facts.messages.v2[std::string(wire::htype_name_v2(fixed->proc))];
    finish();
    return;
  }
  wire::HeaderV1& header = scratch;
  const auto decoded = wire::decode_header_v1(event.octets, event.wire_length, header);
  const bool cut = !decoded && (decoded.error().fault == wire::Fault::truncated || event.holes);
  const bool is_error = fixed->proc == static_cast<std::uint32_t>(Proc::error);
  // An RDMA_ERROR repeats the version of the Call that it refuses, which may not be in the capture.
  if (fixed->version != 1 && fixed->version != 2 && !is_error) judge_version(witness, event, *fixed);
  if (fixed->version != 1 && !is_error) {
    // A probe with another version: what counts is the RDMA_ERROR that answers it.
    doubt_memory(connection, event, {});
    enter_malformed(witness, event, *fixed);
    finish();
    return;
  }
  if (!decoded && !cut && connection.version2) {
    witness.unchecked(RuleId::xdr_malformed, "version 2 traffic is not judged by this version");
    finish();
    return;
  }
  if (!decoded && !cut && is_error) {
    count_proc(connection.facts.messages, Proc::error);
    kind = MessageSeen::Kind::error;
    take_undecodable_error(witness, event, *fixed, decoded.error(), send);
    finish();
    return;
  }
  if (!decoded && !cut) {
    doubt_memory(connection, event, judge_undecodable(witness, event, *fixed, decoded.error()));
    judge_send_size(witness, event, send);
    enter_malformed(witness, event, *fixed);
    finish();
    return;
  }
  if (!connection.facts.version && fixed->version == 1) connection.facts.version = 1;
  if (cut) {
    judge_undecodable(witness, event, *fixed, decoded.error());
    connection.distrust(kept_finished, Doubt::cut_message);  // the lists that were cut may expose memory
  }

  const auto proc = static_cast<Proc>(fixed->proc);
  count_proc(connection.facts.messages, proc);
  if (!cut) readable.version1 = &header;
  if (proc == Proc::done) {
    kind = MessageSeen::Kind::done;
    ++connection.ledger(event.side).unanswered;
    judge_done(witness, event, send);
    end_doubtful_call(connection, event.side, fixed->xid);
    finish();
    return;
  }
  if (proc == Proc::error) {
    kind = MessageSeen::Kind::error;
    ++connection.ledger(event.side).unanswered;
    if (!cut) {
      judge_misplaced_invalidation(witness, event, fixed->xid, "RDMA_ERROR", send);
      take_error(witness, event, header, send);
    }
    finish();
    return;
  }
  Reading reading = read_direction(connection, event, header, !cut, form);
  if (!cut) {
    reading.ill_formed = judge_form(witness, event, header, reading.direction, reading.guessed, reading.rpc);
  }
  if (reading.direction == Direction::unknown) {
    connection.distrust(kept_finished,
                        Doubt::direction);  // the memory it names, and the Call that it is or answers, are not known
    witness.unchecked(RuleId::reply_without_call,
                      fmt::format("the direction of the message in frame {} cannot be told", event.frame.number));
    finish();
    return;
  }
  if (proc == Proc::msgp) judge_msgp(witness, event, fixed->xid, reading.direction);
  if (reading.rpc) {
    judge_xid(witness, event, fixed->xid, reading.rpc->xid);
    reading.ill_formed = reading.ill_formed || reading.rpc->xid != fixed->xid;
  }
  send.direction = reading.direction;
  send.guessed = reading.guessed;
  kind = send.call() ? MessageSeen::Kind::call : MessageSeen::Kind::reply;
  if (connection.of(event.side).judged_partial != event.ordinal) judge_send_size(witness, event, send);
  if (reading.direction == Direction::call) {
    take_call(witness, event, header, reading, !cut, send);
  } else {
    take_reply(witness, event, header, reading, !cut, send);
  }
  finish();
}

}  // namespace rpcrdma::referee
