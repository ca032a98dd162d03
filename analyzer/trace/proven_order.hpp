// SPDX-License-Identifier: GPL-2.0-or-later
// The two directions of one connection, taken in the order that answers and acknowledgements prove: what stands in the
// capture in front of what it answers waits for that. Here: which direction goes on first, and after how long.
#pragma once

#include <cstdint>

#include "trace/events.hpp"
#include "trace/packet.hpp"
#include "trace/spans.hpp"

namespace rpcrdma::trace {

/// A connection has for each direction, 0 and 1: `early()`, what waits of it, in the order in which it was sent;
/// `front_come()`, what the oldest of that answers has come; `front_given_up()`, that is not in the capture;
/// `awaited_waits()`, that waits itself; and `release()`, which takes the oldest.
struct ProvenOrder {
  /// What does not come until then is missing.
  static constexpr TimeNs patience = two_taps_apart;

  /// What waits itself is not missing: the other direction is given up first.
  template <class Connection>
  [[nodiscard]] static bool waited_long(const Connection& connection, int direction, FrameRef now) {
    if (!passed(connection.early(direction).front().ref.time, now.time, patience)) return false;
    return !connection.awaited_waits(direction) || connection.awaited_waits(1 - direction);
  }
  /// Takes what needs not wait any more. False: nothing.
  template <class Connection>
  static bool release_proven(Connection& connection, FrameRef now) {
    if (connection.early(0).empty() && connection.early(1).empty()) return false;  // asked for each packet
    const auto may_go = [&](int direction) {
      return !connection.early(direction).empty() &&
             (connection.front_come(direction) || connection.front_given_up(direction, now));
    };
    const auto first = [&](int direction) { return connection.early(direction).front().ref.number; };
    bool released = false;
    for (;; released = true) {
      const bool may[] = {may_go(0), may_go(1)};
      if (!may[0] && !may[1]) break;
      connection.release(may[0] && !(may[1] && first(1) < first(0)) ? 0 : 1);  // of two, as they stand in the file
    }
    return released;
  }
  /// Takes everything: nothing more comes.
  template <class Connection>
  static void release_all(Connection& connection, FrameRef now) {
    const auto waits = [&](int direction) { return !connection.early(direction).empty(); };
    const auto first = [&](int direction) { return connection.early(direction).front().ref.number; };
    while (waits(0) || waits(1)) {
      int oldest = !waits(0) || (waits(1) && first(1) < first(0)) ? 1 : 0;
      if (connection.awaited_waits(oldest) && !connection.awaited_waits(1 - oldest)) oldest = 1 - oldest;
      connection.release(oldest);
      release_proven(connection, now);
    }
  }
};

}  // namespace rpcrdma::trace
