// SPDX-License-Identifier: GPL-2.0-or-later
// The first octet of an input of target `reader`: how the rest is packed before it is read.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace rpcrdma::fuzz {

enum class Packing : std::uint8_t { none, gzip, zstd, lz4 };

[[nodiscard]] constexpr Packing packing_of(std::uint8_t octet) noexcept { return static_cast<Packing>(octet & 3U); }

/// Empty when the library refuses.
[[nodiscard]] std::vector<std::uint8_t> packed(Packing packing, std::span<const std::uint8_t> octets);

}  // namespace rpcrdma::fuzz
