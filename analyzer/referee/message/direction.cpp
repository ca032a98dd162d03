// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/message/direction.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "referee/state/possible_calls.hpp"
#include "wire/rpc.hpp"

namespace rpcrdma::referee {

namespace {

using wire::Proc;

/// A Reply chunk to be filled, and not the one of `theirs` given back: only a Call offers one.
[[nodiscard]] bool own_reply_chunk(const wire::HeaderV1& header, const Transaction& theirs) {
  if (!header.reply || wire::chunk_length(*header.reply) == 0 || !theirs.lists_known) return false;
  if (!theirs.reply_chunk) return true;
  std::vector<std::uint32_t> handles;  // sorted: both chunks may be long
  handles.reserve(theirs.reply_chunk->size());
  for (const wire::Segment& segment : *theirs.reply_chunk) handles.push_back(segment.handle);
  std::sort(handles.begin(), handles.end());
  return std::none_of(header.reply->begin(), header.reply->end(), [&](const wire::Segment& mine) {
    return std::binary_search(handles.begin(), handles.end(), mine.handle);
  });
}

/// The same memory, and no more of it.
[[nodiscard]] bool same_places(const wire::WriteChunk& mine, const wire::WriteChunk& theirs) {
  return !mine.empty() && std::equal(mine.begin(), mine.end(), theirs.begin(), theirs.end(),
                                     [](const wire::Segment& a, const wire::Segment& b) {
                                       return a.handle == b.handle && a.offset == b.offset && a.length <= b.length;
                                     });
}

/// It returns the chunks of `theirs`, as only its Reply does: nobody offers the memory of the other side.
[[nodiscard]] bool gives_back(const wire::HeaderV1& header, const Transaction& theirs) {
  if (!theirs.lists_known) return false;
  if (header.reply && theirs.reply_chunk && same_places(*header.reply, *theirs.reply_chunk)) return true;
  return !header.writes.empty() && std::equal(header.writes.begin(), header.writes.end(), theirs.writes.begin(),
                                              theirs.writes.end(), same_places);
}

/// Room for a Reply is only offered by a Call: what an answer fills is told without a Read chunk.
[[nodiscard]] bool offers_room(const wire::HeaderV1& header) {
  return header.reply && wire::chunk_length(*header.reply) != 0;
}

/// A Reply of a sender was offered before, and known to be one. A Call gets one Reply: another one breaks a rule.
enum class OfferedBefore : std::uint8_t {
  no,
  yes,
  same_memory  ///< what is offered now is in the memory of an offer that is still open
};
[[nodiscard]] OfferedBefore offered_before(const Connection& connection, Side sender, const wire::HeaderV1& header) {
  const std::uint32_t xid = header.fixed.xid;
  const Transaction* theirs = connection.find(other(sender), xid);
  OfferedBefore before = OfferedBefore::no;
  if (theirs == nullptr || !theirs->answered() || theirs->answer_uncertain()) return before;
  for (const Offer& offer : connection.offers) {
    if (!offer.answers(other(sender), xid) || offer.may_be_call()) continue;
    before = OfferedBefore::yes;
    if (offer.done.number == 0 && !offer.segments.empty() && !header.reads.empty() &&
        offer.segments.front() == header.reads.front().target) {
      return OfferedBefore::same_memory;
    }
  }
  return before;
}

/// Nothing shows that the server makes no Calls of its own.
[[nodiscard]] bool reverse_calls_possible(const Connection& connection) {
  const BackChannel& channel = connection.back_channel;
  return channel.agreed.number != 0 || channel.not_read() != 0 || connection.facts.messages.reverse_calls != 0 ||
         !connection.whole();
}

/// Who sent a message, and the Calls with its XID.
struct Parties {
  Side sender = Side::active;
  std::uint32_t xid = 0;
  const Transaction* theirs = nullptr;  ///< of the other side, open or answered
  bool theirs_open = false;
  bool mine_open = false;  ///< of the sender
};

[[nodiscard]] Parties parties_of(const Connection& connection, Side sender, std::uint32_t xid) {
  Parties parties{.sender = sender, .xid = xid, .theirs = connection.find(other(sender), xid)};
  parties.theirs_open = parties.theirs != nullptr && !parties.theirs->answered();
  parties.mine_open = connection.open_call(sender, xid) != nullptr;
  return parties;
}

/// The first words of its RPC message, as far as it is inline.
[[nodiscard]] std::optional<wire::RpcStart> rpc_start(const trace::Send& event, const wire::HeaderV1& header) {
  if (event.octets.size() < header.length) return std::nullopt;
  const auto start = wire::decode_rpc_start(event.octets.subspan(header.length), event.wire_length - header.length);
  return start ? std::optional(*start) : std::nullopt;
}

/// A Long Call, or a Reply that offers itself to be read: told apart by the open Call of the other side, or by what
/// has been read of it.
[[nodiscard]] Reading read_long_form(const Connection& connection, const Parties& parties, const trace::Send& event,
                                     const wire::HeaderV1& header, LongForm form) {
  const auto is = [](Direction direction) { return Reading{.direction = direction}; };
  const Reading rather_reply{.direction = Direction::reply, .inferred = true};
  if (parties.theirs_open) {
    switch (form) {
      case LongForm::call:
        return is(Direction::call);
      case LongForm::reply:
        return is(Direction::reply);
      case LongForm::undecided:
        // Other traffic came before it was pulled: the only open Call with its XID is the one that it answers.
        return parties.mine_open ? is(Direction::unknown) : rather_reply;
      case LongForm::not_asked:
        break;
    }
    if (own_reply_chunk(header, *parties.theirs)) return is(Direction::call);
    return is(parties.mine_open ? Direction::unknown : Direction::reply);
  }
  const OfferedBefore before = offered_before(connection, parties.sender, header);
  if (before == OfferedBefore::same_memory) return is(Direction::reply);
  if (form == LongForm::call) return is(Direction::call);
  if (form == LongForm::reply) return is(Direction::reply);
  if (event.invalidated) return rather_reply;  // a Call may not, and whose Reply it is may be missing
  const bool perhaps_open = (parties.theirs != nullptr && parties.theirs->answer_uncertain()) ||
                            possible_long_call(connection, other(parties.sender), parties.xid);
  if (perhaps_open && !offers_room(header)) return rather_reply;
  if (possible_cut_call(connection, other(parties.sender), parties.xid)) return is(Direction::unknown);
  // The Reply once more, or a Call with its XID: nobody has read it to the end, and nothing else tells.
  if (before == OfferedBefore::yes && !offers_room(header)) return is(Direction::unknown);
  return is(Direction::call);
}

/// RDMA_NOMSG without a Position-Zero Read chunk, by who may offer what. `unknown`: its lists do not tell.
[[nodiscard]] Direction direction_by_lists(const Connection& connection, const Parties& parties,
                                           const trace::Send& event, const wire::HeaderV1& header) {
  const bool client = parties.sender == Side::active;
  // Room for a Reply that nobody else asked for, and no message: a Call that is nowhere. Unless a message that was cut
  // before its direction asked for it, or it invalidates: only a Reply may, and whose it is may be missing.
  if (header.reply && client && connection.whole() && parties.theirs == nullptr && !event.invalidated &&
      !possible_cut_call(connection, Side::passive, parties.xid)) {
    return Direction::call;
  }
  if (!header.reads.empty()) {
    // Read chunks for items, and nothing that could hold a Reply.
    const bool may_call = client || (connection.whole() && reverse_calls_possible(connection));
    if (!header.reply && parties.theirs == nullptr && may_call) return Direction::call;
    // Read chunks for items that the other side's open Call asked for, in a Reply, where nothing allows them.
    if (parties.theirs_open && !parties.mine_open) return Direction::reply;
  }
  const bool may_answer = parties.theirs != nullptr || !client || event.invalidated;
  return header.reply && may_answer ? Direction::reply : Direction::unknown;
}

}  // namespace

bool calls_possible(const Connection& connection, Side side) {
  return side == Side::active || reverse_calls_possible(connection);
}

Reading read_direction(Connection& connection, const trace::Send& event, const wire::HeaderV1& header,
                       bool lists_complete, LongForm form) {
  Reading reading;
  const auto proc = static_cast<Proc>(header.fixed.proc);
  if (lists_complete && (proc == Proc::msg || proc == Proc::msgp)) reading.rpc = rpc_start(event, header);
  if (reading.rpc && reading.rpc->type <= 1) {
    reading.direction = reading.rpc->type == 0 ? Direction::call : Direction::reply;
    return reading;
  }
  const Parties parties = parties_of(connection, event.side, header.fixed.xid);
  if (lists_complete && proc == Proc::nomsg) {
    if (parties.theirs_open && gives_back(header, *parties.theirs)) {
      reading.direction = Direction::reply;
      return reading;
    }
    if (has_position_zero(header)) return read_long_form(connection, parties, event, header, form);
    const Direction by_lists = direction_by_lists(connection, parties, event, header);
    if (by_lists != Direction::unknown) {
      reading.direction = by_lists;
      return reading;
    }
  }
  // The message in a Read chunk at Position 0, and nothing of it inline: a client that answers nobody calls.
  const bool nothing_inline = proc == Proc::msg && lists_complete && !event.holes && !reading.rpc;
  if (nothing_inline && has_position_zero(header) && parties.sender == Side::active && connection.whole() &&
      parties.theirs == nullptr) {
    reading.direction = Direction::call;
    return reading;
  }
  reading.guessed = true;
  const bool answers = parties.theirs_open || parties.sender == Side::passive;
  reading.direction = answers ? Direction::reply : Direction::call;
  return reading;
}

Direction direction_by_words(Connection& connection, const trace::Send& event, const wire::FixedWords& fixed) {
  if (fixed.version == 2) {
    const std::string_view htype = wire::htype_name_v2(fixed.proc);
    if (htype.starts_with("RDMA2_CALL")) return Direction::call;
    if (htype.starts_with("RDMA2_REPLY")) return Direction::reply;
    if (!htype.empty()) return Direction::unknown;
  }
  if (fixed.version == 1 && fixed.proc == static_cast<std::uint32_t>(Proc::done)) return Direction::unknown;
  return connection.open_call(other(event.side), fixed.xid) != nullptr ? Direction::reply : Direction::call;
}

bool reply_or_reverse_call(const Connection& connection, const trace::Send& event, wire::HeaderV1& scratch) {
  if (event.side != Side::passive || !connection.rpcrdma() || connection.over()) return false;
  constexpr std::size_t proc_at = 12;
  if (event.octets.size() < proc_at + 4) return false;
  if (static_cast<Proc>(wire::load_be32(event.octets.data() + proc_at)) != Proc::nomsg) return false;
  const auto decoded = wire::decode_header_v1(event.octets, event.wire_length, scratch);
  if (!decoded || scratch.fixed.version != 1) return false;
  if (scratch.reads.empty() || scratch.reads.front().position != 0) return false;
  return connection.find(Side::active, scratch.fixed.xid) == nullptr;
}

bool call_of(const trace::Send& reply, const trace::Send& event, wire::HeaderV1& scratch) {
  if (event.side == reply.side || event.octets.size() < 4 || reply.octets.size() < 4) return false;
  if (wire::load_be32(event.octets.data()) != wire::load_be32(reply.octets.data())) return false;
  const auto fixed = wire::decode_fixed_words(event.octets, event.wire_length);
  if (fixed && fixed->proc == static_cast<std::uint32_t>(Proc::error)) return false;  // it refuses a Call
  const auto decoded = wire::decode_header_v1(event.octets, event.wire_length, scratch);
  if (!decoded || scratch.fixed.version != 1) return true;
  const auto proc = static_cast<Proc>(scratch.fixed.proc);
  if (proc == Proc::done) return false;
  if (proc == Proc::nomsg) return !scratch.reads.empty() || !scratch.reply;
  if ((proc != Proc::msg && proc != Proc::msgp) || event.octets.size() < scratch.length) return true;
  const auto start = wire::decode_rpc_start(event.octets.subspan(scratch.length), event.wire_length - scratch.length);
  return !start || start->type != 1;
}

SaysItself says_itself(const trace::Send& event, wire::HeaderV1& scratch) {
  const auto fixed = wire::decode_fixed_words(event.octets, event.wire_length);
  if (!fixed) return SaysItself::nothing;
  const auto proc = static_cast<Proc>(fixed->proc);
  if (proc == Proc::error) return SaysItself::error;
  if (fixed->version != 1) return SaysItself::nothing;
  if (proc == Proc::done) return SaysItself::done;
  if (!wire::decode_header_v1(event.octets, event.wire_length, scratch)) return SaysItself::nothing;
  if (proc == Proc::nomsg) {
    const bool returned = scratch.reads.empty() && scratch.reply && wire::chunk_length(*scratch.reply) != 0;
    return returned ? SaysItself::reply : SaysItself::nothing;
  }
  if (event.octets.size() < scratch.length) return SaysItself::nothing;
  const auto start = wire::decode_rpc_start(event.octets.subspan(scratch.length), event.wire_length - scratch.length);
  return start && start->type == 1 ? SaysItself::reply : SaysItself::nothing;
}

std::vector<std::uint32_t> handles_of(const wire::HeaderV1& header) {
  std::vector<std::uint32_t> handles;
  const auto add = [&](const wire::WriteChunk& chunk) {
    for (const wire::Segment& segment : chunk) handles.push_back(segment.handle);
  };
  for (const wire::ReadSegment& read : header.reads) handles.push_back(read.target.handle);
  for (const wire::WriteChunk& chunk : header.writes) add(chunk);
  if (header.reply) add(*header.reply);
  std::sort(handles.begin(), handles.end());
  return handles;
}

bool call_or_offer(const Connection& connection, const trace::Send& event, wire::HeaderV1& scratch) {
  if (!connection.rpcrdma() || connection.over() || connection.version2() || event.holes) return false;
  constexpr std::size_t proc_at = 12;
  if (event.octets.size() < proc_at + 4) return false;
  if (static_cast<Proc>(wire::load_be32(event.octets.data() + proc_at)) != Proc::nomsg) return false;
  const auto decoded = wire::decode_header_v1(event.octets, event.wire_length, scratch);
  if (!decoded || scratch.fixed.version != 1 || !has_position_zero(scratch)) return false;
  const bool some = std::any_of(scratch.reads.begin(), scratch.reads.end(), [](const wire::ReadSegment& read) {
    return read.position == 0 && read.target.length != 0;
  });
  const Transaction* theirs = connection.open_call(other(event.side), scratch.fixed.xid);
  if (some && theirs == nullptr) {
    const OfferedBefore before = offered_before(connection, event.side, scratch);
    if (before != OfferedBefore::no) return before == OfferedBefore::yes;
    // A Long Call of the server, or a Reply whose Call is over, or is not in the capture.
    if (event.side == Side::passive) return true;
  }
  if (!some || theirs == nullptr || own_reply_chunk(scratch, *theirs) || gives_back(scratch, *theirs)) return false;
  return event.side == Side::active || connection.open_call(event.side, scratch.fixed.xid) != nullptr ||
         reverse_calls_possible(connection);
}

}  // namespace rpcrdma::referee
