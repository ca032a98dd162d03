// SPDX-License-Identifier: GPL-2.0-or-later
// Group E: the chunk lists of a Call, by themselves and against the length of the message.
#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "referee/docket/counted.hpp"
#include "referee/rules/checks.hpp"
#include "referee/rules/rows.hpp"

namespace rpcrdma::referee {

namespace {

constexpr std::uint64_t least_reply = 24;  // octets of an RPC Reply that was accepted, without results

[[nodiscard]] std::uint64_t padded(std::uint64_t length) noexcept { return (length + 3U) & ~std::uint64_t{3}; }

class CallLists {
 public:
  CallLists(const Witness& witness, const trace::Send& event, Transaction& call) noexcept
      : witness_(witness), event_(event), call_(call) {}

  /// The responder has to refuse it.
  void accuse(RuleId rule, std::string message) {
    say(rule, std::move(message));
    call_.found_ill_formed();
  }
  void say(RuleId rule, std::string message, Severity at_most = Severity::error) {
    witness_.say(rule, {.frames = {event_.frame},
                        .by = witness_.connection.accused(event_.side),
                        .as = Role::requester,
                        .xid = call_.xid,
                        .at_most = at_most,
                        .habit = at_most == Severity::note,
                        .what = std::move(message)});
  }
  /// Legal, and likely to be a habit.
  template <class... Parts>
  void note(RuleId rule, fmt::format_string<Parts...> text, Parts&&... parts) {
    if (witness_.again(rule, event_.frame, witness_.connection.accused(event_.side))) return;
    say(rule, fmt::format(text, std::forward<Parts>(parts)...), Severity::note);
  }

  [[nodiscard]] const char* who() const noexcept { return name(event_.side); }

 private:
  const Witness& witness_;
  const trace::Send& event_;
  Transaction& call_;
};

}  // namespace

const Row rows::read_position_unaligned{
    .group = 'E',
    .severity = Severity::error,
    .versions = Versions::both,
    .source = "RFC 8166 section 3.4.5; version 2 draft section 4.5.1",
    .who = "requester",
    .title = "A Read chunk's Position is no multiple of four",
    .explanation =
        "The Position says where in the XDR stream the chunk's octets belong, and every XDR item begins at a multiple "
        "of four. With any other number the responder puts the data to the wrong place or refuses the call.",
    .evidence = "The Position words of a Call's Read list.",
    .next = "Client: rpcrdma:xprtrdma_chunk_read shows the position it encodes. Server: rpcrdma:svcrdma_decode_rseg."};

const Row rows::read_list_unordered{
    .group = 'E',
    .severity = Severity::error,
    .versions = Versions::both,
    .source = "version 2 draft section 4.5.1.1",
    .who = "requester",
    .title = "A Read list is not in the order of its Positions",
    .explanation =
        "Version 1 says nothing about the order of Read chunks, and current servers take any. Old ones put the message "
        "together in the order of the list.",
    .evidence = "A Position that is lower than the one before it in the list of a Call.",
    .next = "Only of interest if the server answers GARBAGE_ARGS or ERR_CHUNK to such calls."};

namespace {

void judge_positions(CallLists& say, const Transaction& call) {
  bool unordered = false;
  const wire::ReadSegment* unaligned = nullptr;
  for (std::size_t i = 0; i < call.reads.size(); ++i) {
    const wire::ReadSegment& read = call.reads[i];
    if (read.position % 4 != 0 && unaligned == nullptr) unaligned = &read;
    unordered = unordered || (i > 0 && read.position < call.reads[i - 1].position);
  }
  if (unaligned != nullptr) {
    say.accuse(RuleId::read_position_unaligned,
               fmt::format("The {}'s Read chunk of handle {:#010x} has Position {}, which is no multiple of four.",
                           say.who(), unaligned->target.handle, unaligned->position));
  }
  if (unordered) {
    say.note(RuleId::read_list_unordered,
             "The {}'s Read list is not in the order of its Positions: version 1 has no rule against it.", say.who());
  }
}

}  // namespace

const Row rows::read_chunk_empty{.group = 'E',
                                 .severity = Severity::note,
                                 .versions = Versions::both,
                                 .repetition = Repetition::once,
                                 .source = "RFC 8166 section 3.4.3",
                                 .who = "requester",
                                 .title = "A Read list has a segment of no octets",
                                 .explanation =
                                     "A segment may be empty, as with an NFS WRITE of nothing. It costs 24 octets of "
                                     "header and tells the server nothing.",
                                 .evidence = "A length of zero in a Call's Read list.",
                                 .next = "Nothing to do unless the server refuses it."};

namespace {

void judge_empty_segments(CallLists& say, const Transaction& call) {
  if (std::none_of(call.reads.begin(), call.reads.end(),
                   [](const wire::ReadSegment& read) { return read.target.length == 0; })) {
    return;
  }
  say.note(RuleId::read_chunk_empty, "The {}'s Read list has a segment of no octets: legal, and of no use.", say.who());
}

}  // namespace

const Row rows::read_position_out_of_stream{
    .group = 'E',
    .severity = Severity::error,
    .versions = Versions::both,
    .source = "RFC 8166 section 3.4.5 (derived)",
    .who = "requester",
    .title = "A Read chunk's Position lies behind the end of the message",
    .explanation =
        "Positions count octets of the message as it was before anything was moved out of it. One that lies behind its "
        "end names no place at all: the responder cannot put the message together and refuses it or drops it.",
    .evidence =
        "The Position against the octets of the inline message (or of the chunk at Position Zero) plus what the chunks "
        "before it hold. The very end is a legal place. Not decided when the message's length is not known.",
    .next =
        "Client: position in rpcrdma:xprtrdma_chunk_read. Server: rpcrdma:svcrdma_decode_rseg, "
        "svcrdma_decode_parse_err."};

const Row rows::read_chunk_overlap{
    .group = 'E',
    .severity = Severity::error,
    .versions = Versions::both,
    .source = "RFC 8166 section 3.4.4 (derived)",
    .who = "requester",
    .title = "Two Read chunks claim the same part of the message",
    .explanation =
        "Each chunk holds one item of its own. When a chunk is longer than the distance to the next Position, both "
        "claim the same octets of the message, and what the responder makes of it is anyone's guess.",
    .evidence = "Positions and lengths of a Call's Read chunks, in increasing order; equal Positions are one chunk.",
    .next =
        "Client: rpcrdma:xprtrdma_chunk_read. Server: rpcrdma:svcrdma_decode_rseg; recent Linux servers refuse this "
        "with ERR_CHUNK."};

namespace {

/// `payload`: octets of the reduced message, when known.
void judge_spans(CallLists& say, const std::vector<wire::ReadChunk>& chunks, std::optional<std::uint64_t> payload) {
  std::uint64_t before = 0;  // octets that earlier chunks take in the unreduced stream
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    const wire::ReadChunk& chunk = chunks[i];
    if (i > 0 && chunks[i - 1].position + chunks[i - 1].length > chunk.position) {
      say.accuse(
          RuleId::read_chunk_overlap,
          fmt::format("The {}'s Read chunk at Position {} is {} long and reaches into the one at "
                      "Position {}.",
                      say.who(), chunks[i - 1].position, counted(chunks[i - 1].length, "octet"), chunk.position));
      return;
    }
    if (payload && chunk.position > *payload + before) {
      say.accuse(RuleId::read_position_out_of_stream,
                 fmt::format("The {}'s Read chunk has Position {}; the message, with what is in the chunks before it, "
                             "is {} long.",
                             say.who(), chunk.position, counted(*payload + before, "octet")));
      return;
    }
    before += padded(chunk.length);
  }
}

[[nodiscard]] bool wraps(const wire::Segment& segment) noexcept {
  return segment.length != 0 && segment.offset > std::numeric_limits<std::uint64_t>::max() - (segment.length - 1U);
}

}  // namespace

const Row rows::segment_overlap{
    .group = 'E',
    .severity = Severity::warning,
    .versions = Versions::both,
    .repetition = Repetition::few,
    .source = "RFC 8166 section 4.4.1 (derived)",
    .who = "requester",
    .title = "Two segments of a call name the same memory",
    .explanation =
        "Where the responder may write, no other segment of the call should lie: results overwrite each other, or an "
        "argument that has not been read yet.",
    .evidence =
        "Segments of one Call with the same handle and ranges that meet, at least one of them in a Write or Reply "
        "chunk. Read chunks may share memory.",
    .next = "Client: rpcrdma:xprtrdma_chunk_read, xprtrdma_chunk_write, xprtrdma_chunk_reply and xprtrdma_mr_fastreg."};

const Row rows::segment_wraps{.group = 'E',
                              .severity = Severity::error,
                              .versions = Versions::both,
                              .source = "RFC 8166 section 3.4.3 (derived)",
                              .who = "requester",
                              .title = "A segment reaches beyond the end of 64-bit addresses",
                              .explanation =
                                  "Offset and length of a segment together have to stay inside the address space. The "
                                  "adapter refuses such a range, or wraps to memory at its beginning.",
                              .evidence = "Offset plus length of a segment in a Call.",
                              .next = "Client: rpcrdma:xprtrdma_mr_fastreg. Octet order is a suspect."};

namespace {

void judge_segments(CallLists& say, const Transaction& call, std::vector<ChunkScratch::Range>& ranges) {
  ranges.clear();
  const wire::Segment* wrapping = nullptr;
  const auto add = [&](const wire::Segment& segment, bool writable) {
    if (wraps(segment)) {
      wrapping = wrapping != nullptr ? wrapping : &segment;
    } else if (segment.length != 0) {
      ranges.push_back({segment, writable});
    }
  };
  for (const wire::ReadSegment& read : call.reads) add(read.target, false);
  for (const wire::WriteChunk& chunk : call.writes) {
    for (const wire::Segment& segment : chunk) add(segment, true);
  }
  if (call.reply_chunk) {
    for (const wire::Segment& segment : *call.reply_chunk) add(segment, true);
  }
  if (wrapping != nullptr) {
    say.accuse(RuleId::segment_wraps,
               fmt::format("The {}'s segment of handle {:#010x}, {} at {:#x}, reaches beyond the end of 64-bit "
                           "addresses.",
                           say.who(), wrapping->handle, counted(wrapping->length, "octet"), wrapping->offset));
  }
  std::sort(ranges.begin(), ranges.end(), [](const ChunkScratch::Range& a, const ChunkScratch::Range& b) {
    return a.segment.handle != b.segment.handle ? a.segment.handle < b.segment.handle
                                                : a.segment.offset < b.segment.offset;
  });
  // The furthest last octet so far under one handle, of any segment and of those that may be written.
  const ChunkScratch::Range* any = nullptr;
  const ChunkScratch::Range* writable = nullptr;
  const auto last_octet = [](const ChunkScratch::Range* r) { return r->segment.offset + (r->segment.length - 1U); };
  for (const ChunkScratch::Range& range : ranges) {
    if (any != nullptr && any->segment.handle != range.segment.handle) any = writable = nullptr;
    const ChunkScratch::Range* hit = range.writable ? any : writable;
    if (hit != nullptr && last_octet(hit) >= range.segment.offset) {
      say.say(RuleId::segment_overlap,
              fmt::format("Two segments of the {}'s Call name the same memory of handle {:#010x}: {} at {:#x} "
                          "and {} at {:#x}, and the responder may write there.",
                          say.who(), range.segment.handle, counted(hit->segment.length, "octet"), hit->segment.offset,
                          counted(range.segment.length, "octet"), range.segment.offset));
      return;
    }
    if (any == nullptr || last_octet(&range) > last_octet(any)) any = &range;
    if (range.writable && (writable == nullptr || last_octet(&range) > last_octet(writable))) writable = &range;
  }
}

}  // namespace

const Row rows::reply_chunk_useless{
    .group = 'E',
    .severity = Severity::note,
    .versions = Versions::both,
    .repetition = Repetition::once,
    .source = "RFC 8166 section 4.3.3",
    .who = "requester",
    .title = "A Reply chunk in which no reply fits",
    .explanation =
        "The shortest RPC reply that reports success has 24 octets. A Reply chunk below that is of no use; a server "
        "that always uses it answers ERR_CHUNK.",
    .evidence = "Sum of the segments of the Reply chunk in a Call.",
    .next = "Client: rpcrdma:xprtrdma_chunk_reply. Look at what size the upper layer expects of its reply."};

void judge_call_spans(const Witness& witness, const trace::Send& event, Transaction& call,
                      std::optional<std::uint64_t> length, const std::optional<RpcStream>& stream) {
  Connection& connection = witness.connection;
  CallLists say(witness, event, call);
  ChunkScratch& scratch = connection.scratch;
  wire::collect_read_chunks(call.reads, scratch.reads);
  judge_empty_segments(say, call);
  // In version 2 a wrong order or alignment is an error of its own: what follows from it is not said once more.
  if (call.version == 1 || !call.ill_formed()) judge_spans(say, scratch.reads, length);
  judge_segments(say, call, scratch.ranges);
  if (call.reply_chunk && wire::chunk_length(*call.reply_chunk) < least_reply) {
    say.note(RuleId::reply_chunk_useless,
             "The {}'s Call gives a Reply chunk of {} octets; no RPC Reply that succeeds is shorter than {}.",
             say.who(), wire::chunk_length(*call.reply_chunk), least_reply);
  }
  if (!stream) return;
  const bool in_pieces = call.call.number != event.frame.number;
  judge_call_items(witness, call, *stream, event.frame, in_pieces ? call.call : FrameRef{});
}

const Row rows::call_chunk_mixed{
    .group = 'E',
    .severity = Severity::error,
    .versions = Versions::both,
    .source = "RFC 8166 section 3.5.3; version 2 draft sections 6.3.7 and 6.6.3",
    .who = "requester",
    .title = "A call without its message: Read chunks, but none that holds the body",
    .explanation =
        "RDMA_NOMSG has nothing behind its header, so a Read chunk at Position Zero has to hold the call. With chunks "
        "for items alone the responder has items and no message to put them into.",
    .evidence =
        "RDMA_NOMSG with a Read list in which no Position is 0, sent where no call waits for a reply. A body chunk "
        "beside chunks for items is legal in version 1.",
    .next =
        "Client: rpcrdma:xprtrdma_marshal shows the chosen types. Server: rpcrdma:svcrdma_decode_parse_err and "
        "svcrdma_err_chunk."};

void judge_call_lists(const Witness& witness, const trace::Send& event, const wire::HeaderV1& header,
                      Transaction& call) {
  if (call.reads.empty() && call.writes.empty() && !call.reply_chunk) return;
  CallLists say(witness, event, call);
  judge_positions(say, call);

  const bool position_zero = std::any_of(call.reads.begin(), call.reads.end(), wire::position_zero);
  const auto proc = static_cast<wire::Proc>(header.fixed.proc);
  const bool inline_body = proc == wire::Proc::msg;
  const bool has_body = proc != wire::Proc::msgp && inline_body != position_zero;
  if (proc == wire::Proc::nomsg && !position_zero && !call.reads.empty()) {
    say.accuse(RuleId::call_chunk_mixed,
               fmt::format("The {}'s RDMA_NOMSG has Read chunks for parts of a message (first Position: {}), but none "
                           "at Position 0 that holds the message itself.",
                           say.who(), call.reads.front().position));
  }
  std::optional<std::uint64_t> length;
  if (has_body && !inline_body) length = call.body_length;
  if (has_body && inline_body && !event.holes && event.wire_length >= header.length) {
    length = event.wire_length - header.length;
  }
  std::optional<RpcStream> stream;
  if (inline_body && has_body && event.octets.size() > header.length) {
    stream = RpcStream{event.octets.subspan(header.length), event.wire_length - header.length, false};
  }
  judge_call_spans(witness, event, call, length, stream);
}

}  // namespace rpcrdma::referee
