// SPDX-License-Identifier: GPL-2.0-or-later
// Which exposed memory a segment of a chunk list is.
#pragma once

#include "referee/state/memory_map.hpp"

namespace rpcrdma::referee {

/// The region that a message of `owner` exposed there. Where several begin at one place (an empty segment in front of
/// the next one is legal), the longest: it has the octets. null: none.
[[nodiscard]] inline const Region* region_of(MemoryMap& memory, TransactionId owner, std::uint32_t handle,
                                             std::uint64_t begin, Access access) {
  const std::vector<Region>* regions = memory.regions(handle);
  if (regions == nullptr) return nullptr;
  const Region* longest = nullptr;
  for (const Region& region : *regions) {
    if (!(region.owner == owner) || region.access != access || region.begin != begin) continue;
    if (longest == nullptr || region.end > longest->end) longest = &region;
  }
  return longest;
}

}  // namespace rpcrdma::referee
