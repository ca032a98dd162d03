// SPDX-License-Identifier: GPL-2.0-or-later
// A mount in words and numbers: what the report says of it.
#pragma once

#include <vector>

#include "referee/docket/findings.hpp"
#include "referee/state/mount.hpp"
#include "referee/state/turned_away.hpp"

namespace rpcrdma::referee {

/// Unpacks its clocks.
[[nodiscard]] MountFacts account(Mount& mount, const Assessment& assessment);

/// The sentence of the report, once mounts are known. `breaches`: all that was found. `beyond`: mounts, `connections`:
/// connections for which there was no room.
[[nodiscard]] Verdict verdict_of(const std::vector<MountFacts>& mounts, const std::vector<Breach>& breaches,
                                 const TurnedAway& beyond, const TurnedAway& connections);

}  // namespace rpcrdma::referee
