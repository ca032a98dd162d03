// SPDX-License-Identifier: GPL-2.0-or-later
// Inside trace: the newest frame of a side, which tells since when it is silent.
#pragma once

#include "trace/events.hpp"

namespace rpcrdma::trace {

/// What the capture holds twice was said once: the second time tells nothing of when its sender was there.
class Newest {
 public:
  void see(FrameRef frame) noexcept {
    before_ = newest_;
    newest_ = frame;
  }
  /// This frame was a copy.
  void unsee(FrameRef copy) noexcept {
    if (newest_.number == copy.number) newest_ = before_;
  }
  [[nodiscard]] FrameRef frame() const noexcept { return newest_; }

 private:
  FrameRef newest_;
  FrameRef before_;
};

}  // namespace rpcrdma::trace
