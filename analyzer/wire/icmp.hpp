// SPDX-License-Identifier: GPL-2.0-or-later
// ICMP (RFC 792) and ICMPv6 (RFC 4443) Destination Unreachable, and what they quote. All fields big-endian. The
// checksum is never looked at.
#pragma once

#include <cstdint>

#include "wire/layer.hpp"

namespace rpcrdma::wire {

/// The IP packet that could not be delivered, as the message quotes it: its own source and destination.
struct Undelivered {
  std::uint8_t code = 0;                      ///< why; the numbers of the two protocols differ
  std::uint8_t protocol = 0;                  ///< of `payload`, as IP has it
  const std::uint8_t* source = nullptr;       ///< 4 or 16 octets, in the message
  const std::uint8_t* destination = nullptr;  ///< likewise
  Layer payload;                              ///< as long as it was; as a rule its beginning is all that is quoted
};

/// From the ICMP header on.
/// unsupported: another message, one about a packet that is too large (type 3 code 4), or a quoted fragment. invalid:
/// the quoted header breaks IP. truncated: what is quoted, or captured, ends inside it.
[[nodiscard]] Decoded<Undelivered> decode_icmp_unreachable(Layer in) noexcept;
[[nodiscard]] Decoded<Undelivered> decode_icmpv6_unreachable(Layer in) noexcept;

/// What every quotation of a TCP segment has: its first 8 octets.
struct QuotedTcp {
  std::uint16_t source_port = 0;
  std::uint16_t destination_port = 0;
  std::uint32_t sequence = 0;
};
[[nodiscard]] Decoded<QuotedTcp> decode_quoted_tcp(Layer in) noexcept;  ///< truncated: there are fewer

}  // namespace rpcrdma::wire
