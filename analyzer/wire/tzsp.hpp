// SPDX-License-Identifier: GPL-2.0-or-later
// TaZmen Sniffer Protocol (UDP port 37008): a captured frame with tags before it. All fields big-endian.
//
//   0  version 1   1  type: 0 received frame, 1 frame to be sent   2  protocol of the frame (2): 1 Ethernet
//   4  tags: number (1), length (1), value; number 0 is padding and 1 the end, both without length
#pragma once

#include <cstdint>

#include "wire/ethernet.hpp"
#include "wire/layer.hpp"

namespace rpcrdma::wire {

/// Tags that are passed over.
inline constexpr int max_tzsp_tags = 64;

/// The tag "original length" ends the frame: what the sniffer cut is not there.
/// invalid: the version. unsupported: no frame (keep-alive, configuration), another link than Ethernet, too many tags.
[[nodiscard]] inline Decoded<EtherPayload> decode_tzsp(Layer in) noexcept {
  constexpr std::size_t fixed = 4;
  constexpr std::uint8_t padding = 0;
  constexpr std::uint8_t end = 1;
  constexpr std::uint8_t original_length = 41;
  if (in.octets.size() < fixed) return tl::make_unexpected(in.missing(fixed, "TZSP header"));
  const std::uint8_t* p = in.octets.data();
  if (p[0] != 1) return tl::make_unexpected(DecodeError{Fault::invalid, "TZSP version", 0});
  if (p[1] > 1) return tl::make_unexpected(DecodeError{Fault::unsupported, "TZSP type", 1});
  if (load_be16(p + 2) != 1) return tl::make_unexpected(DecodeError{Fault::unsupported, "TZSP protocol", 2});
  std::size_t at = fixed;
  std::size_t length = 0;
  for (int n = 0; n < max_tzsp_tags; ++n) {
    if (in.octets.size() < at + 1) return tl::make_unexpected(in.missing(at + 1, "TZSP tag"));
    if (p[at] == end) {
      Layer frame = in.after(at + 1);
      if (length > frame.wire_length) frame = frame.ended_at(length);
      return EtherPayload{ether_type::bridged, frame};
    }
    if (p[at] == padding) {
      ++at;
      continue;
    }
    if (in.octets.size() < at + 2) return tl::make_unexpected(in.missing(at + 2, "TZSP tag"));
    const std::size_t next = at + 2 + p[at + 1];
    if (in.octets.size() < next) return tl::make_unexpected(in.missing(next, "TZSP tag"));
    if (p[at] == original_length && p[at + 1] == 2) length = load_be16(p + at + 2);
    at = next;
  }
  return tl::make_unexpected(DecodeError{Fault::unsupported, "TZSP tags", at});
}

}  // namespace rpcrdma::wire
