// SPDX-License-Identifier: GPL-2.0-or-later
// Inside trace: the same packet seen twice because two ways lead to the capture, plain and through a mirror or overlay,
// or through two of them. The transports know what comes twice the same way; a mirror takes longer than they would
// wait.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "trace/packet.hpp"

namespace rpcrdma::trace {

class TwoWays {
 public:
  /// How much later the other way's copy may come. Nothing is sent again so soon but on request, and that one is
  /// counted.
  static constexpr TimeNs window = 50'000'000;

  TwoWays() : slots_(slot_count) {}

  /// As often as a packet was seen by one way it is a copy by another. A mirror may cut what it copies: only what
  /// stands at the beginning counts. Asked for each packet: most of it stands here for speed.
  [[nodiscard]] bool copy(const IbPacket& packet) noexcept {
    constexpr std::size_t bth = 12;
    if (one_way(packet.way) || packet.octets.size() < bth) return false;
    const std::uint64_t mark = word(packet.octets.data() + 4) ^ (word(packet.octets.data()) << 32U);
    return copy(mark, packet.source, packet.ref.time, packet.way);
  }
  [[nodiscard]] bool copy(const TcpSegment& segment) noexcept;

 private:
  static constexpr std::size_t slot_count = 8192;
  static constexpr std::size_t max_ways = 4;

  struct Slot {
    std::uint64_t mark = 0;
    TimeNs time = 0;
    std::array<std::uint16_t, max_ways> way{};
    std::array<std::uint8_t, max_ways> seen{};
  };

  [[nodiscard]] static std::uint64_t word(const std::uint8_t* octets) noexcept {
    std::uint64_t v = 0;
    std::memcpy(&v, octets, sizeof v);
    return v;
  }
  /// Nothing but this way for long: nothing to compare. At the beginning not yet: copies come later than the first.
  [[nodiscard]] bool one_way(std::uint16_t way) noexcept {
    if (way == last_way_) {
      if (left_ == 0) return true;
      --left_;
      return false;
    }
    last_way_ = way;
    left_ = slot_count;
    return false;
  }
  [[nodiscard]] bool copy(std::uint64_t mark, const Address& source, TimeNs now, std::uint16_t way) noexcept;
  [[nodiscard]] static bool again(Slot& slot, TimeNs now, std::uint16_t way) noexcept;

  std::vector<Slot> slots_;  // pairs by mark; a newer packet takes the place of the older one of its pair
  std::uint16_t last_way_ = 0;
  std::uint32_t left_ = 512;
};

}  // namespace rpcrdma::trace
