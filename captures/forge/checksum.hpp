// SPDX-License-Identifier: GPL-2.0-or-later
// The four checksums of the fabric.
#pragma once

#include <cstdint>

#include "octets.hpp"

namespace forge {

/// One's complement sum of 16-bit words (RFC 1071), folded and inverted. `octets` may have an odd length.
[[nodiscard]] std::uint16_t internet_checksum(const Octets& octets);

/// CRC-32 of Ethernet and of the InfiniBand ICRC, over octets whose variant fields are already set to ones.
/// The value goes onto the wire with its least significant octet first.
[[nodiscard]] std::uint32_t crc32(const Octets& masked);

/// CRC-32C (Castagnoli) of MPA, complete with final inversion; least significant octet first on the wire.
[[nodiscard]] std::uint32_t crc32c(const Octets& octets);

/// The 16-bit variant CRC at the end of a native InfiniBand packet.
[[nodiscard]] std::uint16_t variant_crc(const Octets& octets);

}  // namespace forge
