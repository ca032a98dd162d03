// SPDX-License-Identifier: GPL-2.0-or-later
// The octets that RDMA placed into the chunks of one exchange, by handle and offset. Pieces do not overlap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "wire/bytes.hpp"

namespace rpcrdma::payload {

/// A message as it is put together: what is at hand from its start, and how long it was.
struct Stream {
  std::vector<std::uint8_t> octets;
  std::uint64_t wire_length = 0;
  bool cut = false;  ///< octets ends before the message does: nothing more is appended, only counted
  /// Segments that name the same memory again and again must not multiply it.
  std::size_t most = SIZE_MAX;

  void append(wire::Bytes captured, std::uint64_t length);
  /// As many octets of 0, fewer than four: what XDR puts behind an item.
  void append_padding(std::size_t length);
};

/// What follows a header of `header` octets in a Send, as far as it was captured, and how long it was.
[[nodiscard]] inline wire::Bytes behind(wire::Bytes captured, std::size_t header) {
  return captured.subspan(captured.size() < header ? captured.size() : header);
}
[[nodiscard]] constexpr std::uint64_t length_behind(std::uint64_t wire_length, std::uint64_t header) noexcept {
  return wire_length < header ? 0 : wire_length - header;
}

class Pieces {
 public:
  /// Octets kept for one exchange; what comes above is counted and not kept.
  static constexpr std::size_t most_octets = std::size_t{64} << 20U;
  static constexpr std::size_t most_pieces = std::size_t{1} << 20U;
  static constexpr std::size_t most_uses = 4;  ///< of each octet in one message, on average

  /// `length` octets were placed at `offset`; the capture may hold fewer of them. They replace what was there.
  void add(std::uint32_t handle, std::uint64_t offset, std::uint64_t length, wire::Bytes captured);
  /// How many octets from `offset` on have been placed without a gap, `length` at most.
  [[nodiscard]] std::uint64_t covered(std::uint32_t handle, std::uint64_t offset, std::uint64_t length) const;
  void copy(std::uint32_t handle, std::uint64_t offset, std::uint64_t length, Stream& out) const;
  [[nodiscard]] std::size_t octets() const noexcept { return pool_.size(); }

 private:
  struct Piece {
    std::uint64_t length = 0;  // on the wire
    std::size_t begin = 0;     // in the pool
    std::size_t captured = 0;
  };
  using Key = std::pair<std::uint32_t, std::uint64_t>;
  void clear(std::uint32_t handle, std::uint64_t offset, std::uint64_t length);
  /// The piece that holds this octet.
  [[nodiscard]] std::map<Key, Piece>::const_iterator holding(std::uint32_t handle, std::uint64_t offset) const;

  std::map<Key, Piece> pieces_;
  std::vector<std::uint8_t> pool_;
};

}  // namespace rpcrdma::payload
