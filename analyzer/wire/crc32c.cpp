// SPDX-License-Identifier: GPL-2.0-or-later
#include "wire/crc32c.hpp"

#include <algorithm>
#include <climits>

#include <isa-l/crc.h>

#include "wire/vector_registers.hpp"

namespace rpcrdma::wire {

std::uint32_t crc32c(Bytes octets, std::uint32_t before) noexcept {
  // The library takes and returns the bare register: both inversions are ours. Its length is an int, its buffer is not
  // const but only read.
  std::uint32_t state = ~before;
  while (!octets.empty()) {
    const std::size_t n = std::min<std::size_t>(octets.size(), INT_MAX);
    state = crc32_iscsi(const_cast<unsigned char*>(octets.data()), static_cast<int>(n), state);  // NOLINT
    octets = octets.subspan(n);
  }
  clear_upper_vectors();
  return ~state;
}

}  // namespace rpcrdma::wire
