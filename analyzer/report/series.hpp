// SPDX-License-Identifier: GPL-2.0-or-later
// Figures of each connection over time, for charts: of the whole capture, whatever its length, in a bounded number of
// intervals. They begin short and are joined in pairs when the connection outlasts them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "referee/observer.hpp"

namespace rpcrdma::report {

class Series final : public referee::Observer {
 public:
  static constexpr std::uint32_t most_intervals = 512;
  static constexpr std::size_t most_connections = 1024;
  static constexpr std::size_t most_procedures = 16;  ///< with a latency of their own; the first ones seen
  static constexpr std::size_t most_open = 65536;     ///< Calls without an answer, of all connections

  struct Latency {
    std::uint64_t count = 0;
    trace::TimeNs sum = 0;
    trace::TimeNs worst = 0;
  };
  struct Interval {
    std::uint64_t outstanding = 0;          ///< Calls of the client without an answer, at most
    std::optional<std::uint32_t> granted;   ///< to the client, at the end
    std::uint64_t largest_from_client = 0;  ///< message, octets; 0: none
    std::uint64_t largest_from_server = 0;
    std::uint64_t sent = 0;          ///< octets of messages, both directions
    std::uint64_t read = 0;          ///< octets asked for by RDMA Read
    std::uint64_t written = 0;       ///< octets of RDMA Writes
    std::vector<Latency> latencies;  ///< by index into Connection::procedures; may be shorter
  };
  using Procedure = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;  ///< program, version, procedure
  struct Connection {
    trace::TimeNs begin = 0;
    trace::TimeNs width = 1000;  ///< of an interval, ns
    std::map<std::uint32_t, Interval> intervals;
    std::vector<Procedure> procedures;
  };

  [[nodiscard]] const Connection* connection(trace::ConnectionId id) const noexcept;

  void handshake(const referee::ConnectionFacts&, trace::Side, trace::FrameRef) override {}
  void message(const referee::ConnectionFacts& connection, const referee::MessageSeen& seen) override;
  void operation(const referee::ConnectionFacts& connection, const referee::OperationSeen& seen) override;

 private:
  struct OpenCall {
    trace::TimeNs time = 0;
  };
  [[nodiscard]] Connection* known(const referee::ConnectionFacts& facts, trace::TimeNs now);
  [[nodiscard]] static Interval& at(Connection& connection, trace::TimeNs now);
  void answered(Connection& connection, const referee::MessageSeen& seen, std::uint64_t key);

  std::unordered_map<trace::ConnectionId, Connection> connections_;
  std::unordered_map<std::uint64_t, OpenCall> open_;  // by connection and exchange
};

}  // namespace rpcrdma::report
