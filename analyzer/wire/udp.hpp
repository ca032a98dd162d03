// SPDX-License-Identifier: GPL-2.0-or-later
// UDP header (RFC 768). All fields big-endian.
#pragma once

#include <cstdint>

#include "wire/layer.hpp"

namespace rpcrdma::wire {

/// RoCEv2 is this *destination* port; the source port is only there to spread flows (IBTA annex A17).
inline constexpr std::uint16_t rocev2_port = 4791;
/// Packets inside packets: destination ports.
inline constexpr std::uint16_t vxlan_port = 4789;
inline constexpr std::uint16_t vxlan_port_old = 8472;  ///< Linux until told otherwise
inline constexpr std::uint16_t vxlan_gpe_port = 4790;
inline constexpr std::uint16_t geneve_port = 6081;
inline constexpr std::uint16_t mpls_port = 6635;  ///< RFC 7510
inline constexpr std::uint16_t tzsp_port = 37008;
inline constexpr std::uint16_t gtp_port = 2152;

inline constexpr std::size_t udp_header_size = 8;

struct UdpDatagram {
  std::uint16_t source_port = 0;
  std::uint16_t destination_port = 0;
  Layer payload;  ///< no octets, but its length on the wire, when the capture ends inside the header
};

/// Needs only the ports. A length of 0, or one beyond the IP payload, leaves the end to IP.
/// invalid: an IP payload or a length below 8.
[[nodiscard]] inline Decoded<UdpDatagram> decode_udp(Layer in) noexcept {
  if (in.wire_length < udp_header_size || in.octets.size() < 4) {
    return tl::make_unexpected(in.missing(udp_header_size, "UDP header"));
  }
  const std::uint8_t* p = in.octets.data();
  UdpDatagram out{load_be16(p), load_be16(p + 2), {{}, in.wire_length - udp_header_size}};
  if (in.octets.size() < udp_header_size) return out;
  const std::size_t length = load_be16(p + 4);
  if (length != 0 && length < in.wire_length) {
    if (length < udp_header_size) return tl::make_unexpected(DecodeError{Fault::invalid, "UDP length", 4});
    in = in.ended_at(length);
  }
  out.payload = in.after(udp_header_size);
  return out;
}

}  // namespace rpcrdma::wire
