// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/tap_calls.hpp"

#include "trace/spans.hpp"

namespace rpcrdma::report {
namespace {

/// So many frames later a Reply has passed both taps.
constexpr std::uint64_t frames_later = 4096;

}  // namespace

/// The oldest makes room: those that are never answered would take all of it.
void TapCalls::open(std::uint64_t key, const Call& call) {
  if (!open_.insert_or_assign(key, call).second) return;
  order_.push_back(key);
  while (order_.size() > most_open) {
    open_.erase(order_.front());
    order_.pop_front();
  }
}

void TapCalls::message(const referee::ConnectionFacts& connection, const referee::MessageSeen& seen) {
  using Kind = referee::MessageSeen::Kind;
  Forwarding::message(connection, seen);
  if (seen.send == nullptr || seen.exchange.id == 0) return;
  const std::uint64_t key = std::uint64_t{connection.id} << 32U | seen.exchange.id;
  while (!answered_.empty() && answered_.front().reply.number + frames_later < seen.send->last.number) {
    count(answered_.front());
    answered_.pop_front();
  }
  if (seen.kind == Kind::call) {
    return open(key, {seen.send->frame, seen.send->last});
  }
  const auto call = open_.find(key);
  if (call == open_.end() || !seen.times) return;
  const trace::FrameRef first = call->second.first;
  const auto began = tally_.way(first.number);
  const auto there = tally_.way(call->second.last.number);
  if (began && there) {
    answered_.push_back({first, *began, seen.send->last, there->whole(), seen.operation});
  }
  open_.erase(call);
}

void TapCalls::count(const Answered& answered) {
  const auto way = tally_.way(answered.reply.number);
  if (!way) return;
  const auto back = static_cast<double>(way->whole());
  const auto there = static_cast<double>(answered.there);
  // From and to the tap nearest to the requester, whichever tap's copies were shown first.
  const double whole = static_cast<double>(trace::minus(answered.reply.time, answered.call.time)) +
                       static_cast<double>(answered.call_way.before) + static_cast<double>(way->after);
  const double peer = whole - there - back;
  whole_.add(whole);
  there_.add(there);
  peer_.add(peer);
  back_.add(back);
  if (slowest_ && slowest_->whole >= whole) return;
  slowest_ = {answered.call, answered.reply, std::string(answered.operation), whole, there, peer, back};
}

Taps::Calls TapCalls::finish() {
  for (const Answered& answered : answered_) count(answered);
  answered_.clear();
  return {whole_.spread(), there_.spread(), peer_.spread(), back_.spread(), slowest_};
}

}  // namespace rpcrdma::report
