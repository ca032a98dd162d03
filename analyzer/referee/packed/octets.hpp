// SPDX-License-Identifier: GPL-2.0-or-later
// Numbers as rows of octets, small ones in one.
#pragma once

#include <cstdint>
#include <vector>

namespace rpcrdma::referee {

using PackedOctets = std::vector<std::uint8_t>;

/// Seven bits an octet, the lowest first; the eighth says that more follow.
inline void pack_number(PackedOctets& to, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7U) to.push_back(static_cast<std::uint8_t>(value | 0x80U));
  to.push_back(static_cast<std::uint8_t>(value));
}

/// Of what pack_number() wrote; `from` moves on.
[[nodiscard]] inline std::uint64_t unpack_number(const std::uint8_t*& from) noexcept {
  std::uint64_t value = 0;
  unsigned shift = 0;
  for (; (*from & 0x80U) != 0; shift += 7) value |= std::uint64_t{*from++ & 0x7fU} << shift;
  return value | std::uint64_t{*from++} << shift;
}

}  // namespace rpcrdma::referee
