// SPDX-License-Identifier: GPL-2.0-or-later
// Which octets of a range have been touched: a short list of intervals.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace rpcrdma::referee {

class Coverage {
 public:
  static constexpr std::size_t most = 256;

  /// `limit`: intervals; more means "not known" (see overflow).
  void add(std::uint64_t begin, std::uint64_t end, std::size_t limit = most) {
    if (begin >= end || overflow_) return;
    if (!intervals_.empty() && intervals_.back().begin <= begin && begin <= intervals_.back().end) {
      intervals_.back().end = std::max(intervals_.back().end, end);  // the usual case: in order
      return;
    }
    auto at = std::lower_bound(intervals_.begin(), intervals_.end(), begin,
                               [](const Interval& i, std::uint64_t b) { return i.end < b; });
    if (at == intervals_.end() || end < at->begin) {
      if (intervals_.size() >= limit) {
        overflow_ = true;
        return;
      }
      intervals_.insert(at, Interval{begin, end});
      return;
    }
    at->begin = std::min(at->begin, begin);
    at->end = std::max(at->end, end);
    auto next = at + 1;
    while (next != intervals_.end() && next->begin <= at->end) {
      at->end = std::max(at->end, next->end);
      next = intervals_.erase(next);
    }
  }

  /// Octets touched within [begin, end).
  [[nodiscard]] std::uint64_t within(std::uint64_t begin, std::uint64_t end) const noexcept {
    std::uint64_t sum = 0;
    auto at = std::lower_bound(intervals_.begin(), intervals_.end(), begin,
                               [](const Interval& i, std::uint64_t b) { return i.end <= b; });
    for (; at != intervals_.end() && at->begin < end; ++at) sum += std::min(at->end, end) - std::max(at->begin, begin);
    return sum;
  }

  [[nodiscard]] bool empty() const noexcept { return intervals_.empty(); }
  [[nodiscard]] bool overflow() const noexcept { return overflow_; }

 private:
  struct Interval {
    std::uint64_t begin;
    std::uint64_t end;
  };
  std::vector<Interval> intervals_;  // sorted, disjoint, not touching
  bool overflow_ = false;
};

}  // namespace rpcrdma::referee
