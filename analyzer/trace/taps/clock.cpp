// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/taps/clock.hpp"
#include "trace/spans.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace rpcrdma::trace::taps {
namespace {

/// Relative to an origin, so that doubles are exact enough.
struct Point {
  double time = 0;
  double ahead = 0;
};
using Points = std::vector<Point>;

constexpr double most_drift = 1e-3;  // a crystal is a hundred times better

[[nodiscard]] TimeNs difference(TimeNs a, TimeNs b) noexcept {
  return static_cast<TimeNs>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}

/// Where the bounds leave room at this drift.
struct Room {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  std::size_t lowest = 0;   ///< which of `least` makes `low`
  std::size_t highest = 0;  ///< which of `most` makes `high`

  [[nodiscard]] double half() const noexcept { return (high - low) / 2; }
  [[nodiscard]] double middle() const noexcept { return low + half(); }
};

[[nodiscard]] Room room_at(double drift, const Points& least, const Points& most) noexcept {
  Room room;
  for (std::size_t i = 0; i < least.size(); ++i) {
    const double value = least[i].ahead - drift * least[i].time;
    if (value > room.low) {
      room.low = value;
      room.lowest = i;
    }
  }
  for (std::size_t i = 0; i < most.size(); ++i) {
    const double value = most[i].ahead - drift * most[i].time;
    if (value < room.high) {
      room.high = value;
      room.highest = i;
    }
  }
  return room;
}

/// The room is a concave function of the drift: the widest is found by narrowing down.
[[nodiscard]] double best_drift(const Points& least, const Points& most) noexcept {
  constexpr int steps = 60;
  double from = -most_drift;
  double to = most_drift;
  for (int i = 0; i < steps; ++i) {
    const double third = (to - from) / 3;
    if (room_at(from + third, least, most).half() < room_at(to - third, least, most).half()) {
      from += third;
    } else {
      to -= third;
    }
  }
  return (from + to) / 2;
}

/// A drift is believed where it explains more than the steps of a clock and the jitter of a path do.
[[nodiscard]] double drift_of(const Points& least, const Points& most) noexcept {
  constexpr std::size_t enough = 8;
  constexpr double clock_step = 2'000;
  if (least.size() < enough || most.size() < enough) return 0;
  const double drift = best_drift(least, most);
  const double without = room_at(0, least, most).half();
  return room_at(drift, least, most).half() > without + std::max(clock_step, std::abs(without) / 10) ? drift : 0;
}

[[nodiscard]] double median(const Points& points, double drift) {
  std::vector<double> all;
  all.reserve(points.size());
  for (const Point& p : points) all.push_back(p.ahead - drift * p.time);
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  std::nth_element(all.begin(), middle, all.end());
  return *middle;
}

/// Leaves out what contradicts the rest, while that is little.
[[nodiscard]] double settled_drift(Points& least, Points& most) {
  constexpr double jitter = 1'000;
  std::size_t may_go = std::min<std::size_t>((least.size() + most.size()) / 50, 64);
  for (;; --may_go) {
    const double drift = drift_of(least, most);
    const Room room = room_at(drift, least, most);
    if (may_go == 0 || room.half() >= -jitter || least.size() < 2 || most.size() < 2) return drift;
    const bool low = room.low - median(least, drift) > median(most, drift) - room.high;
    Points& from = low ? least : most;
    from.erase(from.begin() + static_cast<std::ptrdiff_t>(low ? room.lowest : room.highest));
  }
}

}  // namespace

TimeNs Line::at(TimeNs time) const noexcept {
  const auto inside = static_cast<double>(difference(std::clamp(time, from, to), origin));
  return plus(base, std::llround(offset + drift * inside));
}

std::optional<Line> line_between(std::vector<Bound> least, std::vector<Bound> most) {
  if (least.empty() && most.empty()) return std::nullopt;
  const Bound first = least.empty() ? most.front() : least.front();
  Line line;
  line.origin = line.from = line.to = first.time;
  line.base = first.ahead;
  const auto relative = [&](const std::vector<Bound>& bounds) {
    Points points;
    points.reserve(bounds.size());
    for (const Bound& b : bounds) {
      line.from = std::min(line.from, b.time);
      line.to = std::max(line.to, b.time);
      points.push_back(
          {static_cast<double>(difference(b.time, first.time)), static_cast<double>(difference(b.ahead, first.ahead))});
    }
    return points;
  };
  Points low = relative(least);
  Points high = relative(most);
  if (low.empty() || high.empty()) {
    const Room room = room_at(0, low, high);
    line.offset = low.empty() ? room.high : room.low;
    return line;
  }
  line.drift = settled_drift(low, high);
  const Room room = room_at(line.drift, low, high);
  line.offset = room.middle();
  line.room = room.half();
  line.uncertainty = std::abs(line.room);
  return line;
}

}  // namespace rpcrdma::trace::taps
