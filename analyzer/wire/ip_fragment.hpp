// SPDX-License-Identifier: GPL-2.0-or-later
// One fragment of an IP packet (RFC 791 section 3.2, RFC 8200 section 4.5). All fields big-endian.
#pragma once

#include <cstdint>

#include "wire/layer.hpp"

namespace rpcrdma::wire {

struct IpFragment {
  bool ipv6 = false;
  std::uint8_t protocol = 0;                  ///< of the whole packet; IPv6: the header behind the fragment header
  std::uint32_t identification = 0;           ///< the same in all fragments of a packet
  const std::uint8_t* source = nullptr;       ///< 4 or 16 octets, in the packet
  const std::uint8_t* destination = nullptr;  ///< likewise
  std::size_t offset = 0;                     ///< of `payload` in that of the whole packet, octets
  bool more = false;                          ///< it is not the last one
  Bytes header;                               ///< in front of it: IPv4 with its options, IPv6 without extension headers
  Layer payload;
};

/// unsupported: no fragment, or an extension header in front of it that is not passed over. invalid: lengths that do
/// not fit, a fragment that is not the last one and no multiple of 8 octets long, or one beyond the longest packet.
[[nodiscard]] Decoded<IpFragment> decode_ipv4_fragment(Layer in) noexcept;
[[nodiscard]] Decoded<IpFragment> decode_ipv6_fragment(Layer in) noexcept;

}  // namespace rpcrdma::wire
