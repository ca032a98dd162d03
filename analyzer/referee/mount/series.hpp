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

/// Is what failed for the service of this connection? Another port is another service.
enum class AsksFor : std::uint8_t {
  its_service,
  another,
  not_known  ///< the capture lacks the port of the connection, and what was asked for is none that is usual
};
[[nodiscard]] AsksFor what_it_asks_for(const AttemptSeries& series, const Life& life) noexcept;
/// The client ended TCP itself, before it had waited for an answer as long as that counts: nobody owes it one.
[[nodiscard]] bool left_early(const Mount& mount, const AttemptSeries& series, TimeNs wait);

}  // namespace rpcrdma::referee
