// SPDX-License-Identifier: GPL-2.0-or-later
// Attempts to connect that failed one after the other.
#pragma once

#include "referee/state/attempt.hpp"
#include "referee/state/mount.hpp"
#include "trace/spans.hpp"

namespace rpcrdma::referee {

void count_attempt(MountFacts::Attempts& counts, const Attempt& attempt);
/// The next attempt after those of the series; one that came through ends it.
void add_attempt(AttemptSeries& series, const Attempt& attempt);

/// Fills `attempts`, `series` and `failing`. `wait`: the shortest wait that counts.
void take_attempts(Assessment& a, const Mount& mount, TimeNs wait);

/// Who is refused at another port asked for another service.
[[nodiscard]] bool asks_elsewhere(const Mount& mount, const AttemptSeries& series, const Life& life);
/// The client ended TCP itself, before it had waited for an answer as long as that counts: nobody owes it one.
[[nodiscard]] bool left_early(const Mount& mount, const AttemptSeries& series, TimeNs wait);

}  // namespace rpcrdma::referee
