// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/state/latency.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace rpcrdma::referee {

namespace {

/// Nearest rank, from 1: the smallest value that at least this fraction of all does not exceed.
[[nodiscard]] std::uint64_t rank(double fraction, std::uint64_t count) noexcept {
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::ceil(fraction * static_cast<double>(count))));
}

}  // namespace

LatencyHistogram::Place LatencyHistogram::place(std::uint64_t value) noexcept {
  if (value < steps) return {0, static_cast<std::size_t>(value)};
  const auto shift = static_cast<unsigned>(std::bit_width(value)) - 1U - steps_log2;
  return {std::size_t{1} + shift, static_cast<std::size_t>((value >> shift) - steps)};
}

std::uint64_t LatencyHistogram::middle(Place place) noexcept {
  if (place.octave == 0) return place.step;
  const std::size_t shift = place.octave - 1;
  const std::uint64_t low = static_cast<std::uint64_t>(place.step + steps) << shift;
  return low + ((std::uint64_t{1} << shift) >> 1U);
}

LatencyHistogram::Octave& LatencyHistogram::octave(std::size_t number) {
  std::unique_ptr<Octave>& wanted = (*counts_)[number];
  if (!wanted) wanted = std::make_unique<Octave>();
  return *wanted;
}

/// From values to counts.
void LatencyHistogram::spread() {
  if (counts_) return;
  counts_ = std::make_unique<Octaves>();
  for (const std::uint64_t value : std::exchange(values_, {})) hold(value);
}

void LatencyHistogram::hold(std::uint64_t value) {
  if (!counts_ && values_.size() < few) {
    if (values_.capacity() == 0) values_.reserve(first_room);
    return values_.push_back(value);
  }
  spread();
  const Place at = place(value);
  ++octave(at.octave)[at.step];
}

void LatencyHistogram::add(TimeNs nanoseconds) {
  const std::uint64_t value = nanoseconds < 0 ? 0 : static_cast<std::uint64_t>(nanoseconds);
  ++count_;
  hold(value);
  min_ = std::min(min_, value);
  max_ = std::max(max_, value);
}

void LatencyHistogram::add(const LatencyHistogram& other) {
  count_ += other.count_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
  if (!counts_ && values_.size() + other.values_.size() <= few) {
    values_.insert(values_.end(), other.values_.begin(), other.values_.end());
  } else {
    for (const std::uint64_t value : other.values_) hold(value);
  }
  if (!other.counts_) return;
  spread();
  for (std::size_t number = 0; number < octaves; ++number) {
    const std::unique_ptr<Octave>& more = (*other.counts_)[number];
    if (!more) continue;
    Octave& mine = octave(number);
    for (std::size_t step = 0; step < steps; ++step) mine[step] += (*more)[step];
  }
}

double LatencyHistogram::percentile(double fraction) const noexcept {
  const std::uint64_t wanted = rank(fraction, count_);
  std::uint64_t seen = 0;
  for (std::size_t octave = place(min_).octave; octave < octaves; ++octave) {
    const std::unique_ptr<Octave>& counted = (*counts_)[octave];
    if (!counted) continue;
    for (std::size_t step = 0; step < steps; ++step) {
      seen += (*counted)[step];
      if (seen >= wanted) return static_cast<double>(std::clamp(middle({octave, step}), min_, max_)) / 1000.0;
    }
  }
  return static_cast<double>(max_) / 1000.0;
}

Latency LatencyHistogram::facts() const {
  Latency result;
  result.count = count_;
  if (count_ == 0) return result;
  result.min = static_cast<double>(min_) / 1000.0;
  result.max = static_cast<double>(max_) / 1000.0;
  if (min_ == max_) {
    result.p50 = result.p90 = result.p99 = result.min;
    return result;
  }
  if (!counts_) {
    std::array<std::uint64_t, few> sorted{};
    const auto end = std::copy(values_.begin(), values_.end(), sorted.begin());
    std::sort(sorted.begin(), end);
    const auto exact = [&](double fraction) {
      return static_cast<double>(sorted[static_cast<std::size_t>(rank(fraction, count_) - 1)]) / 1000.0;
    };
    result.p50 = exact(0.50);
    result.p90 = exact(0.90);
    result.p99 = exact(0.99);
    return result;
  }
  result.p50 = percentile(0.50);
  result.p90 = percentile(0.90);
  result.p99 = percentile(0.99);
  return result;
}

}  // namespace rpcrdma::referee
