// SPDX-License-Identifier: GPL-2.0-or-later
// How many regions the memory maps of all connections may hold together.
#pragma once

#include <cstddef>

#include "referee/state/turned_away.hpp"

namespace rpcrdma::referee {

/// A map has a bound of its own; many connections, each below it, have this one.
class RegionRoom {
 public:
  static constexpr std::size_t most = 1U << 22U;
  static constexpr std::size_t most_of_share = most / 4;

  explicit RegionRoom(std::size_t room) noexcept : turned_away_{room, 0, {}} {}
  RegionRoom(const RegionRoom&) = delete;
  RegionRoom& operator=(const RegionRoom&) = delete;

  /// For one region; false: there is none, which is counted.
  [[nodiscard]] bool take(trace::FrameRef frame) noexcept {
    if (taken_ >= turned_away_.room) {
      turned_away_.add(frame);
      return false;
    }
    ++taken_;
    return true;
  }
  void give(std::size_t regions) noexcept { taken_ -= regions; }
  [[nodiscard]] const TurnedAway& turned_away() const noexcept { return turned_away_; }

 private:
  std::size_t taken_ = 0;
  TurnedAway turned_away_;
};

}  // namespace rpcrdma::referee
