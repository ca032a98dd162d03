// SPDX-License-Identifier: GPL-2.0-or-later
// With which other taps a packet is compared: those that ran when it passed, and only so many.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <span>
#include <vector>

#include "trace/frame.hpp"

namespace rpcrdma::trace::taps {

/// Of one input and one route.
class Together {
 public:
  /// At the same time. The files of a ring follow on each other: there may be any number of them.
  static constexpr std::size_t most = 8;

  /// Would another one from `from` to `to` be one too many somewhere?
  [[nodiscard]] bool full(TimeNs from, TimeNs to) const {
    const auto many = [&](const auto& stretch) { return stretch.second.size() >= most; };
    auto first = stretches_.upper_bound(from);
    if (first != stretches_.begin()) --first;
    return std::any_of(first, stretches_.upper_bound(to), many);
  }
  void add(TimeNs from, TimeNs to, std::size_t pair) {
    const auto behind = to < INT64_MAX ? begin_at(to + 1) : stretches_.end();
    for (auto at = begin_at(from); at != behind; ++at) at->second.push_back(pair);
  }
  [[nodiscard]] std::span<const std::size_t> at(TimeNs time) const {
    const auto behind = stretches_.upper_bound(time);
    if (behind == stretches_.begin()) return {};
    return std::prev(behind)->second;
  }

 private:
  using Stretches = std::map<TimeNs, std::vector<std::size_t>>;

  Stretches::iterator begin_at(TimeNs time) {
    const auto behind = stretches_.upper_bound(time);
    if (behind == stretches_.begin()) return stretches_.emplace_hint(behind, time, std::vector<std::size_t>());
    const auto here = std::prev(behind);
    return here->first == time ? here : stretches_.emplace_hint(behind, time, here->second);
  }

  Stretches stretches_;  // by their begin, up to that of the next
};

}  // namespace rpcrdma::trace::taps
