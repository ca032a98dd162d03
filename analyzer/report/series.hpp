// SPDX-License-Identifier: GPL-2.0-or-later
// Figures of each connection over time, for charts: of the whole capture, whatever its length, in a bounded number of
// intervals. They begin short and are joined in pairs when the connection outlasts them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "referee/observer.hpp"

namespace rpcrdma::report {

class Series final : public referee::Observer {
 public:
  static constexpr std::uint32_t most_intervals = 512;
  static constexpr std::size_t most_connections = 1024;
  static constexpr std::size_t most_operations = 32;  ///< with figures of their own, the first ones seen; then others

  /// Of Calls of one kind that were answered in an interval: sums, but for the worst.
  struct Answered {
    std::size_t operation = 0;  ///< index into Connection::operations
    std::uint64_t count = 0;
    trace::TimeNs whole = 0;
    trace::TimeNs worst = 0;
    trace::TimeNs pull = 0;
    trace::TimeNs server = 0;
    trace::TimeNs push = 0;
    std::uint64_t octets = 0;
  };
  struct Interval {
    std::uint64_t outstanding = 0;          ///< Calls of the client without an answer, at most
    std::optional<std::uint32_t> granted;   ///< to the client, at the end
    std::uint64_t largest_from_client = 0;  ///< message, octets; 0: none
    std::uint64_t largest_from_server = 0;
    std::uint64_t sent = 0;          ///< octets of messages, both directions
    std::uint64_t read = 0;          ///< octets asked for by RDMA Read
    std::uint64_t written = 0;       ///< octets of RDMA Writes
    std::vector<Answered> answered;  ///< of each operation that had an answer here
  };
  struct Connection {
    trace::TimeNs begin = 0;
    trace::TimeNs width = 1000;  ///< of an interval, ns
    std::map<std::uint32_t, Interval> intervals;
    std::vector<std::string> operations;  ///< by the name that mountstats uses
  };

  [[nodiscard]] const Connection* connection(trace::ConnectionId id) const noexcept;

  void handshake(const referee::ConnectionFacts&, trace::Side, trace::FrameRef) override {}
  void message(const referee::ConnectionFacts& connection, const referee::MessageSeen& seen) override;
  void operation(const referee::ConnectionFacts& connection, const referee::OperationSeen& seen) override;

 private:
  [[nodiscard]] Connection* known(const referee::ConnectionFacts& facts, trace::TimeNs now);
  [[nodiscard]] static Interval& at(Connection& connection, trace::TimeNs now);
  static void answered(Connection& connection, const referee::MessageSeen& seen);

  std::unordered_map<trace::ConnectionId, Connection> connections_;
};

}  // namespace rpcrdma::report
