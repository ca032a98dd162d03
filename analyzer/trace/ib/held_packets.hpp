// SPDX-License-Identifier: GPL-2.0-or-later
// Packets that came before their turn, by position, within a bound.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "trace/ib/shared.hpp"

namespace rpcrdma::trace::ib {

struct HeldPacket {
  FrameRef ref;
  wire::IbHeader header;  ///< payload points into `octets`
  std::vector<std::uint8_t> octets;
  Fingerprint mark;

  [[nodiscard]] Arrival arrival() const noexcept { return {ref, header, mark}; }
};

class HeldPackets {
 public:
  static constexpr std::size_t max_packets = 2048;
  static constexpr std::size_t max_octets = std::size_t{8} << 20U;

  explicit HeldPackets(Budget& budget) noexcept : budget_(budget) {}
  ~HeldPackets() { budget_.give(octets_ - unpaid_); }
  HeldPackets(const HeldPackets&) = delete;
  HeldPackets& operator=(const HeldPackets&) = delete;

  [[nodiscard]] bool empty() const noexcept { return packets_.empty(); }
  [[nodiscard]] Sequence first() const noexcept { return packets_.begin()->first; }
  [[nodiscard]] FrameRef first_ref() const noexcept { return packets_.begin()->second.ref; }
  /// The one that stands first in the file. Number 0: none is held.
  [[nodiscard]] FrameRef foremost() const noexcept {
    return frames_.empty() ? FrameRef{} : FrameRef{frames_.begin()->first, frames_.begin()->second};
  }
  [[nodiscard]] Sequence last() const noexcept { return packets_.rbegin()->first; }
  [[nodiscard]] TimeNs since() const noexcept { return since_; }
  void waiting_since(TimeNs t) noexcept { since_ = t; }
  [[nodiscard]] bool over_bound() const noexcept {
    return packets_.size() > max_packets || octets_ > max_octets || unpaid_ != 0;
  }

  /// The one already held at this position, or nullptr after keeping a copy of the new one.
  [[nodiscard]] const HeldPacket* hold(Sequence at, const Arrival& a) {
    const auto [it, fresh] = packets_.try_emplace(at);
    HeldPacket& p = it->second;
    if (!fresh) return &p;
    if (packets_.size() == 1) since_ = a.ref.time;
    frames_.emplace(a.ref.number, a.ref.time);
    p.ref = a.ref;
    p.header = a.header;
    p.mark = a.mark;
    p.octets.assign(a.header.payload.begin(), a.header.payload.end());
    p.header.payload = p.octets;
    octets_ += p.octets.size();
    if (!budget_.take(p.octets.size())) unpaid_ += p.octets.size();
    return nullptr;
  }
  [[nodiscard]] HeldPacket take_first() {
    const auto it = packets_.begin();
    HeldPacket p = std::move(it->second);
    p.header.payload = p.octets;
    octets_ -= p.octets.size();
    const std::size_t unpaid = std::min(unpaid_, p.octets.size());
    unpaid_ -= unpaid;
    budget_.give(p.octets.size() - unpaid);
    frames_.erase(p.ref.number);
    packets_.erase(it);
    return p;
  }
  [[nodiscard]] const HeldPacket* find(Sequence at) const {
    const auto it = packets_.find(at);
    return it == packets_.end() ? nullptr : &it->second;
  }
  [[nodiscard]] const HeldPacket* oldest_from(Sequence at) const noexcept {
    const auto it = packets_.lower_bound(at);
    return it == packets_.end() ? nullptr : &it->second;
  }

 private:
  std::map<Sequence, HeldPacket> packets_;
  std::map<std::uint64_t, TimeNs> frames_;  ///< theirs, by number
  Budget& budget_;
  std::size_t octets_ = 0;
  std::size_t unpaid_ = 0;  ///< of these: the budget had no room, and some have to go
  TimeNs since_ = 0;
};

}  // namespace rpcrdma::trace::ib
