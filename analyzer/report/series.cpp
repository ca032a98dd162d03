// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/series.hpp"

#include <algorithm>
#include <utility>

namespace rpcrdma::report {

namespace {

using referee::MessageSeen;
using referee::OperationSeen;
using trace::Side;

void join(Series::Interval& into, const Series::Interval& later) {
  into.outstanding = std::max(into.outstanding, later.outstanding);
  if (later.granted) into.granted = later.granted;
  into.largest_from_client = std::max(into.largest_from_client, later.largest_from_client);
  into.largest_from_server = std::max(into.largest_from_server, later.largest_from_server);
  into.sent += later.sent;
  into.read += later.read;
  into.written += later.written;
  if (into.latencies.size() < later.latencies.size()) into.latencies.resize(later.latencies.size());
  for (std::size_t i = 0; i < later.latencies.size(); ++i) {
    into.latencies[i].count += later.latencies[i].count;
    into.latencies[i].sum += later.latencies[i].sum;
    into.latencies[i].worst = std::max(into.latencies[i].worst, later.latencies[i].worst);
  }
}

}  // namespace

Series::Connection* Series::known(const referee::ConnectionFacts& facts, trace::TimeNs now) {
  const auto at = connections_.find(facts.id);
  if (at != connections_.end()) return &at->second;
  if (connections_.size() >= most_connections) return nullptr;
  Connection& connection = connections_[facts.id];
  connection.begin = facts.opened.number != 0 ? std::min(facts.opened.time, now) : now;
  return &connection;
}

Series::Interval& Series::at(Connection& connection, trace::TimeNs now) {
  // A clock that was set back puts what comes next into the first interval.
  const trace::TimeNs since = std::max<trace::TimeNs>(0, now - connection.begin);
  while (since / connection.width >= most_intervals) {
    std::map<std::uint32_t, Interval> wider;
    for (auto& [number, interval] : connection.intervals) join(wider[number / 2], interval);
    connection.intervals = std::move(wider);
    connection.width *= 2;
  }
  return connection.intervals[static_cast<std::uint32_t>(since / connection.width)];
}

void Series::answered(Connection& connection, const MessageSeen& seen, std::uint64_t key) {
  const auto open = open_.find(key);
  if (open == open_.end()) return;
  const trace::FrameRef end = seen.send->last.number != 0 ? seen.send->last : seen.send->frame;
  const trace::TimeNs took = end.time - open->second.time;
  open_.erase(open);
  if (!seen.procedure) return;
  auto procedure = std::find(connection.procedures.begin(), connection.procedures.end(), *seen.procedure);
  if (procedure == connection.procedures.end()) {
    if (connection.procedures.size() >= most_procedures) return;
    procedure = connection.procedures.insert(procedure, *seen.procedure);
  }
  const auto number = static_cast<std::size_t>(procedure - connection.procedures.begin());
  Interval& interval = at(connection, end.time);
  if (interval.latencies.size() <= number) interval.latencies.resize(number + 1);
  Latency& latency = interval.latencies[number];
  ++latency.count;
  latency.sum += took;
  latency.worst = std::max(latency.worst, took);
}

void Series::message(const referee::ConnectionFacts& facts, const MessageSeen& seen) {
  const trace::Send& send = *seen.send;
  Connection* connection = known(facts, send.frame.time);
  if (connection == nullptr) return;
  Interval& interval = at(*connection, send.frame.time);
  interval.sent += send.wire_length;
  std::uint64_t& largest = send.side == Side::active ? interval.largest_from_client : interval.largest_from_server;
  largest = std::max<std::uint64_t>(largest, send.wire_length);
  if (seen.exchange.id == 0) return;
  if (seen.exchange.requester == Side::active) {
    interval.outstanding = std::max(interval.outstanding, seen.outstanding);
    if (seen.granted) interval.granted = seen.granted;
  }
  const std::uint64_t key = (static_cast<std::uint64_t>(facts.id) << 32U) | seen.exchange.id;
  if (seen.kind == MessageSeen::Kind::call) {
    if (open_.size() >= most_open) open_.clear();
    open_.try_emplace(key, OpenCall{send.frame.time});
  } else if (seen.kind == MessageSeen::Kind::reply || seen.kind == MessageSeen::Kind::error) {
    answered(*connection, seen, key);
  }
}

void Series::operation(const referee::ConnectionFacts& facts, const OperationSeen& seen) {
  Connection* connection = known(facts, seen.frame.time);
  if (connection == nullptr) return;
  Interval& interval = at(*connection, seen.frame.time);
  if (seen.kind == OperationSeen::Kind::write) interval.written += seen.length;
  if (seen.kind == OperationSeen::Kind::read_request) interval.read += seen.length;
}

const Series::Connection* Series::connection(trace::ConnectionId id) const noexcept {
  const auto at = connections_.find(id);
  return at == connections_.end() ? nullptr : &at->second;
}

}  // namespace rpcrdma::report
