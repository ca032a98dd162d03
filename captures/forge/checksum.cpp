// SPDX-License-Identifier: GPL-2.0-or-later
#include "checksum.hpp"

#include <isa-l/crc.h>
#include <zlib.h>

namespace forge {

std::uint16_t internet_checksum(const Octets& octets) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < octets.size(); i += 2) {
    const std::uint32_t low = i + 1 < octets.size() ? octets[i + 1] : 0U;
    sum += static_cast<std::uint32_t>(octets[i]) << 8U | low;
    sum = (sum & 0xFFFFU) + (sum >> 16U);
  }
  return static_cast<std::uint16_t>(~sum);
}

std::uint32_t crc32(const Octets& masked) {
  return static_cast<std::uint32_t>(::crc32(0, masked.data(), static_cast<uInt>(masked.size())));
}

std::uint32_t crc32c(const Octets& octets) {
  Octets copy = octets;  // the library takes a pointer to non-const
  return ~::crc32_iscsi(copy.data(), static_cast<int>(copy.size()), 0xFFFFFFFFU);
}

std::uint16_t variant_crc(const Octets& octets) {
  constexpr std::uint32_t polynomial = 0xD008;  // 0x100B, bits reversed
  std::uint32_t crc = 0xFFFF;
  for (const std::uint8_t octet : octets) {
    crc ^= octet;
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 1U) != 0 ? (crc >> 1U) ^ polynomial : crc >> 1U;
  }
  return static_cast<std::uint16_t>(~crc);
}

}  // namespace forge
