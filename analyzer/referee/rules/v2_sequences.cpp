// SPDX-License-Identifier: GPL-2.0-or-later
// Messages in several pieces (sections 6.3.3, 6.3.6, 6.3.9). Open in the draft: whether RDMA2_GRANT and RDMA2_ERROR may
// stand between two pieces (noted), and whether rdma_remaining counts the piece it stands in (both are accepted).
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "referee/docket/counted.hpp"
#include "referee/rules/rows.hpp"
#include "referee/rules/v2_turn.hpp"
#include "wire/rpc.hpp"

namespace rpcrdma::referee::v2 {

namespace {

using wire::HeaderType;

[[nodiscard]] bool control(HeaderType type) noexcept { return type == HeaderType::grant || type == HeaderType::error; }

/// May this message follow the pieces that are open?
[[nodiscard]] bool continues(const Continuation& open, const Turn& turn) noexcept {
  if (turn.xid() != open.xid) return false;
  const HeaderType type = turn.type();
  if (open.call) return type == HeaderType::call_middle || type == HeaderType::call_inline;
  return type == HeaderType::reply_middle || type == HeaderType::reply_inline;
}

/// The first piece whose rdma_remaining does not fit, in the reading that fits most pieces. Empty: one reading fits.
[[nodiscard]] std::optional<Continuation::Part> misfit(const Continuation& pieces) {
  struct Reading {
    std::uint64_t wrong = 0;
    std::optional<Continuation::Part> first;
  };
  Reading after;
  Reading including;
  std::uint64_t left = pieces.payload;
  const auto hold = [](Reading& reading, const Continuation::Part& part, std::uint64_t expected) {
    if (part.remaining == static_cast<std::uint32_t>(expected)) return;
    ++reading.wrong;
    if (!reading.first) reading.first = part;
  };
  for (const Continuation::Part& part : pieces.parts) {
    if (part.last) break;
    hold(including, part, left);
    left -= part.payload;
    hold(after, part, left);
  }
  if (after.wrong == 0 || including.wrong == 0) return {};
  return including.wrong < after.wrong ? including.first : after.first;
}

}  // namespace

const Row rows::v2_remaining_inconsistent{
    .group = 'K',
    .severity = Severity::warning,
    .versions = Versions::v2,
    .source = "draft-ietf-nfsv4-rpcrdma-version-two sections 6.3.6, 6.3.9",
    .who = "sender",
    .title = "rdma_remaining does not count down by what was sent",
    .explanation =
        "Each middle piece says how much of the message is still to come, so that the receiver can provide for it. The "
        "draft leaves open whether the piece itself is counted.",
    .evidence =
        "The numbers of all pieces against the octets that they carried. A finding only when neither reading fits. Not "
        "decided when packets are missing.",
    .next = "Compare the pieces named with the length of the whole RPC message."};

namespace {

void judge_remaining(const Turn& turn, const Continuation& pieces) {
  if (!pieces.counted) {
    turn.unchecked(RuleId::v2_remaining_inconsistent, "pieces of a message are missing or cut");
    return;
  }
  const auto wrong = misfit(pieces);
  if (!wrong) return;
  turn.say(
      RuleId::v2_remaining_inconsistent, {wrong->frame, pieces.first, turn.event.frame},
      fmt::format("The {} announced {} still to come in frame {}; the pieces of the message hold {} in all, "
                  "which fits neither with that piece nor without it.",
                  name(turn.side()), counted(wrong->remaining, "octet"), wrong->frame.number, grouped(pieces.payload)));
}

}  // namespace

const Row rows::v2_continuation_broken{
    .group = 'K',
    .severity = Severity::error,
    .versions = Versions::v2,
    .needs = {.past = Needs::Past::trusted},
    .source = "draft-ietf-nfsv4-rpcrdma-version-two sections 6.3.6, 6.3.9",
    .who = "sender",
    .title = "Something else was sent between the pieces of a message",
    .explanation =
        "After a middle piece only the next piece of the same message may follow from that sender. The receiver drops "
        "what intrudes and answers RDMA2_ERR_INVAL_CONT. Whether that includes RDMA2_GRANT and RDMA2_ERROR is open in "
        "the draft: those are noted.",
    .evidence =
        "The next message of the sender after RDMA2_CALL_MIDDLE or RDMA2_REPLY_MIDDLE, unless an RDMA2_ERROR with its "
        "XID has ended that message. Not decided when packets are missing.",
    .next = "Look at the sender's queue: pieces have to be posted in one go, or the queue held for them."};

const Row rows::v2_connprop_interrupted{
    .group = 'K',
    .severity = Severity::error,
    .versions = Versions::v2,
    .needs = {.past = Needs::Past::trusted},
    .source = "draft-ietf-nfsv4-rpcrdma-version-two section 6.3.3",
    .who = "sender",
    .title = "Something else was sent before the properties were complete",
    .explanation =
        "After RDMA2_CONNPROP_MIDDLE the sender has to finish with RDMA2_CONNPROP_FINAL before anything else, or its "
        "peer works with half of the properties. RDMA2_GRANT and RDMA2_ERROR are only noted.",
    .evidence = "The next message of a sender after RDMA2_CONNPROP_MIDDLE. Not decided when packets are missing.",
    .next = "Look at the sender's start-up: whether anything may be queued between the two."};

namespace {

[[nodiscard]] bool begins_message(const Turn& turn) noexcept {
  const auto type = wire::is_call(turn.type()) ? wire::MessageType::call : wire::MessageType::reply;
  return wire::has_payload(turn.type()) && wire::begins_message(turn.payload(), turn.xid(), type);
}

/// An RDMA2_ERROR has ended the message in pieces: what follows is the rest that was under way, or something else.
void leave_ended_pieces(const Turn& turn, bool known) {
  Continuation& open = turn.mine().continuation;
  if (!open.open || open.ended.number == 0) return;
  if (!known || !continues(open, turn) || begins_message(turn)) open = {};
}

/// The pieces are not those that were announced, and this one begins a message, or may: an RDMA2_ERROR that ended the
/// one before may be missing.
void judge_second_beginning(const Turn& turn, bool known) {
  Continuation& open = turn.mine().continuation;
  if (!open.open || !open.counted || open.parts.empty() || !known || !continues(open, turn)) return;
  const bool begins = begins_message(turn);
  const bool cut = turn.payload().size() < 8 && turn.behind() >= 8;
  if (!begins && !cut) return;
  const Continuation::Part& before = open.parts.back();
  const std::uint64_t rest = turn.behind() + (wire::is_middle(turn.type()) ? turn.header.remaining : 0);
  if (before.remaining == rest || before.remaining == before.payload + rest) return;
  turn.say_when_heard(RuleId::v2_remaining_inconsistent, before.frame,
                      fmt::format("The {} announced {} still to come in frame {}; with the next piece, {}there are {}.",
                                  name(turn.side()), counted(before.remaining, "octet"), before.frame.number,
                                  begins ? "which begins a message of the same XID, " : "", grouped(rest)),
                      Severity::warning);
  open.counted = false;
}

}  // namespace

void end_pieces(const Turn& error, Refused about) {
  Continuation& refused = error.theirs().continuation;
  const bool may_be_it = about != Refused::reply || !refused.call;
  if (refused.open && refused.xid == error.xid() && may_be_it) refused.ended = error.event.frame;
  if (about == Refused::reply) return;
  // Whoever answers a Call with an error gives up the Reply to it.
  Continuation& given_up = error.mine().continuation;
  if (given_up.open && !given_up.call && given_up.xid == error.xid()) given_up.ended = error.event.frame;
}

bool judge_sequence(const Turn& turn) {
  bool owed = false;
  SideFacts& mine = turn.mine();
  const FrameRef frame = turn.event.frame;
  const HeaderType type = turn.type();
  const bool known = wire::known_htype(turn.header.fixed.proc);
  const std::string type_name(known ? wire::htype_name_v2(turn.header.fixed.proc)
                                    : fmt::format("a message of type {}", turn.header.fixed.proc));
  leave_ended_pieces(turn, known);
  judge_second_beginning(turn, known);
  Continuation& open = mine.continuation;
  if (open.open && !(known && continues(open, turn))) {
    const bool harmless = known && control(type);
    std::string what =
        fmt::format("The {} sent {} (XID {:#010x}) between the pieces of its {} with XID {:#010x} (since frame {}).{}",
                    name(turn.side()), type_name, turn.xid(), open.call ? "Call" : "Reply", open.xid, open.first.number,
                    harmless ? " Only the letter of the draft forbids it." : "");
    if (harmless) {
      turn.say(RuleId::v2_continuation_broken, {frame, open.first}, what, Severity::note);
    } else {
      // An RDMA2_ERROR that ended the message may be missing.
      turn.say_when_heard(RuleId::v2_continuation_broken, open.first, std::move(what));
    }
    if (!harmless) {
      owed = open.call;
      if (owed) {
        owe_refusal(turn, Due::Wrong::sequence, &open);
      } else {
        allow_refusal(turn, &open);
      }
      mine.interrupted = SideFacts::Interrupted{open.xid, open.call, frame};
      open = {};
    }
  }
  if (mine.announced.middle.number != 0 && !(known && wire::is_connprop(type))) {
    const bool harmless = known && control(type);
    turn.say(RuleId::v2_connprop_interrupted, {frame, mine.announced.middle},
             fmt::format("The {} sent {} before RDMA2_CONNPROP_FINAL, which its RDMA2_CONNPROP_MIDDLE (frame {}) "
                         "promised as the next message.",
                         name(turn.side()), type_name, mine.announced.middle.number),
             harmless ? Severity::note : Severity::error);
    if (!harmless) {
      owe_refusal(turn, Due::Wrong::sequence);
      owed = true;
      mine.announced.middle = {};
    }
  }
  return owed;
}

bool judge_sequence_of_malformed(const Turn& turn) {
  const bool owed = judge_sequence(turn);
  Continuation& open = turn.mine().continuation;
  if (wire::is_reply(turn.type())) allow_refusal(turn);
  if (!open.open || !continues(open, turn)) return owed;
  open.counted = false;
  if (!wire::is_middle(turn.type())) open = {};
  return owed;
}

Piece take_piece(const Turn& turn) {
  SideFacts& mine = turn.mine();
  Continuation& open = mine.continuation;
  const HeaderType type = turn.type();
  const std::uint64_t payload = wire::has_payload(type) ? turn.behind() : 0;
  Piece piece;
  piece.payload = payload;
  if (!wire::has_payload(type)) return piece;  // it may stand between two pieces
  const bool resumed = !open.open && mine.interrupted && mine.interrupted->xid == turn.xid() &&
                       mine.interrupted->call == wire::is_call(type);
  if (open.open) {
    piece.first = false;
    piece.known = open.counted;
    piece.transaction = open.transaction;
  } else {
    piece.first = !resumed;
    piece.known = !resumed && !mine.pieces_unknown;
  }
  if (wire::is_middle(type)) {
    if (!open.open) {
      std::vector<Continuation::Part> parts = std::exchange(open.parts, {});
      parts.clear();
      open = {};
      open.parts = std::move(parts);
      open.open = true;
      open.call = wire::is_call(type);
      open.xid = turn.xid();
      open.first = turn.event.frame;
      open.counted = piece.known;
    }
    open.payload += payload;
    if (turn.event.holes || open.parts.size() >= Continuation::most_parts) open.counted = false;
    if (open.counted) open.parts.push_back({turn.event.frame, turn.header.remaining, payload, false});
    piece.payload = open.payload;
    return piece;
  }
  if (resumed) mine.interrupted.reset();
  // Whole messages may be missing with its end, also where its length is known all the same.
  const std::uint64_t foremost = std::min(turn.event.frame.number, turn.event.last.number);
  mine.pieces_unknown = turn.event.holes || turn.connection.of(turn.side()).newest_lack().number >= foremost;
  if (!open.open) return piece;
  open.payload += payload;
  if (turn.event.holes) open.counted = false;
  piece.payload = open.payload;
  piece.continued = true;
  judge_remaining(turn, open);
  open.open = false;
  return piece;
}

void remember_transaction(const Turn& turn, TransactionId id) {
  if (turn.mine().continuation.open) turn.mine().continuation.transaction = id;
}

void keep_piece(const Turn& turn, const Piece& piece, MessageBody& body) {
  if (!piece.known) return;
  const std::uint64_t before = piece.payload - turn.behind();
  if (before == 0) body.clear();  // what a responder may have put into a Reply chunk before is no part of it
  body.put(turn.context.bodies, before, turn.payload(), true);
}

RpcStream inline_stream(const Turn& turn, const MessageBody& body, const Piece& piece) {
  if (!piece.continued) return {turn.payload(), static_cast<std::size_t>(turn.behind()), false};
  return {body.octets(), static_cast<std::size_t>(piece.payload), body.full()};
}

void judge_rpc_start(const Turn& turn, const Piece& piece) {
  const trace::Send& event = turn.event;
  const HeaderType type = turn.type();
  if (!wire::has_payload(type) || event.holes) return;
  const bool whole = !wire::is_middle(type) && !piece.continued && piece.first && piece.known;
  const std::uint64_t least = wire::is_middle(type) ? 4 : 8;
  if ((wire::is_middle(type) || whole) && turn.behind() < least) {
    turn.say(RuleId::msg_without_rpc, {event.frame},
             fmt::format("The {}'s {} has {} of an RPC message behind its header.", name(event.side),
                         wire::htype_name_v2(turn.header.fixed.proc), counted(turn.behind(), "octet")));
    return;
  }
  if (!wire::is_middle(type) && piece.known && piece.payload % 4 != 0) {
    turn.say(RuleId::payload_unaligned, {event.frame},
             fmt::format("The {}'s RPC message is {} long, no multiple of 4.", name(event.side),
                         counted(piece.payload, "octet")));
  }
  if (!piece.first) return;
  if (!piece.known) {
    turn.unchecked(RuleId::xid_mismatch, "whether a piece is the first of its message cannot be told");
    return;
  }
  const wire::Bytes payload = turn.payload();
  if (payload.size() < 4) return;
  const std::uint32_t rpc_xid = wire::load_be32(payload.data());
  if (rpc_xid != turn.xid()) {
    const auto& interrupted = turn.mine().interrupted;
    if (interrupted && interrupted->by.number == event.frame.number && interrupted->call == wire::is_call(type)) {
      turn.unchecked(RuleId::xid_mismatch, "it may be the rest of the message that it broke into");
      return;
    }
    if (!turn.connection.trusted()) {  // or the first piece is missing, and something broke into its message
      turn.unchecked(RuleId::xid_mismatch, "whether a piece is the first of its message cannot be told");
      return;
    }
    judge_xid(turn, event, turn.xid(), rpc_xid);
    if (wire::is_call(type)) owe_refusal(turn, Due::Wrong::message);
    return;
  }
  if (payload.size() < 8) return;
  const std::uint32_t message_type = wire::load_be32(payload.data() + 4);
  const std::uint32_t wanted = wire::is_call(type) ? 0 : 1;
  if (message_type == wanted) return;
  turn.say(RuleId::direction_mismatch, {event.frame},
           fmt::format("The {}'s {} carries an RPC message of type {} (0 is CALL, 1 is REPLY).", name(event.side),
                       wire::htype_name_v2(turn.header.fixed.proc), message_type));
}

void judge_rest(const Turn& turn) {
  const wire::HeaderType type = turn.type();
  if (wire::has_payload(type) || type == wire::HeaderType::grant || type == wire::HeaderType::error) return;
  if (turn.event.holes || turn.behind() == 0) return;
  turn.say(RuleId::nomsg_trailing_bytes, {turn.event.frame},
           fmt::format("The {}'s {} has {} behind its header, where nothing belongs.", name(turn.side()),
                       wire::htype_name_v2(turn.header.fixed.proc), counted(turn.behind(), "octet")));
}

}  // namespace rpcrdma::referee::v2
