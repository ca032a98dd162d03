// SPDX-License-Identifier: GPL-2.0-or-later
// What lies in frames and is not opened, although RDMA may lie in it: named by its number, and counted.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

namespace rpcrdma::trace {

struct NotOpened {
  enum class By : std::uint8_t {
    nothing,     ///< all was opened, or what was not carries no RDMA
    ether_type,  ///< also where it stands in GRE
    ip_protocol,
    udp_port,
    fragment,   ///< of a packet whose rest was not captured; number: IP protocol, or 44 in IPv6
    too_deep,   ///< number: how many encapsulations are opened
    shortened,  ///< cut by a mirror that says so, and wrote the lengths inside anew: how long it was nobody knows
  };
  By by = By::nothing;
  std::uint32_t number = 0;

  // clang-tidy 14 takes the comparison's hidden 0 for a pointer.
  friend auto operator<=>(const NotOpened&, const NotOpened&) = default;  // NOLINT(modernize-use-nullptr)
  /// "EtherType 0x88e5 (MACsec)", "IP protocol 50 (ESP)"
  [[nodiscard]] std::string text() const;
};

}  // namespace rpcrdma::trace
