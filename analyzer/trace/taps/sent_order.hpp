// SPDX-License-Identifier: GPL-2.0-or-later
// In which order packets of several taps are taken. When a packet was sent, from when a tap far away from its sender
// saw it: one that the nearer capture lacks would else stand behind what its sender said after it. And of two copies
// the whole one before the one that was cut.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "trace/taps.hpp"

namespace rpcrdma::trace {

class TapOrder {
 public:
  explicit TapOrder(TapClocks compared);
  ~TapOrder();
  TapOrder(const TapOrder&) = delete;
  TapOrder& operator=(const TapOrder&) = delete;

  /// At most so long has what this input holds been on its way; 0: its frames are in the order in which they were sent.
  [[nodiscard]] TimeNs most(std::size_t input) const noexcept;
  [[nodiscard]] TimeNs on_the_way(std::size_t input, const Frame& frame);
  /// So much later than it was sent all is taken of an input that cuts what another one holds whole.
  [[nodiscard]] TimeNs behind(std::size_t input) const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace rpcrdma::trace
