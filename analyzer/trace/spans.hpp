// SPDX-License-Identifier: GPL-2.0-or-later
// Arithmetic with times. They come from the file and may be anything.
#pragma once

#include <limits>

#include "trace/frame.hpp"

namespace rpcrdma::trace {

/// The sum, held at the limits.
[[nodiscard]] constexpr TimeNs plus(TimeNs a, TimeNs b) noexcept {
  using Limits = std::numeric_limits<TimeNs>;
  if (b > 0 && a > Limits::max() - b) return Limits::max();
  if (b < 0 && a < Limits::min() - b) return Limits::min();
  return a + b;
}

/// The difference, held at the limits.
[[nodiscard]] constexpr TimeNs minus(TimeNs a, TimeNs b) noexcept {
  using Limits = std::numeric_limits<TimeNs>;
  if (b < 0 && a > Limits::max() + b) return Limits::max();
  if (b > 0 && a < Limits::min() + b) return Limits::min();
  return a - b;
}

/// How long it took, for a person: nothing where the clock ran backwards.
[[nodiscard]] constexpr TimeNs elapsed(TimeNs from, TimeNs to) noexcept { return to > from ? minus(to, from) : 0; }

/// Has more than `span` passed? Never where the clock ran backwards.
[[nodiscard]] constexpr bool passed(TimeNs from, TimeNs to, TimeNs span) noexcept { return elapsed(from, to) > span; }

}  // namespace rpcrdma::trace
