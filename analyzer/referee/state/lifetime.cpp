// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/state/lifetime.hpp"

#include <algorithm>
#include <utility>

namespace rpcrdma::referee {

namespace {

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

void retire(Connection& connection, const Transaction& call, FrameRef by) {
  MemoryMap& memory = connection.of(call.requester).memory;
  each_remembered_segment(call,
                          [&](const wire::Segment& segment, Access) { memory.retire(call.id, segment.handle, by); });
}

void forget(Connection& connection, const Transaction& call) {
  MemoryMap& memory = connection.of(call.requester).memory;
  each_remembered_segment(call, [&](const wire::Segment& segment, Access) { memory.forget(call.id, segment.handle); });
}

void remember_finished(Connection& connection, TransactionId id) {
  connection.finished.push_back(id);
  while (connection.finished.size() > kept_finished) {
    const TransactionId oldest = connection.finished.front();
    connection.finished.pop_front();
    if (Transaction* call = connection.find(oldest)) {
      forget(connection, *call);
      connection.transactions.erase(oldest.key);
    }
  }
}

void complete_one(Connection& connection) {
  ++connection.completed;
  if (connection.completed != connection.trusted_from) return;
  for (Ledger& ledger : connection.credits) ledger.recount();
  for (auto at = connection.transactions.begin(); at != connection.transactions.end();) {
    const Transaction& call = at->second;
    if (call.answers == 0 && call.completed_before <= connection.untrusted_since) {
      forget(connection, call);
      at = connection.transactions.erase(at);
      continue;
    }
    const bool open = call.answers < call.copies && !call.answer_dropped();
    if (open) connection.ledger(call.requester).outstanding += call.copies - call.answers;
    ++at;
  }
}

}  // namespace rpcrdma::referee
