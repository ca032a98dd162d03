// SPDX-License-Identifier: GPL-2.0-or-later
// Link layers that capture tools make up: Linux cooked captures (LINKTYPE_LINUX_SLL, LINKTYPE_LINUX_SLL2), BSD
// loopback (LINKTYPE_NULL, LINKTYPE_LOOP), and no link layer at all (LINKTYPE_RAW).
#pragma once

#include "wire/ethernet.hpp"
#include "wire/layer.hpp"

namespace rpcrdma::wire {

/// 16 octets, the protocol in the last two. Big-endian.
[[nodiscard]] inline Decoded<EtherPayload> decode_cooked(Layer frame) noexcept {
  constexpr std::size_t size = 16;
  if (frame.octets.size() < size) return tl::make_unexpected(frame.missing(size, "Linux cooked header"));
  return strip_vlan_tags({load_be16(frame.octets.data() + 14), frame.after(size)});
}

/// 20 octets, the protocol in the first two. Big-endian.
[[nodiscard]] inline Decoded<EtherPayload> decode_cooked2(Layer frame) noexcept {
  constexpr std::size_t size = 20;
  if (frame.octets.size() < size) return tl::make_unexpected(frame.missing(size, "Linux cooked header"));
  return strip_vlan_tags({load_be16(frame.octets.data()), frame.after(size)});
}

/// Four octets of address family, in the byte order of the machine that captured (LINKTYPE_NULL) or big-endian
/// (LINKTYPE_LOOP). Families are below 256, so either order is told from the other, and both are taken for both types.
/// The number of IPv6 differs from system to system.
[[nodiscard]] inline Decoded<EtherPayload> decode_loopback(Layer frame) noexcept {
  constexpr std::size_t size = 4;
  if (frame.octets.size() < size) return tl::make_unexpected(frame.missing(size, "loopback header"));
  const std::uint32_t big = load_be32(frame.octets.data());
  const std::uint32_t family = big < 0x100 ? big : (big & 0x00FFFFFFU) == 0 ? big >> 24U : 0;
  switch (family) {
    case 2:
      return EtherPayload{ether_type::ipv4, frame.after(size)};
    case 10:  // Linux
    case 23:  // Windows
    case 24:  // NetBSD, OpenBSD
    case 28:  // FreeBSD
    case 30:  // macOS
      return EtherPayload{ether_type::ipv6, frame.after(size)};
    default:
      return tl::make_unexpected(DecodeError{Fault::unsupported, "address family", 0});
  }
}

/// IPv4 or IPv6, told by the version.
[[nodiscard]] inline Decoded<EtherPayload> decode_raw_ip(Layer frame) noexcept {
  if (frame.octets.empty()) return tl::make_unexpected(frame.missing(1, "IP version"));
  switch (frame.octets[0] >> 4U) {
    case 4:
      return EtherPayload{ether_type::ipv4, frame};
    case 6:
      return EtherPayload{ether_type::ipv6, frame};
    default:
      return tl::make_unexpected(DecodeError{Fault::invalid, "IP version", 0});
  }
}

}  // namespace rpcrdma::wire
