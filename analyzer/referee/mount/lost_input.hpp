// SPDX-License-Identifier: GPL-2.0-or-later
// Input that could not be read: what may have happened there to a mount that had no connection in front of it. Of
// connections that were open the gaps tell.
#pragma once

#include "referee/state/mount.hpp"

namespace rpcrdma::referee {

/// Attempts that waited when input was lost, not yet for long: what became of them is not in the capture.
void doubt_attempts(Mount& mount, TimeNs wait);

/// That a mount is down, or never came up, holds until the newest loss: behind it nothing is known where nothing shows.
/// Asked when its state is known but for that.
[[nodiscard]] bool lost_input_hides(const Assessment& a, const Mount& mount);
/// What is told of a mount whose state lost input hides: that it is not known.
void forget_trouble(Assessment& a);

}  // namespace rpcrdma::referee
