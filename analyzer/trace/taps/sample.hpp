// SPDX-License-Identifier: GPL-2.0-or-later
// Median and percentiles of many values in little memory: the values themselves, and of many each second, fourth …
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "trace/taps.hpp"

namespace rpcrdma::trace::taps {

class Sample {
 public:
  void add(double value) {
    least_ = count_ == 0 ? value : std::min(least_, value);
    if (count_++ % stride_ != 0) return;
    values_.push_back(value);
    if (values_.size() < most) return;
    for (std::size_t i = 1; 2 * i < values_.size(); ++i) values_[i] = values_[2 * i];
    values_.resize(values_.size() / 2);
    stride_ *= 2;
  }
  [[nodiscard]] double min() const noexcept { return least_; }
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  [[nodiscard]] Spread spread() const {
    if (values_.empty()) return {};
    std::vector<double> sorted = values_;
    std::sort(sorted.begin(), sorted.end());
    const auto at = [&](double share) {
      return sorted[static_cast<std::size_t>(std::llround(share * static_cast<double>(sorted.size() - 1)))];
    };
    return {count_, least_, at(0.5), at(0.99)};
  }

 private:
  static constexpr std::size_t most = 8192;
  std::vector<double> values_;
  std::uint64_t count_ = 0;
  std::uint64_t stride_ = 1;
  double least_ = 0;
};

}  // namespace rpcrdma::trace::taps
