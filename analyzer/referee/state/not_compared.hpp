// SPDX-License-Identifier: GPL-2.0-or-later
// Calls that were not looked for on all connections beside their own: each may be a later copy of one that waits there.
// By place of its XID, so that what is kept does not grow with them; two that share a place make a doubt more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trace/events.hpp"

namespace rpcrdma::referee {

class NotCompared {
 public:
  static constexpr std::size_t places = 16384;

  void note(trace::Side requester, std::uint32_t xid, trace::FrameRef call) {
    if (newest_.empty()) newest_.resize(places);
    std::uint64_t& newest = newest_[place(requester, xid)];
    if (call.number > newest) newest = call.number;
  }
  /// A Call with this XID may have been sent again behind this frame.
  [[nodiscard]] bool perhaps_again(trace::Side requester, std::uint32_t xid, trace::FrameRef behind) const noexcept {
    return !newest_.empty() && newest_[place(requester, xid)] > behind.number;
  }

 private:
  [[nodiscard]] static std::size_t place(trace::Side requester, std::uint32_t xid) noexcept {
    constexpr std::uint32_t spread = 0x9E3779B1;  // XIDs of many connections count up from anywhere
    const std::uint32_t mixed = (xid ^ (requester == trace::Side::active ? 0U : 1U)) * spread;
    return mixed >> 18U;
  }

  std::vector<std::uint64_t> newest_;  // numbers of frames; 0: none. Empty until there is one.
};

}  // namespace rpcrdma::referee
