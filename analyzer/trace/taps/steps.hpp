// SPDX-License-Identifier: GPL-2.0-or-later
// A clock that was set while the capture ran, once or more often. Where it happened is known by the packets before and
// behind: their order in the capture is that in which the tap saw them, whatever its clock said.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/taps/clock.hpp"

namespace rpcrdma::trace::taps {

/// From one step of a clock to the next. Times are those of the clock that all are brought to.
struct Stretch {
  Line ahead;
  std::uint64_t before = 0;  ///< the last packet that is known to lie before the step, and when that was
  TimeNs before_time = 0;
  std::uint64_t first = 0;  ///< the first one behind it, likewise
  TimeNs first_time = 0;
};

/// One line, or several where no line lies between the bounds. In the order of the capture; empty: there is no bound.
[[nodiscard]] std::vector<Stretch> stretches_between(const std::vector<Bound>& least, const std::vector<Bound>& most);

/// What lies between two stretches belongs to the one by which it was seen between their packets.
[[nodiscard]] TimeNs corrected(const Line& first, const std::vector<Stretch>& steps, TimeNs own,
                               std::uint64_t position) noexcept;

}  // namespace rpcrdma::trace::taps
