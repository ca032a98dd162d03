// SPDX-License-Identifier: GPL-2.0-or-later
// PPP over Ethernet, sessions (RFC 2516). All fields big-endian.
//
//   0  version 1, type 1   1  code 0   2  session   4  length (2), from the PPP protocol on   6  PPP protocol
#pragma once

#include <cstdint>

#include "wire/ethernet.hpp"
#include "wire/layer.hpp"

namespace rpcrdma::wire {

/// A PPP protocol of one octet (RFC 1661, odd) is taken too.
/// invalid: version, type, code, or a length that holds no protocol. unsupported: a protocol other than IP and MPLS.
[[nodiscard]] inline Decoded<EtherPayload> decode_pppoe(Layer in) noexcept {
  constexpr std::size_t fixed = 6;
  if (in.octets.size() < fixed + 2) return tl::make_unexpected(in.missing(fixed + 2, "PPPoE header"));
  const std::uint8_t* p = in.octets.data();
  if (p[0] != 0x11 || p[1] != 0) return tl::make_unexpected(DecodeError{Fault::invalid, "PPPoE version", 0});
  const std::size_t length = load_be16(p + 4);
  const bool one_octet = (p[6] & 1U) != 0;
  const unsigned protocol = one_octet ? p[6] : load_be16(p + 6);
  const std::size_t size = one_octet ? 1 : 2;
  if (length < size) return tl::make_unexpected(DecodeError{Fault::invalid, "PPPoE length", 4});
  const Layer payload = in.after(fixed).ended_at(length).after(size);
  switch (protocol) {
    case 0x0021:
      return EtherPayload{ether_type::ipv4, payload};
    case 0x0057:
      return EtherPayload{ether_type::ipv6, payload};
    case 0x0281:
      return EtherPayload{ether_type::mpls, payload};
    default:
      return tl::make_unexpected(DecodeError{Fault::unsupported, "PPP protocol", fixed});
  }
}

}  // namespace rpcrdma::wire
