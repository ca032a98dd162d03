// SPDX-License-Identifier: GPL-2.0-or-later
// Calls and Replies of version 2 in the table of transactions that both versions share.
#include "referee/exchange/version2_exchanges.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "referee/docket/cases.hpp"
#include "referee/exchange/answers.hpp"
#include "referee/exchange/calls.hpp"
#include "referee/state/lifetime.hpp"
#include "referee/state/mount.hpp"
#include "referee/state/nfs_watch.hpp"
#include "referee/state/procedures.hpp"

namespace rpcrdma::referee::v2 {

namespace {

constexpr std::string_view pieces_missing = "pieces of a message are missing or cut";

/// What the header of the (last piece of the) Call says about its chunks.
void fill_lists(const Turn& turn, Transaction& call) {
  const wire::HeaderV2& header = turn.header;
  call.reads = header.call_chunk;
  call.reads.insert(call.reads.end(), header.lists.reads.begin(), header.lists.reads.end());
  call.writes = header.lists.writes;
  call.reply_chunk = header.lists.reply;
  call.lists_changed();
  CallFacts& facts = call.v2;
  facts = {};
  facts.inv_handle = header.inv_handle;
  facts.external = turn.type() == wire::HeaderType::call_external;
  facts.segments = call.reads.size();
  facts.read_chunks = header.call_chunk.empty() ? 0 : 1;
  facts.most_in_chunk = header.call_chunk.size();
  std::uint64_t in_chunk = 0;
  for (std::size_t i = 0; i < header.lists.reads.size(); ++i) {
    const bool same = i > 0 && header.lists.reads[i].position == header.lists.reads[i - 1].position;
    in_chunk = same ? in_chunk + 1 : 1;
    if (!same) ++facts.read_chunks;
    facts.most_in_chunk = std::max(facts.most_in_chunk, in_chunk);
  }
  const auto add = [&](const wire::WriteChunk& chunk) {
    facts.segments += chunk.size();
    facts.most_in_chunk = std::max<std::uint64_t>(facts.most_in_chunk, chunk.size());
  };
  for (const wire::WriteChunk& chunk : call.writes) {
    add(chunk);
    facts.write_chunk_lengths.push_back(wire::chunk_length(chunk));
  }
  if (call.reply_chunk) add(*call.reply_chunk);
}

[[nodiscard]] Transaction fresh_call(const Turn& turn, const Piece& piece) {
  const trace::Send& event = turn.event;
  Transaction fresh;
  fresh.xid = turn.xid();
  fresh.requester = event.side;
  fresh.call = event.frame;
  fresh.call_last = event.last;
  fresh.call_ordinal = event.ordinal;
  fresh.version = 2;
  fresh.credit = turn.header.fixed.credit;
  fresh.wire_length = event.wire_length;
  fresh.responder_gaps = turn.connection.of(other(event.side)).gaps;
  if (turn.captured_whole() && piece.first && piece.known && !wire::is_middle(turn.type())) {
    fresh.payload = Transaction::Payload{hash_of_payload(turn.payload()), turn.behind()};
  }
  return fresh;
}

void take_middle(const Turn& turn, const Piece& piece) {
  Connection& connection = turn.connection;
  if (!piece.first) {
    if (Transaction* call = connection.find(piece.transaction)) {
      turn.send.exchange = call->id;
      if (call->copies == 1) keep_piece(turn, piece, call->call_body);
    }
    return;
  }
  const bool reverse = turn.side() == Side::passive;
  Transaction* old = connection.find(turn.side(), turn.xid());
  if (!piece.known && old != nullptr && !old->answered()) {
    remember_transaction(turn, old->id);  // an interrupted message goes on, or a piece of it was not seen
    return;
  }
  const bool open = old != nullptr && !old->answered() && old->awaits != Transaction::Awaits::perhaps_nothing;
  if (open) {
    // Sent again, or another Call: which of the two, only its last piece would tell.
    turn.unchecked(RuleId::xid_duplicate_outstanding, "a Call in pieces has the XID of an unanswered one");
    remember_transaction(turn, old->id);
    ++old->copies;
    count_outstanding(connection, *old);
    return;
  }
  Transaction fresh = fresh_call(turn, piece);
  fresh.v2.incomplete = true;
  Transaction& call = enter_exchange(turn, turn.event, std::move(fresh));
  ++(reverse ? connection.facts.messages.reverse_calls : connection.facts.messages.calls);
  count_outstanding(connection, call);
  remember_transaction(turn, call.id);
  turn.send.exchange = call.id;
  const wire::Bytes payload = turn.payload();
  if (piece.known && !payload.empty()) note_first_piece(connection, call, payload);
  keep_piece(turn, piece, call.call_body);
  judge_reverse_form(turn, call, Came::in_pieces);
}

/// `writes`: the Write list that comes back; nullptr: not known.
void finish(const Turn& turn, Transaction& call, const std::vector<wire::WriteChunk>* writes) {
  Connection& connection = turn.connection;
  end_outstanding(connection, call);
  Credits& credits = connection.v2.of(call.requester).credits;
  const auto taken = static_cast<std::uint32_t>(call.call_ordinal);
  if (static_cast<std::int32_t>(taken - credits.least_taken) > 0) credits.least_taken = taken;
  finish_answer(turn, turn.event, call, writes);
  if (call.answered()) retire(connection, call, turn.event.frame);
  complete_one(connection);
}

/// The last piece of a Call has come, or what may be one: only now is all known that the Call asks for.
void watch_pieces_of_call(const Turn& turn, const Piece& piece, Transaction& call) {
  const wire::Bytes body = call.call_body.octets();
  if (!piece.continued || !piece.known || call.copies > 1) {
    watch_unread(turn.connection, call, turn.event.frame);
    return;
  }
  const auto length = static_cast<std::size_t>(piece.payload);
  note_all_pieces(turn.connection, call, body, length);
  if (body.size() < length &&
      !reads_to_the_end(turn.connection, body, length, argument_places(turn.connection, call))) {
    watch_unread(turn.connection, call, turn.event.frame);
  }
}

/// The last piece of a Reply has come, or what may be one.
void watch_pieces_of_reply(const Turn& turn, const Piece& piece, Transaction& call) {
  if (call.answers != 0) return;
  const wire::Bytes body = call.reply_body.octets();
  const bool followed = piece.continued && piece.known && call.copies == 1;
  if (followed) {
    watch_reply(turn.connection, call, turn.event.frame, body, static_cast<std::size_t>(piece.payload),
                &turn.header.lists.writes);
  }
  const bool matters = call.watched || call.requester == Side::passive;
  if (matters && (!followed || body.size() < piece.payload)) watch_unread(turn.connection, call, turn.event.frame);
}

/// What was moved into chunks, in the Call if it was pulled, and in the Reply.
void judge_items(const Turn& turn, Transaction& call, const std::optional<RpcStream>& stream) {
  judge_pulled_call(turn, call, turn.event.frame);
  if (!stream && turn.type() == wire::HeaderType::reply_inline) {
    if (!call.writes.empty()) turn.unchecked(RuleId::eligible_item_inline, pieces_missing);
    return;
  }
  judge_reply_items(turn, turn.event, turn.header.lists, call, stream);
}

/// The Reply's RPC message. Empty: not known.
[[nodiscard]] std::optional<RpcStream> whole_reply(const Turn& turn, const Transaction& call, const Piece& piece) {
  if (turn.type() != wire::HeaderType::reply_inline) return reply_stream(turn.event, turn.header.lists, call);
  if (!piece.known) return {};
  return inline_stream(turn, call.reply_body, piece);
}

}  // namespace

void take_call(const Turn& turn) {
  Connection& connection = turn.connection;
  const Piece piece = take_piece(turn);
  judge_rpc_start(turn, piece);
  if (wire::is_middle(turn.type())) {
    take_middle(turn, piece);
    return;
  }
  Transaction* call = piece.first && piece.known ? nullptr : connection.find(piece.transaction);
  if (call == nullptr && !(piece.first && piece.known)) {
    call = connection.find(turn.side(), turn.xid());
    if (call != nullptr && (!call->v2.incomplete || call->answered())) call = nullptr;
  }
  const bool fresh = call == nullptr;
  if (fresh) {
    Transaction begun = fresh_call(turn, piece);
    fill_lists(turn, begun);
    call = &enter_exchange(turn, turn.event, std::move(begun));
    const bool reverse = turn.side() == Side::passive;
    ++(reverse ? connection.facts.messages.reverse_calls : connection.facts.messages.calls);
    count_outstanding(connection, *call);
  } else {
    fill_lists(turn, *call);
    call->call_last = turn.event.last;
    call->call_ordinal = turn.event.ordinal;
    expose_chunks(turn, *call, turn.event.frame);
  }
  turn.send.exchange = call->id;
  const wire::Bytes payload = turn.payload();
  if (piece.first && piece.known && !payload.empty()) note_procedure(connection, *call, payload, turn.behind());
  cancel_accesses_of(turn, turn.event, *call, Lists::cut);
  judge_early_access(turn, turn.event, *call, Lists::cut);
  judge_offered_memory(turn, turn.event, *call);
  if (piece.continued && call->copies == 1) keep_piece(turn, piece, call->call_body);
  const bool in_one = piece.first && piece.known;
  const bool by_rdma = turn.type() == wire::HeaderType::call_external;
  if (!in_one && !by_rdma) watch_pieces_of_call(turn, piece, *call);
  judge_call_chunks(turn, *call, piece);
  if (piece.continued) call->call_body.clear();
  if (fresh) judge_reverse_form(turn, *call, Came::in_one);
  if (!fresh && call->v2.segments > 0) judge_reverse_form(turn, *call, Came::in_pieces);
  if (answered_before(turn, turn.event, call->xid)) end_unseen(connection, *call);
}

void take_reply(const Turn& turn) {
  Connection& connection = turn.connection;
  const Side requester = other(turn.side());
  const Piece piece = take_piece(turn);
  judge_rpc_start(turn, piece);
  const bool middle = wire::is_middle(turn.type());
  Transaction* call = piece.first ? connection.find(requester, turn.xid()) : connection.find(piece.transaction);
  if (!piece.first && call == nullptr) return;  // judged with its first piece
  if (call == nullptr || call->answered()) {
    judge_external_reply(turn, nullptr);
    if (call == nullptr) {
      judge_orphan(turn, turn.event, requester, turn.xid(), AnswerIs::reply);
    } else if (piece.known) {
      judge_duplicate(turn, turn.event, *call);
    } else {
      turn.unchecked(RuleId::duplicate_reply, "whether it is the first piece of a Reply is not known");
    }
    return;
  }
  turn.send.exchange = call->id;
  // Whoever answers a broken Call has read it somehow.
  std::erase_if(connection.v2.due, [&](const Due& due) {
    return due.side == requester && due.xid == turn.xid() && due.wrong == Due::Wrong::message && due.owed;
  });
  if (piece.first) {
    ++(requester == Side::passive ? connection.facts.messages.reverse_replies : connection.facts.messages.replies);
    judge_reply_version(turn, turn.event, turn.header.fixed.version, *call);
    if (piece.known && !turn.payload().empty()) {
      judge_rpc_status(turn, turn.event.frame, turn.event.side, turn.payload(), turn.behind(), *call);
      if (call->answers == 0 && !middle) {
        watch_reply(connection, *call, turn.event.frame, turn.payload(), turn.behind(), &turn.header.lists.writes);
      }
    }
  }
  judge_invalidated(turn, call);
  const bool in_pieces = middle || piece.continued;
  if (in_pieces && call->copies == 1) keep_piece(turn, piece, call->reply_body);
  if (middle) {
    remember_transaction(turn, call->id);
    return;
  }
  const bool by_rdma = turn.type() == wire::HeaderType::reply_external;
  if (!(piece.first && piece.known) && !by_rdma) watch_pieces_of_reply(turn, piece, *call);
  const bool sound = judge_reply_chunks(turn, *call, piece);
  const std::optional<RpcStream> stream = whole_reply(turn, *call, piece);
  if (sound) judge_returned_lengths(turn, turn.event, turn.header.lists, *call);
  if (sound && call->lists_known && !call->v2.incomplete) judge_items(turn, *call, stream);
  // Behind what a Long Call moved where it may not.
  if (!piece.known && !(call->all_lists() && call->reads.empty())) {
    turn.unchecked(RuleId::read_chunk_not_pulled, pieces_missing);
  } else if (!call->v2.incomplete) {
    judge_pulled(turn, turn.event, *call, stream);
  }
  // What a responder may have left in the Reply chunk before is no reply.
  if (turn.type() == wire::HeaderType::reply_inline) call->reply_body.clear();
  finish(turn, *call, &turn.header.lists.writes);
}

namespace {

/// The first Call, or the last piece of one, whose lists were cut. `pieces`: what its first pieces belong to.
void take_cut_call(const Turn& turn, TransactionId pieces) {
  Connection& connection = turn.connection;
  Transaction* call = connection.find(pieces);
  if (call == nullptr) {
    call = connection.open_call(turn.side(), turn.xid());
    if (call != nullptr && !call->v2.incomplete) call = nullptr;
  }
  if (call != nullptr) {
    call->v2.incomplete = false;
    call->lists_known = false;
    call->call_last = turn.event.last;
    call->call_ordinal = turn.event.ordinal;
    call->call_body.clear();
  } else {
    Piece piece;
    piece.known = false;
    Transaction begun = fresh_call(turn, piece);
    begun.lists_known = false;
    call = &enter_exchange(turn, turn.event, std::move(begun));
    const bool reverse = turn.side() == Side::passive;
    ++(reverse ? connection.facts.messages.reverse_calls : connection.facts.messages.calls);
    count_outstanding(connection, *call);
  }
  turn.send.exchange = call->id;
  connection.of(turn.side()).lists_not_read(Transactions::key(turn.side(), turn.xid()));
  cancel_accesses_of(turn, turn.event, *call, Lists::cut);
  judge_early_access(turn, turn.event, *call, Lists::cut);
  watch_unread(connection, *call, turn.event.frame);
  if (answered_before(turn, turn.event, call->xid)) end_unseen(connection, *call);
}

/// A Reply, or the last piece of one, whose lists were cut.
void take_cut_reply(const Turn& turn, bool begun) {
  Connection& connection = turn.connection;
  Transaction* call = connection.open_call(other(turn.side()), turn.xid());
  if (call == nullptr) {
    turn.unchecked(RuleId::reply_without_call, "a Reply was cut inside its header");
    return;
  }
  turn.send.exchange = call->id;
  const bool to_reverse = call->requester == Side::passive;
  if (!begun) ++(to_reverse ? connection.facts.messages.reverse_replies : connection.facts.messages.replies);
  if (call->watched || to_reverse) watch_unread(connection, *call, turn.event.frame);
  if (turn.type() == wire::HeaderType::reply_inline) call->reply_body.clear();
  turn.unchecked(RuleId::read_chunk_not_pulled, "a Reply was cut inside its header");
  finish(turn, *call, nullptr);
}

}  // namespace

MessageSeen::Kind take_cut(const Turn& turn, TransactionId pieces) {
  switch (turn.type()) {
    case wire::HeaderType::call_external:
    case wire::HeaderType::call_inline:
      take_cut_call(turn, pieces);
      return MessageSeen::Kind::call;
    case wire::HeaderType::reply_external:
    case wire::HeaderType::reply_inline:
      take_cut_reply(turn, pieces.generation != 0);
      return MessageSeen::Kind::reply;
    default:
      return MessageSeen::Kind::other;
  }
}

namespace {

/// An error ends the open Call that it answers; so does whatever comes in another version.
void end_by_error(const Turn& turn, Transaction& call) {
  // Pieces without their last, or what was left in the Reply chunk: no message.
  if (call.v2.incomplete) call.call_body.clear();
  call.reply_body.clear();
  call.introduces = Transaction::Introduces::nobody;
  judge_pulled_call(turn, call, turn.event.frame);
  turn.send.exchange = call.id;
  const bool refuses = turn.header.fixed.proc == error_type && call.answer != Transaction::Answer::perhaps;
  if (call.answers == 0 && refuses) call.ended_by = Transaction::EndedBy::error;
  finish(turn, call, &turn.header.lists.writes);
}

/// A Call gets one answer, be it a Reply or an error. Not where the error may be about something else with that XID.
void judge_second_answer(const Turn& turn) {
  const bool of_pieces = turn.header.error == static_cast<std::uint32_t>(wire::ErrorCode::inval_cont);
  const Transaction* call = turn.connection.find(other(turn.side()), turn.xid());
  const RecentSend* refused = refused_by(turn);
  if (of_pieces || call == nullptr || !call->answered() || refused == nullptr) return;
  if (!(refused->exchange == call->id) || refused->frame.number != call->call.number) return;
  judge_duplicate(turn, turn.event, *call);
}

}  // namespace

void take_error(const Turn& turn) {
  const Refused about = judge_error(turn);
  // A Call may have the same XID as properties, 0, as a Reply, or as a message of a type that is not known.
  if (about == Refused::properties || about == Refused::reply || refuses_unknown_type(turn)) return;
  Transaction* call = turn.connection.open_call(other(turn.side()), turn.xid());
  if (call == nullptr) {
    if (about == Refused::something_else) judge_second_answer(turn);
    return;
  }
  if (about == Refused::not_known) call->answer = Transaction::Answer::perhaps;
  end_by_error(turn, *call);
}

void take_other_version(const Turn& turn) {
  if (repeats_refused_version(turn)) {
    take_error(turn);
    return;
  }
  Transaction* call = turn.connection.open_call(other(turn.side()), turn.xid());
  if (judge_other_version(turn, call)) {
    end_by_error(turn, *call);
  } else if (call != nullptr) {
    call->perhaps_answered = turn.event.frame;
  }
}

bool take_refusal(const Turn& turn, bool whole) {
  if (!note_refusal(turn, whole)) return false;
  if (Transaction* call = turn.connection.open_call(Side::active, turn.xid())) end_by_error(turn, *call);
  return true;
}

}  // namespace rpcrdma::referee::v2
