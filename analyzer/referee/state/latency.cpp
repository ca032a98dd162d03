// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/state/latency.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace rpcrdma::referee {

namespace {

/// Nearest rank, from 1: the smallest value that at least this fraction of all does not exceed.
[[nodiscard]] std::uint64_t rank(double fraction, std::uint64_t count) noexcept {
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::ceil(fraction * static_cast<double>(count))));
}

}  // namespace

std::size_t LatencyHistogram::slot(std::uint64_t value) noexcept {
  constexpr std::uint64_t linear = std::uint64_t{1} << steps_log2;
  if (value < linear) return static_cast<std::size_t>(value);
  const auto octave =
      static_cast<unsigned>(std::bit_width(value)) - 1U - steps_log2;  // 0: the first octave after the linear part
  return ((static_cast<std::size_t>(octave) + 1U) << steps_log2) + static_cast<std::size_t>((value >> octave) - linear);
}

std::uint64_t LatencyHistogram::middle(std::size_t slot) noexcept {
  constexpr std::size_t linear = std::size_t{1} << steps_log2;
  if (slot < linear) return slot;
  const std::size_t octave = (slot >> steps_log2) - 1;
  const std::uint64_t low = (static_cast<std::uint64_t>(slot & (linear - 1)) + linear) << octave;
  return low + ((std::uint64_t{1} << octave) >> 1U);
}

void LatencyHistogram::add(TimeNs nanoseconds) {
  const std::uint64_t value = nanoseconds < 0 ? 0 : static_cast<std::uint64_t>(nanoseconds);
  ++count_;
  if (!counts_ && values_.size() < few) {
    values_.push_back(value);
  } else {
    if (!counts_) {
      counts_ = std::make_unique<std::array<std::uint32_t, slots>>();
      for (const std::uint64_t early : values_) ++(*counts_)[slot(early)];
      values_ = std::vector<std::uint64_t>();
    }
    ++(*counts_)[slot(value)];
  }
  min_ = std::min(min_, value);
  max_ = std::max(max_, value);
}

double LatencyHistogram::percentile(double fraction) const noexcept {
  const std::uint64_t wanted = rank(fraction, count_);
  std::uint64_t seen = 0;
  for (std::size_t i = slot(min_); i < slots; ++i) {
    seen += (*counts_)[i];
    if (seen >= wanted) return static_cast<double>(std::clamp(middle(i), min_, max_)) / 1000.0;
  }
  return static_cast<double>(max_) / 1000.0;
}

Latency LatencyHistogram::facts() const {
  Latency result;
  result.count = count_;
  if (count_ == 0) return result;
  result.min = static_cast<double>(min_) / 1000.0;
  result.max = static_cast<double>(max_) / 1000.0;
  if (!counts_) {
    std::vector<std::uint64_t> sorted = values_;
    std::sort(sorted.begin(), sorted.end());
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
