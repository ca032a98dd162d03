// SPDX-License-Identifier: GPL-2.0-or-later
// IPv6 header and its extension headers (RFC 8200). All fields big-endian.
#pragma once

#include "wire/ipv4.hpp"
#include "wire/layer.hpp"

namespace rpcrdma::wire {

/// Extension headers that are passed over.
inline constexpr int max_ipv6_extensions = 8;

/// Passes over the extension headers of a packet whose fixed header names `first`; see decode_ipv6.
[[nodiscard]] Decoded<IpPacket> skip_ipv6_extensions(Layer packet, IpPacket found) noexcept;

/// A payload length of 0 is a jumbogram, or a packet that the adapter cuts up later: then the frame's length counts.
/// unsupported: a fragment that is not the first, encryption, too many extension headers.
/// invalid: version, an extension header that does not fit.
[[nodiscard]] inline Decoded<IpPacket> decode_ipv6(Layer in) noexcept {
  constexpr std::size_t fixed = 40;
  if (in.octets.size() < fixed) return tl::make_unexpected(in.missing(fixed, "IPv6 header"));
  const std::uint8_t* p = in.octets.data();
  if ((p[0] >> 4U) != 6) return tl::make_unexpected(DecodeError{Fault::invalid, "IP version", 0});
  const std::size_t length = load_be16(p + 4);
  if (length != 0) in = in.ended_at(fixed + length);
  const IpPacket found{p[6], p + 8, p + 24, fixed, 0, in.after(fixed), false};
  if (found.protocol == ip_protocol::udp || found.protocol == ip_protocol::tcp) return found;
  return skip_ipv6_extensions(in, found);
}

}  // namespace rpcrdma::wire
