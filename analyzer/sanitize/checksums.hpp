// SPDX-License-Identifier: GPL-2.0-or-later
// Checksums of the copy. Each changes by what changed under it: one that was right is right again, and one that was
// wrong stays wrong, also where the capture holds only the beginning of what it covers.
#pragma once

#include <cstdint>
#include <span>

#include "wire/bytes.hpp"

namespace rpcrdma::sanitize {

/// The difference that the octets make to the Internet checksum of what they stand in (RFC 1624), from an even offset
/// on. Both of the same length.
[[nodiscard]] std::uint32_t internet_difference(wire::Bytes before, wire::Bytes after) noexcept;
/// Corrects the two octets of a checksum.
void correct_internet(std::uint8_t* checksum, std::uint32_t difference) noexcept;

}  // namespace rpcrdma::sanitize
