// SPDX-License-Identifier: GPL-2.0-or-later
// TCP streams that are not known to be iWARP: a table that grows to a fixed size, so that ordinary TCP costs next to
// nothing.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "trace/budget.hpp"
#include "trace/iwarp/connection.hpp"
#include "trace/iwarp/plain_nfs.hpp"

namespace rpcrdma::trace::iwarp {

class OrdinaryTcp {
 public:
  explicit OrdinaryTcp(PlainNfs& plain)
      : plain_(plain), scratch_budget_(Window::octets_limit), scratch_(scratch_budget_) {}

  /// Nobody is looked for further than at two places: its lowest bits have to differ, too.
  [[nodiscard]] static std::uint64_t hash_of(const Ends& ends) noexcept;

  /// True when the stream is worth a Connection: `opening` is then what was seen of its TCP handshake.
  /// A stream that falls out of the table, because another one needs its place, is looked at anew.
  [[nodiscard]] bool worth_a_look(std::uint64_t hash, int direction, const TcpSegment& segment, bool service,
                                  TcpOpening& opening);
  /// The stream was looked at and is something else, until it begins anew: NFS over TCP, if it is a pair's.
  void ignore(std::uint64_t hash, PlainPair plain);
  /// The ports have a new epoch: what is known is of the old one.
  void forget(std::uint64_t hash) noexcept;

 private:
  struct Slot {
    std::uint64_t hash = 0;
    std::uint64_t used = 0;      // frame that came last
    FrameRef syn;                // the first
    FrameRef answer;             // to it, the newest
    std::uint32_t answered = 0;  // with `answer`: the number that it acknowledges
    std::array<std::uint32_t, 2> first{};
    std::array<bool, 2> first_known{};
    std::int8_t opener = -1;
    bool ignored = false;
    PlainPair plain = 0;  // its frames are counted
    std::uint16_t segments = 0;
    std::uint32_t octets = 0;
  };

  /// One of its two places: that where it stands, an empty one, or that which was used longest ago.
  [[nodiscard]] Slot& slot(std::uint64_t hash) noexcept;
  /// The slot for a stream that may not have it yet. While the table can grow, none has to make room.
  [[nodiscard]] Slot& place(std::uint64_t hash);
  static void note_syn(Slot& slot, int direction, const TcpSegment& segment) noexcept;
  [[nodiscard]] bool evidence(Slot& slot, const TcpSegment& segment);

  static constexpr std::size_t first_slots = 64;
  static constexpr std::size_t most_slots = 16384;  // (both are powers of two)
  PlainNfs& plain_;
  std::vector<Slot> slots_;  // empty until the first TCP segment
  Budget scratch_budget_;
  Window scratch_;
  Alignment alignment_;
};

}  // namespace rpcrdma::trace::iwarp
