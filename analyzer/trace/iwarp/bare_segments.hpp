// SPDX-License-Identifier: GPL-2.0-or-later
// Segments without data that came lately: each may stand in the capture twice.
#pragma once

#include <cstdint>

#include "trace/iwarp/same_packet.hpp"
#include "trace/packet.hpp"
#include "trace/recent.hpp"

namespace rpcrdma::trace::iwarp {

class BareSegments {
 public:
  /// Is it a copy of one of them? Otherwise it is one more.
  [[nodiscard]] bool copied(const TcpSegment& segment) {
    const One fresh{segment.sequence,
                    segment.acknowledgement,
                    segment.window,
                    segment.flags,
                    {segment.ip_identification, segment.ref}};
    if (lately_.newest([&](const One& one) { return same(one, fresh); }) != nullptr) return true;
    lately_.add(One(fresh));
    return false;
  }

 private:
  struct One {
    std::uint32_t sequence = 0;
    std::uint32_t acknowledgement = 0;
    std::uint16_t window = 0;
    std::uint8_t flags = 0;
    SeenPacket packet;
  };
  [[nodiscard]] static bool same(const One& one, const One& another) noexcept {
    return one.sequence == another.sequence && one.acknowledgement == another.acknowledgement &&
           one.window == another.window && one.flags == another.flags && same_packet(one.packet, another.packet, false);
  }

  Recent<One, 32> lately_;  // a short connection has few
};

}  // namespace rpcrdma::trace::iwarp
