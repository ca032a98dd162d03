// SPDX-License-Identifier: GPL-2.0-or-later
// Chunks of version 2 (sections 4.4, 4.5, 6.5, 6.6): what a Call provides, what a Reply returns, and which handle may
// be invalidated.
#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "referee/docket/counted.hpp"
#include "referee/rules/rows.hpp"
#include "referee/rules/v2_turn.hpp"
#include "wire/rpc.hpp"

namespace rpcrdma::referee::v2 {

namespace {

using wire::HeaderType;
using wire::PropertyId;
constexpr std::uint64_t inline_call_header = 32;
constexpr std::uint64_t inline_reply_header = 20;

[[nodiscard]] std::uint64_t sum_of(const std::vector<wire::ReadSegment>& reads) noexcept {
  std::uint64_t sum = 0;
  for (const wire::ReadSegment& read : reads) sum += read.target.length;
  return sum;
}

template <class Visit>
void each_segment(const wire::HeaderV2& header, Visit visit) {
  for (const wire::ReadSegment& read : header.call_chunk) visit(read.target);
  for (const wire::ReadSegment& read : header.lists.reads) visit(read.target);
  for (const wire::WriteChunk& chunk : header.lists.writes) std::for_each(chunk.begin(), chunk.end(), visit);
  if (header.lists.reply) std::for_each(header.lists.reply->begin(), header.lists.reply->end(), visit);
}

/// The peer's property as it binds now: lower values only once they are proven to have arrived.
[[nodiscard]] std::uint32_t property_of(const Turn& turn, PropertyId id) {
  const Announced& theirs = turn.theirs().announced;
  if (theirs.unsure_of(id)) return UINT32_MAX;  // it may have been refused, and what held before is not known
  const std::uint32_t standard = wire::property_default(static_cast<std::uint32_t>(id)).value_or(0);
  const auto value = theirs.properties.last(id);
  if (!value) return standard;
  const bool arrived = theirs.final.number != 0 && turn.connection.heard(other(turn.side()), theirs.final_ordinal);
  return arrived ? *value : std::max(*value, standard);
}

}  // namespace

const Row rows::v2_segment_count_exceeded{
    .group = 'E',
    .severity = Severity::warning,
    .versions = Versions::v2,
    .source = "draft-ietf-nfsv4-rpcrdma-version-two sections 5.2.4, 7.3.3",
    .who = "requester",
    .title = "More segments than the responder's Maximum Segment Count",
    .explanation =
        "A responder announces how many segments it handles (16 by default) and refuses more with RDMA2_ERR_SEGMENTS. "
        "One section counts the segments of a header, another those of a chunk: only a chunk above the number is a "
        "warning.",
    .evidence =
        "Segments of the Call's chunks against the property in force. Not decided when the start of the connection is "
        "missing.",
    .next = "Let the requester register fewer, larger segments, or split the request."};

const Row rows::v2_segment_size_exceeded{
    .group = 'E',
    .severity = Severity::warning,
    .versions = Versions::v2,
    .source = "draft-ietf-nfsv4-rpcrdma-version-two section 5.2.3",
    .who = "requester",
    .title = "A segment longer than the responder's Maximum Segment Size",
    .explanation =
        "A responder announces the largest segment that it accepts, 1 MiB by default. A longer one may be refused.",
    .evidence =
        "The length of a segment against the property in force. Not decided when the start of the connection is "
        "missing.",
    .next = "Let the requester split the chunk into several segments."};

namespace {

void judge_segments(const Turn& turn, const Transaction& call) {
  if (!all_seen(turn.connection)) {
    turn.unchecked(RuleId::v2_segment_count_exceeded, "the properties of the responder may not be in the capture");
    return;
  }
  const std::uint32_t count = property_of(turn, PropertyId::segment_count);
  if (call.v2.segments > count) {
    const bool chunk = call.v2.most_in_chunk > count;
    turn.say_by_properties(
        RuleId::v2_segment_count_exceeded,
        fmt::format("The {}'s Call has {}, {} in one chunk; its peer's Maximum Segment Count is {}.{}",
                    name(turn.side()), counted(call.v2.segments, "segment"), call.v2.most_in_chunk, count,
                    chunk ? "" : " Whether that counts a header's segments or a chunk's, the draft leaves open."),
        chunk ? Severity::error : Severity::note);
  }
  const std::uint32_t size = property_of(turn, PropertyId::segment_size);
  std::uint32_t longest = 0;
  each_segment(turn.header, [&](const wire::Segment& s) { longest = std::max(longest, s.length); });
  if (longest > size) {
    turn.say_by_properties(
        RuleId::v2_segment_size_exceeded,
        fmt::format("The {}'s Call has a segment of {} octets; its peer's Maximum Segment Size is {}.",
                    name(turn.side()), grouped(longest), grouped(size)));
  }
}

}  // namespace

const Row rows::v2_call_chunk_missing{
    .group = 'E',
    .severity = Severity::error,
    .versions = Versions::v2,
    .source = "draft-ietf-nfsv4-rpcrdma-version-two section 6.3.5",
    .who = "requester",
    .title = "RDMA2_CALL_EXTERNAL without a Call chunk",
    .explanation =
        "In this form the RPC Call is nowhere but in the Call chunk. Without it there is nothing to execute.",
    .evidence = "rdma_call is an empty list. Not decided when the header was cut.",
    .next = "Look at how the requester chooses the header type for a call that does not fit inline."};

namespace {

/// False: the positions are not to be relied on.
bool judge_positions(const Turn& turn) {
  bool sound = true;
  const auto accuse = [&](RuleId rule, std::string message) {
    turn.say(rule, {turn.event.frame}, std::move(message));
    sound = false;
  };
  const auto& call = turn.header.call_chunk;
  const auto& reads = turn.header.lists.reads;
  if (turn.type() == HeaderType::call_external && call.empty()) {
    accuse(
        RuleId::v2_call_chunk_missing,
        fmt::format("The {}'s RDMA2_CALL_EXTERNAL has no Call chunk: there is no RPC Call in it.", name(turn.side())));
  }
  if (!std::all_of(call.begin(), call.end(), wire::position_zero)) {
    accuse(RuleId::call_chunk_mixed,
           fmt::format("The {}'s Call chunk has a segment at another position than 0.", name(turn.side())));
  }
  if (std::any_of(reads.begin(), reads.end(), wire::position_zero)) {
    accuse(RuleId::call_chunk_mixed,
           fmt::format("The {}'s Read list has a segment at Position 0, where only a Call chunk belongs.",
                       name(turn.side())));
  }
  const auto unaligned =
      std::find_if(reads.begin(), reads.end(), [](const wire::ReadSegment& read) { return read.position % 4 != 0; });
  if (unaligned != reads.end()) {
    accuse(RuleId::read_position_unaligned,
           fmt::format("The {}'s Read list has a segment at position {}, no multiple of 4.", name(turn.side()),
                       unaligned->position));
  }
  const auto falling = std::adjacent_find(
      reads.begin(), reads.end(),
      [](const wire::ReadSegment& a, const wire::ReadSegment& b) { return b.position < a.position; });
  if (falling != reads.end()) {
    accuse(RuleId::read_list_unordered,
           fmt::format("The {}'s Read list goes back from position {} to {}; positions may only rise.",
                       name(turn.side()), falling->position, std::next(falling)->position));
    owe_refusal(turn, Due::Wrong::message);
  }
  return sound;
}

/// What version 1 has as well. `piece`: where the RPC message is, unless it is in the Call chunk.
void judge_lists(const Turn& turn, Transaction& call, const Piece& piece) {
  if (!call.lists_known || call.copies != 1) return;
  std::optional<std::uint64_t> length;
  std::optional<RpcStream> stream;
  if (turn.type() == HeaderType::call_external) {
    if (call.body_length != 0) length = call.body_length;
  } else if (piece.known && !turn.event.holes) {
    stream = inline_stream(turn, call.call_body, piece);
    length = piece.payload;
  } else if (call.v2.segments > 0) {
    turn.unchecked(RuleId::ineligible_item_reduced, "pieces of a message are missing or cut");
  }
  judge_call_spans(turn, turn.event, call, length, stream);
}

/// In the external forms the RPC message, with all its padding, is nowhere but in the body chunk (section 4.5.3): no
/// less than its XID and type.
void judge_body(const Turn& turn, std::string_view chunk, std::uint64_t length) {
  constexpr std::uint64_t least_rpc = 8;
  if (length < least_rpc) {
    turn.say(RuleId::msg_without_rpc, {turn.event.frame},
             fmt::format("The {}'s {} has {} in its {} chunk; an RPC message has at least {}.", name(turn.side()),
                         wire::htype_name_v2(turn.header.fixed.proc), counted(length, "octet"), chunk, least_rpc));
  }
  if (length % xdr_word == 0) return;
  turn.say(
      RuleId::payload_unaligned, {turn.event.frame},
      fmt::format("The {}'s {} chunk, an RPC message, is {}.", name(turn.side()), chunk, beyond_xdr_words(length)));
}

void judge_unneeded_external(const Turn& turn) {
  const auto limit = turn.connection.threshold(turn.side());
  if (!limit || turn.type() != HeaderType::call_external) return;
  const std::uint64_t size = inline_call_header + sum_of(turn.header.call_chunk) + 24 * turn.header.lists.reads.size();
  if (turn.header.call_chunk.empty() || !turn.header.lists.writes.empty() || turn.header.lists.reply || size > *limit) {
    return;
  }
  if (turn.again(RuleId::long_call_avoidable, turn.event.frame)) return;
  turn.say(RuleId::long_call_avoidable,
           {.frames = {turn.event.frame},
            .as = Role::requester,
            .xid = turn.xid(),
            .what = fmt::format("The {} sent RDMA2_CALL_EXTERNAL although header and message ({} octets) fit into "
                                "the threshold of {}.",
                                name(turn.side()), grouped(size), *limit)});
}

[[nodiscard]] bool same_segments(const wire::WriteChunk& given, const wire::WriteChunk& returned) noexcept {
  return given.size() == returned.size() &&
         std::equal(given.begin(), given.end(), returned.begin(), [](const wire::Segment& a, const wire::Segment& b) {
           return a.handle == b.handle && a.offset == b.offset;
         });
}

enum class ChunkKind : std::uint8_t { write, reply };

[[nodiscard]] bool judge_returned_chunk(const Turn& turn, const Transaction& call, const wire::WriteChunk& given,
                                        const wire::WriteChunk& returned, ChunkKind kind) {
  const FrameRef frame = turn.event.frame;
  const char* who = name(turn.side());
  const char* what = kind == ChunkKind::write ? "Write" : "Reply";
  if (given.empty() && !returned.empty()) {
    turn.say(RuleId::empty_write_chunk_filled, {frame, call.call},
             fmt::format("The {}'s Reply returns {} in a {} chunk that had none.", who,
                         counted(returned.size(), "segment"), what));
    return false;
  }
  if (!given.empty() && returned.empty() && kind == ChunkKind::write) {
    // For results without data the text of RFC 8267 asks for an empty chunk: both shapes are in use.
    const bool may_be = !call.procedure || std::get<0>(*call.procedure) == wire::nfs_program;
    turn.say(RuleId::unused_write_chunk_shape, {frame, call.call},
             fmt::format("The {}'s Reply returns a Write chunk without its {} instead of with lengths of zero.", who,
                         counted(given.size(), "segment")),
             may_be ? Severity::note : Severity::error);
    return true;
  }
  if (!same_segments(given, returned)) {
    turn.say(RuleId::write_segments_changed, {frame, call.call},
             fmt::format("The {}'s Reply returns a {} chunk with other segments than the Call gave (frame {}).", who,
                         what, call.call.number));
    return false;
  }
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (returned[i].length > given[i].length) {
      turn.say(RuleId::write_length_grown, {frame, call.call},
               fmt::format("The {}'s Reply returns {} in a segment of {} (handle {:#010x}).", who,
                           counted(returned[i].length, "octet"), grouped(given[i].length), given[i].handle));
      return false;
    }
  }
  for (std::size_t i = 0; i + 1 < given.size(); ++i) {
    if (returned[i].length == given[i].length) continue;
    if (std::any_of(returned.begin() + static_cast<std::ptrdiff_t>(i) + 1, returned.end(),
                    [](const wire::Segment& s) { return s.length != 0; })) {
      turn.say(RuleId::write_fill_gap, {frame, call.call},
               fmt::format("The {}'s Reply used a later segment of a {} chunk while segment {} holds {} of {}.", who,
                           what, i + 1, grouped(returned[i].length), counted(given[i].length, "octet")));
      return false;
    }
    break;
  }
  return true;
}

void judge_reply_form_v2(const Turn& turn, const Transaction& call, const Piece& piece) {
  const auto limit = turn.connection.threshold(turn.side());
  if (!limit || turn.event.holes) return;
  if (turn.type() == HeaderType::reply_external) {
    const std::uint64_t length = turn.header.lists.reply ? wire::chunk_length(*turn.header.lists.reply) : 0;
    const std::uint64_t size = inline_reply_header + length + (turn.header.length - inline_reply_header);
    const bool offered = call.reply_chunk && !call.reply_chunk->empty();
    if (!offered || length == 0 || size > *limit || turn.again(RuleId::reply_chunk_unneeded_use, turn.event.frame)) {
      return;
    }
    turn.say(RuleId::reply_chunk_unneeded_use,
             {.frames = {turn.event.frame, call.call},
              .as = Role::responder,
              .xid = turn.xid(),
              .what = fmt::format("The {} wrote a reply of {} octets into the Reply chunk although it fits inline "
                                  "(threshold {}).",
                                  name(turn.side()), grouped(length), grouped(*limit))});
    return;
  }
  if (turn.type() != HeaderType::reply_inline || !call.reply_chunk) return;
  const std::uint64_t room = wire::chunk_length(*call.reply_chunk);
  if (room < piece.payload || piece.payload + turn.header.length <= *limit) return;
  if (!all_seen(turn.connection) || !piece.known) {
    turn.unchecked(RuleId::reply_chunk_ignored, "the properties of both sides may not be in the capture");
    return;
  }
  turn.say(
      RuleId::reply_chunk_ignored, {turn.event.frame, call.call},
      fmt::format("The {} sent a reply of {} octets {} although the Call gave a Reply chunk of {} octets.{}",
                  name(turn.side()), grouped(piece.payload), piece.continued ? "in pieces" : "inline", grouped(room),
                  piece.continued ? " One sentence of the draft demands the chunk, another leaves the choice." : ""),
      piece.continued ? Severity::note : Severity::error);
}

/// What the client's upper layer has said of reverse Calls.
enum class UpperLayer : std::uint8_t {
  nothing,
  nothing_of_a_session,  ///< though NFSv4 is spoken
  not_read,              ///< in a Call that was cut, or is not pulled yet
  agreed
};

[[nodiscard]] UpperLayer upper_layer(const Connection& connection) {
  const BackChannel& channel = connection.back_channel;
  if (channel.agreed.number != 0) return UpperLayer::agreed;
  if (channel.not_read() != 0) return UpperLayer::not_read;
  return channel.nfs4 ? UpperLayer::nothing_of_a_session : UpperLayer::nothing;
}

}  // namespace

const Row rows::v2_inv_handle_unknown{
    .group = 'G',
    .severity = Severity::error,
    .versions = Versions::v2,
    .source = "draft-ietf-nfsv4-rpcrdma-version-two section 6.5",
    .who = "requester",
    .title = "rdma_inv_handle names no handle of its header",
    .explanation =
        "The handle that the responder may invalidate has to be one that the same header names, or 0. Any other one is "
        "memory of somebody else.",
    .evidence = "rdma_inv_handle against all segments of the header. Not decided when the header was cut.",
    .next = "Look at the requester: a handle of an earlier call may have been left in the field."};

void judge_call_chunks(const Turn& turn, Transaction& call, const Piece& piece) {
  if (!judge_positions(turn)) call.found_ill_formed();
  judge_segments(turn, call);
  judge_lists(turn, call, piece);
  if (!turn.header.call_chunk.empty()) judge_body(turn, "Call", sum_of(turn.header.call_chunk));
  judge_unneeded_external(turn);
  if (turn.header.inv_handle == 0) return;
  bool named = false;
  each_segment(turn.header, [&](const wire::Segment& s) { named = named || s.handle == turn.header.inv_handle; });
  if (named) return;
  turn.say(RuleId::v2_inv_handle_unknown, {turn.event.frame},
           fmt::format("The {}'s rdma_inv_handle is {:#010x}, which no segment of the header has.", name(turn.side()),
                       turn.header.inv_handle));
}

const Row rows::v2_reverse_level_exceeded{
    .group = 'J',
    .severity = Severity::error,
    .versions = Versions::v2,
    .source = "draft-ietf-nfsv4-rpcrdma-version-two section 5.2.5",
    .who = "server",
    .title = "A reverse call in a form that the client does not support",
    .explanation =
        "The client announces whether it takes calls at all (0), simple ones (1), continued ones (2) or any (3). "
        "Beyond that level it has no resources for them.",
    .evidence =
        "The form of the server's Call, its pieces and chunks, against the client's Reverse-Direction Support. Not "
        "decided when the start of the connection is missing. At level 0 it is a note where the client's upper layer "
        "has agreed to be called, or a Call that could not be read may have, and a warning where it speaks NFSv4. A "
        "Reply chunk without other chunks is a warning, too: the draft excludes data chunks, and whether it is one is "
        "open.",
    .next = "Compare the property in the client's RDMA2_CONNPROP messages with the server's choice of form."};

void judge_reverse_form(const Turn& turn, const Transaction& call, Came came) {
  if (turn.side() != Side::passive) return;
  if (!all_seen(turn.connection)) {
    turn.unchecked(RuleId::v2_reverse_level_exceeded, "the properties of the client may not be in the capture");
    return;
  }
  const Announced& client = turn.theirs().announced;
  if (client.unsure_of(PropertyId::reverse)) {
    turn.unchecked(RuleId::v2_reverse_level_exceeded, "which properties its peer refused is not known");
    return;
  }
  const std::uint32_t level = client.properties.largest(PropertyId::reverse).value_or(0);
  const bool data_chunks = call.v2.external || !call.reads.empty() || !call.writes.empty();
  const bool any_chunks = data_chunks || call.reply_chunk.has_value();
  constexpr std::uint32_t in_pieces = 2;
  constexpr std::uint32_t with_chunks = 3;
  const std::uint32_t needed = data_chunks ? with_chunks : (came == Came::in_pieces ? in_pieces : 1);
  const bool exceeded = level < needed;
  if (!exceeded && (!any_chunks || level >= with_chunks)) return;
  if (any_chunks && came == Came::in_pieces && level < in_pieces) return;  // its first piece has been accused of it
  static constexpr const char* forms[] = {"", "a simple Call", "a Call in pieces", "a Call with chunks"};
  std::string what =
      fmt::format("The server sent {} although the client's Reverse-Direction Support is {} ({}).",
                  exceeded ? forms[needed] : "a Call with a Reply chunk", level, wire::reverse_level_name(level));
  if (level != 0) {
    turn.say_by_properties(RuleId::v2_reverse_level_exceeded, std::move(what),
                           exceeded ? Severity::error : Severity::warning);
    return;
  }
  // What the client's upper layer agreed to may be missing.
  const auto said_of_form = [&](Severity severity) {
    turn.say_when_heard(RuleId::v2_reverse_level_exceeded, client.final, std::move(what), severity);
  };
  const UpperLayer said = upper_layer(turn.connection);
  if (said == UpperLayer::not_read || said == UpperLayer::nothing_of_a_session) {
    turn.unchecked(RuleId::reverse_before_ready, "the client's upper layer may have agreed to reverse calls");
  }
  if (said != UpperLayer::nothing) {
    said_of_form(said == UpperLayer::nothing_of_a_session ? Severity::warning : Severity::note);
    return;
  }
  said_of_form(Severity::error);
  turn.say_when_heard(
      RuleId::reverse_before_ready, client.final,
      "The server called back although neither the client's properties nor its upper layer said that it takes "
      "calls.");
}

const Row rows::v2_reply_chunk_missing{
    .group = 'E',
    .severity = Severity::error,
    .versions = Versions::v2,
    .source = "draft-ietf-nfsv4-rpcrdma-version-two section 6.3.8",
    .who = "responder",
    .title = "RDMA2_REPLY_EXTERNAL without a Reply chunk",
    .explanation =
        "In this form the RPC Reply is nowhere but in the Reply chunk of the Call, which the header has to return.",
    .evidence = "The word that announces the Reply chunk is 0. Not decided when the header was cut.",
    .next = "See whether the Call provided a Reply chunk, and what the responder made of it."};

void judge_external_reply(const Turn& turn, const Transaction* call) {
  if (turn.type() != HeaderType::reply_external || turn.header.lists.reply) return;
  turn.say(
      RuleId::v2_reply_chunk_missing, {turn.event.frame, call != nullptr ? call->call : FrameRef{}},
      fmt::format("The {}'s RDMA2_REPLY_EXTERNAL has no Reply chunk: there is no RPC Reply in it.", name(turn.side())));
}

bool judge_reply_chunks(const Turn& turn, const Transaction& call, const Piece& piece) {
  const FrameRef frame = turn.event.frame;
  judge_external_reply(turn, &call);
  if (turn.type() == HeaderType::reply_external && turn.header.lists.reply) {
    judge_body(turn, "Reply", wire::chunk_length(*turn.header.lists.reply));
  }
  if (!returned_lists_known(turn, turn.header.lists, call)) return true;
  judge_reply_form_v2(turn, call, piece);
  const auto& given = call.writes;
  const auto& returned = turn.header.lists.writes;
  if (given.size() != returned.size()) {
    turn.say(RuleId::write_list_not_returned, {frame, call.call},
             fmt::format("The {}'s Reply returns {}; the Call provided {} (frame {}).", name(turn.side()),
                         counted(returned.size(), "Write chunk"), given.size(), call.call.number));
    return false;
  }
  bool sound = true;
  for (std::size_t i = 0; i < given.size(); ++i) {
    sound = judge_returned_chunk(turn, call, given[i], returned[i], ChunkKind::write) && sound;
  }
  if (turn.header.lists.reply && call.reply_chunk) {
    sound = judge_returned_chunk(turn, call, *call.reply_chunk, *turn.header.lists.reply, ChunkKind::reply) && sound;
  } else if (turn.header.lists.reply) {
    turn.say(RuleId::write_segments_changed, {frame, call.call},
             fmt::format("The {}'s Reply returns a Reply chunk of {}; the Call provided none (frame {}).",
                         name(turn.side()), counted(turn.header.lists.reply->size(), "segment"), call.call.number));
    sound = false;
  }
  return sound;
}

const Row rows::v2_inv_handle_mismatch{
    .group = 'G',
    .severity = Severity::error,
    .versions = Versions::v2,
    .needs = {.past = Needs::Past::trusted, .call = Needs::Call::sent_once, .lists = true},
    .source = "draft-ietf-nfsv4-rpcrdma-version-two section 6.5",
    .who = "responder",
    .title = "A reply invalidates another handle than the call allows",
    .explanation =
        "The responder may invalidate exactly the handle in the Call's rdma_inv_handle, and none when that is 0. "
        "Invalidating another one takes memory away from the requester that it did not give up.",
    .evidence =
        "The handle of Send With Invalidate on any part of a reply against the Call. Not decided when the Call is "
        "missing.",
    .next = "See whether the responder takes the first handle of a chunk, as version 1 allowed."};

const Row rows::v2_inv_on_control{
    .group = 'G',
    .severity = Severity::error,
    .versions = Versions::v2,
    .source = "draft-ietf-nfsv4-rpcrdma-version-two section 6.5",
    .who = "sender",
    .title = "Remote invalidation on a message that is no reply",
    .explanation =
        "Only replies may be sent with Send With Invalidate: errors, grants, properties and calls have no handle that "
        "they could invalidate.",
    .evidence =
        "A Send With Invalidate whose header type is none of the three for replies. Not decided when the capture lacks "
        "a packet of the message.",
    .next = "Look at the sender's choice of the Send opcode."};

void judge_invalidated(const Turn& turn, const Transaction* call) {
  const trace::Send& event = turn.event;
  if (!event.invalidated) return;
  if (!wire::is_reply(turn.type())) {
    if (event.holes) return turn.unchecked(RuleId::v2_inv_on_control, last_packet_of_another);
    turn.send.invalidate_finding =
        turn.say(RuleId::v2_inv_on_control, {event.frame},
                 fmt::format("The {} invalidated handle {:#010x} with {}; only replies may.", name(event.side),
                             *event.invalidated, wire::htype_name_v2(turn.header.fixed.proc)));
    return;
  }
  if (call == nullptr) {
    turn.unchecked(RuleId::v2_inv_handle_mismatch, "the Call is not in the capture");
    return;
  }
  if (!turn.may(RuleId::v2_inv_handle_mismatch, *call)) return;
  if (call->v2.inv_handle == *event.invalidated && call->v2.inv_handle != 0) return;
  turn.send.invalidate_finding =
      turn.say(RuleId::v2_inv_handle_mismatch,
               {.frames = {event.frame, call->call},
                .by = event.side,
                .as = Role::responder,
                .xid = call->xid,
                .call = call,
                .what = fmt::format("The {}'s Reply invalidates handle {:#010x}; the Call (frame {}) allows {}.",
                                    name(event.side), *event.invalidated, call->call.number,
                                    call->v2.inv_handle == 0 ? std::string("none")
                                                             : fmt::format("{:#010x} only", call->v2.inv_handle))});
}

}  // namespace rpcrdma::referee::v2
