// SPDX-License-Identifier: GPL-2.0-or-later
// Group G: how long a handle is in whose hands.
#include <algorithm>

#include <fmt/format.h>

#include "referee/pending.hpp"
#include "referee/rules/checks.hpp"

namespace rpcrdma::referee {

namespace {

constexpr std::size_t most_compared = 65536;  // regions for one Call

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
[[nodiscard]] const Region* shared_with(MemoryMap& memory, const Transaction& call, const wire::Segment& segment,
                                        bool writable, std::size_t& compared) {
  const std::vector<Region>* regions = memory.regions(segment.handle);
  if (regions == nullptr || segment.length == 0) return nullptr;
  compared += regions->size();
  if (compared > most_compared) return nullptr;
  for (const Region& region : *regions) {
    if (!region.live || region.owner == call.id || region.access == Access::offer) continue;
    if (!writable && region.access != Access::write) continue;
    const bool meet = segment.offset < region.end &&
                      (region.begin <= segment.offset || region.begin - segment.offset < segment.length);
    if (meet) return &region;
  }
  return nullptr;
}

void accuse_later(Connection& connection, const trace::Send& event, const Transaction& call,
                  const wire::Segment& segment, const Region& shared) {
  Pending pending;
  pending.kind = Pending::Kind::handle_reused;
  pending.rule = RuleId::handle_reused_live;
  pending.side = call.requester;
  pending.frame = event.frame;
  pending.evidence = shared.exposed;
  pending.xid = call.xid;
  pending.handle = segment.handle;
  pending.offset = std::max(segment.offset, shared.begin);
  pending.length = std::min(shared.end, segment.offset + segment.length) - pending.offset;
  pending.transaction = shared.owner;
  hold_back(connection, std::move(pending));
}

}  // namespace

void judge_offered_memory(Context& context, Connection& connection, const trace::Send& event, const Transaction& call) {
  if (!call.lists_known || call.copies > 1) return;
  SideState& requester = connection.of(call.requester);
  const bool sure = connection.whole();
  std::size_t compared = 0;
  bool shared = false;
  each_segment(call, [&](const wire::Segment& segment, bool writable) {
    if (!requester.invalidated.empty()) {
      const FrameRef before = requester.invalidated.offered(segment.handle);
      if (before.number != 0 &&
          !context.book.fold_again(RuleId::handle_survives_invalidate, connection.id(), event.frame)) {
        context.book.fold(
            {RuleId::handle_survives_invalidate,
             connection.id(),
             {event.frame, before},
             fmt::format("The {} offers handle {:#010x} again, which was invalidated remotely (frame {}) and came back "
                         "with the same value: legal, but a late access would not be noticed.",
                         name(call.requester), segment.handle, before.number),
             std::nullopt,
             call.xid,
             std::nullopt,
             Role::requester});
      }
    }
    if (shared) return;
    const Region* region = shared_with(requester.memory, call, segment, writable, compared);
    if (region == nullptr) return;
    shared = true;
    if (sure) {
      accuse_later(connection, event, call, segment, *region);
    } else {
      context.book.unchecked(RuleId::handle_reused_live, connection.id(),
                             "the Reply that ended the first use may be missing from the capture");
    }
  });
  if (compared > most_compared) {
    context.book.unchecked(RuleId::handle_reused_live, connection.id(),
                           fmt::format("too many segments under one handle in frame {}", event.frame.number));
  }
}

void settle_handle_reused(Context& context, Connection& connection, const Pending& pending) {
  const Transaction* first = connection.find(pending.transaction);
  if (first == nullptr) return;                                                   // over, and forgotten
  if (first->answers != 0 && first->reply.number < pending.frame.number) return;  // only delivered late
  const TimeNs age = pending.frame.time - first->call.time;
  const bool stale = age > stale_call;
  context.book.add_few(
      {RuleId::handle_reused_live,
       connection.id(),
       {pending.frame, pending.evidence},
       fmt::format("The {}'s Call with XID {:#010x} offers {} octets at {:#x} of handle {:#010x}, which the unanswered "
                   "Call with XID {:#010x} (frame {}) offers too{}.",
                   name(pending.side), pending.xid, pending.length, pending.offset, pending.handle, first->xid,
                   pending.evidence.number,
                   stale ? fmt::format("; that one is {:.1f} s old, and its application may have given up",
                                       static_cast<double>(age) / 1e9)
                         : std::string()),
       stale ? std::optional(Severity::note) : std::nullopt,
       pending.xid,
       party(pending.side),
       Role::requester});
}

void judge_live_chunks(Context& context, Connection& connection, FrameRef close) {
  if (!connection.rpcrdma() || connection.messages == 0) return;
  std::uint64_t calls = 0;
  std::uint64_t octets = 0;
  const Transaction* oldest = nullptr;
  for (const auto& [key, call] : connection.transactions) {
    if (call.answers != 0) continue;
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
  if (!connection.trusted()) {
    context.book.unchecked(RuleId::chunk_live_at_close, connection.id(),
                           "the messages that ended the use of the memory may be missing from the capture");
    return;
  }
  context.book.add(
      {RuleId::chunk_live_at_close,
       connection.id(),
       {close, oldest != nullptr ? oldest->call : FrameRef{}, offered},
       fmt::format("{} octets of memory were still offered when the connection ended, by {} unanswered "
                   "Call{}{}.",
                   octets, calls, calls == 1 ? "" : "s",
                   offers == 0 ? std::string()
                               : fmt::format(" and {} Repl{} offered for pulling", offers, offers == 1 ? "y" : "ies")),
       std::nullopt,
       oldest != nullptr ? std::optional(oldest->xid) : std::nullopt,
       std::nullopt,
       std::nullopt});
}

}  // namespace rpcrdma::referee
