// SPDX-License-Identifier: GPL-2.0-or-later
// What became of a mount at the end of the capture: its state, and who owes the next step.
#pragma once

#include "referee/state/mount.hpp"

namespace rpcrdma::referee {

/// `wait`: the shortest wait that counts. Points into `mount`.
[[nodiscard]] Assessment assess(const Mount& mount, FrameRef end, TimeNs wait);

}  // namespace rpcrdma::referee
