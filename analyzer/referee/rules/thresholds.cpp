// SPDX-License-Identifier: GPL-2.0-or-later
// Group B: inline thresholds and message size.
#include <algorithm>

#include <fmt/format.h>

#include "referee/rules/checks.hpp"
#include "referee/v2/turn.hpp"

namespace rpcrdma::referee {

namespace {

constexpr std::uint32_t default_threshold = 1024;
constexpr std::uint64_t empty_lists_header = 28;
constexpr std::uint64_t read_segment_size = 24;  // list word, position, segment
constexpr std::uint64_t segment_size = 16;

/// Octets of a header with these lists, the Position-Zero chunk left out.
[[nodiscard]] std::uint64_t header_without_position_zero(const Transaction& call) noexcept {
  std::uint64_t size = empty_lists_header;
  for (const wire::ReadSegment& read : call.reads) size += read.position != 0 ? read_segment_size : 0;
  for (const wire::WriteChunk& chunk : call.writes) size += 8 + chunk.size() * segment_size;
  if (call.reply_chunk) size += 4 + call.reply_chunk->size() * segment_size;
  return size;
}

/// A message that was refused before its end is at least as long as what was seen of it.
[[nodiscard]] const char* at_least(const RecentSend& send) noexcept { return send.partial ? "at least " : ""; }

}  // namespace

void judge_send_size(Context& context, Connection& connection, const trace::Send& event, RecentSend& send) {
  if (connection.version2) {
    v2::judge_refused_part(context, connection, event, send);
    return;
  }
  const std::optional<std::uint32_t> limit = connection.threshold(event.side);
  if (!limit) {
    if (event.wire_length > default_threshold) {
      if (!context.book.fold_again(RuleId::send_larger_than_known, connection.id(), event.frame)) {
        context.book.fold(
            {RuleId::send_larger_than_known,
             connection.id(),
             {event.frame},
             fmt::format("The {} sent {} octets inline; the handshake is not (completely) in the capture, so "
                         "what its peer can take is not known (1024 is the default).",
                         name(event.side), event.wire_length),
             std::nullopt,
             send.xid,
             std::nullopt,
             std::nullopt});
      }
    }
    context.book.unchecked(RuleId::inline_threshold_exceeded, connection.id(),
                           "the private data of both sides is not in the capture");
    return;
  }
  if (event.holes) {
    context.book.unchecked(RuleId::inline_threshold_exceeded, connection.id(),
                           fmt::format("packets of the message in frame {} are missing", event.frame.number));
    return;
  }
  if (event.wire_length <= *limit) return;
  const PeerPrivateData& mine = connection.of(event.side).private_data;
  const PeerPrivateData& theirs = connection.of(other(event.side)).private_data;
  const bool negotiated = connection.facts.thresholds.basis == Basis::negotiated;
  // What cannot be decoded is neither.
  std::optional<Role> role;
  if (send.call) role = Role::requester;
  if (send.reply) role = Role::responder;
  if (negotiated) {
    send.size_finding = context.book.add(
        {RuleId::inline_threshold_exceeded,
         connection.id(),
         {event.frame, mine.frame, theirs.frame},
         fmt::format("The {} sent {}{} octets inline; the threshold in this direction is {} (the smaller of its own "
                     "send size {} and the receive size {} of its peer).",
                     name(event.side), at_least(send), event.wire_length, *limit,
                     mine.fields ? mine.fields->send_size : 0, theirs.fields ? theirs.fields->receive_size : 0),
         std::nullopt,
         send.xid,
         party(event.side),
         role});
    return;
  }
  // RFC 8166 section 3.3.3 allows knowledge from elsewhere: a warning until the message is proven to be too large.
  const char* silent =
      !mine.fields && !theirs.fields ? "neither side" : (!mine.fields ? name(event.side) : name(other(event.side)));
  send.size_finding = context.book.add(
      {RuleId::inline_default_exceeded,
       connection.id(),
       {event.frame, mine.frame, theirs.frame},
       fmt::format("The {} sent {}{} octets inline although {} gave usable private data, so both have to assume {}.",
                   name(event.side), at_least(send), event.wire_length,
                   !mine.fields && !theirs.fields ? std::string(silent)
                                                  : fmt::format("not both sides (the {} did not)", silent),
                   *limit),
       Severity::warning,
       send.xid,
       party(event.side),
       role});
}

void judge_call_form(Context& context, Connection& connection, const trace::Send& event, Transaction& call) {
  const std::optional<std::uint32_t> limit = connection.threshold(event.side);
  if (!limit || !call.lists_known) return;
  std::uint64_t payload = 0;
  bool position_zero = false;
  for (const wire::ReadSegment& read : call.reads) {
    if (read.position == 0) {
      position_zero = true;
      payload += read.target.length;
    }
  }
  if (!position_zero) return;
  const std::uint64_t size = header_without_position_zero(call) + payload;
  if (size > *limit) return;
  call.avoidable = true;
  ++connection.long_calls.times;
  if (!context.book.fold_again(RuleId::long_call_avoidable, connection.id(), event.frame)) {
    connection.long_calls.finding = context.book.fold(
        {RuleId::long_call_avoidable,
         connection.id(),
         {event.frame},
         fmt::format("The {} sent a Long Call although header and message ({} octets) fit into the threshold "
                     "of {}: legal, but an RDMA Read more than needed.",
                     name(event.side), size, *limit),
         std::nullopt,
         call.xid,
         std::nullopt,
         Role::requester});
  }
}

void judge_reply_form(Context& context, Connection& connection, const trace::Send& event, const wire::HeaderV1& header,
                      const Transaction& call) {
  if (call.avoidable && call.pulled.number != 0) connection.long_calls.took(call.pulled.time - call.call_last.time);
  const std::optional<std::uint32_t> limit = connection.threshold(event.side);
  if (!limit || !call.lists_known) return;
  const bool inline_reply = header.fixed.proc == static_cast<std::uint32_t>(wire::Proc::msg);
  if (inline_reply && call.reply_chunk && event.wire_length > *limit && !event.holes) {
    const std::uint64_t room = wire::chunk_length(*call.reply_chunk);
    const std::uint64_t payload = event.wire_length > header.length ? event.wire_length - header.length : 0;
    if (room >= payload && (call.copies != 1 || !connection.trusted())) {
      context.book.unchecked(RuleId::reply_chunk_ignored, connection.id(),
                             "another Call with the same XID may be the one that is answered");
    } else if (room >= payload) {
      context.book.add(
          {RuleId::reply_chunk_ignored,
           connection.id(),
           {event.frame, call.call},
           fmt::format("The {} answered inline with {} octets (threshold {}) although the Call gave a Reply "
                       "chunk of {} octets, large enough for the {} octets of the message.",
                       name(event.side), event.wire_length, *limit, room, payload),
           std::nullopt,
           call.xid,
           party(event.side),
           Role::responder});
    }
  }
  if (!inline_reply && header.reply && header.reads.empty()) {
    const std::uint64_t payload = wire::chunk_length(*header.reply);
    std::uint64_t size = empty_lists_header + payload;
    for (const wire::WriteChunk& chunk : header.writes) size += 8 + chunk.size() * segment_size;
    size += 4 + header.reply->size() * segment_size;
    if (payload != 0 && size <= *limit) {
      ++connection.reply_chunks.times;
      if (call.reply_written.number != 0) connection.reply_chunks.took(event.frame.time - call.reply_written.time);
      if (!context.book.fold_again(RuleId::reply_chunk_unneeded_use, connection.id(), event.frame)) {
        connection.reply_chunks.finding = context.book.fold(
            {RuleId::reply_chunk_unneeded_use,
             connection.id(),
             {event.frame, call.call},
             fmt::format("The {} wrote a reply of {} octets into the Reply chunk although it fits inline "
                         "(threshold {}): legal, and a habit of Linux servers.",
                         name(event.side), payload, *limit),
             std::nullopt,
             call.xid,
             std::nullopt,
             Role::responder});
      }
    }
  }
}

void judge_error_reply(Context& context, Connection& connection, const trace::Send& event, const Transaction& call) {
  if (call.malformed || call.msgp || call.ill_formed || !call.lists_known || call.copies != 1) return;
  // Well-formed is only what has been read: its arguments may not be what its chunks say.
  const bool read = call.body_length == 0
                        ? call.payload_known
                        : !call.items || call.call_body.full() || call.call_body.size() >= call.body_length;
  if (!read) {
    context.book.unchecked(RuleId::reply_resource_shortage, connection.id(), "a refused Call was not read to its end");
    return;
  }
  if (!connection.trusted()) {
    context.book.unchecked(RuleId::reply_resource_shortage, connection.id(), connection.why_not_whole());
    return;
  }
  if (call.requester == Side::passive && (!call.reads.empty() || !call.writes.empty() || call.reply_chunk)) {
    // RFC 8167 section 5.3: so does a client that takes no chunks in callbacks.
    context.book.unchecked(RuleId::reply_resource_shortage, connection.id(),
                           "a client may refuse every callback that has chunks");
    return;
  }
  std::uint64_t room = 0;
  for (const wire::WriteChunk& chunk : call.writes) room += wire::chunk_length(chunk);
  if (call.reply_chunk) room += wire::chunk_length(*call.reply_chunk);
  context.book.add(
      {RuleId::reply_resource_shortage,
       connection.id(),
       {event.frame, call.call},
       fmt::format(
           "The {} refused a well-formed Call with ERR_CHUNK. Possible cause: the reply did not fit what the Call "
           "provided ({}).",
           name(event.side),
           room == 0 ? std::string("no Write chunk and no Reply chunk")
                     : fmt::format("{} octets in Write and Reply chunks", room)),
       std::nullopt,
       call.xid,
       std::nullopt,
       Role::requester});
}

bool judge_refused_size(Context& context, Connection& connection, const trace::Refusal& refusal, RecentSend& send) {
  const Side sender = other(refusal.side);
  if (!send.size_finding) return false;
  Finding& over = context.book.at(send.size_finding);
  over.severity = Severity::error;
  context.book.evidence(send.size_finding, refusal.frame);
  const std::string message = fmt::format(
      "The {}'s message of {}{} octets (frame {}) is larger than its peer takes ({}); the peer refused it "
      "(frame {}).",
      name(sender), at_least(send), send.wire_length, send.frame.number, connection.threshold(sender).value_or(0),
      refusal.frame.number);
  if (!context.book.has(RuleId::inline_overrun_fatal, connection.id())) {
    context.book.add({RuleId::inline_overrun_fatal,
                      connection.id(),
                      {send.frame, refusal.frame},
                      message,
                      std::nullopt,
                      send.xid,
                      party(sender),
                      send.call ? Role::requester : Role::responder});
  }
  Suspect suspect;
  suspect.rule = RuleId::inline_overrun_fatal;
  suspect.proven = true;
  suspect.culprit = party(sender);
  suspect.frames = {send.frame.number, refusal.frame.number};
  suspect.message = message;
  suspect.how = refusal.kind == trace::Refusal::Kind::terminate ? Closed::How::terminate : Closed::How::nak;
  suspect.frame = refusal.frame;
  suspect.by = party(refusal.side);
  connection.suspect(std::move(suspect));
  return true;
}

}  // namespace rpcrdma::referee
