// SPDX-License-Identifier: GPL-2.0-or-later
// How far the clock of one tap is ahead of another's, from proofs of what came first.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "trace/frame.hpp"

namespace rpcrdma::trace::taps {

/// At `time` the clock is ahead by at most, or at least, `ahead`. Nanoseconds.
struct Bound {
  TimeNs time = 0;
  TimeNs ahead = 0;
  std::uint64_t position = 0;  ///< of the packet in its capture
};

/// A line: ahead by `base` and `offset` at `origin`, growing by `drift` for each nanosecond; outside [from, to], where
/// nothing is known of it, it does not grow any more.
struct Line {
  TimeNs origin = 0;
  TimeNs from = 0;
  TimeNs to = 0;
  TimeNs base = 0;  // apart: together they may be years, and a double would not be exact
  double offset = 0;
  double drift = 0;
  double room = 0;  ///< to the nearest bound on either side; below 0: they contradict each other
  /// Between the bounds and half of what lies between them; nothing: there are bounds of one kind only.
  std::optional<double> uncertainty;

  [[nodiscard]] TimeNs at(TimeNs time) const noexcept;
};

/// The line that is farthest from all bounds: `most` above it, `least` below it. A few that contradict all others are
/// left out: a packet that was taken for its repetition. Empty: there is no bound.
[[nodiscard]] std::optional<Line> line_between(std::vector<Bound> least, std::vector<Bound> most);

}  // namespace rpcrdma::trace::taps
