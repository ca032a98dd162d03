// SPDX-License-Identifier: GPL-2.0-or-later
// Group N: what the user of a mount feels. Judged once, at the end of the capture; nobody is accused.
#pragma once

#include <algorithm>

#include "referee/docket/symptoms.hpp"
#include "referee/state/mount.hpp"

namespace rpcrdma::referee {

/// Of a mount that has some. In whatever order they came to their end.
[[nodiscard]] inline ConnectionId newest_connection(const Mount& mount) {
  return *std::max_element(mount.connections.begin(), mount.connections.end());
}

// --- waiting.cpp
void judge_hanging_calls(const MountWitness& witness, const Mount& mount, const Assessment& assessment);
void judge_long_waits(const MountWitness& witness, const Mount& mount);

// --- attempts.cpp
void judge_attempts(const MountWitness& witness, const Mount& mount, const Assessment& assessment);
void judge_nfs_over_tcp(const MountWitness& witness, const Mount& mount);

/// In a capture without times nothing is late.
void leave_waits_unchecked(const MountWitness& witness, const Mount& mount);

// --- nfs_waiting.cpp
void judge_callbacks(const MountWitness& witness, const Mount& mount, const Assessment& assessment);
void judge_server_flags(const MountWitness& witness, const Mount& mount, const Assessment& assessment);
void judge_restart(const MountWitness& witness, const Mount& mount);
void judge_delays(const MountWitness& witness, const Mount& mount, const Assessment& assessment);
void judge_nothing_served(const MountWitness& witness, const Assessment& assessment);
void judge_nfs_errors(const MountWitness& witness, const Mount& mount);

// --- capture.cpp
void judge_sampling(const MountWitness& witness, const Mount& mount);

/// All of them.
inline void judge_mount(const MountWitness& witness, const Mount& mount, const Assessment& assessment) {
  judge_sampling(witness, mount);
  if (mount.times == Mount::Times::none) leave_waits_unchecked(witness, mount);
  judge_hanging_calls(witness, mount, assessment);
  judge_long_waits(witness, mount);
  judge_attempts(witness, mount, assessment);
  judge_callbacks(witness, mount, assessment);
  judge_server_flags(witness, mount, assessment);
  judge_restart(witness, mount);
  judge_delays(witness, mount, assessment);
  judge_nothing_served(witness, assessment);
  judge_nfs_errors(witness, mount);
  judge_nfs_over_tcp(witness, mount);
}

}  // namespace rpcrdma::referee
