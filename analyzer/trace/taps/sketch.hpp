// SPDX-License-Identifier: GPL-2.0-or-later
// A sample of what inputs saw, chosen by content: each input's sample holds the same packets, however far apart their
// clocks are.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "trace/frame.hpp"

namespace rpcrdma::trace::taps {

class Sketch {
 public:
  static constexpr std::size_t most = 8192;

  /// What one input saw of a key.
  struct Seen {
    std::uint16_t input = 0;
    bool answer = false;  ///< it was not the thing itself, but what acknowledges it
    std::uint8_t times = 0;
    TimeNs first = 0;
    std::uint64_t position = 0;  ///< which packet of that input it was
  };
  struct Entry {
    std::uint64_t route = 0;
    bool up = false;
    std::vector<Seen> seen;  ///< by input

    [[nodiscard]] const Seen* of(std::size_t input, bool answer) const noexcept {
      const auto from = std::partition_point(seen.begin(), seen.end(), [&](const Seen& s) { return s.input < input; });
      const auto at =
          std::find_if(from, seen.end(), [&](const Seen& s) { return s.input != input || s.answer == answer; });
      return at == seen.end() || at->input != input ? nullptr : &*at;
    }
  };

  /// Inputs one after the other.
  void see(std::uint64_t key, std::uint64_t route, bool up, std::size_t input, bool answer, TimeNs time,
           std::uint64_t position) {
    if ((key & mask_) != 0) return;
    Entry& entry = entries_[key];
    const auto number = static_cast<std::uint16_t>(input);
    for (auto s = entry.seen.rbegin(); s != entry.seen.rend() && s->input == number; ++s) {
      if (s->answer != answer) continue;
      if (s->times < UINT8_MAX) ++s->times;
      return;
    }
    entry.route = route;
    entry.up = up;
    entry.seen.push_back({number, answer, 1, time, position});
    while (entries_.size() > most) {
      mask_ = mask_ << 1U | 1U;
      std::erase_if(entries_, [this](const auto& one) { return (one.first & mask_) != 0; });
    }
  }
  [[nodiscard]] const std::map<std::uint64_t, Entry>& entries() const noexcept { return entries_; }

 private:
  std::map<std::uint64_t, Entry> entries_;
  std::uint64_t mask_ = 0;
};

}  // namespace rpcrdma::trace::taps
