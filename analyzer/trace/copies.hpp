// SPDX-License-Identifier: GPL-2.0-or-later
// Inside trace: what one side sends again and again while the other side acknowledges nothing more.
#pragma once

#include <cstdint>

#include "trace/events.hpp"
#include "trace/spans.hpp"

namespace rpcrdma::trace {

/// Positions are PSNs or stream octets, unwrapped. Of all that is sent again the lowest counts: the rest follows it,
/// unless its sender goes on with that alone. `heard`: newest frame of the other side.
class Copies {
 public:
  /// What begins at `at` was sent again in frame `again`; `first`: its first transmission, number 0 when not known.
  /// False: it is the rest of what was sent again before it.
  bool add(std::uint64_t at, std::uint64_t acknowledged, FrameRef heard, FrameRef first, FrameRef again) noexcept {
    const bool goes_on = lowest_.begun() && acknowledged == acknowledged_ && at >= lowest_.at;
    if (!goes_on || at == lowest_.at) alone_ = {};
    if (!goes_on) {
      acknowledged_ = acknowledged;
      lowest_ = sent_again(at, first, again);
      return true;
    }
    if (at == lowest_.at) {
      lowest_.add(heard, again);
      return true;
    }
    if (!alone_.begun() || at < alone_.at) {
      alone_ = sent_again(at, first, again);
      return false;
    }
    if (at > alone_.at) return false;
    alone_.add(heard, again);
    return true;
  }
  /// A question that needs an answer and carries nothing: a keep-alive.
  void ask(std::uint64_t acknowledged, FrameRef heard, FrameRef again) noexcept {
    const bool goes_on = lowest_.begun() && acknowledged == acknowledged_ && lowest_.at == acknowledged &&
                         heard.number < lowest_.first_repeat.number;
    if (goes_on) {
      lowest_.add(heard, again);
      return;
    }
    acknowledged_ = acknowledged;
    lowest_ = sent_again(acknowledged, {}, again);
    alone_ = {};
  }
  void tell(Liveness& event, std::uint64_t acknowledged) const noexcept {
    if (acknowledged != acknowledged_) return;
    const Run& run = alone_.lasts() ? alone_ : lowest_;
    if (run.count == 0) return;
    event.first_copy = run.first;
    event.first_repeat = run.first_repeat;
    event.last_copy = run.last;
    event.copies = run.count;
    event.unheard = run.unheard;
  }

 private:
  struct Run {
    std::uint64_t at = 0;
    std::uint64_t count = 0;
    FrameRef first;
    FrameRef first_repeat;
    FrameRef last;
    Liveness::Unheard unheard;

    [[nodiscard]] bool begun() const noexcept { return first.number != 0; }
    /// Who only probes with it comes back to the lowest sooner.
    [[nodiscard]] bool lasts() const noexcept {
      constexpr TimeNs comes_back = 1'000'000'000;
      return count >= 2 && passed(first_repeat.time, last.time, comes_back);
    }
    void add(FrameRef heard, FrameRef again) noexcept {
      if (heard.number > last.number) {
        unheard = {again, {}, 0};
      } else {
        if (unheard.copies++ == 0) unheard.first_repeat = again;
      }
      ++count;
      last = again;
    }
  };
  [[nodiscard]] static Run sent_again(std::uint64_t at, FrameRef first, FrameRef again) noexcept {
    const bool known = first.number != 0 && first.number != again.number;
    Run run;
    run.at = at;
    run.first = run.last = known ? first : again;
    run.first_repeat = again;
    run.unheard = {run.first, {}, 0};
    if (known) run.add({}, again);
    return run;
  }

  std::uint64_t acknowledged_ = 0;
  Run lowest_;
  Run alone_;  ///< behind it, sent again since without it: it has arrived, and its acknowledgement is not in the
               ///< capture
};

}  // namespace rpcrdma::trace
