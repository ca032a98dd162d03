// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/state/lifetime.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace rpcrdma::referee {

namespace {

/// Of a connection. A lossy capture may hold any number of them.
constexpr std::size_t most_perhaps_open = 256;

template <class Visit>
void each_remembered_segment(const Transaction& call, Visit visit) {
  for (const wire::ReadSegment& read : call.reads) visit(read.target, Access::read);
  for (const wire::WriteChunk& chunk : call.writes) {
    for (const wire::Segment& segment : chunk) visit(segment, Access::write);
  }
  if (call.reply_chunk) {
    for (const wire::Segment& segment : *call.reply_chunk) visit(segment, Access::write);
  }
}

template <class Visit>
void each_handle(const Transaction& call, Visit visit) {
  each_remembered_segment(call, [&](const wire::Segment& segment, Access) { visit(segment.handle); });
  for (const std::uint32_t handle : call.handles_of_copies) visit(handle);
}

/// Its answer may have been missed. What it exposed may be exposed anew for another.
void doubt_open(Connection& connection, Transaction& call) {
  call.awaits = Transaction::Awaits::perhaps_nothing;
  MemoryMap& memory = connection.of(call.requester).memory;
  each_handle(call, [&](std::uint32_t handle) { memory.doubt(call.id, handle); });
}

/// Only the newest of those whose answers may have been missed are kept.
void bound_perhaps_open(Connection& connection) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> all;  // frame, key
  for (const auto& [key, call] : connection.transactions) {
    if (call.answers == 0 && !call.surely_open()) all.emplace_back(call.call.number, key);
  }
  if (all.size() <= most_perhaps_open) return;
  connection.perhaps_open = Connection::PerhapsOpen::newest;
  const auto kept = all.begin() + static_cast<std::ptrdiff_t>(all.size() - most_perhaps_open);
  std::nth_element(all.begin(), kept, all.end());
  for (auto each = all.begin(); each != kept; ++each) {
    forget(connection, *connection.transactions.find(each->second));
    connection.transactions.erase(each->second);
  }
}

}  // namespace

bool expose(Connection& connection, const Transaction& call, FrameRef frame) {
  MemoryMap& memory = connection.of(call.requester).memory;
  bool all = true;
  each_remembered_segment(call, [&](const wire::Segment& segment, Access access) {
    all = memory.expose(segment, access, call.id, frame) && all;
  });
  if (!all) connection.distrust(kept_finished, Doubt::bound);
  return all;
}

void doubt_memory(Connection& connection, const trace::Send& event, HeldFinding finding, Lends lends) {
  constexpr std::size_t fixed_words = 16;
  if (event.octets.size() < fixed_words || event.wire_length <= fixed_words) return;  // names nothing
  SideState& side = connection.of(event.side);
  // Of what is settled nobody asks any more. Else the oldest has to make room, and what it named would count as
  // unknown.
  Doubtful* const settled = side.doubtful.newest([](const Doubtful& message) { return message.settled; });
  if (settled == nullptr && ++side.doubtful_count > SideState::most_doubtful) {
    connection.distrust(kept_finished, Doubt::bound);
  }
  Doubtful kept;
  kept.frame = event.frame;
  kept.xid = wire::load_be32(event.octets.data());
  const wire::Bytes lists = event.octets.subspan(fixed_words);
  kept.octets.assign(lists.begin(),
                     lists.begin() + static_cast<std::ptrdiff_t>(std::min(lists.size(), Doubtful::kept)));
  kept.to_be_read = lends == Lends::to_be_read;
  kept.more = lends == Lends::anything || lists.size() > Doubtful::kept || event.octets.size() < event.wire_length;
  kept.finding = std::move(finding);
  if (settled != nullptr) {
    *settled = std::move(kept);
  } else {
    side.doubtful.add(std::move(kept));
  }
}

void refused_doubtful(Connection& connection, Side sender, std::uint32_t xid) {
  Doubtful* message = connection.of(sender).doubtful.newest([&](const Doubtful& d) { return d.xid == xid; });
  if (message != nullptr) message->settled = true;
}

void settle_doubtful(Connection& connection, Side sender, FrameRef frame) {
  Doubtful* message =
      connection.of(sender).doubtful.newest([&](const Doubtful& d) { return d.frame.number == frame.number; });
  if (message != nullptr) message->settled = true;
}

bool expose_copy(Connection& connection, Transaction& call, const Transaction& copy, FrameRef frame) {
  each_remembered_segment(copy, [&](const wire::Segment& segment, Access) {
    if (connection.of(call.requester).memory.of(call.id, segment.handle, Access::read) == nullptr &&
        connection.of(call.requester).memory.of(call.id, segment.handle, Access::write) == nullptr) {
      call.handles_of_copies.push_back(segment.handle);
    }
  });
  return expose(connection, copy, frame);
}

void retire(Connection& connection, const Transaction& call, FrameRef by) {
  MemoryMap& memory = connection.of(call.requester).memory;
  each_handle(call, [&](std::uint32_t handle) { memory.retire(call.id, handle, by); });
}

void forget(Connection& connection, const Transaction& call) {
  MemoryMap& memory = connection.of(call.requester).memory;
  each_handle(call, [&](std::uint32_t handle) { memory.forget(call.id, handle); });
}

void remember_finished(Connection& connection, const Transaction& call) {
  const bool whole = call.answered();
  std::deque<TransactionId>& kept = whole ? connection.finished : connection.answered_in_part;
  kept.push_back(call.id);
  if (kept.size() <= kept_finished) return;
  const TransactionId oldest = kept.front();
  kept.pop_front();
  const Transaction* over = connection.find(oldest);
  if (over == nullptr || over->answered() != whole) return;  // its last answer has come: it waits among those
  forget(connection, *over);
  connection.transactions.erase(oldest.key);
}

bool answer_may_be_unseen(const Connection& connection, const Transaction& call) {
  const SideState& responder = connection.of(other(call.requester));
  // Held back behind a hole of its own side, a Call is taken after a gap that lies behind it had been noticed.
  return responder.gaps != call.responder_gaps || responder.newest_lack().number > call.call.number ||
         responder.unread.number > call.call.number || responder.reply_missing.number != 0 ||
         call.perhaps_answered.number != 0;
}

void count_outstanding(Connection& connection, Transaction& call) noexcept {
  ++call.outstanding;
  Ledger& ledger = connection.ledger(call.requester);
  ++ledger.outstanding;
  ledger.peak = std::max(ledger.peak, ledger.outstanding);
}

void end_outstanding(Connection& connection, Transaction& call) noexcept {
  const std::uint32_t copies = std::exchange(call.outstanding, 0);
  if (call.awaits == Transaction::Awaits::answer) connection.ledger(call.requester).end(copies);
}

void complete_one(Connection& connection) {
  ++connection.completed;
  if (connection.completed != connection.trusted_from) return;
  for (Ledger& ledger : connection.credits) ledger.recount();
  for (auto& [key, call] : connection.transactions) {
    if (call.answers == 0 && call.completed_before <= connection.untrusted_since) {
      call.awaits = Transaction::Awaits::uncounted_answer;
      call.outstanding = 0;
      if (answer_may_be_unseen(connection, call)) doubt_open(connection, call);
    }
    connection.ledger(call.requester).outstanding += call.outstanding;
  }
  bound_perhaps_open(connection);
}

}  // namespace rpcrdma::referee
