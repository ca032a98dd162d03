// SPDX-License-Identifier: GPL-2.0-or-later
// What tells a packet from all others, wherever it was captured.
#pragma once

#include <cstdint>

#include "trace/link/open_frame.hpp"

namespace rpcrdma::trace::taps {

/// Two addresses and which of them sent. The hashes are the same at each tap; 0 is none.
struct Mark {
  Address low;
  Address high;
  bool up = false;                 ///< `low` sent it
  std::uint64_t route = 0;         ///< the two addresses
  std::uint64_t flow = 0;          ///< TCP: with the ports; InfiniBand: as route
  std::uint64_t packet = 0;        ///< what stays as it is between two taps, and does not come again soon
  std::uint64_t place = 0;         ///< what a repetition by its sender shares with it: PSN, or range of octets
  std::uint64_t carries = 0;       ///< its end, as an acknowledgement names it; 0: it needs none
  std::uint64_t acknowledges = 0;  ///< whose arrival it proves, by `carries`; 0: none's
  std::uint32_t queue_pair = 0;    ///< where it goes to; InfiniBand only. `carries` does not tell them apart
  std::uint32_t sequence = 0;      ///< TCP only, and
  std::uint32_t octets = 0;        ///< so many from there on
  bool bare = false;               ///< it only acknowledges: nobody sends it again
};

/// False: no packet of InfiniBand or TCP, or too little of it was captured.
[[nodiscard]] bool mark_of(const Opened& opened, Mark& out) noexcept;

}  // namespace rpcrdma::trace::taps
