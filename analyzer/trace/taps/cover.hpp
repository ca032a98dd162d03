// SPDX-License-Identifier: GPL-2.0-or-later
// Which octets of one direction of a TCP stream a tap has shown lately, however they were cut into segments there.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rpcrdma::trace::taps {

class Cover {
 public:
  void add(std::uint32_t sequence, std::uint32_t octets) {
    Range fresh{unwrapped(sequence), 0};
    fresh.end = fresh.begin + octets;
    newest_ = std::max(newest_, fresh.end);
    auto at = std::find_if(ranges_.begin(), ranges_.end(), [&](const Range& r) { return r.end >= fresh.begin; });
    while (at != ranges_.end() && at->begin <= fresh.end) {
      fresh = {std::min(fresh.begin, at->begin), std::max(fresh.end, at->end)};
      at = ranges_.erase(at);
    }
    ranges_.insert(at, fresh);
    if (ranges_.size() > most) ranges_.erase(ranges_.begin());
  }
  [[nodiscard]] bool has(std::uint32_t sequence, std::uint32_t octets) const noexcept {
    const std::uint64_t begin = unwrapped(sequence);
    return std::any_of(ranges_.begin(), ranges_.end(),
                       [&](const Range& r) { return r.begin <= begin && begin + octets <= r.end; });
  }

 private:
  struct Range {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
  };
  static constexpr std::size_t most = 64;

  /// Serial arithmetic: nearest to the newest.
  [[nodiscard]] std::uint64_t unwrapped(std::uint32_t sequence) const noexcept {
    const std::uint64_t near = newest_ != 0 ? newest_ : (std::uint64_t{1} << 32U) + sequence;
    const auto away = static_cast<std::int32_t>(sequence - static_cast<std::uint32_t>(near));
    return near + static_cast<std::uint64_t>(static_cast<std::int64_t>(away));
  }

  std::vector<Range> ranges_;  // ascending, apart
  std::uint64_t newest_ = 0;
};

}  // namespace rpcrdma::trace::taps
