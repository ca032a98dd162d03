// SPDX-License-Identifier: GPL-2.0-or-later
// What a peer's registered memory holds. Octets that nobody stored are filler, the same every time.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "rpcrdma_header.hpp"

namespace forge {

class Memory {
 public:
  void store(std::uint32_t handle, std::uint64_t offset, const Octets& octets) {
    for (std::size_t i = 0; i < octets.size(); ++i) octets_[{handle, offset + i}] = octets[i];
  }
  /// Fills a chunk's segments in order; what does not fit is dropped.
  void store(const Chunk& chunk, const Octets& octets) {
    std::size_t done = 0;
    for (const Segment& s : chunk) {
      const std::size_t count = std::min<std::size_t>(s.length, octets.size() - done);
      store(s.handle, s.offset, slice(octets, done, count));
      done += count;
    }
  }
  [[nodiscard]] Octets load(std::uint32_t handle, std::uint64_t offset, std::uint32_t length) const {
    Octets out = pattern(handle + offset, length);
    for (auto at = octets_.lower_bound({handle, offset}); at != octets_.end(); ++at) {
      const auto& [where, octet] = *at;
      if (where.first != handle || where.second - offset >= length) break;
      out[where.second - offset] = octet;
    }
    return out;
  }

 private:
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint8_t> octets_;
};

}  // namespace forge
