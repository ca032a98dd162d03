// SPDX-License-Identifier: GPL-2.0-or-later
// Faults of the referee that are known and not mended yet.
#pragma once

#include <string>
#include <vector>

#include "referee/facts.hpp"

namespace talk {

/// A warning or an error that the specification does not bear. `story`: the smallest conversation that meets it, in
/// known/STORY.yaml. One that accuses nobody any more fails, and has to go.
struct Known {
  std::string story;
  std::string rule, party;
  std::string says;  ///< words of its message
};

[[nodiscard]] const std::vector<Known>& known_faults();
[[nodiscard]] bool matches(const Known& known, const rpcrdma::referee::Finding& finding);
[[nodiscard]] bool is_known(const rpcrdma::referee::Finding& finding);

}  // namespace talk
