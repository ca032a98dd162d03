// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/two_ways.hpp"

#include <algorithm>

namespace rpcrdma::trace {

bool TwoWays::copy(const TcpSegment& segment) noexcept {
  if (one_way(segment.way)) return false;
  const std::uint64_t numbers = std::uint64_t{segment.sequence} << 32U | segment.acknowledgement;
  const std::uint64_t rest =
      std::uint64_t{segment.source_port} << 48U ^ std::uint64_t{segment.destination_port} << 32U ^
      std::uint64_t{segment.ip_identification} << 16U ^ std::uint64_t{segment.wire_length} << 8U ^ segment.flags ^
      std::uint64_t{segment.window} << 24U;
  return copy(numbers ^ rest * 0xC2B2AE3D27D4EB4FULL, segment.source, segment.ref.time, segment.way);
}

bool TwoWays::copy(std::uint64_t mark, const Address& source, TimeNs now, std::uint16_t way) noexcept {
  constexpr std::uint64_t factor = 0x9E3779B97F4A7C15ULL;
  mark = (mark ^ (mark >> 29U)) + word(source.octets.data()) * 3 + word(source.octets.data() + 8);
  mark *= factor;
  const std::size_t at = (mark >> 48U) % slot_count;
  Slot& one = slots_[at];
  Slot& other = slots_[at ^ 1U];
  if (one.mark == mark) return again(one, now, way);
  if (other.mark == mark) return again(other, now, way);
  (one.time <= other.time ? one : other) = {mark, now, {way}, {1}};
  return false;
}

bool TwoWays::again(Slot& slot, TimeNs now, std::uint16_t way) noexcept {
  const auto apart = static_cast<TimeNs>(static_cast<std::uint64_t>(now) - static_cast<std::uint64_t>(slot.time));
  if (apart > window || apart < -window) {
    slot = {slot.mark, now, {way}, {1}};
    return false;
  }
  std::uint8_t by_others = 0;
  std::uint8_t* mine = nullptr;
  for (std::size_t i = 0; i < max_ways; ++i) {
    if (slot.seen[i] == 0 && mine == nullptr) slot.way[i] = way;
    if (slot.way[i] == way && mine == nullptr) {
      mine = &slot.seen[i];
    } else {
      by_others = std::max(by_others, slot.seen[i]);
    }
  }
  if (mine == nullptr) return true;
  if (*mine < UINT8_MAX) ++*mine;
  return *mine <= by_others;
}

}  // namespace rpcrdma::trace
