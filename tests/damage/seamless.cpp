// SPDX-License-Identifier: GPL-2.0-or-later
#include "damage/seamless.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "damage/glance.hpp"

namespace damage {
namespace {

/// The numbers of one who asks.
struct Numbers {
  std::optional<std::uint32_t> first;
  bool twice = false;                          ///< another connection began
  std::set<std::uint32_t> seen, acknowledged;  ///< counted from `first`
};

std::uint32_t from(std::uint32_t first, std::uint32_t number) { return (number - first) & 0xFFFFFFU; }

bool without_holes(const Numbers& numbers) {
  if (!numbers.first || numbers.twice) return false;
  // Before the first one is what some implementations acknowledge when there was nothing.
  constexpr std::uint32_t behind = 0x800000;
  std::uint32_t next = 0;
  for (const std::uint32_t number : numbers.seen) {
    if (number != next++) return false;
  }
  return std::all_of(numbers.acknowledged.begin(), numbers.acknowledged.end(),
                     [&](std::uint32_t number) { return number < next || number >= behind; });
}

}  // namespace

bool seamless(const playback::Take& take) {
  std::map<std::string, Numbers> by_asker;
  for (const auto& frame : take) {
    const Glance seen = glance(frame);
    if (seen.numbered.as == Numbered::As::none) {
      if (seen.carries == Carries::handshake || seen.carries == Carries::other) continue;
      return false;
    }
    const std::size_t half = seen.sender.size() / 2;
    const std::string receiver = seen.sender.substr(half) + seen.sender.substr(0, half);
    const bool own = seen.numbered.as == Numbered::As::asked;
    Numbers& numbers = by_asker[own ? seen.sender : receiver];
    if (seen.numbered.as == Numbered::As::beginning) {
      numbers.twice = numbers.twice || (numbers.first && *numbers.first != seen.numbered.number);
      numbers.first = seen.numbered.number;
      continue;
    }
    if (!numbers.first) return false;
    const std::uint32_t at = from(*numbers.first, seen.numbered.number);
    (seen.numbered.as == Numbered::As::acknowledged ? numbers.acknowledged : numbers.seen).insert(at);
  }
  return by_asker.size() == 2 &&
         std::all_of(by_asker.begin(), by_asker.end(), [](const auto& each) { return without_holes(each.second); });
}

}  // namespace damage
