// SPDX-License-Identifier: GPL-2.0-or-later
// What the referee says of frames in memory.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "playback/recording.hpp"
#include "referee/referee.hpp"

namespace playback {

/// As the analyzer would say of a file with these frames and no other.
[[nodiscard]] rpcrdma::referee::Report judge(const Take& take, const rpcrdma::referee::Options& options = {});

/// Warnings and errors, by rule and by whom they accuse.
using Accusations = std::set<std::pair<rpcrdma::referee::RuleId, std::optional<rpcrdma::referee::Party>>>;
[[nodiscard]] Accusations accusations(const rpcrdma::referee::Report& report);

/// "error credit-limit-exceeded by client at frames [4, 7]: ..."
[[nodiscard]] std::string told(const rpcrdma::referee::Finding& finding);

/// What is wrong with the accusations that a mutant of this name met. `not_excused_yet` lists mutants whose false
/// accusation is known: theirs are expected, and that there are none is wrong, so that no entry stays longer than it is
/// true.
[[nodiscard]] std::vector<std::string> unexpected(std::vector<std::string> accused, const std::string& name,
                                                  const std::set<std::string>& not_excused_yet);

}  // namespace playback
