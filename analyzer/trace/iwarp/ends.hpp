// SPDX-License-Identifier: GPL-2.0-or-later
// Between whom a TCP connection is.
#pragma once

#include <array>
#include <compare>
#include <cstdint>

#include "trace/packet.hpp"

namespace rpcrdma::trace::iwarp {

/// The two ends of a TCP connection, in an order that does not depend on who sends.
struct Ends {
  std::array<Address, 2> address;
  std::array<std::uint16_t, 2> port{};

  /// It went from `direction`, the index of its sender, to the other end.
  [[nodiscard]] bool sent(std::size_t direction, const TcpSegment& segment) const noexcept {
    return port[direction] == segment.source_port && port[1 - direction] == segment.destination_port &&
           address[direction] == segment.source && address[1 - direction] == segment.destination;
  }

  friend bool operator==(const Ends& a, const Ends& b) noexcept { return a.port == b.port && a.address == b.address; }
  friend std::strong_ordering operator<=>(const Ends& a, const Ends& b) noexcept {
    if (a.port != b.port) return a.port <=> b.port;  // differs the most
    return a.address <=> b.address;
  }
};

}  // namespace rpcrdma::trace::iwarp
