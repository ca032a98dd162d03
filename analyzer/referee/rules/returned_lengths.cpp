// SPDX-License-Identifier: GPL-2.0-or-later
// Group F: what a Reply says was written, against what RDMA Writes brought.
#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "referee/docket/counted.hpp"
#include "referee/rules/checks.hpp"
#include "referee/rules/rows.hpp"

namespace rpcrdma::referee {

namespace {

/// Of what a Reply reports, as far as the Call gave room: what was written beyond is kept nowhere.
struct Reported {
  enum class Known : std::uint8_t { yes, not_of_its_call, in_too_many_pieces } known = Known::yes;
  std::uint64_t octets = 0;
  std::uint64_t written = 0;
};

void add_segment(Reported& sum, Connection& connection, const Transaction& call, const wire::Segment& segment) {
  const Exposure* exposure = connection.of(call.requester).memory.of(call.id, segment.handle, Access::write);
  const auto room = exposure != nullptr ? exposure->at(segment.offset) : std::nullopt;
  if (!room) {
    sum.known = Reported::Known::not_of_its_call;
    return;
  }
  if (exposure->touched.overflow() && sum.known == Reported::Known::yes) {
    sum.known = Reported::Known::in_too_many_pieces;
  }
  const std::uint64_t end = segment.offset + std::min<std::uint64_t>(segment.length, room->end - segment.offset);
  sum.octets += end - segment.offset;
  sum.written += exposure->touched.within(segment.offset, end);
}

}  // namespace

const Row rows::write_bytes_unreported{
    .group = 'F',
    .severity = Severity::note,
    .versions = Versions::both,
    .repetition = Repetition::once,
    .needs = {.call = Needs::Call::sent_once, .lists = true},
    .source = "RFC 8166 section 4.3.2.2",
    .who = "responder",
    .title = "Data was written into a chunk that the reply returns as unused",
    .explanation =
        "Legal: a responder may write and then decide that it does not count, and the requester must not assume that "
        "unused memory was left alone. It costs the transfer for nothing, and often belongs to an operation that "
        "failed half-way. Behind what a chunk that is used is said to hold it may be the rest of the message, and the "
        "lengths wrong: then the requester fails to read it.",
    .evidence =
        "RDMA Writes inside a segment whose length in the Reply is 0, or of a Reply chunk behind that length. Needs "
        "both in the capture; packets that are "
        "missing can only make the count smaller.",
    .next =
        "Server: rpcrdma:svcrdma_encode_wseg (length 0) against svcrdma_wc_write. If it happens with every call, the "
        "server starts its Writes too early."};

namespace {

/// Octets that were written into segments which the Reply returns with a length of 0.
struct Unreported {
  std::uint64_t unused = 0;  ///< of chunks without any length
  std::uint64_t behind = 0;  ///< of others, behind what they are said to hold
};

/// What was written behind the reported end of a segment of the Reply chunk, within it. A pad is none.
[[nodiscard]] std::uint64_t behind_the_message(const MemoryMap& memory, const Transaction& call,
                                               const wire::WriteChunk& chunk) {
  constexpr std::uint64_t most_pad = 3;
  std::uint64_t sum = 0;
  for (const wire::Segment& segment : chunk) {
    const Exposure* exposure = memory.of(call.id, segment.handle, Access::write);
    const auto region = exposure != nullptr ? exposure->at(segment.offset) : std::nullopt;
    if (!region || segment.length == 0 || segment.length >= region->length()) continue;
    sum += exposure->touched.within(region->begin + segment.length, region->end);
  }
  return sum > most_pad ? sum : 0;
}

/// Legal where the chunk is unused. Behind the reported end of one that is used may stand what the message lacks.
void note_unreported(const Witness& witness, const trace::Send& event, const wire::HeaderV1& header,
                     const Transaction& call) {
  Connection& connection = witness.connection;
  MemoryMap& memory = connection.of(call.requester).memory;
  Unreported octets;
  const auto add = [&](const wire::WriteChunk& chunk) {
    const bool any_unused =
        std::any_of(chunk.begin(), chunk.end(), [](const wire::Segment& s) { return s.length == 0; });
    if (!any_unused) return;
    std::set<std::pair<std::uint32_t, std::uint64_t>> used;
    for (const wire::Segment& segment : chunk) {
      if (segment.length != 0) used.emplace(segment.handle, segment.offset);
    }
    for (const wire::Segment& segment : chunk) {
      // One that was empty from the start may name the place of the next one, which is in use.
      if (segment.length != 0 || used.contains({segment.handle, segment.offset})) continue;
      const Exposure* exposure = memory.of(call.id, segment.handle, Access::write);
      const auto region = exposure != nullptr ? exposure->at(segment.offset) : std::nullopt;
      std::uint64_t& sum = used.empty() ? octets.unused : octets.behind;
      if (region) sum += exposure->touched.within(region->begin, region->end);
    }
  };
  for (const wire::WriteChunk& chunk : header.writes) add(chunk);
  if (header.reply) {
    add(*header.reply);
    octets.behind += behind_the_message(memory, call, *header.reply);
  }
  const std::uint64_t all = octets.unused + octets.behind;
  if (all == 0 || !witness.may(RuleId::write_bytes_unreported, call)) return;
  Cost& cost = connection.unreported;
  ++cost.times;
  cost.octets += all;
  if (witness.again(RuleId::write_bytes_unreported, event.frame)) return;
  cost.finding = witness.say(
      RuleId::write_bytes_unreported,
      {.frames = {event.frame, call.call},
       .as = Role::responder,
       .xid = call.xid,
       .call = &call,
       .what = octets.behind == 0
                   ? fmt::format("The {} wrote {} into the chunks of XID {:#010x} and returned those segments as "
                                 "unused, which it may.",
                                 name(event.side), counted(all, "octet"), call.xid)
                   : fmt::format("The {} wrote {} into the chunks of XID {:#010x} behind what its Reply says that they "
                                 "hold: if that belongs to the message, its requester takes it for shorter than it is.",
                                 name(event.side), counted(octets.behind, "octet"), call.xid)});
}

}  // namespace

const Row rows::write_bytes_missing{
    .group = 'F',
    .severity = Severity::error,
    .versions = Versions::both,
    .needs = {.past = Needs::Past::trusted, .call = Needs::Call::answered_whole, .lists = true},
    .source = "RFC 8166 section 3.4.6",
    .who = "responder",
    .title = "The reply reports more data than was written",
    .explanation =
        "The lengths in a returned Write or Reply chunk say how many octets were placed in memory. If fewer arrived, "
        "the application is handed whatever the buffer held before: silent corruption.",
    .evidence =
        "Octets covered by RDMA Writes before the Reply against the lengths in it. Not decided when packets are "
        "missing or the capture began after the Call.",
    .next =
        "Server: rpcrdma:svcrdma_encode_wseg against svcrdma_wc_write. First make sure that the capture lost nothing "
        "(tcpdump's 'dropped by kernel', the mirror port's counters)."};

void judge_returned_lengths(const Witness& witness, const trace::Send& event, const wire::HeaderV1& header,
                            Transaction& call) {
  Connection& connection = witness.connection;
  if (header.writes.empty() && !header.reply) return;
  note_unreported(witness, event, header, call);
  if (!witness.may(RuleId::write_bytes_missing, call)) return;
  Reported sum;
  const auto add = [&](const wire::WriteChunk& chunk) {
    for (const wire::Segment& segment : chunk) {
      if (segment.length == 0 || segment.offset > std::numeric_limits<std::uint64_t>::max() - segment.length) continue;
      add_segment(sum, connection, call, segment);
    }
  };
  for (const wire::WriteChunk& chunk : header.writes) add(chunk);
  if (header.reply) add(*header.reply);
  switch (sum.known) {
    case Reported::Known::yes:
      break;
    case Reported::Known::not_of_its_call:
      return witness.unchecked(RuleId::write_bytes_missing,
                               "the Reply returns a segment that is not among those known of its Call");
    case Reported::Known::in_too_many_pieces:
      return witness.unchecked(RuleId::write_bytes_missing,
                               "the octets were written in more pieces than the analyzer keeps");
  }
  if (sum.written >= sum.octets) return;
  witness.say(RuleId::write_bytes_missing,
              {.frames = {event.frame, call.call},
               .by = event.side,
               .as = Role::responder,
               .xid = call.xid,
               .call = &call,
               .what = fmt::format("The {}'s Reply says that {} {} written into the Call's chunks; RDMA Writes brought "
                                   "only {}.",
                                   name(event.side), counted(sum.octets, "octet"), sum.octets == 1 ? "was" : "were",
                                   grouped(sum.written))});
}

}  // namespace rpcrdma::referee
