// SPDX-License-Identifier: GPL-2.0-or-later
// Inside trace: what one side sends again and again while the other side acknowledges nothing more.
#pragma once

#include <cstdint>

#include "trace/events.hpp"
#include "trace/spans.hpp"

namespace rpcrdma::trace {

/// Positions are PSNs or stream octets, unwrapped. Of all that is sent again the lowest counts: the rest follows it.
/// Not where round after round begins behind it: then it was a copy of something older, of a tap that is late for one,
/// or it has arrived, and the capture lacks the acknowledgement. What was acknowledged before it is sent again (that
/// acknowledgement was lost, perhaps) counts behind all that was not. `heard`: newest frame of the other side.
class Copies {
 public:
  /// What begins at `at` was sent again in frame `again`; `first`: its first transmission, number 0 when not known.
  /// False: it is the rest of what was sent again before it.
  bool add(std::uint64_t at, std::uint64_t acknowledged, FrameRef heard, FrameRef first, FrameRef again) noexcept {
    // Wraps: what is acknowledged comes last.
    const auto behind = [acknowledged](std::uint64_t a, std::uint64_t b) {
      return a - acknowledged >= b - acknowledged;
    };
    const bool goes_on = lowest_.any() && acknowledged == acknowledged_ && behind(at, lowest_.at);
    const bool new_round = behind(newest_, at);
    newest_ = at;
    if (!goes_on) {
      acknowledged_ = acknowledged;
      lowest_.begin(at, heard, first, again);
      without_it_ = {};
    } else if (at == lowest_.at) {
      lowest_.count(heard, again);
      without_it_ = {};
    } else if (without_it_.any() && at == without_it_.at) {
      // What comes at once is the same round, by another tap.
      if (passed(without_it_.last.time, again.time, change_of_places)) without_it_.count(heard, again);
    } else if (!without_it_.any() || !behind(at, without_it_.at) || new_round) {
      without_it_.begin(at, heard, first, again);  // what was there of the round before begins none
    }
    return at == lowest_.at;
  }
  /// A question that needs an answer and carries nothing: a keep-alive.
  void ask(std::uint64_t acknowledged, FrameRef heard, FrameRef again) noexcept {
    const bool goes_on = lowest_.any() && acknowledged == acknowledged_ && lowest_.at == acknowledged &&
                         heard.number < lowest_.first_repeat.number;
    if (goes_on) {
      lowest_.count(heard, again);
      return;
    }
    acknowledged_ = newest_ = acknowledged;
    lowest_.begin(acknowledged, heard, {}, again);
    without_it_ = {};
  }
  void tell(Liveness& event, std::uint64_t acknowledged) const noexcept {
    // The rest of a round, which each of two taps may show, is no round of its own.
    constexpr std::uint64_t enough = 3;
    const Run& run = without_it_.copies >= enough ? without_it_ : lowest_;
    if (run.copies == 0 || acknowledged != acknowledged_) return;
    event.first_copy = run.first;
    event.first_repeat = run.first_repeat;
    event.last_copy = run.last;
    event.copies = run.copies;
    event.unheard = run.unheard;
  }

 private:
  struct Run {
    std::uint64_t at = 0;
    std::uint64_t copies = 0;
    FrameRef first;  ///< number 0: nothing was sent again
    FrameRef first_repeat;
    FrameRef last;
    Liveness::Unheard unheard;

    [[nodiscard]] bool any() const noexcept { return first.number != 0; }
    void begin(std::uint64_t where, FrameRef heard, FrameRef transmitted, FrameRef again) noexcept {
      const bool known = transmitted.number != 0 && transmitted.number != again.number;
      at = where;
      copies = 0;
      first = last = known ? transmitted : again;
      first_repeat = again;
      unheard = {first, {}, heard, 0};
      if (known) count({}, again);
    }
    void count(FrameRef heard, FrameRef again) noexcept {
      if (heard.number > last.number) {
        unheard = {again, {}, heard, 0};
      } else {
        if (unheard.copies++ == 0) unheard.first_repeat = again;
      }
      ++copies;
      last = again;
    }
  };

  std::uint64_t acknowledged_ = 0;
  std::uint64_t newest_ = 0;  ///< what was sent again last
  Run lowest_;
  Run without_it_;  ///< the lowest, or what rounds began with, since that was sent again
};

}  // namespace rpcrdma::trace
