// SPDX-License-Identifier: GPL-2.0-or-later
#include "wire/icmp.hpp"

#include "wire/ipv4.hpp"
#include "wire/ipv6.hpp"

namespace rpcrdma::wire {
namespace {

constexpr std::size_t icmp_header = 8;

Decoded<Undelivered> undelivered(std::uint8_t code, const Decoded<IpPacket>& quoted) noexcept {
  if (!quoted) {
    return tl::make_unexpected(
        DecodeError{quoted.error().fault, quoted.error().field, icmp_header + quoted.error().offset});
  }
  return Undelivered{code, quoted->protocol, quoted->source, quoted->destination, quoted->payload};
}

}  // namespace

Decoded<Undelivered> decode_icmp_unreachable(Layer in) noexcept {
  constexpr std::uint8_t unreachable = 3;
  constexpr std::uint8_t too_large = 4;  // a route with a smaller MTU: the sender goes on
  if (in.octets.size() < icmp_header) return tl::make_unexpected(in.missing(icmp_header, "ICMP header"));
  const std::uint8_t code = in.octets[1];
  if (in.octets[0] != unreachable || code == too_large) {
    return tl::make_unexpected(DecodeError{Fault::unsupported, "ICMP type", 0});
  }
  return undelivered(code, decode_ipv4(in.after(icmp_header)));
}

Decoded<Undelivered> decode_icmpv6_unreachable(Layer in) noexcept {
  constexpr std::uint8_t unreachable = 1;
  if (in.octets.size() < icmp_header) return tl::make_unexpected(in.missing(icmp_header, "ICMPv6 header"));
  if (in.octets[0] != unreachable) return tl::make_unexpected(DecodeError{Fault::unsupported, "ICMPv6 type", 0});
  return undelivered(in.octets[1], decode_ipv6(in.after(icmp_header)));
}

Decoded<QuotedTcp> decode_quoted_tcp(Layer in) noexcept {
  constexpr std::size_t least = 8;
  if (in.octets.size() < least) return tl::make_unexpected(in.missing(least, "quoted TCP header"));
  const std::uint8_t* p = in.octets.data();
  return QuotedTcp{load_be16(p), load_be16(p + 2), load_be32(p + 4)};
}

}  // namespace rpcrdma::wire
