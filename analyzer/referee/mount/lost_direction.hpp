// SPDX-License-Identifier: GPL-2.0-or-later
// A capture that has nothing of one side any more, as where a switch mirrors one direction only from then on: that side
// is not silent.
#pragma once

#include "referee/state/mount.hpp"

namespace rpcrdma::referee {

/// What is known of the mount rests on the silence of a side that was not silent. Asked when its state, and who owes,
/// are known but for that; true: they are not known any more.
[[nodiscard]] bool lost_direction_hides(Assessment& a, const Mount& mount);

}  // namespace rpcrdma::referee
