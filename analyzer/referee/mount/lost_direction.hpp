// SPDX-License-Identifier: GPL-2.0-or-later
// A capture that has nothing of one side any more, as where a switch mirrors one direction only from then on: that side
// is not silent.
#pragma once

#include <optional>

#include "referee/state/mount.hpp"

namespace rpcrdma::referee {

/// Is what is known of the mount, its state and who owes, known from the silence of a side that was not silent?
[[nodiscard]] std::optional<LostDirection> lost_direction(const Assessment& a, const Mount& mount);
/// Nothing of what rests on that silence is known any more.
void forget_silence(Assessment& a, const LostDirection& lost);

}  // namespace rpcrdma::referee
