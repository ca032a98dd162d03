// SPDX-License-Identifier: GPL-2.0-or-later
#include "wire/ipv6.hpp"

namespace rpcrdma::wire {

Decoded<IpPacket> skip_ipv6_extensions(Layer packet, IpPacket found) noexcept {
  for (int n = 0;; ++n) {
    std::size_t unit = 8;   // what the length octet counts
    std::size_t extra = 1;  // units that it does not count
    switch (found.protocol) {
      case ip_protocol::hop_by_hop:
      case ip_protocol::routing:
      case ip_protocol::destination_options:
      case ip_protocol::mobility:
      case ip_protocol::host_identity:
      case ip_protocol::shim6:
      case ip_protocol::fragment:
        break;
      case ip_protocol::authentication:
        unit = 4;
        extra = 2;
        break;
      default:
        return found;  // an upper layer, or one that cannot be looked into: the caller knows which it wants
    }
    const std::size_t at = found.header_size;
    if (n == max_ipv6_extensions) {
      return tl::make_unexpected(DecodeError{Fault::unsupported, "IPv6 extension headers", at});
    }
    if (found.payload.octets.size() < 8) return tl::make_unexpected(found.payload.missing(8, "IPv6 extension header"));
    const std::uint8_t* p = found.payload.octets.data();
    std::size_t size = 8;
    if (found.protocol == ip_protocol::fragment) {
      if ((load_be16(p + 2) & 0xFFF8U) != 0) {
        return tl::make_unexpected(DecodeError{Fault::unsupported, "IPv6 fragment", at});
      }
      found.first_fragment = found.first_fragment || (p[3] & 1U) != 0;
    } else {
      size = (p[1] + extra) * unit;
    }
    if (found.payload.octets.size() < size) {
      return tl::make_unexpected(found.payload.missing(size, "IPv6 extension header"));
    }
    found.protocol = p[0];
    found.header_size += size;
    found.payload = packet.after(found.header_size);
  }
}

}  // namespace rpcrdma::wire
