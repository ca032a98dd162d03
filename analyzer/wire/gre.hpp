// SPDX-License-Identifier: GPL-2.0-or-later
// Generic Routing Encapsulation (RFC 2784, RFC 2890). All fields big-endian.
//
//   0  flags: C 0x8000, R 0x4000, K 0x2000, S 0x1000; version in the low three bits   2  EtherType of what is inside
//   then, where flagged: checksum and offset (4), key (4), sequence number (4)
#pragma once

#include <cstdint>

#include "wire/layer.hpp"

namespace rpcrdma::wire {

struct GreHeader {
  std::uint16_t type = 0;
  bool sequenced = false;  ///< has a sequence number: tells ERSPAN type II from type I
  std::uint32_t key = 0;   ///< 0: none
  Layer payload;
};

/// Sequence number and checksum are passed over, not checked.
/// unsupported: a version other than 0 (1 is PPTP's), or source routes.
[[nodiscard]] inline Decoded<GreHeader> decode_gre(Layer in) noexcept {
  constexpr std::size_t fixed = 4;
  if (in.octets.size() < fixed) return tl::make_unexpected(in.missing(fixed, "GRE header"));
  const std::uint8_t* p = in.octets.data();
  const unsigned flags = load_be16(p);
  if ((flags & 0x4007U) != 0) return tl::make_unexpected(DecodeError{Fault::unsupported, "GRE flags", 0});
  const bool sequenced = (flags & 0x1000U) != 0;
  std::size_t size = fixed;
  for (const unsigned flag : {0x8000U, 0x2000U, 0x1000U}) size += (flags & flag) != 0 ? 4U : 0U;
  if (in.octets.size() < size) return tl::make_unexpected(in.missing(size, "GRE header"));
  const bool checksum = (flags & 0x8000U) != 0;
  const std::uint32_t key = (flags & 0x2000U) != 0 ? load_be32(p + fixed + (checksum ? 4U : 0U)) : 0;
  return GreHeader{load_be16(p + 2), sequenced, key, in.after(size)};
}

}  // namespace rpcrdma::wire
