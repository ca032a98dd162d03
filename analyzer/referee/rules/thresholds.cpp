// SPDX-License-Identifier: GPL-2.0-or-later
// Group B: inline thresholds and message size.
#include <algorithm>

#include <fmt/format.h>

#include "referee/docket/counted.hpp"
#include "referee/docket/resting.hpp"
#include "referee/rules/checks.hpp"
#include "referee/rules/rows.hpp"
#include "referee/rules/v2_turn.hpp"
#include "referee/state/mount.hpp"
#include "wire/rpc.hpp"

namespace rpcrdma::referee {

namespace {

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
[[nodiscard]] const char* at_least(const RecentSend& send) noexcept {
  return send.extent == RecentSend::Extent::partial ? "at least " : "";
}

}  // namespace

const Row rows::inline_threshold_exceeded{
    .group = 'B',
    .severity = Severity::error,
    .versions = Versions::both,
    .source = "RFC 8166 sections 3.3.2 and 4.2.4; RFC 8797 section 4.2; version 2 draft section 4.2.2",
    .who = "sender",
    .title = "A message is larger than the peer can receive",
    .explanation =
        "Transport header and inline payload of one Send together have to fit the threshold of that direction: the "
        "smaller of what the sender said it sends and the receiver said it receives. A larger message does not fit the "
        "receive buffer; the receiving adapter reports a length error, and the connection is lost unless the buffer "
        "happened to be larger than announced.",
    .evidence =
        "The length on the wire of the reassembled Send, and both private data blocks. Never said with this weight "
        "when a side of the handshake is missing or a packet of the Send was not captured.",
    .next =
        "Linux client: rpcrdma:xprtrdma_inline_thresh shows what was negotiated, rpcrdma:xprtrdma_wc_receive the "
        "status LOC_LEN_ERR. Linux server: rpcrdma:svcrdma_wc_recv_err. Sizes come from "
        "/proc/sys/sunrpc/rdma_max_inline_read and rdma_max_inline_write on the client and svc_rdma/max_req_size on "
        "the server; changes apply to the next connection."};

const Row rows::inline_default_exceeded{
    .group = 'B',
    .severity = Severity::error,
    .versions = Versions::v1,
    .source = "RFC 8166 section 3.3.3; RFC 8797 section 5.1",
    .who = "sender",
    .title = "A message larger than 1024 octets though a peer announced nothing",
    .explanation =
        "Where one peer sends no private data, that side counts as 1024 octets and messages have to stay within it. A "
        "peer may know better by other means, but the wire does not show that; without such knowledge a larger message "
        "overruns the receive buffer and ends the connection.",
    .evidence =
        "The handshake is in the capture, one side carries no usable private data, and a Send is longer than 1024 "
        "octets. If the connection carries on unharmed it is a warning. Not decided when the handshake was not "
        "captured.",
    .next =
        "rpcrdma:xprtrdma_inline_thresh on a Linux client; on the sending server look for a fixed inline size in its "
        "configuration. nfsd does this when a Call offers no Reply chunk and the reply is large."};

const Row rows::send_larger_than_known{
    .group = 'B',
    .severity = Severity::note,
    .versions = Versions::both,
    .repetition = Repetition::once,
    .source = "RFC 8166 section 3.3.3",
    .who = "nobody",
    .title = "A message larger than the default, and the threshold is not known",
    .explanation =
        "1024 octets may always be sent; more needs an agreement, and the handshake that would show it is not in the "
        "capture. So nobody can be blamed, but the real threshold is probably at least this large.",
    .evidence =
        "A Send longer than 1024 octets on a connection whose handshake was not captured. This can never become an "
        "error.",
    .next =
        "Start the capture before the mount (or force a reconnect), or read rpcrdma:xprtrdma_inline_thresh on the "
        "client."};

namespace {

void note_larger_than_known(const Witness& witness, const trace::Send& event, const RecentSend& send) {
  if (event.wire_length <= default_threshold || witness.again(RuleId::send_larger_than_known, event.frame)) return;
  witness.say(RuleId::send_larger_than_known,
              {.frames = {event.frame},
               .xid = send.known_xid(),
               .what = fmt::format("The {} sent {} octets inline; the handshake is not (completely) in the capture, so "
                                   "what its peer can take is not known (1024 is the default).",
                                   name(event.side), grouped(event.wire_length))});
}

HeldFinding say_too_large(const Witness& witness, const trace::Send& event, const RecentSend& send,
                          std::uint32_t limit) {
  Connection& connection = witness.connection;
  const PeerPrivateData& mine = connection.of(event.side).private_data;
  const PeerPrivateData& theirs = connection.of(other(event.side)).private_data;
  const bool negotiated = connection.facts.thresholds.basis == Basis::negotiated;
  const std::string sent =
      fmt::format("The {} sent {}{} octets inline", name(event.side), at_least(send), grouped(event.wire_length));
  const auto silent = [&] {
    if (!mine.fields && !theirs.fields) return std::string("neither side");
    return fmt::format("not both sides (the {} did not)", name(mine.fields ? other(event.side) : event.side));
  };
  return witness.say(
      negotiated ? RuleId::inline_threshold_exceeded : RuleId::inline_default_exceeded,
      {.frames = {event.frame, mine.frame, theirs.frame},
       .by = event.side,
       .as = send.role(),
       .xid = send.known_xid(),
       // RFC 8166 section 3.3.3 allows knowledge from elsewhere: a warning until it is proven to be too large.
       .at_most = negotiated ? Severity::error : Severity::warning,
       .what = negotiated
                   ? fmt::format("{}; the threshold in this direction is {} (the smaller of its own send size {} and "
                                 "the receive size {} of its peer).",
                                 sent, grouped(limit), grouped(mine.fields ? mine.fields->send_size : 0),
                                 grouped(theirs.fields ? theirs.fields->receive_size : 0))
                   : fmt::format("{} although {} gave usable private data, so both have to assume {}.", sent, silent(),
                                 grouped(limit))});
}

}  // namespace

void judge_send_size(const Witness& witness, const trace::Send& event, RecentSend& send) {
  Connection& connection = witness.connection;
  if (connection.version2()) {
    v2::judge_refused_part(witness, event, send);
    return;
  }
  const std::optional<std::uint32_t> limit = connection.threshold(event.side);
  if (!limit) {
    note_larger_than_known(witness, event, send);
    witness.unchecked(RuleId::inline_threshold_exceeded, "a side's private data is not in the capture");
    return;
  }
  if (event.holes) {
    witness.unchecked(RuleId::inline_threshold_exceeded,
                      fmt::format("packets of the message in frame {} are missing", event.frame.number));
    return;
  }
  if (event.wire_length > *limit) send.size_finding = say_too_large(witness, event, send, *limit);
}

const Row rows::long_call_avoidable{
    .group = 'B',
    .severity = Severity::note,
    .versions = Versions::both,
    .repetition = Repetition::once,
    .source = "RFC 8166 section 3.5.3; version 2 draft section 6.6.3",
    .who = "requester",
    .title = "A call was moved into a Read chunk although it fits inline",
    .explanation =
        "A requester may always hand over a whole call in a Position-Zero Read chunk. For a call that fits inline it "
        "costs a memory registration and a round trip for nothing.",
    .evidence =
        "The length of the Position-Zero Read chunk plus header is within the threshold. Not decided without the "
        "handshake.",
    .next =
        "Linux client: nomsg_call_count in the xprt line of /proc/self/mountstats; rpcrdma:xprtrdma_marshal shows "
        "'*read list'. Large inline sizes on both sides help: /proc/sys/sunrpc/rdma_max_inline_write."};

void judge_call_form(const Witness& witness, const trace::Send& event, Transaction& call) {
  Connection& connection = witness.connection;
  const std::optional<std::uint32_t> limit = connection.threshold(event.side);
  if (!limit || !call.lists_known || call.ill_formed()) return;
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
  Cost& cost = connection.long_calls.at(index(event.side));
  ++cost.times;
  if (!witness.again(RuleId::long_call_avoidable, event.frame)) {
    cost.finding = witness.say(
        RuleId::long_call_avoidable,
        {.frames = {event.frame},
         .as = Role::requester,
         .xid = call.xid,
         .what = fmt::format("The {} sent a Long Call although header and message ({} octets) fit into the threshold "
                             "of {}: legal, but an RDMA Read more than needed.",
                             name(event.side), grouped(size), *limit)});
  }
}

const Row rows::reply_chunk_ignored{
    .group = 'B',
    .severity = Severity::error,
    .versions = Versions::both,
    .needs = {.past = Needs::Past::trusted, .call = Needs::Call::sent_once, .lists = true},
    .source = "RFC 8166 section 3.5.3; version 2 draft section 6.6.3",
    .who = "responder",
    .title = "A reply was sent inline though it does not fit and a Reply chunk was offered",
    .explanation =
        "A requester that expects a large reply offers memory for it, the Reply chunk. When the reply does not fit the "
        "threshold the responder has to use it; sent inline it overruns the requester's receive buffer.",
    .evidence =
        "The Reply's length exceeds the threshold and its Call carried a Reply chunk large enough. Not decided without "
        "the handshake, or when Call or Reply are cut short.",
    .next =
        "Linux server: rpcrdma:svcrdma_decode_wseg shows the chunk it saw, svcrdma_post_reply_chunk that it wrote "
        "one."};

const Row rows::reply_chunk_unneeded_use{
    .group = 'B',
    .severity = Severity::note,
    .versions = Versions::both,
    .repetition = Repetition::once,
    .source = "RFC 8166 section 4.3.3",
    .who = "responder",
    .title = "A small reply was put into the Reply chunk",
    .explanation =
        "A responder may use an offered Reply chunk for a reply that would fit inline. It costs an RDMA Write more for "
        "each reply.",
    .evidence =
        "An RDMA_NOMSG Reply whose Reply chunk length plus header is within the threshold. Not decided without the "
        "handshake.",
    .next =
        "Expected with nfsd and nfs-ganesha, which use the Reply chunk whenever there is one. Larger "
        "/proc/sys/sunrpc/rdma_max_inline_read on the client makes it offer fewer Reply chunks."};

void judge_reply_form(const Witness& witness, const trace::Send& event, const wire::HeaderV1& header,
                      const Transaction& call) {
  Connection& connection = witness.connection;
  if (call.avoidable && call.pulled.number != 0) {
    connection.long_calls.at(index(call.requester)).took(call.pulled.time - call.call_last.time);
  }
  const std::optional<std::uint32_t> limit = connection.threshold(event.side);
  if (!limit || !call.lists_known) return;
  const bool inline_reply = header.fixed.proc == static_cast<std::uint32_t>(wire::Proc::msg);
  if (inline_reply && call.reply_chunk && event.wire_length > *limit && !event.holes) {
    const std::uint64_t room = wire::chunk_length(*call.reply_chunk);
    const std::uint64_t payload = event.wire_length > header.length ? event.wire_length - header.length : 0;
    if (room >= payload && witness.may(RuleId::reply_chunk_ignored, call)) {
      witness.say(
          RuleId::reply_chunk_ignored,
          {.frames = {event.frame, call.call},
           .by = event.side,
           .as = Role::responder,
           .xid = call.xid,
           .call = &call,
           .what = fmt::format("The {} answered inline with {} octets (threshold {}) although the Call gave a Reply "
                               "chunk of {} octets, large enough for the {} octets of the message.",
                               name(event.side), grouped(event.wire_length), grouped(*limit), grouped(room),
                               grouped(payload))});
    }
  }
  if (!inline_reply && header.reply && header.reads.empty()) {
    const std::uint64_t payload = wire::chunk_length(*header.reply);
    std::uint64_t size = empty_lists_header + payload;
    for (const wire::WriteChunk& chunk : header.writes) size += 8 + chunk.size() * segment_size;
    size += 4 + header.reply->size() * segment_size;
    if (payload >= wire::rpc_start_octets && size <= *limit) {
      ++connection.reply_chunks.times;
      if (call.reply_written.number != 0) connection.reply_chunks.took(event.frame.time - call.reply_written.time);
      if (!witness.again(RuleId::reply_chunk_unneeded_use, event.frame)) {
        connection.reply_chunks.finding = witness.say(
            RuleId::reply_chunk_unneeded_use,
            {.frames = {event.frame, call.call},
             .as = Role::responder,
             .xid = call.xid,
             .what = fmt::format("The {} wrote a reply of {} octets into the Reply chunk although it fits inline "
                                 "(threshold {}): legal, and a habit of Linux servers.",
                                 name(event.side), grouped(payload), grouped(*limit))});
      }
    }
  }
}

const Row rows::reply_resource_shortage{
    .group = 'B',
    .severity = Severity::warning,
    .versions = Versions::v1,
    .needs = {.past = Needs::Past::trusted, .call = Needs::Call::sent_once, .lists = true},
    .source = "RFC 8166 section 4.5.3; RFC 8267 section 3.1",
    .who = "requester",
    .title = "A call was refused, possibly because its reply has no room",
    .explanation =
        "The requester has to offer enough room for the largest possible reply. When inline, Write chunks and Reply "
        "chunk together do not suffice, the responder can only answer ERR_CHUNK; the application then sees an I/O "
        "error although the operation itself may have been carried out.",
    .evidence =
        "A well-formed Call answered by RDMA_ERROR with ERR_CHUNK and no trouble with its Read chunks. ERR_CHUNK has "
        "other causes too, so this is a possibility and no proof.",
    .next =
        "Linux server: rpcrdma:svcrdma_small_wrch_err and svcrdma_err_chunk; client: rpcrdma:xprtrdma_err_chunk, "
        "xprtrdma_chunk_reply, and bad_reply_count in /proc/self/mountstats. Typical on Linux: NFSv4.2 GETXATTR "
        "without a Reply chunk."};

void judge_error_reply(const Witness& witness, const trace::Send& event, const Transaction& call) {
  if (call.ill_formed() || call.refusal != Transaction::Refusal::not_due) return;
  if (!witness.may(RuleId::reply_resource_shortage, call)) return;
  // Another XID in what was pulled: ERR_CHUNK is the right answer to that (RFC 8166 section 4.5.2).
  constexpr std::size_t xid_length = 4;
  const wire::Bytes body = call.call_body.octets();
  if (body.size() >= xid_length && wire::load_be32(body.data()) != call.xid) return;
  // Well-formed is only what has been read: its arguments may not be what its chunks say.
  const bool read = call.body_length == 0
                        ? call.payload.has_value()
                        : !call.items() || call.call_body.full() || call.call_body.size() >= call.body_length;
  if (!read) {
    witness.unchecked(RuleId::reply_resource_shortage, "a refused Call was not read to its end");
    return;
  }
  if (call.requester == Side::passive && (!call.reads.empty() || !call.writes.empty() || call.reply_chunk)) {
    // RFC 8167 section 5.3: so does a client that takes no chunks in callbacks.
    witness.unchecked(RuleId::reply_resource_shortage, "a client may refuse every callback that has chunks");
    return;
  }
  if (may_be_repetition(witness.connection, call)) {
    // RFC 8166 section 4.5.3: what ended the connection before would end this one, too.
    witness.unchecked(RuleId::reply_resource_shortage,
                      "the call is a repetition, which may be refused for what ended its connection before");
    return;
  }
  std::uint64_t room = 0;
  for (const wire::WriteChunk& chunk : call.writes) room += wire::chunk_length(chunk);
  if (call.reply_chunk) room += wire::chunk_length(*call.reply_chunk);
  const HeldFinding refused = witness.say(
      RuleId::reply_resource_shortage,
      {.frames = {event.frame, call.call},
       .as = Role::requester,
       .xid = call.xid,
       .call = &call,
       .what = fmt::format(
           "The {} refused a well-formed Call{} with ERR_CHUNK. Possible cause: the reply did not fit what the Call "
           "provided ({}).",
           name(event.side), call.procedure ? fmt::format(" ({})", operation_name(call)) : "",
           call.writes.empty() && !call.reply_chunk
               ? std::string("no Write chunk and no Reply chunk")
               : fmt::format("{} in Write and Reply chunks", counted(room, "octet")))});
  rests_on_first_copy(witness, RuleId::reply_resource_shortage, call, refused);
}

const Row rows::inline_overrun_fatal{
    .group = 'B',
    .severity = Severity::error,
    .versions = Versions::both,
    .consequence = true,
    .source = "RFC 8166 section 3.3 (derived); RFC 8797 section 3.1; version 2 draft section 4.2",
    .who = "sender",
    .title = "A message that was too large ended the connection",
    .explanation =
        "An RDMA receiver cannot cut or split a message: one that is longer than the receive buffer makes the adapter "
        "refuse it and both ends stop. Every outstanding RPC is lost with it, and the client reconnects, often to send "
        "the same message again.",
    .evidence =
        "A Send above the threshold, followed by a NAK of that packet (0x61; soft-RoCE answers 0x63), a Terminate for "
        "it, or the end of the connection. Only probable when the refusal has the code but the size does not prove it. "
        "Not decided when packets are missing in between.",
    .next =
        "Bring both sizes together: /proc/sys/sunrpc/rdma_max_inline_read and rdma_max_inline_write on a Linux client, "
        "svc_rdma/max_req_size on a Linux server; changes apply to the next connection. Who sent more than was "
        "negotiated has a fault in its code. To confirm it, at who received it: resp_local_length_error (rdma "
        "statistic "
        "show), rpcrdma:xprtrdma_wc_receive or svcrdma_wc_recv_err with LOC_LEN_ERR."};

namespace {

struct Excess {
  std::uint32_t limit = 0;
  bool proven = false;  ///< false: in one reading of the version 2 draft, or by what was announced, it may have fitted
};

[[nodiscard]] Excess excess_of(const Connection& connection, const Finding& over, const RecentSend& send, Side sender) {
  const std::optional<std::uint32_t> limit = connection.threshold(sender);
  // A server that announced more for version 1 would have taken it there.
  if (over.rule == RuleId::v2_first_message_too_large) return {default_threshold, limit && *limit < send.wire_length};
  const bool in_every_reading = over.severity == Severity::error;
  if (over.rule == RuleId::v2_connprop_too_large) {
    const v2::Announced& theirs = connection.v2.of(other(sender)).announced;
    const std::uint32_t room = theirs.properties.last(wire::PropertyId::receive_size).value_or(0);
    return {v2_default_threshold, in_every_reading && room < send.wire_length};
  }
  return {limit.value_or(0), !connection.version2() || in_every_reading};
}

}  // namespace

bool judge_refused_size(const Witness& witness, const trace::Refusal& refusal, RecentSend& send) {
  Connection& connection = witness.connection;
  const Side sender = other(refusal.side);
  v2::conclude_refused_size(witness, sender, send.ordinal);
  if (!send.size_finding) return false;
  Finding& over = witness.context.book.at(send.size_finding);
  // A first message that was answered has been taken: something later was refused.
  if (over.rule == RuleId::v2_first_message_too_large && connection.v2.settled.number != 0) return false;
  const Excess excess = excess_of(connection, over, send, sender);
  if (excess.proven) over.severity = Severity::error;
  witness.context.book.evidence(send.size_finding, refusal.frame);
  const std::string message = fmt::format(
      "The {}'s message of {}{} octets (frame {}) is larger than its peer {} ({}); the peer refused it (frame {}).",
      name(sender), at_least(send), grouped(send.wire_length), send.frame.number,
      excess.proven ? "takes" : "has to take", grouped(excess.limit), refusal.frame.number);
  if (!witness.context.book.has(RuleId::inline_overrun_fatal, connection.id())) {
    const bool properties = send.version == 2 && send.direction == Direction::unknown;
    witness.say(RuleId::inline_overrun_fatal, {.frames = {send.frame, refusal.frame},
                                               .by = sender,
                                               .as = when(!properties, send.call() ? Role::requester : Role::responder),
                                               .xid = send.known_xid(),
                                               .at_most = excess.proven ? Severity::error : Severity::warning,
                                               .what = message});
  }
  Suspect suspect;
  suspect.rule = RuleId::inline_overrun_fatal;
  suspect.proven = excess.proven;
  suspect.culprit = sender;
  suspect.refused = send.frame;
  suspect.frames = {send.frame.number, refusal.frame.number};
  suspect.message = message;
  suspect.how = refusal.kind == trace::Refusal::Kind::terminate ? Closed::How::terminate : Closed::How::nak;
  suspect.frame = refusal.frame;
  suspect.by = party(refusal.side);
  connection.suspect(std::move(suspect));
  return true;
}

}  // namespace rpcrdma::referee
