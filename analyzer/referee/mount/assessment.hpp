// SPDX-License-Identifier: GPL-2.0-or-later
// What became of a mount at the end of the capture: its state, and who owes the next step.
#pragma once

#include "referee/state/connection.hpp"
#include "referee/state/mount.hpp"

namespace rpcrdma::referee {

/// What is kept of a connection when nothing more will be heard of it.
[[nodiscard]] Life life_of(const Connection& connection);

void count_attempt(MountFacts::Attempts& counts, const Attempt& attempt);
/// The next attempt after those of the series; one that came through ends it.
void add_attempt(AttemptSeries& series, const Attempt& attempt);

/// `wait`: the shortest wait that counts. Points into `mount`.
[[nodiscard]] Assessment assess(const Mount& mount, FrameRef end, TimeNs wait);

}  // namespace rpcrdma::referee
