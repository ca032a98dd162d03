// SPDX-License-Identifier: GPL-2.0-or-later
// Group I: transactions.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "referee/pending.hpp"
#include "referee/rules/checks.hpp"
#include "referee/v2/take.hpp"

namespace rpcrdma::referee {

namespace {

constexpr std::size_t most_open_named = 32;

/// Octets at each position of a Read list.
[[nodiscard]] std::map<std::uint32_t, std::uint64_t> read_chunks(const Transaction& call) {
  std::map<std::uint32_t, std::uint64_t> chunks;
  for (const wire::ReadSegment& read : call.reads) chunks[read.position] += read.target.length;
  return chunks;
}

/// Same lengths in the same lists: a retransmission registers its memory anew, so handles, offsets, and the segments
/// that a chunk is made of, may differ.
[[nodiscard]] bool same_shape(const Transaction& a, const Transaction& b) {
  if (a.writes.size() != b.writes.size() || read_chunks(a) != read_chunks(b)) return false;
  return a.payload_known == b.payload_known && a.payload_length == b.payload_length && a.payload_hash == b.payload_hash;
}

}  // namespace

void judge_repeated_call(Context& context, Connection& connection, const trace::Send& event, Transaction& old,
                         const Transaction& fresh) {
  if (same_shape(old, fresh)) {
    context.book.add(
        {RuleId::call_retransmitted,
         connection.id(),
         {event.frame, old.call},
         fmt::format("The {} sent the Call with XID {:#010x} again on the same connection (first: frame {}). It "
                     "takes another credit.",
                     name(event.side), old.xid, old.call.number),
         std::nullopt,
         old.xid,
         party(event.side),
         Role::requester});
    return;
  }
  const bool comparable = old.lists_known && fresh.lists_known && old.payload_known == fresh.payload_known;
  if (!connection.trusted() || !comparable || event.holes) {
    context.book.unchecked(
        RuleId::xid_duplicate_outstanding, connection.id(),
        "one of two Calls with one XID, or the Reply in between, may not be in the capture as a whole");
    return;
  }
  // The Reply in between may be missing: that shows only when the responder goes on.
  Pending pending;
  pending.kind = Pending::Kind::handle_reused;
  pending.rule = RuleId::xid_duplicate_outstanding;
  pending.side = event.side;
  pending.frame = event.frame;
  pending.evidence = old.call;
  pending.transaction = old.id;
  pending.xid = old.xid;
  hold_back(connection, std::move(pending));
}

void judge_reply_version(Context& context, Connection& connection, const trace::Send& event, std::uint32_t version,
                         const Transaction& call) {
  if (version == call.version || call.malformed) return;
  if (call.copies != 1) {
    context.book.unchecked(RuleId::reply_version_differs, connection.id(), "a Call was sent more than once");
    return;
  }
  context.book.add({RuleId::reply_version_differs,
                    connection.id(),
                    {event.frame, call.call},
                    fmt::format("The {}'s answer says version {}, the Call had version {}.", name(event.side), version,
                                call.version),
                    std::nullopt,
                    call.xid,
                    party(event.side),
                    Role::responder});
}

void judge_duplicate(Connection& connection, const trace::Send& event, const Transaction& call) {
  Pending pending;
  pending.kind = Pending::Kind::duplicate_reply;
  pending.rule = RuleId::duplicate_reply;
  pending.side = event.side;
  pending.frame = event.frame;
  pending.evidence = call.reply;
  pending.call = call.call;
  pending.xid = call.xid;
  hold_back(connection, std::move(pending));
}

void judge_error_later(Connection& connection, const trace::Send& event, std::uint32_t xid) {
  Pending pending;
  pending.kind = Pending::Kind::error_from_requester;
  pending.rule = RuleId::error_from_requester;
  pending.side = event.side;
  pending.frame = event.frame;
  pending.xid = xid;
  hold_back(connection, std::move(pending));
}

void judge_orphan(Context& context, Connection& connection, const trace::Send& event, Side requester,
                  std::uint32_t xid) {
  if (!connection.whole() || connection.unjudged()) {
    context.book.unchecked(RuleId::reply_without_call, connection.id(), "the Call may be missing from the capture");
    return;
  }
  if (const Transaction* own = connection.find(event.side, xid); own != nullptr && own->reply_inferred) {
    context.book.unchecked(RuleId::reply_without_call, connection.id(),
                           "its Call may be the Long Call that looks like an offered Reply");
    return;
  }
  Pending pending;
  pending.kind = Pending::Kind::reply_without_call;
  pending.rule = RuleId::reply_without_call;
  pending.side = other(requester);
  pending.frame = event.frame;
  pending.xid = xid;
  hold_back(connection, std::move(pending));
}

void judge_open_calls(Context& context, Connection& connection, FrameRef now, bool closed, bool closed_by_client) {
  v2::judge_end(context, connection, now);
  std::vector<const Transaction*> open;
  for (const auto& [key, call] : connection.transactions) {
    if (call.answers == 0) open.push_back(&call);
  }
  if (open.empty()) return;
  std::sort(open.begin(), open.end(),
            [](const Transaction* a, const Transaction* b) { return a->call.number < b->call.number; });
  connection.facts.waiting = {open.size(), open.front()->call, now};
  std::size_t named = 0;
  for (const Transaction* call : open) {
    const Verdict verdict{
        RuleId::call_unanswered,
        connection.id(),
        {call->call, now},
        fmt::format("The {}'s Call with XID {:#010x} has no Reply {} ({:.1f} s later).", name(call->requester),
                    call->xid, closed ? "when the connection ends" : "at the end of the capture",
                    static_cast<double>(now.time - call->call.time) / 1e9),
        std::nullopt,
        call->xid,
        std::nullopt,
        std::nullopt};
    if (named++ < most_open_named) {
      context.book.add(verdict);
    } else {
      context.book.fold(verdict);
    }
  }
  if (!closed) return;
  const auto client_calls = static_cast<std::size_t>(
      std::count_if(open.begin(), open.end(), [](const Transaction* call) { return call->requester == Side::active; }));
  if (closed_by_client && client_calls == open.size()) return;  // whoever asked chose to leave
  context.book.add(
      {RuleId::call_lost_by_close,
       connection.id(),
       {now, open.front()->call},
       fmt::format("{} Call{} pending when the connection ended; the requester will send {} again on a new one.",
                   open.size(), open.size() == 1 ? " was" : "s were", open.size() == 1 ? "it" : "them"),
       std::nullopt,
       open.front()->xid,
       std::nullopt,
       std::nullopt});
}

}  // namespace rpcrdma::referee
