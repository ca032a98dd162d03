// SPDX-License-Identifier: GPL-2.0-or-later
// Packet sequence numbers: 24 bits that wrap, and the 64-bit positions they are unwrapped to.
#pragma once

#include <cstdint>

#include "wire/ib.hpp"

namespace rpcrdma::trace::ib {

/// Position in one side's request order. Its lower 24 bits are the PSN.
using Sequence = std::uint64_t;

/// Far enough from zero that no older PSN gets below it.
inline constexpr Sequence sequence_origin = 1ULL << 32U;

/// How far `to` lies after `from`, modulo 2^24: negative when it is older.
[[nodiscard]] constexpr std::int32_t psn_distance(std::uint32_t from, std::uint32_t to) noexcept {
  const std::uint32_t d = (to - from) & wire::psn_mask;
  return d < 0x800000U ? static_cast<std::int32_t>(d) : static_cast<std::int32_t>(d) - 0x1000000;
}

/// The position with this PSN that lies nearest to `near`.
[[nodiscard]] constexpr Sequence unwrap(Sequence near, std::uint32_t psn) noexcept {
  return near + static_cast<Sequence>(
                    static_cast<std::int64_t>(psn_distance(static_cast<std::uint32_t>(near) & wire::psn_mask, psn)));
}

/// PSNs that a READ of `length` octets takes.
[[nodiscard]] constexpr std::uint32_t read_span(std::uint32_t length, std::uint32_t mtu) noexcept {
  return length == 0 ? 1 : (length - 1) / mtu + 1;
}

}  // namespace rpcrdma::trace::ib
