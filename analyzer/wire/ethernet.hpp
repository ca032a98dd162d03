// SPDX-License-Identifier: GPL-2.0-or-later
// Ethernet II with stacked VLAN tags (IEEE 802.3, 802.1Q). All fields big-endian.
#pragma once

#include <cstdint>

#include "wire/layer.hpp"

namespace rpcrdma::wire {

namespace ether_type {
inline constexpr std::uint16_t ipv4 = 0x0800;
inline constexpr std::uint16_t ipv6 = 0x86DD;
inline constexpr std::uint16_t roce = 0x8915;  ///< RoCEv1: a GRH follows
inline constexpr std::uint16_t vlan = 0x8100;
inline constexpr std::uint16_t vlan_service = 0x88A8;
inline constexpr std::uint16_t vlan_service_old = 0x9100;  ///< what switches used before 802.1ad
inline constexpr std::uint16_t arp = 0x0806;
inline constexpr std::uint16_t bridged = 0x6558;  ///< transparent Ethernet bridging: a whole frame follows
inline constexpr std::uint16_t mpls = 0x8847;
inline constexpr std::uint16_t mpls_multicast = 0x8848;
inline constexpr std::uint16_t pppoe_session = 0x8864;
inline constexpr std::uint16_t backbone = 0x88E7;  ///< IEEE 802.1ah
inline constexpr std::uint16_t fabricpath = 0x8903;
inline constexpr std::uint16_t cisco_metadata = 0x8909;
inline constexpr std::uint16_t vn_tag = 0x8926;
inline constexpr std::uint16_t nvidia_mirror = 0x8949;
inline constexpr std::uint16_t ethertype_dsa = 0xDADA;  ///< Marvell's tag with an EtherType
inline constexpr std::uint16_t erspan = 0x88BE;         ///< in GRE: types I and II
inline constexpr std::uint16_t erspan3 = 0x22EB;        ///< in GRE: type III
}  // namespace ether_type

/// Below, the field is a length (802.2 follows).
inline constexpr std::uint16_t least_ether_type = 0x0600;

/// What every link layer comes down to: a protocol by its EtherType, and its octets.
struct EtherPayload {
  std::uint16_t type = 0;   ///< EtherType, or what stood in its place
  Layer payload;            ///< may end in Ethernet padding and the FCS: the next layer's length tells
  std::uint32_t key = 0;    ///< of the tunnel that held it; 0: none
  std::uint64_t vlans = 0;  ///< their numbers, twelve bits each, the outermost one in the highest; 0: none
};

/// Tags that are taken off before giving up; two are in use, more are an accident or an attack.
inline constexpr int max_vlan_tags = 4;

inline constexpr unsigned vlan_bits = 12;

/// Takes VLAN tags off, whichever link layer they stand in.
/// truncated / invalid: a tag is cut off. unsupported: more than max_vlan_tags.
[[nodiscard]] inline Decoded<EtherPayload> strip_vlan_tags(EtherPayload in) noexcept {
  for (int tags = 0;; ++tags) {
    if (in.type != ether_type::vlan && in.type != ether_type::vlan_service && in.type != ether_type::vlan_service_old) {
      return in;
    }
    if (tags == max_vlan_tags) return tl::make_unexpected(DecodeError{Fault::unsupported, "VLAN tags", 0});
    if (in.payload.octets.size() < 4) return tl::make_unexpected(in.payload.missing(4, "VLAN tag"));
    const std::uint64_t vlan = load_be16(in.payload.octets.data()) & 0x0FFFU;
    if (vlan != 0) in.vlans = in.vlans << vlan_bits | vlan;  // 0: a priority alone
    in.type = load_be16(in.payload.octets.data() + 2);
    in.payload = in.payload.after(4);
  }
}

/// `frame` from the destination address on. Preamble is not part of captures.
[[nodiscard]] inline Decoded<EtherPayload> decode_ethernet(Layer frame) noexcept {
  constexpr std::size_t size = 14;
  if (frame.octets.size() < size) return tl::make_unexpected(frame.missing(size, "Ethernet header"));
  return strip_vlan_tags({load_be16(frame.octets.data() + 12), frame.after(size)});
}

}  // namespace rpcrdma::wire
