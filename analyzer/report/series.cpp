// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/series.hpp"

#include <algorithm>
#include <utility>

#include "wire/rpc.hpp"

namespace rpcrdma::report {

namespace {

using referee::MessageSeen;
using referee::OperationSeen;
using trace::Side;

void add(Series::Interval& into, const Series::Answered& more) {
  const auto same = [&](const Series::Answered& known) { return known.operation == more.operation; };
  const auto at = std::find_if(into.answered.begin(), into.answered.end(), same);
  if (at == into.answered.end()) {
    into.answered.push_back(more);
    return;
  }
  at->count += more.count;
  at->whole += more.whole;
  at->worst = std::max(at->worst, more.worst);
  at->pull += more.pull;
  at->server += more.server;
  at->push += more.push;
  at->octets += more.octets;
}

void join(Series::Interval& into, const Series::Interval& later) {
  into.outstanding = std::max(into.outstanding, later.outstanding);
  if (later.granted) into.granted = later.granted;
  into.largest_from_client = std::max(into.largest_from_client, later.largest_from_client);
  into.largest_from_server = std::max(into.largest_from_server, later.largest_from_server);
  into.sent += later.sent;
  into.read += later.read;
  into.written += later.written;
  for (const Series::Answered& more : later.answered) add(into, more);
}

/// As the mount's own account calls it.
[[nodiscard]] std::string name_of(const MessageSeen& seen) {
  if (!seen.operation.empty()) return std::string(seen.operation);
  if (!seen.procedure) return "not read";
  const auto [program, version, procedure] = *seen.procedure;
  return wire::procedure_name(program, version, procedure);
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

void Series::answered(Connection& connection, const MessageSeen& seen) {
  std::vector<std::string>& names = connection.operations;
  // The account of a mount has the client's Calls alone.
  const std::string name = name_of(seen) + (seen.exchange.requester == Side::active ? "" : " (reverse)");
  auto known = std::find(names.begin(), names.end(), name);
  if (known == names.end() && names.size() <= most_operations) {
    known = names.insert(known, names.size() < most_operations ? name : "others");
  }
  const auto last = static_cast<std::ptrdiff_t>(most_operations);
  const referee::CallTimes& times = *seen.times;
  Answered one;
  one.operation = static_cast<std::size_t>(known == names.end() ? last : known - names.begin());
  one.count = 1;
  one.whole = one.worst = times.whole;
  one.pull = times.pull.value_or(0);
  one.server = times.server;
  one.push = times.push.value_or(0);
  one.octets = times.octets;
  add(at(connection, seen.send->last.time), one);
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
  if (seen.times) answered(*connection, seen);
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
