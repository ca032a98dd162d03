// SPDX-License-Identifier: GPL-2.0-or-later
// Percentiles in bounded memory: the values themselves while they are few, then a log-linear histogram of nanoseconds
// with 64 steps an octave; only octaves that were met take memory.
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
  void add(const LatencyHistogram& other);
  [[nodiscard]] Latency facts() const;
  /// So many values will be added.
  void expect(std::size_t values) { values_.reserve(values); }
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  /// Each one, in the order in which they came; empty: they are too many, and only counted.
  [[nodiscard]] const std::vector<std::uint64_t>& values() const noexcept { return values_; }

 private:
  static constexpr unsigned steps_log2 = 6;  // 64 steps an octave: relative error below 1.6 %
  static constexpr std::size_t steps = std::size_t{1} << steps_log2;
  static constexpr std::size_t octaves = 64 - steps_log2 + 1;
  using Octave = std::array<std::uint32_t, steps>;
  using Octaves = std::array<std::unique_ptr<Octave>, octaves>;
  struct Place {
    std::size_t octave;  ///< 0: the linear part, values below `steps`
    std::size_t step;
  };
  [[nodiscard]] static Place place(std::uint64_t value) noexcept;
  [[nodiscard]] static std::uint64_t middle(Place place) noexcept;
  void hold(std::uint64_t value);
  void spread();
  [[nodiscard]] Octave& octave(std::size_t number);
  [[nodiscard]] double percentile(double fraction) const noexcept;

  static constexpr std::size_t few = 64;
  static constexpr std::size_t first_room = 3;  // the C library gives no less memory than for so many
  std::vector<std::uint64_t> values_;           // while there are at most `few`
  std::unique_ptr<Octaves> counts_;             // afterwards
  std::uint64_t count_ = 0;
  std::uint64_t min_ = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t max_ = 0;
};

}  // namespace rpcrdma::referee
