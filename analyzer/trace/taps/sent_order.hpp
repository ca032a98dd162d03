// SPDX-License-Identifier: GPL-2.0-or-later
// When a packet was sent, from when a tap far away from its sender saw it. A packet that the nearer capture lacks would
// else stand behind what its sender said after it.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "trace/taps.hpp"

namespace rpcrdma::trace {

class TapOrder {
 public:
  explicit TapOrder(const TapClocks& compared);
  ~TapOrder();
  TapOrder(const TapOrder&) = delete;
  TapOrder& operator=(const TapOrder&) = delete;

  /// At most so long has what this input holds been on its way; 0: its frames are in the order in which they were sent.
  [[nodiscard]] TimeNs most(std::size_t input) const noexcept;
  [[nodiscard]] TimeNs on_the_way(std::size_t input, const Frame& frame);
  /// Of two copies of a packet one may be shorter than the other.
  [[nodiscard]] bool cut() const noexcept;
  /// The same number for all copies of a packet; 0: not known.
  [[nodiscard]] std::uint64_t packet(const Frame& frame);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace rpcrdma::trace
