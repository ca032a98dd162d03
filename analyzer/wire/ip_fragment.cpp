// SPDX-License-Identifier: GPL-2.0-or-later
#include "wire/ip_fragment.hpp"

#include "wire/ipv4.hpp"
#include "wire/ipv6.hpp"

namespace rpcrdma::wire {
namespace {

constexpr std::size_t unit = 8;
constexpr std::size_t longest = 65535;  // of the payload of a whole packet

[[nodiscard]] Decoded<IpFragment> checked(const IpFragment& fragment) noexcept {
  const std::size_t length = fragment.payload.wire_length;
  const bool fits = length != 0 && fragment.offset + length <= longest && (!fragment.more || length % unit == 0);
  if (!fits) return tl::make_unexpected(DecodeError{Fault::invalid, "IP fragment length", 0});
  if (!fragment.more && fragment.offset == 0) {
    return tl::make_unexpected(DecodeError{Fault::unsupported, "IP packet in one piece", 0});
  }
  return fragment;
}

}  // namespace

Decoded<IpFragment> decode_ipv4_fragment(Layer in) noexcept {
  constexpr std::size_t fixed = 20;
  if (in.octets.size() < fixed) return tl::make_unexpected(in.missing(fixed, "IPv4 header"));
  const std::uint8_t* p = in.octets.data();
  const std::size_t header = (p[0] & 0x0FU) * std::size_t{4};
  const std::size_t total = load_be16(p + 2);
  if ((p[0] >> 4U) != 4) return tl::make_unexpected(DecodeError{Fault::invalid, "IP version", 0});
  if (header < fixed || total < header) return tl::make_unexpected(DecodeError{Fault::invalid, "IPv4 lengths", 0});
  in = in.ended_at(total);
  if (in.octets.size() < header) return tl::make_unexpected(in.missing(header, "IPv4 options"));
  const unsigned field = load_be16(p + 6);
  return checked({false, p[9], load_be16(p + 4), p + 12, p + 16, (field & 0x1FFFU) * unit, (field & 0x2000U) != 0,
                  in.octets.first(header), in.after(header)});
}

Decoded<IpFragment> decode_ipv6_fragment(Layer in) noexcept {
  constexpr std::size_t fixed = 40;
  if (in.octets.size() < fixed) return tl::make_unexpected(in.missing(fixed, "IPv6 header"));
  const std::uint8_t* p = in.octets.data();
  if ((p[0] >> 4U) != 6) return tl::make_unexpected(DecodeError{Fault::invalid, "IP version", 0});
  in = in.ended_at(fixed + load_be16(p + 4));
  std::uint8_t next = p[6];
  std::size_t at = fixed;
  for (int n = 0; n < max_ipv6_extensions; ++n) {
    if (in.octets.size() < at + unit) return tl::make_unexpected(in.missing(at + unit, "IPv6 extension header"));
    const std::uint8_t* extension = in.octets.data() + at;
    if (next == ip_protocol::fragment) {
      const unsigned field = load_be16(extension + 2);
      return checked({true, extension[0], load_be32(extension + 4), p + 8, p + 24, field & 0xFFF8U, (field & 1U) != 0,
                      in.octets.first(fixed), in.after(at + unit)});
    }
    if (next != ip_protocol::hop_by_hop && next != ip_protocol::routing && next != ip_protocol::destination_options) {
      break;
    }
    next = extension[0];
    at += (extension[1] + std::size_t{1}) * unit;
  }
  return tl::make_unexpected(DecodeError{Fault::unsupported, "IPv6 extension headers", at});
}

}  // namespace rpcrdma::wire
