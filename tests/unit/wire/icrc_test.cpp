// SPDX-License-Identifier: GPL-2.0-or-later
#include "wire/icrc.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "octets.hpp"
#include "wire/crc32c.hpp"

namespace rpcrdma::test {
namespace {

using wire::IcrcLayout;

struct Sample {
  const char* name;
  IcrcLayout layout;
  Octets network;
  Octets packet;                        ///< with the ICRC
  std::vector<std::size_t> changeable;  ///< octets of network followed by packet that switches and routers may change
};

/// A packet sealed with the ICRC that the function itself computes: good for what is covered, not for its value.
Sample seal(Sample s) {
  const auto sum = wire::icrc(s.layout, s.network, s.packet);
  for (unsigned shift = 0; shift < 32; shift += 8) {
    s.packet.push_back(static_cast<std::uint8_t>(sum.value_or(0) >> shift));
  }
  return s;
}

const std::vector<Sample>& samples() {
  static const Octets bth = hex("04 00 ffff 00 000012 80 000345 abcdef01");
  static const Octets gids = hex("fe80000000000000505400fffe000002 fe80000000000000505400fffe000001");
  static const std::vector<Sample> all{
      // Two acknowledgements of soft-RoCE on Linux.
      {"RoCEv2 IPv4 from Linux",
       IcrcLayout::rocev2_ipv4,
       hex("4500 0030 c69f 4000 4011 58c9 c0a84d01 c0a84d02 fb37 12b7 001c 0000"),
       hex("1100ffff 00000011 00e9443c 1f000001 c60aa84e"),
       {1, 8, 10, 11, 26, 27, 32}},
      {"RoCEv2 IPv6 from Linux",
       IcrcLayout::rocev2_ipv6,
       hex("60000000 001c 11 40 fd770000000000000000000000000001 fd770000000000000000000000000002"
           "d73b 12b7 001c 0000"),
       hex("1100ffff 00000012 00a757da 1f000001 b33a2eb8"),
       {1, 2, 3, 7, 46, 47, 52}},
      // The example of IBTA volume 1: an RDMA WRITE of 14 octets inside one subnet.
      {"InfiniBand, published example",
       IcrcLayout::lrh,
       hex("7012375c 000e17d2"),
       hex("0a202487 0087b1b3 000dec2a 01710a1c 015d4002 38f27a05 0000000e bb884d85 fd5cfba4 728bc069 0ed40000"
           "9625b75a"),
       {12}},
      seal({"RoCEv1", IcrcLayout::grh, hex("60000000 0014 1b 40") + gids, bth, {1, 2, 3, 7, 44}}),
      seal({"InfiniBand with GRH",
            IcrcLayout::lrh,
            hex("0003 0007 000e 0005 60000000 0014 1b 40") + gids,
            bth,
            {0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 15, 52}}),
      seal({"RoCEv2 IPv4 with options",
            IcrcLayout::rocev2_ipv4,
            hex("4600 0034 c69f 4000 4011 58c9 c0a84d01 c0a84d02 94040000 fb37 12b7 001c 0000"),
            bth,
            {1, 8, 10, 11, 30, 31, 36}}),
      seal({"RoCEv2 IPv6 with extension header",
            IcrcLayout::rocev2_ipv6,
            hex("60000000 0024 3c 40") + gids + hex("1100010400000000 d73b 12b7 001c 0000"),
            bth,
            {1, 2, 3, 7, 54, 55, 60}}),
  };
  return all;
}

bool matches(const Sample& s) { return wire::icrc_matches(s.layout, s.network, s.packet); }

TEST(Icrc, Matches) {
  for (const auto& s : samples()) EXPECT_TRUE(matches(s)) << s.name;
}

TEST(Icrc, RoCEv1ByAnIndependentRoad) {
  // Bit by bit: ones in place of the LRH, then the masked octets.
  const auto& s = samples()[3];
  Octets masked = filled(8, 0xFF) + s.network + s.packet;
  masked[8] |= 0x0F;
  for (const std::size_t at : s.changeable) masked[8 + at] = 0xFF;
  std::uint32_t sum = 0xFFFFFFFF;
  for (const std::uint8_t octet : wire::Bytes(masked).first(masked.size() - 4)) {
    sum ^= octet;
    for (int bit = 0; bit < 8; ++bit) sum = (sum >> 1U) ^ ((sum & 1U) != 0 ? 0xEDB88320U : 0U);
  }
  EXPECT_EQ(~sum, wire::load_le32(s.packet.data() + s.packet.size() - 4));
}

TEST(Icrc, EveryOctetIsEitherCoveredOrChangeable) {
  for (const auto& s : samples()) {
    for (std::size_t at = 0; at < s.network.size() + s.packet.size(); ++at) {
      Sample t = s;
      // The last bit: where half an octet may change, it is the other half.
      (at < t.network.size() ? t.network[at] : t.packet[at - t.network.size()]) ^= 0x01;
      bool free = std::find(s.changeable.begin(), s.changeable.end(), at) != s.changeable.end();
      const bool ipv6 = s.layout == IcrcLayout::rocev2_ipv6 || s.layout == IcrcLayout::grh;
      if (ipv6 && at == 0) free = true;  // its low half belongs to the traffic class
      if (s.layout == IcrcLayout::lrh && s.network.size() == 48 && at == 8) free = true;
      EXPECT_EQ(matches(t), free) << s.name << " octet " << at;
    }
  }
}

TEST(Icrc, OnlyTheVirtualLaneOfALocalRouteHeaderMayChange) {
  Sample s = samples()[2];
  s.network[0] = 0x00;
  EXPECT_TRUE(matches(s));
  s.network[0] = 0x01;
  EXPECT_FALSE(matches(s));
}

TEST(Icrc, IpVersionIsCovered) {
  Sample s = samples()[1];
  s.network[0] ^= 0x10;
  EXPECT_FALSE(matches(s));
}

TEST(Icrc, CutAnywhereHasNone) {
  for (const auto& s : samples()) {
    for (std::size_t n = 0; n < s.packet.size(); ++n) {
      EXPECT_FALSE(wire::icrc_matches(s.layout, s.network, wire::Bytes(s.packet).first(n))) << s.name << " " << n;
    }
    for (std::size_t n = 0; n < s.network.size(); ++n) {
      EXPECT_FALSE(wire::icrc_matches(s.layout, wire::Bytes(s.network).first(n), s.packet)) << s.name << " " << n;
    }
  }
  EXPECT_FALSE(wire::icrc(IcrcLayout::grh, samples()[3].network, wire::Bytes(samples()[3].packet).first(11)));
}

}  // namespace
}  // namespace rpcrdma::test
