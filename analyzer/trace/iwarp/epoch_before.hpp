// SPDX-License-Identifier: GPL-2.0-or-later
// What the connection before said between the same addresses and ports: of that, something may still come, late or
// for the second time.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

#include "trace/iwarp/ends.hpp"
#include "trace/packet.hpp"
#include "trace/proven_order.hpp"
#include "trace/spans.hpp"

namespace rpcrdma::trace::iwarp {

struct EpochBefore {
  /// Sequence numbers that a side used, from its SYN on.
  struct Said {
    std::uint32_t from = 0;
    std::uint32_t to = 0;  ///< behind the last one

    [[nodiscard]] bool holds(std::uint32_t sequence) const noexcept { return sequence - from <= to - from; }
  };
  std::array<std::optional<Said>, 2> said;            ///< by direction
  std::array<std::optional<std::uint32_t>, 2> begun;  ///< the SYN of the epoch behind it
  FrameRef ended;

  [[nodiscard]] bool holds(int direction, const TcpSegment& segment) noexcept {
    const std::size_t of = direction == 0 ? 0 : 1;
    const auto& by = said[of];
    if (!by || passed(ended.time, segment.ref.time, ProvenOrder::patience)) return false;
    if ((segment.flags & TcpSegment::syn) != 0) {
      if (segment.sequence == by->from) return true;
      begun[of] = segment.sequence;
      return false;
    }
    // The numbers of the next epoch may begin in the midst of those of this one.
    constexpr std::uint32_t window = 64U << 20U;
    if (begun[of] && segment.sequence - *begun[of] <= window) return false;
    return by->holds(segment.sequence);
  }
};

/// Of the ports that were used again lately.
class EpochsBefore {
 public:
  /// `next`: with which the epoch behind it begins.
  void keep(const Ends& ends, const EpochBefore& before, int direction, const TcpSegment& next) {
    constexpr std::size_t most = 16;
    if (all_.size() >= most) all_.pop_front();
    all_.emplace_back(ends, before);
    (void)all_.back().second.holds(direction, next);
  }
  [[nodiscard]] bool holds(const Ends& ends, int direction, const TcpSegment& segment) {
    while (!all_.empty() && passed(all_.front().second.ended.time, segment.ref.time, ProvenOrder::patience)) {
      all_.pop_front();
    }
    return std::any_of(all_.begin(), all_.end(),
                       [&](auto& one) { return one.first == ends && one.second.holds(direction, segment); });
  }

 private:
  std::deque<std::pair<Ends, EpochBefore>> all_;  ///< oldest first
};

}  // namespace rpcrdma::trace::iwarp
