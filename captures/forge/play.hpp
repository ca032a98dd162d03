// SPDX-License-Identifier: GPL-2.0-or-later
// The forge's entry: a scenario, a transport, and out come the frames.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "film.hpp"
#include "scenario.hpp"
#include "story.hpp"

namespace forge {

struct Transport {
  std::string name;
  Fabric fabric;
};

/// In the order in which they are listed.
[[nodiscard]] const std::vector<Transport>& transports();
/// Throws Mistake when no transport has that name.
[[nodiscard]] const Transport& transport(const std::string& name);
/// "iwarp" or "ib"
[[nodiscard]] std::string family(const Transport& transport);
/// Whether the scenario is to be played on it: a scenario may name transports, or families.
[[nodiscard]] bool allows(const Scenario& scenario, const Transport& transport);

/// One story from its beginning to its end. `wrap`: sequence numbers begin just below their wrap. Throws Mistake.
[[nodiscard]] Film play(const Scenario& scenario, const Transport& transport, bool wrap = false);

/// Stories one after the other in one film, each with addresses and numbers of its own.
struct Reel {
  struct Part {
    std::size_t story = 0;  ///< place in what was asked for
    std::size_t first = 0;  ///< of its shots
    std::size_t count = 0;
  };
  Film film;
  std::vector<Part> parts;
  std::vector<std::pair<std::size_t, std::string>> left_out;  ///< story, and why it is not played here
};
[[nodiscard]] Reel play_all(const std::vector<Scenario>& scenarios, const Transport& transport, bool wrap = false);

}  // namespace forge
