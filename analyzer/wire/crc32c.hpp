// SPDX-License-Identifier: GPL-2.0-or-later
// CRC-32C (Castagnoli), as RFC 3720 section 12.1 defines it and MPA uses it (RFC 5044 section 4.4).
#pragma once

#include <cstdint>

#include "wire/bytes.hpp"

namespace rpcrdma::wire {

/// The checksum of `octets`, with the usual inversions before and after. It stands on the wire least significant octet
/// first: compare with load_le32(). To go on over several pieces, give the value of the pieces before.
[[nodiscard]] std::uint32_t crc32c(Bytes octets, std::uint32_t before = 0) noexcept;

/// Little-endian load, for checksums only. The caller has checked that the octets are there.
[[nodiscard]] constexpr std::uint32_t load_le32(const std::uint8_t* p) noexcept {
  return (static_cast<std::uint32_t>(p[3]) << 24U) | (static_cast<std::uint32_t>(p[2]) << 16U) |
         (static_cast<std::uint32_t>(p[1]) << 8U) | p[0];
}

}  // namespace rpcrdma::wire
