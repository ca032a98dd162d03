// SPDX-License-Identifier: GPL-2.0-or-later
// GIDs and LIDs name ports of a fabric; the IP addresses that people mount stand in a REQ alone. What one REQ says of
// two ports holds for their other connections, whose REQ is not in the capture.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "trace/events.hpp"

namespace rpcrdma::referee {

class PortNames {
 public:
  explicit PortNames(std::size_t room) noexcept : room_(room) {}

  /// What a REQ calls its two ends. True: it is the first that gives IP addresses to these two ports.
  bool learn(const trace::Endpoint& client, const trace::Endpoint& server);
  /// Of a connection that was adopted. The fabric's own addresses stay where no REQ has said others, or two have said
  /// different ones.
  void name(trace::Endpoint& client, trace::Endpoint& server) const;

  /// What the fabric calls this end.
  [[nodiscard]] static const std::string& port(const trace::Endpoint& end) noexcept {
    return end.fabric.empty() ? end.address : end.fabric;
  }
  static void put(trace::Endpoint& end, const trace::Endpoint& named) {
    end.address = named.address;
    end.fabric = named.fabric;
  }

 private:
  using Ports = std::tuple<std::string, std::string, std::uint8_t>;  ///< in order, with the network that has them
  struct Names {
    trace::Endpoint low;
    trace::Endpoint high;
    bool agreed = true;  ///< a port may have several IP addresses: then nothing tells which is meant
  };

  std::size_t room_;
  std::map<Ports, Names> known_;
};

}  // namespace rpcrdma::referee
