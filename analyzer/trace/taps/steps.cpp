// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/taps/steps.hpp"
#include "trace/spans.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

namespace rpcrdma::trace::taps {
namespace {

/// A clock is not set more often than this while somebody captures; more is not looked for.
constexpr std::size_t most_stretches = 16;
/// Less than this the bounds contradict each other by the steps of a clock and the haste of a queue.
constexpr double contradiction = -100'000;

struct Proof {
  Bound bound;
  bool most = false;
};
using Proofs = std::vector<Proof>;

/// Of those around `i`, itself counted. At the ends two may be in the middle: that which is like its own value, or a
/// step would seem to be elsewhere.
[[nodiscard]] double median_around(const std::vector<double>& values, std::size_t i) {
  constexpr std::size_t window = 5;
  const std::size_t from = i < window / 2 ? 0 : i - window / 2;
  const std::size_t to = std::min(i + window / 2 + 1, values.size());
  std::array<double, window> around{};
  for (std::size_t k = from; k < to; ++k) around[k - from] = values[k];
  const auto middle = around.begin() + static_cast<std::ptrdiff_t>((to - from) / 2);
  std::nth_element(around.begin(), middle, around.begin() + static_cast<std::ptrdiff_t>(to - from));
  if ((to - from) % 2 != 0) return *middle;
  const double lower = *std::max_element(around.begin(), middle);
  return std::abs(lower - values[i]) < std::abs(*middle - values[i]) ? lower : *middle;
}

/// By position. A single one that differs from its neighbours is no step: a packet that was taken for its repetition.
/// Those are the neighbours of its own direction, but where it is the only one before a step, those of both.
[[nodiscard]] std::vector<double> smooth(const Proofs& proofs) {
  std::vector<double> own;
  own.reserve(proofs.size());
  const TimeNs base = proofs.front().bound.ahead;
  for (const Proof& proof : proofs) own.push_back(static_cast<double>(minus(proof.bound.ahead, base)));
  std::vector<double> out(proofs.size());
  for (const bool most : {false, true}) {
    std::vector<std::size_t> which;
    std::vector<double> values;
    for (std::size_t i = 0; i < proofs.size(); ++i) {
      if (proofs[i].most != most) continue;
      which.push_back(i);
      values.push_back(own[i]);
    }
    for (std::size_t k = 0; k < which.size(); ++k) {
      const std::size_t i = which[k];
      out[i] = median_around(values, k);
      const double of_both = median_around(own, i);
      if (std::abs(own[i] - of_both) < std::abs(out[i] - of_both) / 4) out[i] = own[i];
    }
  }
  return out;
}

/// Where the two parts leave about the most room each, at the largest leap: index of the first proof behind.
[[nodiscard]] std::size_t best_split(const Proofs& proofs) {
  const std::vector<double> ahead = smooth(proofs);
  const auto rooms = [&](bool backwards) {
    double low = -std::numeric_limits<double>::infinity();
    double high = std::numeric_limits<double>::infinity();
    std::vector<double> out(proofs.size());
    for (std::size_t n = 0; n < proofs.size(); ++n) {
      const std::size_t i = backwards ? proofs.size() - 1 - n : n;
      if (proofs[i].most) {
        high = std::min(high, ahead[i]);
      } else {
        low = std::max(low, ahead[i]);
      }
      out[i] = high - low;
    }
    return out;
  };
  const std::vector<double> left = rooms(false);
  const std::vector<double> right = rooms(true);
  const auto room = [&](std::size_t i) { return std::min(left[i - 1], right[i]); };
  double most = room(1);
  for (std::size_t i = 2; i < proofs.size(); ++i) most = std::max(most, room(i));
  const double enough = most - std::abs(left.back()) / 4;
  std::size_t best = 0;
  double leap = -1;
  for (std::size_t i = 1; i < proofs.size(); ++i) {
    const double here = std::abs(ahead[i] - ahead[i - 1]);
    if (room(i) < enough || here <= leap) continue;
    leap = here;
    best = i;
  }
  return best;
}

[[nodiscard]] std::optional<Line> line_of(const Proofs& proofs) {
  std::vector<Bound> least;
  std::vector<Bound> most;
  for (const Proof& proof : proofs) (proof.most ? most : least).push_back(proof.bound);
  return line_between(std::move(least), std::move(most));
}

[[nodiscard]] TimeNs less(TimeNs own, const Line& ahead) noexcept {
  return static_cast<TimeNs>(static_cast<std::uint64_t>(own) - static_cast<std::uint64_t>(ahead.at(own)));
}

}  // namespace

std::vector<Stretch> stretches_between(const std::vector<Bound>& least, const std::vector<Bound>& most) {
  Proofs all;
  all.reserve(least.size() + most.size());
  for (const Bound& bound : least) all.push_back({bound, false});
  for (const Bound& bound : most) all.push_back({bound, true});
  if (all.empty()) return {};
  std::stable_sort(all.begin(), all.end(),
                   [](const Proof& a, const Proof& b) { return a.bound.position < b.bound.position; });
  std::vector<Proofs> parts{std::move(all)};
  std::vector<std::optional<Line>> lines{line_of(parts.front())};
  for (std::size_t i = 0; i < parts.size();) {
    // Both kinds on each side, or nothing would tell a step from a way that is longer.
    const bool may = parts.size() < most_stretches && parts[i].size() >= 4;
    if (!may || lines[i]->room >= contradiction) {
      ++i;
      continue;
    }
    const std::size_t at = best_split(parts[i]);
    const auto place = static_cast<std::ptrdiff_t>(i);
    Proofs behind(parts[i].begin() + static_cast<std::ptrdiff_t>(at), parts[i].end());
    parts[i].resize(at);
    lines[i] = line_of(parts[i]);
    lines.insert(lines.begin() + place + 1, line_of(behind));
    parts.insert(parts.begin() + place + 1, std::move(behind));
  }
  // What was parted in vain goes together again.
  for (std::size_t i = 1; i < parts.size();) {
    Proofs both = parts[i - 1];
    both.insert(both.end(), parts[i].begin(), parts[i].end());
    const std::optional<Line> line = line_of(both);
    if (line->room < contradiction) {
      ++i;
      continue;
    }
    const auto place = static_cast<std::ptrdiff_t>(i);
    parts[i - 1] = std::move(both);
    lines[i - 1] = line;
    parts.erase(parts.begin() + place);
    lines.erase(lines.begin() + place);
  }
  std::vector<Stretch> out;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    Stretch stretch{*lines[i], 0, 0, 0, 0};
    const Bound& first = parts[i].front().bound;
    stretch.first = first.position;
    stretch.first_time = less(first.time, stretch.ahead);
    if (i != 0) {
      const Bound& before = parts[i - 1].back().bound;
      stretch.before = before.position;
      stretch.before_time = less(before.time, *lines[i - 1]);
    }
    out.push_back(stretch);
  }
  return out;
}

TimeNs corrected(const Line& first, const std::vector<Stretch>& steps, TimeNs own, std::uint64_t position) noexcept {
  const auto after = std::partition_point(steps.begin(), steps.end(),
                                          [position](const Stretch& step) { return step.first <= position; });
  const Line& here = after == steps.begin() ? first : std::prev(after)->ahead;
  const TimeNs time = less(own, here);
  if (after == steps.end() || position <= after->before) return time;
  return time >= after->before_time && time <= after->first_time ? time : less(own, after->ahead);
}

}  // namespace rpcrdma::trace::taps
