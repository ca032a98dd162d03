// SPDX-License-Identifier: GPL-2.0-or-later
// What somebody who damages captures has to know of a frame. Not from the decoders that are tested.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "trace/frame.hpp"

namespace damage {

enum class Carries : std::uint8_t {
  other,
  handshake,        ///< CM datagrams; TCP's SYN, FIN, RST
  acknowledgement,  ///< nothing else
  data,
};

/// Where a packet of a reliable connection stands in the numbers of who asks.
struct Numbered {
  enum class As : std::uint8_t {
    none,
    beginning,  ///< REQ or REP: its receiver's first number
    asked,      ///< by the sender
    answered,   ///< READ response: a number of its receiver
    acknowledged
  } as = As::none;
  std::uint32_t number = 0;  ///< 24 bits
};

struct Glance {
  Carries carries = Carries::other;
  Numbered numbered;
  std::string sender;            ///< addresses of both, the sender's first; empty: not known
  std::size_t network = 0;       ///< where IPv4 or IPv6 begins; 0: not there
  std::size_t network_type = 0;  ///< where the EtherType stands
};

/// Ethernet with or without VLANs, native InfiniBand, and InfiniBand in ERF.
[[nodiscard]] Glance glance(const rpcrdma::trace::Frame& frame);

}  // namespace damage
