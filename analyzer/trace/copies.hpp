// SPDX-License-Identifier: GPL-2.0-or-later
// Inside trace: what one side sends again and again while the other side acknowledges nothing more.
#pragma once

#include <cstdint>

#include "trace/events.hpp"

namespace rpcrdma::trace {

/// Positions are PSNs or stream octets, unwrapped. Of all that is sent again the lowest counts: the rest follows it.
/// `heard`: newest frame of the other side.
class Copies {
 public:
  /// What begins at `at` was sent again in frame `again`; `first`: its first transmission, number 0 when not known.
  /// False: it is the rest of what was sent again before it.
  bool add(std::uint64_t at, std::uint64_t acknowledged, FrameRef heard, FrameRef first, FrameRef again) noexcept {
    const bool goes_on = first_.number != 0 && acknowledged == acknowledged_ && at >= at_;
    if (goes_on) {
      if (at == at_) count(heard, again);
      return at == at_;
    }
    const bool known = first.number != 0 && first.number != again.number;
    begin(at, acknowledged, known ? first : again);
    first_repeat_ = again;
    if (known) count({}, again);
    return true;
  }
  /// A question that needs an answer and carries nothing: a keep-alive.
  void ask(std::uint64_t acknowledged, FrameRef heard, FrameRef again) noexcept {
    const bool goes_on = first_.number != 0 && acknowledged == acknowledged_ && at_ == acknowledged &&
                         heard.number < first_repeat_.number;
    if (goes_on) {
      count(heard, again);
      return;
    }
    begin(acknowledged, acknowledged, again);
    first_repeat_ = again;
  }
  void tell(Liveness& event, std::uint64_t acknowledged) const noexcept {
    if (count_ == 0 || acknowledged != acknowledged_) return;
    event.first_copy = first_;
    event.first_repeat = first_repeat_;
    event.last_copy = last_;
    event.copies = count_;
    event.unheard = unheard_;
  }

 private:
  void begin(std::uint64_t at, std::uint64_t acknowledged, FrameRef first) noexcept {
    at_ = at;
    acknowledged_ = acknowledged;
    first_ = last_ = first;
    count_ = 0;
    unheard_ = {first, {}, 0};
  }
  void count(FrameRef heard, FrameRef again) noexcept {
    if (heard.number > last_.number) {
      unheard_ = {again, {}, 0};
    } else {
      if (unheard_.copies++ == 0) unheard_.first_repeat = again;
    }
    ++count_;
    last_ = again;
  }

  std::uint64_t at_ = 0;
  std::uint64_t acknowledged_ = 0;
  std::uint64_t count_ = 0;
  FrameRef first_;
  FrameRef first_repeat_;
  FrameRef last_;
  Liveness::Unheard unheard_;
};

}  // namespace rpcrdma::trace
