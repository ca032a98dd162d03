// SPDX-License-Identifier: GPL-2.0-or-later
#include "wire/ip_fragment.hpp"

#include <gtest/gtest.h>

#include "packets.hpp"

namespace rpcrdma::test {
namespace {

/// A piece of an IPv4 packet, as RFC 791 says it: offset in units of 8 octets.
Octets piece(std::size_t offset, bool more, const Octets& octets) {
  Octets packet = ipv4(17, octets);
  packet[6] = static_cast<std::uint8_t>((more ? 0x20U : 0U) | offset >> 8U);
  packet[7] = static_cast<std::uint8_t>(offset);
  return packet;
}

TEST(IpFragment, Refuses) {
  struct Case {
    const char* name;
    Octets octets;
    bool ipv6;
    wire::Fault fault;
  };
  Octets version = piece(1, true, filled(8));
  version[0] = 0x65;
  const Case cases[] = {
      {"no fragment", ipv4(17, filled(8)), false, wire::Fault::unsupported},
      {"not a multiple of 8, and more to come", piece(0, true, filled(12)), false, wire::Fault::invalid},
      {"nothing in it", piece(1, false, {}), false, wire::Fault::invalid},
      {"beyond the longest packet", piece(8191, false, filled(8)), false, wire::Fault::invalid},
      {"not IPv4", version, false, wire::Fault::invalid},
      {"IPv6, no fragment", ipv6(17, filled(16)), true, wire::Fault::unsupported},
      {"IPv6, in one piece", ipv6(44, hex("1100000000000001") + filled(8)), true, wire::Fault::unsupported},
      {"IPv6, encrypted", ipv6(50, filled(16)), true, wire::Fault::unsupported},
  };
  for (const auto& c : cases) {
    const wire::Layer in{c.octets, c.octets.size()};
    const auto fragment = c.ipv6 ? wire::decode_ipv6_fragment(in) : wire::decode_ipv4_fragment(in);
    ASSERT_FALSE(fragment) << c.name;
    EXPECT_EQ(fragment.error().fault, c.fault) << c.name;
  }
}

TEST(IpFragment, Ipv6BehindOtherHeaders) {
  const Octets packet = ipv6(0, hex("2c00010400000000 1100005100000007") + filled(16));
  const auto fragment = wire::decode_ipv6_fragment({packet, packet.size()});
  ASSERT_TRUE(fragment);
  EXPECT_EQ(fragment->protocol, 17);
  EXPECT_EQ(fragment->identification, 7U);
  EXPECT_EQ(fragment->offset, 80U);
  EXPECT_TRUE(fragment->more);
  EXPECT_EQ(fragment->header.size(), 40U);
  EXPECT_EQ(fragment->payload.octets.size(), 16U);
}

}  // namespace
}  // namespace rpcrdma::test
