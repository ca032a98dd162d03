// SPDX-License-Identifier: GPL-2.0-or-later
// Segments without data that came lately: each may stand in the capture twice.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "trace/iwarp/same_packet.hpp"
#include "trace/packet.hpp"

namespace rpcrdma::trace::iwarp {

class BareSegments {
 public:
  /// Is it a copy of one of them? Otherwise it is one more.
  [[nodiscard]] bool copied(const TcpSegment& segment) noexcept {
    const One fresh{segment.sequence,
                    segment.acknowledgement,
                    segment.window,
                    segment.flags,
                    {segment.ip_identification, segment.ref}};
    const bool copy = std::any_of(lately_.begin(), lately_.end(), [&](const One& one) { return same(one, fresh); });
    if (copy) return true;
    lately_[at_] = fresh;
    at_ = (at_ + 1) % lately_.size();
    return false;
  }

 private:
  struct One {
    std::uint32_t sequence = 0;
    std::uint32_t acknowledgement = 0;
    std::uint16_t window = 0;
    std::uint8_t flags = 0;
    SeenPacket packet;  ///< frame number 0: none
  };
  [[nodiscard]] static bool same(const One& one, const One& another) noexcept {
    return one.packet.ref.number != 0 && one.sequence == another.sequence &&
           one.acknowledgement == another.acknowledgement && one.window == another.window &&
           one.flags == another.flags && same_packet(one.packet, another.packet, false);
  }

  std::array<One, 32> lately_{};
  std::size_t at_ = 0;
};

}  // namespace rpcrdma::trace::iwarp
