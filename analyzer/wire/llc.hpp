// SPDX-License-Identifier: GPL-2.0-or-later
// IEEE 802.2 behind a length instead of an EtherType, with SNAP (RFC 1042) or IP's own service access point.
#pragma once

#include <cstdint>

#include "wire/ethernet.hpp"
#include "wire/layer.hpp"

namespace rpcrdma::wire {

/// `length`: what stood in the EtherType's place; what lies behind it is padding.
/// unsupported: service access points and organisations that carry no EtherType.
[[nodiscard]] inline Decoded<EtherPayload> decode_llc(std::uint16_t length, Layer in) noexcept {
  constexpr std::size_t llc = 3;
  constexpr std::size_t snap = 8;
  if (length < in.wire_length) in = in.ended_at(length);
  if (in.octets.size() < llc) return tl::make_unexpected(in.missing(llc, "LLC header"));
  const std::uint8_t* p = in.octets.data();
  if (p[0] == 0x06 && p[1] == 0x06 && p[2] == 0x03) return EtherPayload{ether_type::ipv4, in.after(llc)};
  if (p[0] != 0xAA || p[1] != 0xAA || p[2] != 0x03) {
    return tl::make_unexpected(DecodeError{Fault::unsupported, "LLC header", 0});
  }
  if (in.octets.size() < snap) return tl::make_unexpected(in.missing(snap, "SNAP header"));
  const std::uint32_t organisation = load_be24(p + 3);
  constexpr std::uint32_t bridge_tunnel = 0x0000F8;  // IEEE 802.1H
  if (organisation != 0 && organisation != bridge_tunnel) {
    return tl::make_unexpected(DecodeError{Fault::unsupported, "SNAP organisation", 3});
  }
  const std::uint16_t type = load_be16(p + 6);
  if (type < least_ether_type) return tl::make_unexpected(DecodeError{Fault::invalid, "SNAP protocol", 6});
  return EtherPayload{type, in.after(snap)};
}

}  // namespace rpcrdma::wire
