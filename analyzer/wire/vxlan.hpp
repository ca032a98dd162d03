// SPDX-License-Identifier: GPL-2.0-or-later
// VXLAN (RFC 7348) and its Generic Protocol Extension (draft-ietf-nvo3-vxlan-gpe). All fields big-endian.
//
//   0  flags: I 0x08 (a VNI is there); of GPE also version 0x30, P 0x04 (a next protocol is there), O 0x01 (OAM)
//   3  next protocol of GPE   4  VNI (3)   7  reserved
#pragma once

#include <cstdint>

#include "wire/ethernet.hpp"
#include "wire/frame_likeness.hpp"
#include "wire/layer.hpp"

namespace rpcrdma::wire {

/// invalid: a VNI is not announced, or reserved bits are set and no frame follows: something else uses the port.
/// unsupported: OAM, a later version, a next protocol other than IPv4, IPv6, Ethernet and MPLS. The bits of the group
/// policy extension are passed over.
[[nodiscard]] inline Decoded<EtherPayload> decode_vxlan(Layer in) noexcept {
  constexpr std::size_t size = 8;
  if (in.octets.size() < size) return tl::make_unexpected(in.missing(size, "VXLAN header"));
  const std::uint8_t* p = in.octets.data();
  const bool next_protocol = (p[0] & 0x04U) != 0;
  if ((p[0] & 0x08U) == 0) return tl::make_unexpected(DecodeError{Fault::invalid, "VXLAN flags", 0});
  if (!next_protocol) {
    const bool group_policy = (p[0] & 0x80U) != 0;
    const bool reserved = (p[0] & 0x73U) != 0 || p[7] != 0 || (!group_policy && load_be24(p + 1) != 0);
    if (reserved && frame_likeness(in.after(size)) != Likeness::by_packet) {
      return tl::make_unexpected(DecodeError{Fault::invalid, "VXLAN flags", 0});
    }
    return EtherPayload{ether_type::bridged, in.after(size), load_be24(p + 4)};
  }
  if ((p[0] & 0x31U) != 0) return tl::make_unexpected(DecodeError{Fault::unsupported, "VXLAN flags", 0});
  switch (p[3]) {
    case 1:
      return EtherPayload{ether_type::ipv4, in.after(size), load_be24(p + 4)};
    case 2:
      return EtherPayload{ether_type::ipv6, in.after(size), load_be24(p + 4)};
    case 3:
      return EtherPayload{ether_type::bridged, in.after(size), load_be24(p + 4)};
    case 5:
      return EtherPayload{ether_type::mpls, in.after(size), load_be24(p + 4)};
    default:
      return tl::make_unexpected(DecodeError{Fault::unsupported, "VXLAN next protocol", 3});
  }
}

}  // namespace rpcrdma::wire
