// SPDX-License-Identifier: GPL-2.0-or-later
// What each of several referees knows at the end, who had a share of a capture's connections each; and how one report
// comes of it, the same as if one of them had had all.
#pragma once

#include <cstdint>
#include <vector>

#include "referee/docket/findings.hpp"
#include "referee/facts.hpp"
#include "referee/mount/across.hpp"  // what shares tell each other before that
#include "referee/state/turned_away.hpp"
#include "trace/moment.hpp"

namespace rpcrdma::referee {

struct Share {
  PackedList<ConnectionFacts> connections;  ///< by number
  PackedList<Said<Finding>> findings;       ///< by first frame, then as they were said
  std::vector<Said<Unchecked>> unchecked;   ///< as they were said
  std::vector<Said<MountFacts>> mounts;     ///< as they became known
  std::vector<Breach> told;                 ///< what a listener was told, and is in `findings` no more
  std::uint64_t rdma_messages = 0;
  bool any_rpcrdma = false;
  bool judged = false;
  TurnedAway connections_turned_away;  ///< that began while too many were open
  TurnedAway regions_turned_away;      ///< that were offered while too many were kept
  TurnedAway mounts_turned_away;       ///< each request of them counts
  // When each got its number, which begins at 1 in each share
  std::vector<trace::Moment> numbered;      ///< connections; empty: they have the report's numbers
  std::vector<trace::Moment> mounts_known;  ///< mounts, with those that are none of NFS over RDMA
};

[[nodiscard]] Report put_together(std::vector<Share> shares);

}  // namespace rpcrdma::referee
