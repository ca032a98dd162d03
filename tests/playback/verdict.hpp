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

}  // namespace playback
