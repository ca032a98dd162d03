// SPDX-License-Identifier: GPL-2.0-or-later
#include "wire/icmp.hpp"

#include "wire/ipv4.hpp"
#include "wire/ipv6.hpp"

namespace rpcrdma::wire {
namespace {

constexpr std::size_t icmp_header = 8;
constexpr std::size_t quoted_tcp = 8;

Decoded<UndeliveredTcp> undelivered(std::uint8_t code, const Decoded<IpPacket>& quoted) noexcept {
  if (!quoted) {
    return tl::make_unexpected(
        DecodeError{quoted.error().fault, quoted.error().field, icmp_header + quoted.error().offset});
  }
  if (quoted->protocol != ip_protocol::tcp) {
    return tl::make_unexpected(DecodeError{Fault::unsupported, "quoted protocol", icmp_header});
  }
  const Layer& tcp = quoted->payload;
  if (tcp.octets.size() < quoted_tcp) return tl::make_unexpected(tcp.missing(quoted_tcp, "quoted TCP header"));
  const std::uint8_t* p = tcp.octets.data();
  return UndeliveredTcp{code, quoted->source, quoted->destination, load_be16(p), load_be16(p + 2), load_be32(p + 4)};
}

}  // namespace

Decoded<UndeliveredTcp> decode_icmp_unreachable(Layer in) noexcept {
  constexpr std::uint8_t unreachable = 3;
  constexpr std::uint8_t too_large = 4;  // a route with a smaller MTU: the sender goes on
  if (in.octets.size() < icmp_header) return tl::make_unexpected(in.missing(icmp_header, "ICMP header"));
  const std::uint8_t code = in.octets[1];
  if (in.octets[0] != unreachable || code == too_large) {
    return tl::make_unexpected(DecodeError{Fault::unsupported, "ICMP type", 0});
  }
  return undelivered(code, decode_ipv4(in.after(icmp_header)));
}

Decoded<UndeliveredTcp> decode_icmpv6_unreachable(Layer in) noexcept {
  constexpr std::uint8_t unreachable = 1;
  if (in.octets.size() < icmp_header) return tl::make_unexpected(in.missing(icmp_header, "ICMPv6 header"));
  if (in.octets[0] != unreachable) return tl::make_unexpected(DecodeError{Fault::unsupported, "ICMPv6 type", 0});
  return undelivered(in.octets[1], decode_ipv6(in.after(icmp_header)));
}

}  // namespace rpcrdma::wire
