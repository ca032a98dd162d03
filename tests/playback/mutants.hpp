// SPDX-License-Identifier: GPL-2.0-or-later
// Changed copies of a capture: what a tap, a mirror or a snap length does to it. Whoever was innocent has to stay so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "playback/recording.hpp"

namespace playback {

/// What a frame is to those who exchange frames: only sequence numbers tell the true order again.
struct Carries {
  enum class What : std::uint8_t { other, numbered, acknowledgement } what = What::other;
  std::string sender;
};
[[nodiscard]] std::vector<Carries> carried(const forge::Film& film);
/// From the octets: Ethernet with IPv4 only, everything else is `other`.
[[nodiscard]] std::vector<Carries> carried(const Take& take);

// Frames are counted from 0 here, and from 1 in names.
[[nodiscard]] Take without(const Take& take, const std::set<std::size_t>& gone);
[[nodiscard]] Take twice(const Take& take, const std::set<std::size_t>& again);
[[nodiscard]] Take from(const Take& take, std::size_t first);
[[nodiscard]] Take up_to(const Take& take, std::size_t last);
/// The octets change places, the times stay.
[[nodiscard]] Take exchanged(const Take& take, std::size_t first);
[[nodiscard]] Take cut(const Take& take, std::uint32_t snap);
/// Some octets behind each frame's first quarter are others.
[[nodiscard]] Recording damaged(const Take& take, std::mt19937& chance);

struct Mutant {
  std::string name;  ///< "without frame 7"
  Take take;
};
using Visit = std::function<void(const Mutant&)>;

/// Each frame lost, twice, first, last; neighbours of one direction exchanged, and an acknowledgement with what it
/// acknowledges; snap lengths.
void each_mutant(const Take& take, const std::vector<Carries>& carries, const Visit& visit);

/// One of each kind: one frame lost, one in a hundred, a burst; a late start, an early end, a snap length, frames
/// twice, neighbours exchanged. The same for the same seed.
void some_mutants(const Take& take, const std::vector<Carries>& carries, std::uint32_t seed, const Visit& visit);

/// One frame in a hundred, at least one.
[[nodiscard]] std::set<std::size_t> one_in_a_hundred(std::size_t frames, std::mt19937& chance);
/// The same number for the same text, everywhere.
[[nodiscard]] std::uint32_t seed_of(const std::string& text);

}  // namespace playback
