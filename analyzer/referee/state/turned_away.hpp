// SPDX-License-Identifier: GPL-2.0-or-later
// What there was no room for: said at the end, so that nobody takes what is in the report for all there was.
#pragma once

#include <cstddef>
#include <cstdint>

#include "trace/frame.hpp"

namespace rpcrdma::referee {

struct TurnedAway {
  std::size_t room = 0;     ///< so many are kept
  std::uint64_t count = 0;  ///< how often there was none
  trace::FrameRef first;    ///< where the first of those begins

  void add(trace::FrameRef frame) noexcept {
    if (count++ == 0) first = frame;
  }
  /// What another one had no room for. The rooms of those that were full count.
  void add(const TurnedAway& other) noexcept {
    if (other.count == 0) return;
    if (count == 0 || other.first.number < first.number) first = other.first;
    count += other.count;
    room += other.room;
  }
};

}  // namespace rpcrdma::referee
