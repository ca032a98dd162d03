// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/packed/list.hpp"

namespace rpcrdma::referee {

std::uint64_t PackedRows::add(const PackedOctets& row) {
  if (blocks_.empty() || blocks_.back().size() + row.size() > block) {
    blocks_.emplace_back();
    // The first one may be all there is.
    if (blocks_.size() > 1 && row.size() <= block) blocks_.back().reserve(block);
  }
  PackedOctets& last = blocks_.back();
  const std::uint64_t place = std::uint64_t{blocks_.size() - 1} << place_bits | last.size();
  last.insert(last.end(), row.begin(), row.end());
  return place;
}

}  // namespace rpcrdma::referee
