// SPDX-License-Identifier: GPL-2.0-or-later
// Faults of the referee that are known and not mended yet.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "referee/facts.hpp"

namespace talk {

/// A finding that the specification does not bear.
struct Wrong {
  std::string rule;
  std::string party;  ///< "client", "server", "nobody"; empty: either
  std::string says;   ///< words of its message
};

/// What one fault of the referee says. `story`: the smallest conversation that meets it, in known/STORY.yaml; when
/// something of `wrong` is not said of it any more, it fails, and the entry has to go or to become shorter.
struct Known {
  std::string story;
  std::string fault;  ///< only in conversations with this fault; empty: where the talk says that it happened
  std::vector<Wrong> wrong;
  bool spreads =
      false;  ///< a Call stays open that was answered: whatever else is said of the conversation follows from it
};

[[nodiscard]] const std::vector<Known>& known_faults();
[[nodiscard]] bool matches(const Wrong& wrong, const rpcrdma::referee::Finding& finding);
/// Is it said, or does it follow from `report`'s other findings that are known? `fault`: of the conversation, empty for
/// a legal one. `met`: stories that happened in it.
[[nodiscard]] bool is_known(const rpcrdma::referee::Report& report, const rpcrdma::referee::Finding& finding,
                            const std::string& fault, const std::set<std::string>& met);

}  // namespace talk
