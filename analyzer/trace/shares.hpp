// SPDX-License-Identifier: GPL-2.0-or-later
// Inside trace: which share of the connections a packet belongs to. Shares have nothing in common: whoever takes one
// needs none of the others' packets. How many there are and which is whose depends on the capture alone.
#pragma once

#include <array>
#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "trace/link/open_frame.hpp"
#include "trace/packet.hpp"
#include "wire/ib.hpp"
#include "wire/mpa.hpp"

namespace rpcrdma::trace {

class Shares {
 public:
  static constexpr std::size_t count = 8;

  /// All that goes between two addresses is of one share, on whatever network; each new pair is the next one's. So is
  /// what goes between the IP addresses that a connection request over GIDs or LIDs names. Asked for each packet: most
  /// of it stands here for speed.
  [[nodiscard]] std::size_t of(const IbPacket& packet) {
    if (!packet.octets.empty() && packet.octets[0] == wire::ud_send_only) [[unlikely]] {
      join(packet);
    }
    return between(packet.source, packet.destination);
  }
  [[nodiscard]] std::size_t of(const TcpSegment& segment) { return between(segment.source, segment.destination); }
  [[nodiscard]] std::size_t of(const Undelivered& segment) { return between(segment.source, segment.destination); }

  /// Where somebody speaks MPA as this segment shows, for the first time: what the other shares cannot see.
  [[nodiscard]] std::optional<Service> service(const TcpSegment& segment) {
    const wire::MpaKey key = wire::mpa_key(segment.payload);
    if (key != wire::MpaKey::request && key != wire::MpaKey::reply) [[likely]] {
      return std::nullopt;
    }
    return new_service(segment, key);
  }

 private:
  static constexpr std::size_t most_pairs = 131072;
  static constexpr std::size_t most_services = 256;
  static constexpr std::size_t cached = 1024;

  using Words = std::array<std::uint64_t, 2>;
  struct Pair {
    Words low{};
    Words high{};
    friend bool operator==(const Pair&, const Pair&) = default;
    friend auto operator<=>(const Pair&, const Pair&) = default;  // NOLINT(modernize-use-nullptr): clang-tidy 14
  };
  struct Slot {
    Words one{};  ///< in the order in which they were asked for
    Words other{};
    std::size_t share = count;  ///< none yet
  };

  [[nodiscard]] static Words words(const Address& address) noexcept {
    return address.kind == Address::Kind::gid ? words_of_gid(address) : std::bit_cast<Words>(address.octets);
  }
  [[nodiscard]] static Words words_of_gid(const Address& address) noexcept;
  [[nodiscard]] static Pair pair(const Words& a, const Words& b) noexcept { return a < b ? Pair{a, b} : Pair{b, a}; }

  [[nodiscard]] std::size_t between(const Address& source, const Address& destination) {
    const Words a = words(source);
    const Words b = words(destination);
    // The same in both directions
    const std::uint64_t mixed = ((a[0] ^ b[0]) + (a[0] + b[0]) + (a[1] ^ b[1]) + (a[1] + b[1])) * 0x9E3779B97F4A7C15ULL;
    Slot& slot = cache_[mixed >> 54U];
    if ((slot.one == a && slot.other == b) || (slot.one == b && slot.other == a)) [[likely]] {
      if (slot.share != count) return slot.share;
    }
    slot = {a, b, look_up(pair(a, b))};
    return slot.share;
  }
  [[nodiscard]] std::size_t look_up(const Pair& pair);
  void join(const IbPacket& packet);
  [[nodiscard]] std::optional<Service> new_service(const TcpSegment& segment, wire::MpaKey key);

  std::array<Slot, cached> cache_;
  std::map<Pair, std::uint8_t> pairs_;
  std::uint8_t next_ = 0;
  std::set<Service> services_;
};

}  // namespace rpcrdma::trace
