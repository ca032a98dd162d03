// SPDX-License-Identifier: GPL-2.0-or-later
// TCP header (RFC 9293). All fields big-endian. The checksum is never looked at: offload leaves it wrong.
#pragma once

#include <cstdint>

#include "wire/layer.hpp"

namespace rpcrdma::wire {

struct TcpHeader {
  std::uint16_t source_port = 0;
  std::uint16_t destination_port = 0;
  std::uint32_t sequence = 0;
  std::uint32_t acknowledgement = 0;
  std::uint8_t flags = 0;         ///< octet 13: FIN 0x01, SYN 0x02, RST 0x04, PSH 0x08, ACK 0x10, ...
  Layer payload;                  ///< no octets, but its length on the wire, when the capture ends inside the header
  std::uint16_t window = 0xFFFF;  ///< as it stands, without its scale; 65535 where the capture ends before it
};

/// Needs the first 14 octets: what comes behind the flags, options included, is passed over.
/// invalid: a data offset below 5 or beyond the packet.
[[nodiscard]] inline Decoded<TcpHeader> decode_tcp(Layer in) noexcept {
  constexpr std::size_t fixed = 20;
  if (in.wire_length < fixed || in.octets.size() < 14) return tl::make_unexpected(in.missing(fixed, "TCP header"));
  const std::uint8_t* p = in.octets.data();
  const std::size_t header = (p[12] >> 4U) * std::size_t{4};
  if (header < fixed || header > in.wire_length) {
    return tl::make_unexpected(DecodeError{Fault::invalid, "TCP data offset", 12});
  }
  return TcpHeader{load_be16(p),
                   load_be16(p + 2),
                   load_be32(p + 4),
                   load_be32(p + 8),
                   p[13],
                   in.octets.size() < header ? Layer{{}, in.wire_length - header} : in.after(header),
                   in.octets.size() < 16 ? std::uint16_t{0xFFFF} : load_be16(p + 14)};
}

}  // namespace rpcrdma::wire
