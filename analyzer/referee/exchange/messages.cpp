// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/exchange/messages.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "referee/exchange/answers.hpp"
#include "referee/exchange/calls.hpp"
#include "referee/exchange/observation.hpp"
#include "referee/exchange/version1_exchanges.hpp"
#include "referee/exchange/version2.hpp"
#include "referee/mount/open_calls.hpp"
#include "referee/state/lifetime.hpp"
#include "referee/state/mount.hpp"
#include "referee/state/procedures.hpp"

namespace rpcrdma::referee {

namespace {

using wire::Proc;

constexpr std::uint64_t judge_other_after = 4;

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
    const bool perhaps_call = calls_possible(connection, event.side);
    const bool says_reply = fixed.version == 2 && wire::is_reply(wire::HeaderType{fixed.proc});
    if (says_reply || !perhaps_call) judge_reply_version(witness, event, fixed.version, *theirs);
    if (perhaps_call) theirs->answer = Transaction::Answer::inferred;
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
  // Its responder may have read it all the same.
  if (event.side == Side::active) connection.back_channel.could_not_read(event.frame);
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
  if (v2::count_late(witness, event)) {
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
  if (kind == MessageSeen::Kind::done) judge_done_behind_close(witness, event, header.fixed.xid);
  if (kind == MessageSeen::Kind::other) {
    const Reading reading = read_direction(connection, event, header, true, LongForm::not_asked);
    const bool active = event.side == Side::active;
    ConnectionFacts::Messages& counts = connection.facts.messages;
    if (reading.direction == Direction::call) {
      kind = MessageSeen::Kind::call;
      ++(active ? counts.calls : counts.reverse_calls);
      Transaction late;
      late.xid = header.fixed.xid;
      late.requester = event.side;
      late.call = event.frame;
      late.wire_length = event.wire_length;
      late.reads = header.reads;
      if (event.octets.size() > header.length) {
        note_procedure(connection, late, event.octets.subspan(header.length), event.wire_length - header.length);
      }
      if (!reading.guessed) keep_call_behind_close(connection, late);
    } else if (reading.direction == Direction::reply) {
      kind = MessageSeen::Kind::reply;
      ++(active ? counts.reverse_replies : counts.replies);
      if (header.reads.empty()) judge_answer_behind_close(witness, other(event.side), header.fixed.xid, event.frame);
    }
  }
  observe_message(witness, event, kind, {&header, nullptr}, {});
}

/// As far as the capture has it, a message of version 1 in good form. One that is not may be of something else.
[[nodiscard]] bool well_formed(const trace::Send& event, wire::HeaderV1& scratch) {
  const auto decoded = wire::decode_header_v1(event.octets, event.wire_length, scratch);
  const bool readable = decoded || decoded.error().fault == wire::Fault::truncated;
  return readable && scratch.fixed.version == 1;
}

/// Whether the connection carries RPC-over-RDMA, as far as this message tells. A first one that may well be of it waits
/// for another to say so.
[[nodiscard]] bool accept_as_rpcrdma(const Witness& witness, const trace::Send& event, wire::HeaderV1& scratch) {
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
      if (well_formed(event, scratch)) connection.unproven = std::make_unique<KeptMessage>(event);
      return false;
    case wire::Plausible::no:
      break;
  }
  // Set up for RPC-over-RDMA (port or private data): what comes is judged as such.
  if (connection.kind == Kind::rpcrdma) return true;
  // Cut before it shows what it is: no sign of anything.
  constexpr std::size_t fixed_words = 16;
  if (event.octets.size() < std::min<std::size_t>(fixed_words, event.wire_length)) return false;
  ++connection.implausible;
  ++connection.facts.sends_unrecognised;
  if (connection.implausible >= judge_other_after && connection.messages == 0) {
    connection.kind = Kind::other;
    connection.unproven.reset();
    judge_other_protocol(witness, event.frame);
    return false;
  }
  return false;
}

/// One message on its way.
struct Incoming : Witness {
  const trace::Send& event;
  wire::HeaderV1& header;  ///< reused from message to message
  LongForm form;
  RecentSend send;
  MessageSeen::Kind kind = MessageSeen::Kind::other;
  Headers readable;
};

/// A Call or a Reply, in words of version 1. `cut`: its lists end where the capture cuts it.
void take_exchange(Incoming& message, bool cut) {
  Connection& connection = message.connection;
  const trace::Send& event = message.event;
  RecentSend& send = message.send;
  const wire::HeaderV1& header = message.header;
  Reading reading = read_direction(connection, event, header, !cut, message.form);
  if (!cut) {
    reading.ill_formed = judge_form(message, event, header, reading.direction, reading.guessed, reading.rpc);
  }
  if (reading.direction == Direction::unknown) {
    connection.distrust(kept_finished,
                        Doubt::direction);  // the memory it names, and the Call that it is or answers, are not known
    message.unchecked(RuleId::reply_without_call,
                      fmt::format("the direction of the message in frame {} cannot be told", event.frame.number));
    return;
  }
  const std::uint32_t xid = header.fixed.xid;
  if (static_cast<Proc>(header.fixed.proc) == Proc::msgp) judge_msgp(message, event, xid, reading.direction);
  if (reading.rpc) {
    judge_xid(message, event, xid, reading.rpc->xid);
    reading.ill_formed = reading.ill_formed || reading.rpc->xid != xid;
  }
  send.direction = reading.direction;
  send.guessed = reading.guessed;
  message.kind = send.call() ? MessageSeen::Kind::call : MessageSeen::Kind::reply;
  if (connection.of(event.side).judged_partial != event.ordinal) judge_send_size(message, event, send);
  const auto lists = cut ? v1::Turn::Lists::cut : v1::Turn::Lists::complete;
  const v1::Turn turn{{{message.context, connection}, event, header, send}, reading, lists};
  if (reading.direction == Direction::call) {
    v1::take_call(turn);
  } else {
    v1::take_reply(turn);
  }
}

/// In words of version 1, or cut behind the fixed ones.
void take_version_1(Incoming& message, const wire::FixedWords& fixed, bool cut) {
  Connection& connection = message.connection;
  const trace::Send& event = message.event;
  const auto proc = static_cast<Proc>(fixed.proc);
  count_proc(connection.facts.messages, proc);
  if (!cut) message.readable.version1 = &message.header;
  switch (proc) {
    case Proc::done:
      message.kind = MessageSeen::Kind::done;
      credit_done(message, event, fixed.xid);
      judge_done(message, event, message.send);
      end_doubtful_call(connection, event.side, fixed.xid);
      return;
    case Proc::error:
      message.kind = MessageSeen::Kind::error;
      ++connection.ledger(event.side).unanswered;
      if (cut) return;
      judge_misplaced_invalidation(message, event, fixed.xid, "RDMA_ERROR", message.send);
      take_error(message, event, message.header, message.send);
      return;
    case Proc::msg:
    case Proc::nomsg:
    case Proc::msgp:
      break;
  }
  take_exchange(message, cut);
}

/// Not even its fixed words can be read.
void take_unreadable(const Incoming& message, const wire::DecodeError& error) {
  Connection& connection = message.connection;
  judge_undecodable(message, message.event, {}, error);
  ++connection.ledger(message.event.side).unanswered;
  if (error.fault != wire::Fault::truncated) return;
  connection.distrust(kept_finished, Doubt::cut_message);
  connection.v2.of(message.event.side).lose_track();  // it may be a piece, before the version is known
}

/// Its header is broken, as its sender wrote it.
void take_broken(Incoming& message, const wire::FixedWords& fixed, const wire::DecodeError& error) {
  Connection& connection = message.connection;
  const trace::Send& event = message.event;
  if (connection.version2()) {
    message.unchecked(RuleId::xdr_malformed, "version 2 traffic is not judged by this version");
  } else if (fixed.proc == static_cast<std::uint32_t>(Proc::error)) {
    count_proc(connection.facts.messages, Proc::error);
    message.kind = MessageSeen::Kind::error;
    take_undecodable_error(message, event, fixed, error, message.send);
  } else {
    doubt_memory(connection, event, judge_undecodable(message, event, fixed, error));
    judge_send_size(message, event, message.send);
    enter_malformed(message, event, fixed);
  }
}

void take_incoming(Incoming& message) {
  Connection& connection = message.connection;
  const trace::Send& event = message.event;
  if (v2::take(message, event, message.send, message.kind, message.readable.version2)) return;
  const auto fixed = wire::decode_fixed_words(event.octets, event.wire_length);
  if (!fixed) return take_unreadable(message, fixed.error());
  message.send.xid = fixed->xid;
  message.send.version = fixed->version;
  message.send.htype = fixed->proc;
  const bool is_error = fixed->proc == static_cast<std::uint32_t>(Proc::error);
  if (!is_error) judge_version_constancy(message, event, *fixed, direction_by_words(connection, event, *fixed));
  const auto decoded = wire::decode_header_v1(event.octets, event.wire_length, message.header);
  const bool cut = !decoded && (decoded.error().fault == wire::Fault::truncated || event.holes);
  // An RDMA_ERROR repeats the version of the Call that it refuses, which may not be in the capture.
  if (fixed->version != 1 && !is_error) {
    if (fixed->version != 2) judge_version(message, event, *fixed);
    // A probe with another version: what counts is the RDMA_ERROR that answers it.
    doubt_memory(connection, event, {});
    enter_malformed(message, event, *fixed);
    return;
  }
  if (!decoded && !cut) return take_broken(message, *fixed, decoded.error());
  if (!connection.facts.version && fixed->version == 1) connection.facts.version = 1;
  if (cut) {
    judge_undecodable(message, event, *fixed, decoded.error());
    connection.distrust(kept_finished, Doubt::cut_message);  // the lists that were cut may expose memory
  }
  take_version_1(message, *fixed, cut);
}

/// The header type of version 2 says that it is something else.
[[nodiscard]] bool says_no_call(const Incoming& message) noexcept {
  const bool version_2 = message.connection.version2() && message.send.version == 2;
  return version_2 && !wire::may_be_call(message.send.htype);
}

/// What is known of it now, for what comes later.
void remember(Incoming& message) {
  Connection& connection = message.connection;
  const trace::Send& event = message.event;
  SideState& sender = connection.of(event.side);
  if (event.invalidated) {
    SideState& owner = connection.of(other(event.side));
    MemoryMap::Spared spared;
    if (connection.order_lost()) {
      // Only what had been acknowledged had come by then: the same handle may have been registered anew since.
      spared = [&](const Exposure& exposure) {
        const Transaction* call = connection.find(exposure.owner);
        return call != nullptr && call->requester != event.side && call->call_ordinal > owner.acknowledged;
      };
    }
    owner.memory.invalidate(*event.invalidated, event.frame, spared);
    owner.invalidated.invalidated(*event.invalidated, event.frame);
  }
  observe_message(message, event, message.kind, message.readable, message.send.exchange);
  const bool cut = event.octets.size() < event.wire_length;
  // The type of a message of version 2 tells what it is, however little of its header is there.
  const bool told = message.kind != MessageSeen::Kind::other;
  const bool header_cut = message.connection.version2() && message.readable.version2 == nullptr && !told;
  if (cut && (message.send.direction == Direction::unknown || message.send.guessed || header_cut)) {
    constexpr std::uint32_t least_call = 44;  // no Call of either version is shorter
    sender.cannot_be_read(event.frame, event.wire_length >= least_call && !says_no_call(message));
    ++connection.messages_cut;
    for (Offer& offer : connection.offers) offer.undecidable = true;  // it may be the offer, or what ends one
  } else {
    ++connection.messages_read;
  }
  connection.of(other(event.side)).last_words = {};
  sender.sends.add(std::move(message.send));
}

/// Of a connection that carries RPC-over-RDMA.
void take_recognised(const Witness& witness, const trace::Send& event, wire::HeaderV1& scratch, LongForm form) {
  Connection& connection = witness.connection;
  if (connection.passed_over != 0 && connection.messages == 0) {
    connection.distrust(kept_finished, Doubt::unrecognised);
    witness.unchecked(RuleId::xdr_malformed,
                      "messages came before it could be told that the connection carries RPC-over-RDMA");
  }
  ++connection.messages;
  connection.ledger(other(event.side)).unanswered = 0;
  connection.ledger(other(event.side)).dones = 0;

  Incoming message{witness, event, scratch, form, {}, MessageSeen::Kind::other, {}};
  message.send.ordinal = event.ordinal;
  message.send.frame = event.frame;
  message.send.wire_length = event.wire_length;
  if (event.holes) message.send.extent = RecentSend::Extent::holes;
  message.send.unanswered = connection.ledger(event.side).unanswered;
  take_incoming(message);
  remember(message);
}

}  // namespace

void take_message(const Witness& witness, const trace::Send& event, wire::HeaderV1& scratch, LongForm form) {
  Connection& connection = witness.connection;
  if (event.wire_length == 0 && connection.messages == 0) return;  // makes a connection ready, over iWARP
  if (connection.over()) {
    if (connection.rpcrdma()) count_late_message(witness, event, scratch);
    return;
  }
  if (!accept_as_rpcrdma(witness, event, scratch)) {
    ++connection.passed_over;
    return;
  }
  if (const auto first = std::move(connection.unproven)) {
    --connection.passed_over;
    take_recognised(witness, first->event, scratch, LongForm::not_asked);
  }
  take_recognised(witness, event, scratch, form);
}

}  // namespace rpcrdma::referee
