// SPDX-License-Identifier: GPL-2.0-or-later
// One direction of a TCP stream in sequence order: holds back what comes early, drops what comes again.
#pragma once

#include <array>
#include <list>
#include <optional>
#include <vector>

#include "trace/budget.hpp"
#include "trace/iwarp/piece.hpp"
#include "trace/iwarp/same_packet.hpp"

namespace rpcrdma::trace::iwarp {

enum class Arrival : std::uint8_t {
  next,               ///< in order, perhaps trimmed: to be used now
  held,               ///< behind a hole; copied
  retransmission,     ///< nothing new
  capture_duplicate,  ///< nothing new: the same segment at nearly the same time, or the same IP packet
  keep_alive,         ///< nothing new, and meant so
  full,               ///< behind a hole, and no room is left to hold it: give up a hole and offer it again
};

struct Hole {
  Position start = 0;
  std::uint64_t count = 0;
  FrameRef since;  ///< the frame that showed it
};

class TcpOrder {
 public:
  static constexpr std::size_t held_octets_limit = 4U << 20U;
  static constexpr std::size_t held_pieces_limit = 4096;

  explicit TcpOrder(Budget& budget) noexcept : budget_(budget) {}
  ~TcpOrder() { budget_.give(held_octets_); }
  TcpOrder(const TcpOrder&) = delete;
  TcpOrder& operator=(const TcpOrder&) = delete;

  [[nodiscard]] bool started() const noexcept { return started_; }
  /// The first octet that counts; what lies before it is taken for old.
  void start_at(std::uint32_t sequence) noexcept;
  [[nodiscard]] Position next() const noexcept { return next_; }
  /// Serial arithmetic: the position nearest to next().
  [[nodiscard]] Position unwrap(std::uint32_t sequence) const noexcept;

  /// On Arrival::next `piece` is what is new of it and next() lies behind it: use it, then take_ready() until empty.
  [[nodiscard]] Arrival arrive(Piece& piece, std::uint32_t acknowledgement, std::uint16_t ip_identification = 0);
  /// The next held piece that has become contiguous; valid until the next call.
  [[nodiscard]] std::optional<Piece> take_ready();
  /// What is missing before the first held piece.
  [[nodiscard]] std::optional<Hole> hole() const noexcept;
  /// Gives up `count` octets at next().
  void skip(std::uint64_t count) noexcept { next_ += count; }
  [[nodiscard]] std::size_t held() const noexcept { return held_.size(); }
  /// The first frame with the octet at `position` or, where none is known any more, with what follows it soonest;
  /// number 0: no such octet was seen.
  [[nodiscard]] FrameRef oldest_beyond(Position position) const noexcept;

 private:
  struct Held {
    Position start = 0;
    std::uint32_t wire_length = 0;
    FrameRef ref;
    std::vector<std::uint8_t> octets;
  };
  struct Recent {
    Position start = 0;
    std::uint32_t wire_length = 0;
    std::uint32_t acknowledgement = 0;
    std::uint16_t ip_identification = 0;
    FrameRef ref;
  };

  [[nodiscard]] Arrival hold(const Piece& piece);
  [[nodiscard]] bool seen_just_now(const Piece& piece, std::uint32_t acknowledgement,
                                   std::uint16_t ip_identification) noexcept;

  Budget& budget_;
  bool started_ = false;
  Position first_ = 0;
  Position next_ = 0;
  std::list<Held> held_;  // by start; may overlap. No room is taken while nothing is held
  std::size_t held_octets_ = 0;
  Held taken_;
  std::array<Recent, 64> recent_{};
  std::size_t recent_at_ = 0;
};

}  // namespace rpcrdma::trace::iwarp
