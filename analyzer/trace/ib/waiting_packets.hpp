// SPDX-License-Identifier: GPL-2.0-or-later
// Packets of one direction that wait for their connection's announcement, within a bound.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "trace/budget.hpp"
#include "trace/packet.hpp"
#include "wire/ib.hpp"

namespace rpcrdma::trace::ib {

struct WaitingPacket {
  FrameRef ref;
  std::vector<std::uint8_t> octets;
  std::uint32_t wire_length = 0;
  bool crc_bad = false;
};

class WaitingPackets {
 public:
  /// Those inside a message, which may be long and is answered at its end, up to the larger number; others to the
  /// smaller one.
  static constexpr std::size_t max_telling = 512;
  static constexpr std::size_t max_packets = 8192;
  static constexpr std::size_t max_octets = std::size_t{8} << 20U;
  /// What one costs beside its octets, with what is remembered of its PSN, and of its XID.
  static constexpr std::size_t cost_of_one = 256;

  explicit WaitingPackets(Budget& budget) noexcept : budget_(budget) {}
  ~WaitingPackets() { budget_.give(paid_); }
  WaitingPackets(const WaitingPackets&) = delete;
  WaitingPackets& operator=(const WaitingPackets&) = delete;

  /// Keeps a copy, also where it cannot be paid for.
  void keep(const IbPacket& packet, const wire::IbHeader& header, bool crc_bad) {
    packets_.push_back({packet.ref, {packet.octets.begin(), packet.octets.end()}, packet.wire_length, crc_bad});
    octets_ += packet.octets.size();
    owed_ += packet.octets.size() + cost_of_one;
    if (wire::begins(header.op.part)) ++telling_;
    (void)pay();
  }
  /// False: the budget has no room for all that is kept, and some of those who wait have to go.
  [[nodiscard]] bool pay() noexcept {
    if (!budget_.take(owed_)) return false;
    paid_ += std::exchange(owed_, 0);
    return true;
  }
  [[nodiscard]] bool paid() const noexcept { return owed_ == 0; }
  [[nodiscard]] const std::vector<WaitingPacket>& all() const noexcept { return packets_; }
  /// Payload of the Send that ends with the newest packet, where all of it is there; what it ends with may be cut.
  [[nodiscard]] std::optional<std::vector<std::uint8_t>> newest_send() const;
  [[nodiscard]] std::vector<WaitingPacket> take() noexcept {
    budget_.give(std::exchange(paid_, 0));
    octets_ = owed_ = telling_ = 0;
    return std::exchange(packets_, {});
  }
  /// Those that are not the rest of a message.
  [[nodiscard]] std::size_t telling() const noexcept { return telling_; }
  [[nodiscard]] bool over_bound() const noexcept {
    return telling_ >= max_telling || packets_.size() >= max_packets || octets_ >= max_octets;
  }

 private:
  Budget& budget_;
  std::vector<WaitingPacket> packets_;
  std::size_t octets_ = 0;
  std::size_t telling_ = 0;
  std::size_t paid_ = 0;  ///< to the budget
  std::size_t owed_ = 0;
};

}  // namespace rpcrdma::trace::ib
