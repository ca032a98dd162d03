// SPDX-License-Identifier: GPL-2.0-or-later
#include "sanitize/checksums.hpp"

namespace rpcrdma::sanitize {
namespace {

std::uint32_t folded(std::uint64_t sum) noexcept {
  while (sum > 0xFFFF) sum = (sum & 0xFFFFU) + (sum >> 16U);
  return static_cast<std::uint32_t>(sum);
}

std::uint32_t sum_of(wire::Bytes octets, std::uint32_t flip) noexcept {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < octets.size(); i += 2) {
    const std::uint32_t low = i + 1 < octets.size() ? octets[i + 1] : 0U;
    sum += (static_cast<std::uint32_t>(octets[i]) << 8U | low) ^ flip;
  }
  return folded(sum);
}

}  // namespace

std::uint32_t internet_difference(wire::Bytes before, wire::Bytes after) noexcept {
  return folded(std::uint64_t{sum_of(before, 0xFFFF)} + sum_of(after, 0));
}

void correct_internet(std::uint8_t* checksum, std::uint32_t difference) noexcept {
  const std::uint32_t old = wire::load_be16(checksum);
  const std::uint32_t corrected = ~folded(std::uint64_t{old ^ 0xFFFFU} + difference) & 0xFFFFU;
  // Nothing changed: 0xFFFF and 0 are the same number, and stay which of the two they were.
  if ((corrected == 0 && old == 0xFFFF) || (corrected == 0xFFFF && old == 0)) return;
  checksum[0] = static_cast<std::uint8_t>(corrected >> 8U);
  checksum[1] = static_cast<std::uint8_t>(corrected);
}

}  // namespace rpcrdma::sanitize
