// SPDX-License-Identifier: GPL-2.0-or-later
// Octets of one direction that wait for a decision: for the rest of an MPA frame, for FPDU alignment, for roles.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "trace/budget.hpp"
#include "trace/iwarp/piece.hpp"
#include "wire/mpa.hpp"

namespace rpcrdma::trace::iwarp {

class Window {
 public:
  static constexpr std::size_t octets_limit = 256U << 10U;
  static constexpr std::size_t pieces_limit = 1024;

  explicit Window(Budget& budget) noexcept : budget_(budget) {}
  ~Window() { clear(); }
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }
  [[nodiscard]] std::size_t pieces() const noexcept { return entries_.size(); }
  [[nodiscard]] Position begin() const noexcept { return entries_.empty() ? 0 : entries_.front().start; }
  [[nodiscard]] Position end() const noexcept;

  /// False when a bound is met: nothing was added.
  [[nodiscard]] bool append(const Piece& piece);
  /// Octets that the capture lacks. Also an entry, so that positions stay contiguous.
  [[nodiscard]] bool append_hole(Position start, std::uint64_t count, FrameRef ref, std::uint64_t turn = 0);

  struct Front {
    Piece piece;
    std::uint64_t hole = 0;  ///< not 0: octets missing from piece.start on; piece is otherwise empty
  };
  [[nodiscard]] Front front() const noexcept;
  void pop_front();
  /// Drops everything before `position`; answers how many octets of that were no holes.
  std::uint64_t drop_before(Position position);
  void clear();

  enum class Have : std::uint8_t {
    yes,
    cut,     ///< on the wire, but not in the capture
    beyond,  ///< not yet in the window
  };
  /// Copies `count` octets from `from` on, stepping over markers. All or nothing.
  [[nodiscard]] Have read(Position from, std::size_t count, const wire::Markers& markers, std::uint8_t* out) const;
  /// The captured octets from `from` to the end of its piece.
  [[nodiscard]] Bytes contiguous(Position from) const noexcept;
  /// Where the piece behind the one at `position` begins.
  [[nodiscard]] Position next_piece(Position position) const noexcept;
  /// A TCP segment began here, or the window ends here.
  [[nodiscard]] bool boundary(Position position) const noexcept;
  /// CRC32c over [from, to), nothing when an octet is missing.
  [[nodiscard]] std::optional<std::uint32_t> crc(Position from, Position to) const noexcept;
  [[nodiscard]] FrameRef frame_of(Position position) const noexcept;

 private:
  struct Entry {
    Position start = 0;
    std::uint64_t wire_length = 0;
    std::size_t at = 0;  // of its first octet, counted like shed_
    std::size_t captured = 0;
    FrameRef ref;
    std::uint64_t turn = 0;
    bool segment_start = false;
    bool hole = false;
    [[nodiscard]] Position end() const noexcept { return start + wire_length; }
  };
  [[nodiscard]] const Entry* find(Position position) const noexcept;
  [[nodiscard]] Bytes octets_of(const Entry& entry) const noexcept;

  Budget& budget_;
  std::deque<Entry> entries_;
  std::vector<std::uint8_t> octets_;
  std::size_t shed_ = 0;  // octets that octets_ held before its first one
  std::size_t used_ = 0;  // captured octets of entries_
};

}  // namespace rpcrdma::trace::iwarp
