// SPDX-License-Identifier: GPL-2.0-or-later
// Packets that came lately, and change nothing when they come again, such as those that were sent again: each of them
// may stand in the capture twice.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "trace/ib/shared.hpp"

namespace rpcrdma::trace::ib {

class Repeats {
 public:
  /// Is it a copy of one of them? `asked`: the newest frame that makes its sender send again.
  [[nodiscard]] bool hold(const Arrival& a, Sequence at, std::uint64_t asked) const {
    return std::any_of(lately_.begin(), lately_.end(), [&](const One& one) {
      return one.at == at && one.mark == a.mark && close_together(one.ref.time, a.ref.time) && asked < one.ref.number;
    });
  }
  void add(const Arrival& a, Sequence at) {
    if (lately_.size() < most) {
      lately_.push_back({at, a.mark, a.ref});
    } else {
      lately_[oldest_] = {at, a.mark, a.ref};
      oldest_ = (oldest_ + 1) % most;
    }
  }
  void release() noexcept { lately_ = {}; }

 private:
  struct One {
    Sequence at = 0;
    Fingerprint mark;
    FrameRef ref;
  };
  static constexpr std::size_t most = 64;
  std::vector<One> lately_;
  std::size_t oldest_ = 0;  ///< once there are so many
};

}  // namespace rpcrdma::trace::ib
