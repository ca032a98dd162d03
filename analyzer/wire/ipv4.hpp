// SPDX-License-Identifier: GPL-2.0-or-later
// IPv4 header (RFC 791). All fields big-endian.
#pragma once

#include <cstdint>

#include "wire/layer.hpp"

namespace rpcrdma::wire {

namespace ip_protocol {
inline constexpr std::uint8_t hop_by_hop = 0;
inline constexpr std::uint8_t icmp = 1;
inline constexpr std::uint8_t ipv4_inside = 4;
inline constexpr std::uint8_t tcp = 6;
inline constexpr std::uint8_t udp = 17;
inline constexpr std::uint8_t ipv6_inside = 41;
inline constexpr std::uint8_t gre = 47;
inline constexpr std::uint8_t routing = 43;
inline constexpr std::uint8_t fragment = 44;
inline constexpr std::uint8_t authentication = 51;
inline constexpr std::uint8_t icmpv6 = 58;
inline constexpr std::uint8_t no_next = 59;
inline constexpr std::uint8_t destination_options = 60;
inline constexpr std::uint8_t mobility = 135;
inline constexpr std::uint8_t host_identity = 139;
inline constexpr std::uint8_t shim6 = 140;
inline constexpr std::uint8_t mpls_inside = 137;
}  // namespace ip_protocol

struct IpPacket {
  std::uint8_t protocol = 0;
  const std::uint8_t* source = nullptr;       ///< 4 or 16 octets, in the packet
  const std::uint8_t* destination = nullptr;  ///< likewise
  std::size_t header_size = 0;                ///< with options or extension headers, octets
  std::uint16_t identification = 0;           ///< IPv4; 0: none, or IPv6
  Layer payload;                              ///< ended by the packet's length field: Ethernet padding is gone
  bool first_fragment = false;                ///< the payload is only the beginning of what was sent
};

/// A total length of 0 is what a capture shows of a packet that the adapter cuts up later (segmentation offload):
/// then the frame's length counts.
/// unsupported: a fragment that is not the first. invalid: version, header length, or a total length below it.
[[nodiscard]] inline Decoded<IpPacket> decode_ipv4(Layer in) noexcept {
  constexpr std::size_t fixed = 20;
  if (in.octets.size() < fixed) return tl::make_unexpected(in.missing(fixed, "IPv4 header"));
  const std::uint8_t* p = in.octets.data();
  const std::size_t header = (p[0] & 0x0FU) * std::size_t{4};
  if ((p[0] >> 4U) != 4) return tl::make_unexpected(DecodeError{Fault::invalid, "IP version", 0});
  if (header < fixed) return tl::make_unexpected(DecodeError{Fault::invalid, "IPv4 header length", 0});
  const std::size_t total = load_be16(p + 2);
  if (total != 0) {
    if (total < header) return tl::make_unexpected(DecodeError{Fault::invalid, "IPv4 total length", 2});
    in = in.ended_at(total);
  }
  const unsigned fragment = load_be16(p + 6) & 0x3FFFU;
  if (fragment != 0 && fragment != 0x2000U) {
    return tl::make_unexpected(DecodeError{Fault::unsupported, "IPv4 fragment", 6});
  }
  if (in.octets.size() < header) return tl::make_unexpected(in.missing(header, "IPv4 options"));
  return IpPacket{p[9], p + 12, p + 16, header, load_be16(p + 4), in.after(header), fragment != 0};
}

}  // namespace rpcrdma::wire
