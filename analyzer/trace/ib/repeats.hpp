// SPDX-License-Identifier: GPL-2.0-or-later
// Packets that came lately, and change nothing when they come again, such as those that were sent again: each of them
// may stand in the capture twice.
#pragma once

#include <cstdint>

#include "trace/ib/shared.hpp"
#include "trace/recent.hpp"

namespace rpcrdma::trace::ib {

class Repeats {
 public:
  /// Is it a copy of one of them? `asked`: the newest frame that makes its sender send again.
  [[nodiscard]] bool hold(const Arrival& a, Sequence at, std::uint64_t asked) const {
    return lately_.newest([&](const One& one) {
      return one.at == at && one.mark == a.mark && close_together(one.ref.time, a.ref.time) && asked < one.ref.number;
    }) != nullptr;
  }
  void add(const Arrival& a, Sequence at) { lately_.add({at, a.mark, a.ref}); }
  void release() noexcept { lately_.release(); }

 private:
  struct One {
    Sequence at = 0;
    Fingerprint mark;
    FrameRef ref;
  };
  Recent<One, 64> lately_;
};

}  // namespace rpcrdma::trace::ib
