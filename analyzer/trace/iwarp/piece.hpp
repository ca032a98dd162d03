// SPDX-License-Identifier: GPL-2.0-or-later
// A run of octets of one direction of a TCP stream.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "trace/frame.hpp"
#include "wire/bytes.hpp"

namespace rpcrdma::trace::iwarp {

using wire::Bytes;

/// Stream positions are TCP sequence numbers unwrapped to 64 bits. The first octet of the first segment gets a
/// position above 2^32, so that older octets still have one.
using Position = std::uint64_t;

/// Negative: `to` lies in front of `from`.
[[nodiscard]] constexpr std::int64_t distance(Position from, Position to) noexcept {
  return static_cast<std::int64_t>(to - from);
}

/// A segment further away than this belongs to something else. TCP's window has no more octets (RFC 7323 section 2.3).
inline constexpr std::int64_t far_away = std::int64_t{1} << 30U;

struct Piece {
  Position start = 0;
  std::uint32_t wire_length = 0;  ///< octets on the wire
  Bytes octets;                   ///< of these, what was captured: a prefix
  FrameRef ref;
  bool segment_start = true;  ///< a TCP segment began at `start`
  std::uint64_t turn = 0;     ///< counts what both directions let through, in the order in which they did

  [[nodiscard]] Position end() const noexcept { return start + wire_length; }

  void drop_front(std::uint64_t count) noexcept {
    if (count == 0) return;
    const auto n = static_cast<std::uint32_t>(std::min<std::uint64_t>(count, wire_length));
    start += n;
    wire_length -= n;
    octets = octets.subspan(std::min<std::size_t>(n, octets.size()));
    segment_start = false;
  }
};

}  // namespace rpcrdma::trace::iwarp
