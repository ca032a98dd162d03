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
  std::array<std::optional<Said>, 2> said;  ///< by direction
  FrameRef ended;

  [[nodiscard]] bool holds(int direction, const TcpSegment& segment) const noexcept {
    const auto& by = direction == 0 ? said[0] : said[1];
    if (!by || passed(ended.time, segment.ref.time, ProvenOrder::patience)) return false;
    return (segment.flags & TcpSegment::syn) != 0 ? segment.sequence == by->from : by->holds(segment.sequence);
  }
};

/// Of the ports that were used again lately.
class EpochsBefore {
 public:
  void keep(const Ends& ends, const EpochBefore& before) {
    constexpr std::size_t most = 16;
    if (all_.size() >= most) all_.pop_front();
    all_.emplace_back(ends, before);
  }
  [[nodiscard]] bool holds(const Ends& ends, int direction, const TcpSegment& segment) {
    while (!all_.empty() && passed(all_.front().second.ended.time, segment.ref.time, ProvenOrder::patience)) {
      all_.pop_front();
    }
    return std::any_of(all_.begin(), all_.end(),
                       [&](const auto& one) { return one.first == ends && one.second.holds(direction, segment); });
  }

 private:
  std::deque<std::pair<Ends, EpochBefore>> all_;  ///< oldest first
};

}  // namespace rpcrdma::trace::iwarp
