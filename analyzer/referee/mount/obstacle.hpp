// SPDX-License-Identifier: GPL-2.0-or-later
// What stands between a mount and its work, and who has to move it. Asked once, for the sentence, `owes` and the
// advice.
#pragma once

#include "referee/state/mount.hpp"

namespace rpcrdma::referee {

/// Fills `obstacle` and `owes`. The state, the newest connection and all that waits are known. `wait`: the shortest
/// wait that counts.
void take_obstacle(Assessment& a, const Mount& mount, TimeNs wait);

}  // namespace rpcrdma::referee
