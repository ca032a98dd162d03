// SPDX-License-Identifier: GPL-2.0-or-later
// Tags that switches put between the addresses of a frame and its EtherType, or before the whole frame. Each function
// begins behind the EtherType that announces the tag. All fields big-endian.
#pragma once

#include <cstdint>

#include "wire/ethernet.hpp"
#include "wire/layer.hpp"

namespace rpcrdma::wire {

/// Cisco MetaData: version 1 (1), length (1) in units of four octets, so many options, EtherType.
/// unsupported: another version.
[[nodiscard]] inline Decoded<EtherPayload> decode_cisco_metadata(Layer in) noexcept {
  if (in.octets.size() < 2) return tl::make_unexpected(in.missing(2, "Cisco MetaData"));
  const std::uint8_t* p = in.octets.data();
  if (p[0] != 1 || p[1] == 0) return tl::make_unexpected(DecodeError{Fault::unsupported, "Cisco MetaData", 0});
  const std::size_t type = 2 + p[1] * std::size_t{4};
  if (in.octets.size() < type + 2) return tl::make_unexpected(in.missing(type + 2, "Cisco MetaData"));
  return strip_vlan_tags({load_be16(p + type), in.after(type + 2)});
}

/// VN-tag (IEEE 802.1BR's forerunner): four octets of interfaces, EtherType.
[[nodiscard]] inline Decoded<EtherPayload> decode_vn_tag(Layer in) noexcept {
  if (in.octets.size() < 6) return tl::make_unexpected(in.missing(6, "VN-tag"));
  return strip_vlan_tags({load_be16(in.octets.data() + 4), in.after(6)});
}

/// FabricPath: tree and time to live (2), then the whole frame. The addresses before it are of switches.
[[nodiscard]] inline Decoded<EtherPayload> decode_fabricpath(Layer in) noexcept {
  if (in.octets.size() < 2) return tl::make_unexpected(in.missing(2, "FabricPath tag"));
  return EtherPayload{ether_type::bridged, in.after(2)};
}

/// Provider backbone bridges (IEEE 802.1ah): priority and flags (1), service (3), then the whole frame.
[[nodiscard]] inline Decoded<EtherPayload> decode_backbone(Layer in) noexcept {
  if (in.octets.size() < 4) return tl::make_unexpected(in.missing(4, "802.1ah tag"));
  return EtherPayload{ether_type::bridged, in.after(4)};
}

/// Marvell's DSA tag: four octets right behind the addresses, announced by nothing; then the EtherType. `in` begins
/// with the third octet of the tag: the first two stood where an EtherType would.
[[nodiscard]] inline Decoded<EtherPayload> decode_dsa(Layer in) noexcept {
  if (in.octets.size() < 4) return tl::make_unexpected(in.missing(4, "DSA tag"));
  return strip_vlan_tags({load_be16(in.octets.data() + 2), in.after(4)});
}

/// The same with an EtherType of its own (0xDADA): reserved (2), DSA tag (4), EtherType.
[[nodiscard]] inline Decoded<EtherPayload> decode_ethertype_dsa(Layer in) noexcept {
  if (in.octets.size() < 4) return tl::make_unexpected(in.missing(4, "DSA tag"));
  return decode_dsa(in.after(4));
}

/// A frame from its addresses on, as it comes from a switch inside the machine. The tag's place is known by the link
/// type: octets 12 to 15 are Marvell's or Broadcom's.
[[nodiscard]] inline Decoded<EtherPayload> decode_tagged_by_switch(Layer frame) noexcept {
  constexpr std::size_t behind_half = 14;
  if (frame.octets.size() < behind_half) return tl::make_unexpected(frame.missing(behind_half, "switch tag"));
  return decode_dsa(frame.after(behind_half));
}

/// Likewise, with an EtherType before the tag. Which one the driver has chosen does not matter.
[[nodiscard]] inline Decoded<EtherPayload> decode_tagged_with_type(Layer frame) noexcept {
  constexpr std::size_t behind_type = 14;
  if (frame.octets.size() < behind_type) return tl::make_unexpected(frame.missing(behind_type, "switch tag"));
  return decode_ethertype_dsa(frame.after(behind_type));
}

/// Broadcom's tag before the whole frame.
inline constexpr std::size_t prepended_tag_size = 4;

}  // namespace rpcrdma::wire
