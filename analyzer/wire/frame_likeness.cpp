// SPDX-License-Identifier: GPL-2.0-or-later
#include "wire/frame_likeness.hpp"

namespace rpcrdma::wire {

Likeness frame_likeness(Layer frame) noexcept {
  const auto ether = decode_ethernet(frame);
  return ether ? frame_likeness(*ether) : Likeness::none;
}

Likeness frame_likeness(const EtherPayload& ether) noexcept {
  const Bytes packet = ether.payload.octets;
  const std::uint8_t* p = packet.data();
  const auto sure = [](bool is) { return is ? Likeness::by_packet : Likeness::none; };
  switch (ether.type) {
    case ether_type::ipv4: {
      if (packet.size() < 20) return Likeness::none;
      const unsigned header = (p[0] & 0x0FU) * 4U;
      const unsigned total = load_be16(p + 2);
      return sure((p[0] >> 4U) == 4 && header >= 20 && (total == 0 || total >= header));
    }
    case ether_type::ipv6:
      return sure(packet.size() >= 40 && (p[0] >> 4U) == 6);
    case ether_type::roce:
      return sure(packet.size() >= 40 && (p[0] >> 4U) == 6 && p[6] == 0x1B);
    case ether_type::arp:
      return sure(packet.size() >= 6 && load_be32(p) == 0x00010800 && load_be16(p + 4) == 0x0604);
    case ether_type::pppoe_session:
      return sure(packet.size() >= 8 && load_be16(p) == 0x1100);
    case ether_type::cisco_metadata:
      return sure(packet.size() >= 8 && load_be16(p) == 0x0101);
    case ether_type::mpls:
    case ether_type::mpls_multicast:
    case ether_type::bridged:
    case ether_type::backbone:
    case ether_type::fabricpath:
    case ether_type::vn_tag:
    case ether_type::nvidia_mirror:
    case ether_type::ethertype_dsa:
      return Likeness::by_type;
    default:
      return ether.type < least_ether_type ? sure(packet.size() >= 8 && load_be24(p) == 0xAAAA03) : Likeness::none;
  }
}

}  // namespace rpcrdma::wire
