// SPDX-License-Identifier: GPL-2.0-or-later
#include "wire/icrc.hpp"

#include <array>
#include <cstring>

#include <zlib.h>

#include "wire/crc32c.hpp"

namespace rpcrdma::wire {
namespace {

constexpr std::size_t lrh_size = 8;
constexpr std::size_t grh_size = 40;
constexpr std::size_t ipv4_size = 20;
constexpr std::size_t ipv6_size = 40;
constexpr std::size_t udp_size = 8;
constexpr std::size_t bth_size = 12;

constexpr std::array<std::uint8_t, lrh_size> ones{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};

/// The register of the running CRC.
class Sum {
 public:
  void add(Bytes octets) noexcept { value_ = crc32_z(value_, octets.data(), octets.size()); }
  [[nodiscard]] std::uint32_t value() const noexcept { return static_cast<std::uint32_t>(value_); }

 private:
  uLong value_ = crc32_z(0, nullptr, 0);
};

template <std::size_t n>
std::array<std::uint8_t, n> copy(Bytes from) noexcept {
  std::array<std::uint8_t, n> to;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled in the next line
  std::memcpy(to.data(), from.data(), n);
  return to;
}

/// IPv6 and GRH are the same here: traffic class, flow label and hop limit may change.
void add_grh(Sum& sum, Bytes header) noexcept {
  auto h = copy<grh_size>(header);
  h[0] |= 0x0F;
  h[1] = h[2] = h[3] = 0xFF;
  h[7] = 0xFF;
  sum.add(h);
}

void add_ipv4(Sum& sum, Bytes header) noexcept {
  auto h = copy<ipv4_size>(header);
  h[1] = 0xFF;           // type of service
  h[8] = 0xFF;           // time to live
  h[10] = h[11] = 0xFF;  // checksum
  sum.add(h);
}

void add_udp(Sum& sum, Bytes header) noexcept {
  auto h = copy<udp_size>(header);
  h[6] = h[7] = 0xFF;  // checksum
  sum.add(h);
}

bool add_network(Sum& sum, IcrcLayout layout, Bytes network) noexcept {
  switch (layout) {
    case IcrcLayout::rocev2_ipv4:
    case IcrcLayout::rocev2_ipv6: {
      const bool v4 = layout == IcrcLayout::rocev2_ipv4;
      const std::size_t fixed = v4 ? ipv4_size : ipv6_size;
      if (network.size() < fixed + udp_size) return false;
      sum.add(ones);
      v4 ? add_ipv4(sum, network) : add_grh(sum, network);
      sum.add(network.subspan(fixed, network.size() - fixed - udp_size));  // options, extension headers
      add_udp(sum, network.last(udp_size));
      return true;
    }
    case IcrcLayout::grh:
      if (network.size() != grh_size) return false;
      sum.add(ones);
      add_grh(sum, network);
      return true;
    case IcrcLayout::lrh: {
      if (network.size() == lrh_size) {
        auto h = copy<lrh_size>(network);
        h[0] |= 0xF0;  // virtual lane
        sum.add(h);
        return true;
      }
      // A packet that may be routed gets a new LRH in each subnet: none of it is invariant.
      if (network.size() != lrh_size + grh_size) return false;
      sum.add(ones);
      add_grh(sum, network.subspan(lrh_size));
      return true;
    }
  }
  return false;
}

}  // namespace

std::optional<std::uint32_t> icrc(IcrcLayout layout, Bytes network, Bytes covered) noexcept {
  if (covered.size() < bth_size) return std::nullopt;
  Sum sum;
  if (!add_network(sum, layout, network)) return std::nullopt;
  auto bth = copy<bth_size>(covered);
  bth[4] = 0xFF;  // FECN, BECN, reserved
  sum.add(bth);
  sum.add(covered.subspan(bth_size));
  return sum.value();
}

bool icrc_matches(IcrcLayout layout, Bytes network, Bytes packet) noexcept {
  if (packet.size() < bth_size + icrc_size) return false;
  const auto expected = icrc(layout, network, packet.first(packet.size() - icrc_size));
  return expected && *expected == load_le32(packet.last(icrc_size).data());
}

}  // namespace rpcrdma::wire
