// SPDX-License-Identifier: GPL-2.0-or-later
// Inside trace: what one side sends again and again while the other side acknowledges nothing more.
#pragma once

#include <cstdint>

#include "trace/events.hpp"

namespace rpcrdma::trace {

/// Positions are PSNs or stream octets, unwrapped. Of all that is sent again the lowest counts: the rest follows it.
class Copies {
 public:
  /// What begins at `at` was sent again in frame `again`; `first`: its first transmission, number 0 when not known.
  void add(std::uint64_t at, std::uint64_t acknowledged, FrameRef first, FrameRef again) noexcept {
    const bool goes_on = first_.number != 0 && acknowledged == acknowledged_ && at >= at_;
    if (goes_on && at != at_) return;
    if (!goes_on) {
      at_ = at;
      acknowledged_ = acknowledged;
      const bool known = first.number != 0 && first.number != again.number;
      first_ = known ? first : again;
      first_repeat_ = again;
      count_ = 0;
      if (!known) return;
    }
    ++count_;
    last_ = again;
  }
  /// A question that needs an answer and carries nothing: a keep-alive. `heard`: newest frame of the other side.
  void ask(std::uint64_t acknowledged, FrameRef heard, FrameRef again) noexcept {
    const bool goes_on = first_.number != 0 && acknowledged == acknowledged_ && at_ == acknowledged &&
                         heard.number < first_repeat_.number;
    if (!goes_on) {
      at_ = acknowledged_ = acknowledged;
      first_ = first_repeat_ = again;
      count_ = 0;
      return;
    }
    ++count_;
    last_ = again;
  }
  void tell(Liveness& event, std::uint64_t acknowledged) const noexcept {
    if (count_ == 0 || acknowledged != acknowledged_) return;
    event.first_copy = first_;
    event.first_repeat = first_repeat_;
    event.last_copy = last_;
    event.copies = count_;
  }

 private:
  std::uint64_t at_ = 0;
  std::uint64_t acknowledged_ = 0;
  std::uint64_t count_ = 0;
  FrameRef first_;
  FrameRef first_repeat_;
  FrameRef last_;
};

}  // namespace rpcrdma::trace
