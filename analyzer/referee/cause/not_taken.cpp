// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/cause/not_taken.hpp"

#include <algorithm>

#include "trace/spans.hpp"

namespace rpcrdma::referee {

namespace {

/// What was acknowledged so long ago was not refused now.
constexpr TimeNs taken_by_then = 1'000'000'000;

[[nodiscard]] std::uint64_t newest_taken(const Connection& connection, const trace::Refusal& terminate) {
  const Side side = other(terminate.side);
  const SideState& sender = connection.of(side);
  std::uint64_t taken = sender.taken;
  if (trace::passed(sender.acknowledged_in.time, terminate.frame.time, taken_by_then)) {
    taken = std::max(taken, sender.acknowledged);
  }
  connection.each_answered([&](const Transaction& call) {
    if (call.requester == side) taken = std::max(taken, call.call_ordinal);
  });
  return taken;
}

}  // namespace

NotTaken::NotTaken(Connection& connection, const trace::Refusal& terminate)
    : sender_(connection.of(other(terminate.side))),
      refuser_(connection.of(terminate.side)),
      taken_(newest_taken(connection, terminate)) {}

RecentSend* NotTaken::only_send() const {
  if (sender_.sent != taken_ + 1 || !sender_.reads.open.empty()) return nullptr;
  return oldest_send([](const RecentSend&) { return true; });
}

bool NotTaken::open(const JudgedOp& op) const {
  if (taken_ > op.sends_before) return false;
  return writes(op.verb) || sender_.reads.waits(op.op);
}

JudgedOp* NotTaken::access() const {
  JudgedOp* guilty = nullptr;
  JudgedOp* only = nullptr;
  bool several = !refuser_.reads.open.empty();  // what answers them may be refused as well
  for (JudgedOp& op : sender_.ops) {
    if (!open(op)) continue;
    if (op.state == JudgedOp::State::guilty && (guilty == nullptr || op.op < guilty->op)) guilty = &op;
    several = several || (only != nullptr && only->op != op.op);
    only = &op;
  }
  if (guilty != nullptr) return guilty;
  return several ? nullptr : only;
}

}  // namespace rpcrdma::referee
