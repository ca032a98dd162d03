// SPDX-License-Identifier: GPL-2.0-or-later
// Group E: the chunk lists of a Call, by themselves and against the length of the message.
#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "referee/rules/checks.hpp"

namespace rpcrdma::referee {

namespace {

constexpr std::uint64_t least_reply = 24;  // octets of an RPC Reply without results

[[nodiscard]] std::uint64_t padded(std::uint64_t length) noexcept { return (length + 3U) & ~std::uint64_t{3}; }

class CallLists {
 public:
  CallLists(Context& context, Connection& connection, const trace::Send& event, Transaction& call) noexcept
      : context_(context), connection_(connection), event_(event), call_(call) {}

  void accuse(RuleId rule, std::string message) {
    tell(rule, std::move(message), [this](const Verdict& verdict) { context_.book.add(verdict); });
    call_.ill_formed = true;
  }
  /// Legal, and likely to be a habit.
  template <class... Parts>
  void note(RuleId rule, fmt::format_string<Parts...> text, Parts&&... parts) {
    if (context_.book.fold_again(rule, connection_.id(), event_.frame, connection_.accused(event_.side))) return;
    tell(rule, fmt::format(text, std::forward<Parts>(parts)...), [this](Verdict verdict) {
      verdict.severity = Severity::note;
      context_.book.fold(verdict);
    });
  }
  /// May happen with every message of a peer that does it at all.
  void warn(RuleId rule, std::string message) {
    tell(rule, std::move(message), [this](const Verdict& verdict) { context_.book.add_few(verdict); });
  }

  [[nodiscard]] const char* who() const noexcept { return name(event_.side); }

 private:
  /// A verdict lists its frames by reference: it must not outlive this call.
  template <class Use>
  void tell(RuleId rule, std::string message, Use use) {
    use({rule,
         connection_.id(),
         {event_.frame},
         std::move(message),
         std::nullopt,
         call_.xid,
         connection_.accused(event_.side),
         Role::requester});
  }

  Context& context_;
  Connection& connection_;
  const trace::Send& event_;
  Transaction& call_;
};

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

void judge_empty_segments(CallLists& say, const Transaction& call) {
  if (std::none_of(call.reads.begin(), call.reads.end(),
                   [](const wire::ReadSegment& read) { return read.target.length == 0; })) {
    return;
  }
  say.note(RuleId::read_chunk_empty, "The {}'s Read list has a segment of no octets: legal, and of no use.", say.who());
}

/// `payload`: octets of the reduced message, when known.
void judge_spans(CallLists& say, const std::vector<wire::ReadChunk>& chunks, std::optional<std::uint64_t> payload) {
  std::uint64_t before = 0;  // octets that earlier chunks take in the unreduced stream
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    const wire::ReadChunk& chunk = chunks[i];
    if (i > 0 && chunks[i - 1].position + chunks[i - 1].length > chunk.position) {
      say.accuse(RuleId::read_chunk_overlap,
                 fmt::format("The {}'s Read chunk at Position {} is {} octets long and reaches into the one at "
                             "Position {}.",
                             say.who(), chunks[i - 1].position, chunks[i - 1].length, chunk.position));
      return;
    }
    if (payload && chunk.position > *payload + before) {
      say.accuse(RuleId::read_position_out_of_stream,
                 fmt::format("The {}'s Read chunk has Position {}; the message, with what is in the chunks before it, "
                             "is {} octets long.",
                             say.who(), chunk.position, *payload + before));
      return;
    }
    before += padded(chunk.length);
  }
}

[[nodiscard]] bool wraps(const wire::Segment& segment) noexcept {
  return segment.length != 0 && segment.offset > std::numeric_limits<std::uint64_t>::max() - (segment.length - 1U);
}

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
               fmt::format("The {}'s segment of handle {:#010x}, {} octets at {:#x}, reaches beyond the end of 64-bit "
                           "addresses.",
                           say.who(), wrapping->handle, wrapping->length, wrapping->offset));
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
      say.warn(RuleId::segment_overlap,
               fmt::format("Two segments of the {}'s Call name the same memory of handle {:#010x}: {} octets at {:#x} "
                           "and {} octets at {:#x}, and the responder may write there.",
                           say.who(), range.segment.handle, hit->segment.length, hit->segment.offset,
                           range.segment.length, range.segment.offset));
      return;
    }
    if (any == nullptr || last_octet(&range) > last_octet(any)) any = &range;
    if (range.writable && (writable == nullptr || last_octet(&range) > last_octet(writable))) writable = &range;
  }
}

}  // namespace

void judge_call_spans(Context& context, Connection& connection, const trace::Send& event, Transaction& call,
                      std::optional<std::uint64_t> length, const std::optional<RpcStream>& stream) {
  CallLists say(context, connection, event, call);
  ChunkScratch& scratch = connection.scratch;
  wire::collect_read_chunks(call.reads, scratch.reads);
  judge_empty_segments(say, call);
  // In version 2 a wrong order or alignment is an error of its own: what follows from it is not said once more.
  if (call.version == 1 || !call.ill_formed) judge_spans(say, scratch.reads, length);
  judge_segments(say, call, scratch.ranges);
  if (call.reply_chunk && wire::chunk_length(*call.reply_chunk) < least_reply) {
    say.note(RuleId::reply_chunk_useless,
             "The {}'s Call gives a Reply chunk of {} octets; no RPC Reply is shorter than {}.", say.who(),
             wire::chunk_length(*call.reply_chunk), least_reply);
  }
  if (!stream) return;
  const bool in_pieces = call.call.number != event.frame.number;
  judge_call_items(context, connection, call, *stream, event.frame, in_pieces ? call.call : FrameRef{});
}

void judge_call_lists(Context& context, Connection& connection, const trace::Send& event, const wire::HeaderV1& header,
                      Transaction& call) {
  if (call.reads.empty() && call.writes.empty() && !call.reply_chunk) return;
  CallLists say(context, connection, event, call);
  judge_positions(say, call);

  const bool position_zero = std::any_of(call.reads.begin(), call.reads.end(),
                                         [](const wire::ReadSegment& read) { return read.position == 0; });
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
  judge_call_spans(context, connection, event, call, length, stream);
}

}  // namespace rpcrdma::referee
