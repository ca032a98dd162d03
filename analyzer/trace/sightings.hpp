// SPDX-License-Identifier: GPL-2.0-or-later
// Inside trace: which addresses send something, be it RDMA or not: a machine that answers a ping is there.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>

#include "trace/packet.hpp"

namespace rpcrdma::trace {

/// Networks that use the same addresses are not told apart: what was seen is a reason for doubt, and no proof.
class Sightings {
 public:
  /// Of those that come later it is noted only that there are some.
  static constexpr std::size_t most = 4096;

  /// Asked for each frame over IP that is not RoCE.
  void note(const Address& sender, FrameRef frame) {
    const auto words = std::bit_cast<Words>(sender.octets);
    Slot& slot = cache_[((words[0] ^ words[1]) * 0x9E3779B97F4A7C15ULL) >> 58U];
    if (slot.newest == nullptr || slot.words != words) [[unlikely]] {
      slot = {words, look_up(sender)};
    }
    (slot.newest != nullptr ? *slot.newest : of_others_) = frame;
  }
  /// By address, with network 0.
  [[nodiscard]] const std::map<Address, FrameRef>& newest() const noexcept { return newest_; }
  /// Of addresses that are not noted, whose they are is not known; number 0: there are none.
  [[nodiscard]] FrameRef of_others() const noexcept { return of_others_; }

 private:
  using Words = std::array<std::uint64_t, 2>;
  struct Slot {
    Words words{};
    FrameRef* newest = nullptr;
  };

  [[nodiscard]] FrameRef* look_up(const Address& sender) {
    Address address = sender;
    address.network = 0;
    const auto at = newest_.find(address);
    if (at != newest_.end()) return &at->second;
    return newest_.size() < most ? &newest_[address] : nullptr;
  }

  std::array<Slot, 64> cache_{};
  std::map<Address, FrameRef> newest_;
  FrameRef of_others_;
};

}  // namespace rpcrdma::trace
