// SPDX-License-Identifier: GPL-2.0-or-later
// What happens to packets between the wire and a file: lost by the tap, cut, late, twice, in another order.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "damage/glance.hpp"
#include "playback/recording.hpp"

namespace damage {

struct Source {
  std::string name;
  playback::Recording recording;
  playback::Recording other;  ///< another connection between the same addresses, or nothing
  std::vector<Glance> glances;
};

/// Copies point at the octets of their source, where they did not change them.
struct Variant {
  std::string name;  ///< "without frame 7"
  playback::Recording recording;
  rpcrdma::trace::TimeNs later = 0;  ///< some of its packets, than in the source
};

struct Kind {
  std::string_view name;
  /// Is what was answered on the wire waited for now, or longer?
  enum class Waits : std::uint8_t {
    the_same,
    may_be_hidden,  ///< where it is the last thing that happens, and that it was answered is lost with the answer
    different
  } waits = Waits::the_same;
  /// Does the capture hold all that the source holds?
  enum class Holds : std::uint8_t {
    less,
    everything_elsewhere,  ///< nothing is missing; by how much it is out of place decides what can be counted
    everything
  } holds = Holds::less;
  std::size_t (*count)(const Source& source);
  Variant (*make)(const Source& source, std::size_t index);
  /// Two damages at once are counted apart.
  enum class Damages : std::uint8_t { one, more } damages = Damages::one;
};

[[nodiscard]] std::span<const Kind> kinds();

}  // namespace damage
