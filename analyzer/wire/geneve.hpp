// SPDX-License-Identifier: GPL-2.0-or-later
// Geneve (RFC 8926). All fields big-endian.
//
//   0  version (2 bits), length of the options in units of four octets (6)   1  O 0x80 (control), C 0x40
//   2  EtherType of what is inside   4  VNI (3)   7  reserved   8  options
#pragma once

#include <cstdint>

#include "wire/ethernet.hpp"
#include "wire/layer.hpp"

namespace rpcrdma::wire {

/// Options are passed over. unsupported: a version other than 0, or a control packet.
[[nodiscard]] inline Decoded<EtherPayload> decode_geneve(Layer in) noexcept {
  constexpr std::size_t fixed = 8;
  if (in.octets.size() < fixed) return tl::make_unexpected(in.missing(fixed, "Geneve header"));
  const std::uint8_t* p = in.octets.data();
  if ((p[0] & 0xC0U) != 0 || (p[1] & 0x80U) != 0) {
    return tl::make_unexpected(DecodeError{Fault::unsupported, "Geneve version", 0});
  }
  const std::size_t size = fixed + (p[0] & 0x3FU) * std::size_t{4};
  if (in.octets.size() < size) return tl::make_unexpected(in.missing(size, "Geneve options"));
  return EtherPayload{load_be16(p + 2), in.after(size), load_be24(p + 4)};
}

}  // namespace rpcrdma::wire
