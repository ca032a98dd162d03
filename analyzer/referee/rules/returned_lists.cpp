// SPDX-License-Identifier: GPL-2.0-or-later
// Group E: the Write list and the Reply chunk of a Reply, against those of its Call.
#include <algorithm>
#include <initializer_list>
#include <string>

#include <fmt/format.h>

#include "referee/docket/counted.hpp"
#include "referee/rules/checks.hpp"
#include "referee/rules/rows.hpp"
#include "wire/rpc.hpp"

namespace rpcrdma::referee {

namespace {

class ReplyLists {
 public:
  ReplyLists(const Witness& witness, const trace::Send& event, const Transaction& call) noexcept
      : witness_(witness), event_(event), call_(call) {}

  void say(RuleId rule, std::string message, Severity at_most = Severity::error) {
    witness_.say(rule, {.frames = {event_.frame, call_.call},
                        .by = event_.side,
                        .as = Role::responder,
                        .xid = call_.xid,
                        .call = &call_,
                        .at_most = at_most,
                        .what = std::move(message)});
  }
  [[nodiscard]] const char* who() const noexcept { return name(event_.side); }

 private:
  const Witness& witness_;
  const trace::Send& event_;
  const Transaction& call_;
};

}  // namespace

const Row rows::write_segments_changed{
    .group = 'E',
    .severity = Severity::error,
    .versions = Versions::both,
    .needs = {.past = Needs::Past::trusted, .call = Needs::Call::sent_once, .lists = true},
    .source = "RFC 8166 sections 3.4.6 and 4.3.3",
    .who = "responder",
    .title = "A reply returns other segments than its call gave",
    .explanation =
        "Of a returned Write or Reply chunk only the lengths may differ: number, handles and offsets of the segments "
        "stay as they were. Anything else leaves the requester guessing which memory holds its results.",
    .evidence = "Segment by segment, Reply against Call. Not decided when the Call is missing, cut or was sent twice.",
    .next = "Server: rpcrdma:svcrdma_decode_wseg against svcrdma_encode_wseg. Client: rpcrdma:xprtrdma_decode_seg."};

const Row rows::write_length_grown{
    .group = 'E',
    .severity = Severity::error,
    .versions = Versions::both,
    .needs = {.past = Needs::Past::trusted, .call = Needs::Call::sent_once, .lists = true},
    .source = "RFC 8166 section 3.4.6 (derived)",
    .who = "responder",
    .title = "A reply reports more octets in a segment than there was room",
    .explanation =
        "A returned length is what was written, and no more than the segment holds may "
        "be written. A requester that believes the number reads beyond its buffer.",
    .evidence =
        "Lengths of the returned segments against those of the Call. Not decided when "
        "the Call is missing, cut or was sent twice.",
    .next = "Server: rpcrdma:svcrdma_encode_wseg against svcrdma_decode_wseg."};

const Row rows::write_fill_gap{
    .group = 'E',
    .severity = Severity::error,
    .versions = Versions::both,
    .needs = {.past = Needs::Past::trusted, .call = Needs::Call::sent_once, .lists = true},
    .source = "RFC 8166 section 3.4.6; version 2 draft section 4.5.2.1",
    .who = "responder",
    .title = "A chunk was not filled from front to back",
    .explanation =
        "Results fill the segments of a chunk in their order without holes; only the last used one may be short. The "
        "requester takes the octets as one run: with a gap inside, data shifts.",
    .evidence =
        "A returned segment is shorter than in the Call, and a later one of the same chunk is not empty. Segments that "
        "had no room are full by themselves.",
    .next = "Server: rpcrdma:svcrdma_encode_wseg. Client: rpcrdma:xprtrdma_decode_seg."};

namespace {

/// False when it is not the same chunk, or claims more than it has. `which`: "Write chunk 2", "Reply chunk".
bool judge_chunk(ReplyLists& lists, const std::string& which, const wire::WriteChunk& provided,
                 const wire::WriteChunk& returned) {
  const auto changed = [&](std::string how) {
    lists.say(RuleId::write_segments_changed,
              fmt::format("The {}'s Reply returns {} changed: {}.", lists.who(), which, how));
    return false;
  };
  if (provided.size() != returned.size()) {
    return changed(fmt::format("{} instead of {}", counted(returned.size(), "segment"), provided.size()));
  }
  const wire::Segment* short_one = nullptr;
  bool grown = false;
  bool gap = false;
  for (std::size_t i = 0; i < provided.size(); ++i) {
    const wire::Segment& was = provided[i];
    const wire::Segment& is = returned[i];
    if (was.handle != is.handle || was.offset != is.offset) {
      return changed(fmt::format("segment {} names handle {:#010x} at {:#x}, the Call named {:#010x} at {:#x}", i + 1,
                                 is.handle, is.offset, was.handle, was.offset));
    }
    if (is.length > was.length && !grown) {
      grown = true;
      lists.say(RuleId::write_length_grown,
                fmt::format("The {}'s Reply says that {} {} written to segment {} of {}; the Call gave room "
                            "for {}.",
                            lists.who(), counted(is.length, "octet"), is.length == 1 ? "was" : "were", i + 1, which,
                            grouped(was.length)));
    }
    if (is.length != 0 && short_one != nullptr && !gap) {
      gap = true;
      lists.say(RuleId::write_fill_gap,
                fmt::format("The {}'s Reply leaves a gap in {}: {} in segment {} behind a segment that "
                            "holds only {}.",
                            lists.who(), which, counted(is.length, "octet"), i + 1, grouped(short_one->length)));
    }
    if (is.length < was.length) short_one = &is;
  }
  return !grown;
}

}  // namespace

const Row rows::write_list_not_returned{
    .group = 'E',
    .severity = Severity::error,
    .versions = Versions::both,
    .needs = {.past = Needs::Past::trusted, .call = Needs::Call::sent_once, .lists = true},
    .source = "RFC 8166 sections 3.4.6 and 4.3.2; version 2 draft section 4.5.2.1",
    .who = "responder",
    .title = "A reply does not return each Write chunk of its call",
    .explanation =
        "The reply repeats the Write list of its call, used or not. A requester that finds fewer or more chunks cannot "
        "tell where its results are: it takes the reply for damaged, or hands out memory that nobody filled.",
    .evidence =
        "Number of Write chunks in the Reply against the Call. Not decided when the Call is missing, cut or was sent "
        "twice; RDMA_ERROR has no lists.",
    .next =
        "Client: rpcrdma:xprtrdma_reply_hdr_err. Server: rpcrdma:svcrdma_encode_wseg; old nfs-ganesha releases send "
        "empty lists."};

const Row rows::empty_write_chunk_filled{
    .group = 'E',
    .severity = Severity::error,
    .versions = Versions::both,
    .needs = {.past = Needs::Past::trusted, .call = Needs::Call::sent_once, .lists = true},
    .source = "RFC 8166 section 4.3.2.3",
    .who = "responder",
    .title = "An empty Write chunk comes back with segments",
    .explanation =
        "With a chunk of no segments the requester asks for that result inline, and it has to come back as empty as it "
        "was. Segments that the requester never registered are memory of its that belongs to something else.",
    .evidence =
        "A Write chunk with no segments in the Call and with some in the Reply. Not decided when the Call is missing, "
        "cut or was sent twice.",
    .next = "Server: rpcrdma:svcrdma_decode_wseg against svcrdma_encode_wseg."};

namespace {

bool judge_write_list(ReplyLists& lists, const wire::HeaderV1& header, const Transaction& call) {
  if (header.writes.size() != call.writes.size()) {
    lists.say(RuleId::write_list_not_returned,
              fmt::format("The {}'s Reply has {}, its Call {}: each has to be returned.", lists.who(),
                          counted(header.writes.size(), "Write chunk"), call.writes.size()));
    return false;
  }
  bool same = true;
  for (std::size_t i = 0; i < call.writes.size(); ++i) {
    const wire::WriteChunk& provided = call.writes[i];
    const wire::WriteChunk& returned = header.writes[i];
    if (provided.empty() && !returned.empty()) {
      lists.say(RuleId::empty_write_chunk_filled,
                fmt::format("The {}'s Reply returns {} in Write chunk {}, which was empty in the Call.", lists.who(),
                            counted(returned.size(), "segment"), i + 1));
      same = false;
    } else if (!provided.empty() && returned.empty()) {
      // For results without data the text of RFC 8267 asks for an empty chunk: both shapes are in use.
      const bool may_be = !call.procedure || std::get<0>(*call.procedure) == wire::nfs_program;
      lists.say(RuleId::unused_write_chunk_shape,
                fmt::format("The {}'s Reply returns Write chunk {} without its {} instead of with lengths of "
                            "zero.",
                            lists.who(), i + 1, counted(provided.size(), "segment")),
                may_be ? Severity::note : Severity::error);
    } else {
      same = judge_chunk(lists, fmt::format("Write chunk {}", i + 1), provided, returned) && same;
    }
  }
  return same;
}

}  // namespace

const Row rows::reply_chunk_not_returned{
    .group = 'E',
    .severity = Severity::error,
    .versions = Versions::v1,
    .needs = {.past = Needs::Past::trusted, .call = Needs::Call::sent_once, .lists = true},
    .source = "RFC 8166 section 4.3.3",
    .who = "responder",
    .title = "A reply does not return its call's Reply chunk",
    .explanation =
        "A Reply chunk of the call is copied into the reply, with lengths of zero when it was not used. Without it the "
        "requester cannot tell whether its memory was written.",
    .evidence =
        "The Call has a Reply chunk and the Reply has none. Not decided when the Call is missing, cut or was sent "
        "twice.",
    .next = "Server: rpcrdma:svcrdma_encode_wseg. Client: rpcrdma:xprtrdma_reply_hdr_err."};

const Row rows::reply_chunk_with_msg{
    .group = 'E',
    .severity = Severity::error,
    .versions = Versions::v1,
    .needs = {.past = Needs::Past::trusted, .call = Needs::Call::sent_once, .lists = true},
    .source = "RFC 8166 sections 4.3.3 and 3.5.3 (derived)",
    .who = "responder",
    .title = "An inline reply claims to be in the Reply chunk too",
    .explanation =
        "A reply is either inline or in the Reply chunk. When an RDMA_MSG says that the chunk holds octets, a "
        "requester cannot know which is the reply; Linux clients fail the RPC with EIO.",
    .evidence = "RDMA_MSG whose returned Reply chunk has a length other than zero.",
    .next = "Client: rpcrdma:xprtrdma_reply_hdr_err. Server: rpcrdma:svcrdma_encode_wseg."};

namespace {

/// Octets that an inline Reply says are in the Reply chunk.
[[nodiscard]] std::uint64_t claimed_besides(const wire::HeaderV1& header) {
  const bool is_inline = header.fixed.proc == static_cast<std::uint32_t>(wire::Proc::msg);
  return is_inline && header.reply ? wire::chunk_length(*header.reply) : 0;
}

[[nodiscard]] std::string claim(const char* who, std::uint64_t length) {
  return fmt::format("The {}'s Reply is inline, yet says that {} {} in the Reply chunk.", who, counted(length, "octet"),
                     length == 1 ? "is" : "are");
}

void judge_reply_chunk(ReplyLists& lists, const wire::HeaderV1& header, const Transaction& call) {
  if (call.reply_chunk && !header.reply) {
    lists.say(RuleId::reply_chunk_not_returned,
              fmt::format("The {}'s Reply does not return the Reply chunk of its Call ({}).", lists.who(),
                          counted(wire::chunk_length(*call.reply_chunk), "octet")));
    return;
  }
  if (!header.reply || (!call.reply_chunk && header.reply->empty())) return;
  if (!call.reply_chunk) {
    lists.say(RuleId::write_segments_changed, fmt::format("The {}'s Reply has a Reply chunk of {}; its Call gave none.",
                                                          lists.who(), counted(header.reply->size(), "segment")));
    return;
  }
  const bool same = judge_chunk(lists, "the Reply chunk", *call.reply_chunk, *header.reply);
  const std::uint64_t length = claimed_besides(header);
  if (same && length != 0) lists.say(RuleId::reply_chunk_with_msg, claim(lists.who(), length));
}

}  // namespace

bool returned_lists_known(const Witness& witness, const wire::HeaderV1& header, const Transaction& call) {
  const bool given = call.all_lists();
  const bool writes = !header.writes.empty();
  bool known = true;
  const auto ask = [&](bool something, std::initializer_list<RuleId> rules) {
    if (!something) return;
    for (const RuleId id : rules) {
      if (rule(id).versions != Versions::v1 || call.version != 2) known = witness.may(id, call) && known;
    }
  };
  ask(writes || !given || !call.writes.empty(), {RuleId::write_list_not_returned});
  ask(header.reply || !given || call.reply_chunk, {RuleId::reply_chunk_not_returned});
  ask(writes, {RuleId::empty_write_chunk_filled, RuleId::unused_write_chunk_shape});
  ask(header.reply.has_value(), {RuleId::reply_chunk_with_msg});
  ask(writes || header.reply, {RuleId::write_segments_changed, RuleId::write_length_grown, RuleId::write_fill_gap});
  return known;
}

bool judge_reply_lists(const Witness& witness, const trace::Send& event, const wire::HeaderV1& header,
                       const Transaction& call) {
  if (call.malformed() || !returned_lists_known(witness, header, call)) return false;
  ReplyLists say(witness, event, call);
  const bool same = judge_write_list(say, header, call);
  judge_reply_chunk(say, header, call);
  return same;
}

void judge_stray_reply_chunk(const Witness& witness, const trace::Send& event, const wire::HeaderV1& header) {
  const std::uint64_t length = claimed_besides(header);
  if (length == 0) return;
  witness.say(RuleId::reply_chunk_with_msg, {.frames = {event.frame},
                                             .by = event.side,
                                             .as = Role::responder,
                                             .xid = header.fixed.xid,
                                             .what = claim(name(event.side), length)});
}

}  // namespace rpcrdma::referee
