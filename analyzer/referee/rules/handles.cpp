// SPDX-License-Identifier: GPL-2.0-or-later
// Group G: how long a handle is in whose hands.
#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "referee/docket/counted.hpp"
#include "referee/rules/checks.hpp"
#include "referee/rules/rows.hpp"
#include "referee/rules/shared_memory.hpp"

namespace rpcrdma::referee {

namespace {

constexpr std::size_t most_compared = 16384;  // exposures for one Call

template <class Visit>
void each_segment(const Transaction& call, Visit visit) {
  for (const wire::ReadSegment& read : call.reads) visit(read.target, false);
  for (const wire::WriteChunk& chunk : call.writes) {
    for (const wire::Segment& segment : chunk) visit(segment, true);
  }
  if (call.reply_chunk) {
    for (const wire::Segment& segment : *call.reply_chunk) visit(segment, true);
  }
}

/// What another open Call exposed and this segment meets, one of the two to be written.
struct Shared {
  const Exposure* with = nullptr;
  Region octets;
};
[[nodiscard]] Shared shared_with(const MemoryMap& memory, const Transaction& call, const wire::Segment& segment,
                                 bool writable, std::size_t& compared) {
  Shared shared;
  if (segment.length == 0 || compared > most_compared) return shared;
  const std::uint64_t room = std::numeric_limits<std::uint64_t>::max() - segment.offset;
  const std::uint64_t end = segment.offset + std::min<std::uint64_t>(segment.length, room);
  compared += memory.each_near(segment.handle, segment.offset, end, [&](const Exposure& exposure) {
    if (shared.with != nullptr || exposure.standing != Standing::live || exposure.owner == call.id) return;
    if (exposure.access == Access::offer || (!writable && exposure.access != Access::write)) return;
    const Region octets = exposure.meeting(segment.offset, end);
    if (octets.length() != 0) shared = {&exposure, octets};
  });
  return shared;
}

}  // namespace

const Row rows::handle_reused_live{
    .group = 'G',
    .severity = Severity::warning,
    .versions = Versions::both,
    .repetition = Repetition::few,
    .needs = {.past = Needs::Past::whole, .call = Needs::Call::sent_once, .lists = true},
    .source = "RFC 8166 section 4.4.1 (derived)",
    .who = "requester",
    .title = "The same memory is offered by two calls at once",
    .explanation =
        "While a call is open its responder may read and write the memory it names. A second call that names octets of "
        "it under the same handle lets two answers fall into one buffer, or one answer into data that the other call "
        "still needs. With one registration for all memory the handle is the same everywhere, which is fine as long as "
        "the ranges differ.",
    .evidence =
        "Two unanswered Calls of one requester, the same handle, intersecting ranges, at least one of them to be "
        "written. A note when the first Call is older than five seconds: its application may have given up. Not "
        "decided when frames are missing.",
    .next =
        "Requester: rpcrdma:xprtrdma_mr_map and xprtrdma_mr_fastreg against xprtrdma_mr_localinv for the handle. An "
        "RPC that was aborted (a signal, a soft timeout) and whose buffer was used again looks like this."};

namespace {

void settle_shared_memory(const Witness& witness, const Case& waited) {
  const Transaction* first = witness.connection.find(waited.is<Case::SharedMemory>()->first);
  if (first == nullptr) return;                                                  // over, and forgotten
  if (first->awaits == Transaction::Awaits::perhaps_nothing) return;             // or over, and not seen
  if (first->answers != 0 && first->reply.number < waited.frame.number) return;  // only delivered late
  const TimeNs age = waited.frame.time - first->call.time;
  const bool stale = age > stale_call;
  settle_shared(witness, waited, {Role::requester, "Call", "unanswered Call"},
                {first->xid, stale,
                 stale ? fmt::format("; that one is {:.1f} s old, and its application may have given up",
                                     static_cast<double>(age) / 1e9)
                       : std::string()});
}

void accuse_later(const Witness& witness, const trace::Send& event, const Transaction& call,
                  const wire::Segment& segment, const Shared& shared) {
  witness.wait(
      {.rule = RuleId::handle_reused_live,
       .accused = call.requester,
       .frame = event.frame,
       .evidence = shared.with->exposed,
       .xid = call.xid,
       .about = Case::SharedMemory{shared.with->owner, segment.handle, shared.octets.begin, shared.octets.length()},
       .settle = settle_shared_memory});
}

}  // namespace

const Row rows::handle_survives_invalidate{
    .group = 'G',
    .severity = Severity::note,
    .versions = Versions::both,
    .repetition = Repetition::once,
    .source = "RFC 8797 section 3.2; version 2 draft section 11.1.2",
    .who = "requester",
    .title = "A handle is offered again unchanged after it was invalidated",
    .explanation =
        "Legal, but weaker than it could be: a responder that still holds the old value, or an attacker who guesses "
        "it, reaches the new use of the memory. Registrations that change the low octet of the handle each time make a "
        "late access fail instead of doing damage.",
    .evidence =
        "A Call names a handle whose value was invalidated remotely before, without another value of the same "
        "registration (other low octet) in between.",
    .next =
        "Requester: how it chooses the key of a fast registration; Linux counts it up in the low octet each time "
        "(rpcrdma:xprtrdma_mr_fastreg)."};

void judge_offered_memory(const Witness& witness, const trace::Send& event, const Transaction& call) {
  Connection& connection = witness.connection;
  const bool offers = !call.reads.empty() || !call.writes.empty() || call.reply_chunk || !call.all_lists();
  if (!offers) return;
  if (!call.all_lists() || call.copies > 1) {
    static_cast<void>(witness.may(RuleId::handle_reused_live, call));
    return;
  }
  SideState& requester = connection.of(call.requester);
  std::size_t compared = 0;
  bool shared = false;
  each_segment(call, [&](const wire::Segment& segment, bool writable) {
    if (!requester.invalidated.empty()) {
      const FrameRef before = requester.invalidated.offered(segment.handle);
      if (before.number != 0 && !witness.again(RuleId::handle_survives_invalidate, event.frame)) {
        witness.say(RuleId::handle_survives_invalidate,
                    {.frames = {event.frame, before},
                     .as = Role::requester,
                     .xid = call.xid,
                     .what = fmt::format(
                         "The {} offers handle {:#010x} again, which was invalidated remotely (frame {}) and came back "
                         "with the same value: legal, but a late access would not be noticed.",
                         name(call.requester), segment.handle, before.number)});
      }
    }
    if (shared) return;
    const Shared found = shared_with(requester.memory, call, segment, writable, compared);
    if (found.with == nullptr) return;
    shared = true;
    accuse_later(witness, event, call, segment, found);
  });
  if (compared > most_compared) {
    witness.unchecked(RuleId::handle_reused_live,
                      fmt::format("too many Calls name the handles of frame {}", event.frame.number));
  }
}

const Row rows::chunk_live_at_close{
    .group = 'G',
    .severity = Severity::note,
    .versions = Versions::both,
    .needs = {.past = Needs::Past::trusted},
    .source = "RFC 8166 section 4.4.1 (observation)",
    .who = "nobody",
    .title = "Memory was still offered when the connection ended",
    .explanation =
        "When a connection ends the responder can no longer reach the memory of the calls that were open, and the "
        "requester has to invalidate all of it before it is used again. What had been written by then is in no defined "
        "state; the calls are sent again with new registrations.",
    .evidence =
        "Calls with chunks, or replies offered for pulling, that were not finished when the connection ended. Not "
        "decided when frames are missing.",
    .next =
        "Requester: rpcrdma:xprtrdma_mr_localinv or mrs_recycled in /proc/self/mountstats after the disconnect. See "
        "call-lost-by-close for the calls themselves."};

void judge_live_chunks(const Witness& witness, FrameRef close) {
  Connection& connection = witness.connection;
  if (!connection.rpcrdma() || connection.messages == 0) return;
  std::uint64_t calls = 0;
  std::uint64_t octets = 0;
  const Transaction* oldest = nullptr;
  for (const auto& [key, call] : connection.transactions) {
    if (!call.surely_open()) continue;
    std::uint64_t sum = 0;
    each_segment(call, [&](const wire::Segment& segment, bool /*writable*/) { sum += segment.length; });
    if (sum == 0) continue;
    ++calls;
    octets += sum;
    if (oldest == nullptr || call.call.number < oldest->call.number) oldest = &call;
  }
  std::uint64_t offers = 0;
  FrameRef offered;
  for (const Offer& offer : connection.offers) {
    if (offer.done.number != 0 || offer.length == 0) continue;
    ++offers;
    octets += offer.length;
    if (offered.number == 0) offered = offer.frame;
  }
  if (calls + offers == 0) return;
  witness.say(
      RuleId::chunk_live_at_close,
      {.frames = {close, oldest != nullptr ? oldest->call : FrameRef{}, offered},
       .xid = when(oldest, &Transaction::xid),
       .what = fmt::format(
           "{} octets of memory were still offered when the connection ended, by {}{}.", grouped(octets),
           counted(calls, "unanswered Call"),
           offers == 0 ? std::string() : fmt::format(" and {} offered for pulling", counted(offers, "Reply")))});
}

}  // namespace rpcrdma::referee
