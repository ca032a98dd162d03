// SPDX-License-Identifier: GPL-2.0-or-later
// Numbers by chance that are the same for the same seed, with every compiler and library (SplitMix64).
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

namespace talk {

class Chance {
 public:
  explicit Chance(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15ULL);
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31U);
  }
  /// 0 to n - 1.
  std::uint32_t below(std::size_t n) { return static_cast<std::uint32_t>(next() % n); }
  /// Both included.
  std::uint32_t between(std::uint32_t low, std::uint32_t high) { return low + below(high - low + 1); }
  bool one_in(std::uint32_t n) { return below(n) == 0; }
  template <typename T>
  T of(std::initializer_list<T> all) {
    return all.begin()[below(all.size())];
  }
  template <typename T>
  const T& of(const std::vector<T>& all) {
    return all[below(all.size())];
  }
  template <typename T>
  void shuffle(std::vector<T>& all) {
    for (std::size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[below(i)]);
  }

 private:
  std::uint64_t state_;
};

}  // namespace talk
