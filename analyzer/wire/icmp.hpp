// SPDX-License-Identifier: GPL-2.0-or-later
// ICMP (RFC 792) and ICMPv6 (RFC 4443) Destination Unreachable, as far as it speaks of TCP. All fields big-endian. The
// checksum is never looked at.
#pragma once

#include <cstdint>

#include "wire/layer.hpp"

namespace rpcrdma::wire {

/// The TCP segment that could not be delivered, as the message quotes it: its own source and destination.
struct UndeliveredTcp {
  std::uint8_t code = 0;                      ///< why; the numbers of the two protocols differ
  const std::uint8_t* source = nullptr;       ///< 4 or 16 octets, in the message
  const std::uint8_t* destination = nullptr;  ///< likewise
  std::uint16_t source_port = 0;
  std::uint16_t destination_port = 0;
  std::uint32_t sequence = 0;
};

/// From the ICMP header on. Needs of the quoted packet its IP header and 8 octets of TCP.
/// unsupported: another message, one about a packet that is too large (type 3 code 4), a quoted fragment, or another
/// protocol than TCP in it. invalid: the quoted header breaks IP. truncated: what is quoted, or captured, ends before.
[[nodiscard]] Decoded<UndeliveredTcp> decode_icmp_unreachable(Layer in) noexcept;
[[nodiscard]] Decoded<UndeliveredTcp> decode_icmpv6_unreachable(Layer in) noexcept;

}  // namespace rpcrdma::wire
