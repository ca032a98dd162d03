// SPDX-License-Identifier: GPL-2.0-or-later
// Percentiles in bounded memory: the values themselves while they are few, then a log-linear histogram of nanoseconds
// with 64 steps an octave.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "referee/facts.hpp"

namespace rpcrdma::referee {

class LatencyHistogram {
 public:
  /// Negative values (clock steps) count as 0.
  void add(TimeNs nanoseconds);
  [[nodiscard]] Latency facts() const;
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }

 private:
  static constexpr unsigned steps_log2 = 6;  // 64 steps an octave: relative error below 1.6 %
  static constexpr std::size_t slots = (64 - steps_log2 + 1) << steps_log2;
  [[nodiscard]] static std::size_t slot(std::uint64_t value) noexcept;
  [[nodiscard]] static std::uint64_t middle(std::size_t slot) noexcept;
  [[nodiscard]] double percentile(double fraction) const noexcept;

  static constexpr std::size_t few = 64;
  std::vector<std::uint64_t> values_;                         // while there are at most `few`
  std::unique_ptr<std::array<std::uint32_t, slots>> counts_;  // afterwards
  std::uint64_t count_ = 0;
  std::uint64_t min_ = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t max_ = 0;
};

}  // namespace rpcrdma::referee
