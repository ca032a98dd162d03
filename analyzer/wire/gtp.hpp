// SPDX-License-Identifier: GPL-2.0-or-later
// GTP-U version 1 (3GPP TS 29.281), which carries packets of mobile networks. All fields big-endian.
//
//   0  version (3 bits), protocol type 0x10   1  message type   2  length, behind octet 8   4  TEID
#pragma once

#include <cstdint>

#include "wire/layer.hpp"

namespace rpcrdma::wire {

/// A user's packet stands in it. A port alone tells nothing: the length has to agree.
[[nodiscard]] inline bool is_gtp_user_packet(const Layer& in) noexcept {
  constexpr std::size_t fixed = 8;
  constexpr unsigned version_1 = 0x30;  // with the protocol type
  constexpr std::uint8_t user_packet = 0xFF;
  if (in.octets.size() < fixed) return false;
  const std::uint8_t* p = in.octets.data();
  return (p[0] & 0xF0U) == version_1 && p[1] == user_packet && fixed + load_be16(p + 2) == in.wire_length;
}

}  // namespace rpcrdma::wire
