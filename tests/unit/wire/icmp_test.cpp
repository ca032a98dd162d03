// SPDX-License-Identifier: GPL-2.0-or-later
#include "wire/icmp.hpp"

#include <gtest/gtest.h>

#include "packets.hpp"

namespace rpcrdma::test {
namespace {

using wire::Fault;

wire::Layer uncut(const Octets& octets) { return {octets, octets.size()}; }

/// Ports 49154 to 20049, sequence 0x01020304, and no more than must be quoted.
const Octets quoted = hex("c002 4e51 01020304");

Octets icmp(std::uint8_t type, std::uint8_t code, const Octets& packet) {
  return Octets{type, code} + hex("0000 00000000") + packet;
}

// RFC 792: type 3, the IP header and the first 64 bits of what it carried.
TEST(Icmp, NamesTheSegmentThatWasNotDelivered) {
  for (const std::uint8_t code : Octets{0, 1, 2, 3, 9, 10, 13}) {
    for (const Octets& options : {Octets{}, filled(8, 1)}) {
      const Octets message = icmp(3, code, ipv4(6, quoted, options));
      const auto u = wire::decode_icmp_unreachable(uncut(message));
      ASSERT_TRUE(u);
      EXPECT_EQ(u->code, code);
      EXPECT_EQ(Octets(u->source, u->source + 4), hex("c0a84d02"));
      EXPECT_EQ(Octets(u->destination, u->destination + 4), hex("c0a84d01"));
      EXPECT_EQ(u->protocol, 6);
      const auto tcp = wire::decode_quoted_tcp(u->payload);
      ASSERT_TRUE(tcp);
      EXPECT_EQ(tcp->source_port, 49154);
      EXPECT_EQ(tcp->destination_port, 20049);
      EXPECT_EQ(tcp->sequence, 0x01020304U);
    }
  }
}

// The quoted header still has the length of the whole packet.
TEST(Icmp, QuotesLessThanThePacketWas) {
  Octets packet = ipv4(6, tcp(filled(100)));
  packet.resize(28);
  const Octets message = icmp(3, 3, packet);
  const auto u = wire::decode_icmp_unreachable(uncut(message));
  ASSERT_TRUE(u);
  EXPECT_EQ(u->payload.octets.size(), 8U);
  EXPECT_EQ(u->payload.wire_length, 120U);
}

// RFC 4443 section 3.1: type 1.
TEST(Icmp, Version6) {
  for (const Octets& packet : {ipv6(6, quoted), ipv6(60, hex("0600010400000000") + quoted)}) {
    const Octets message = icmp(1, 4, packet);
    const auto u = wire::decode_icmpv6_unreachable(uncut(message));
    ASSERT_TRUE(u);
    EXPECT_EQ(u->code, 4);
    EXPECT_EQ(u->source[15], 2);
    EXPECT_EQ(u->destination[15], 1);
    EXPECT_EQ(u->protocol, 6);
    EXPECT_EQ(wire::Bytes(u->payload.octets).size(), quoted.size());
  }
}

TEST(Icmp, OtherMessagesAndOtherQuotes) {
  const struct {
    const char* name;
    Octets v4;
    Fault fault;
  } cases[] = {
      {"echo", icmp(8, 0, ipv4(6, quoted)), Fault::unsupported},
      {"time exceeded", icmp(11, 0, ipv4(6, quoted)), Fault::unsupported},
      {"fragmentation needed", icmp(3, 4, ipv4(6, quoted)), Fault::unsupported},
      {"a later fragment", icmp(3, 1, hex("4500001c 00010001 4006 0000 c0a84d02 c0a84d01") + quoted),
       Fault::unsupported},
      {"no IP", icmp(3, 1, filled(28)), Fault::invalid},
  };
  for (const auto& c : cases) {
    const auto u = wire::decode_icmp_unreachable(uncut(c.v4));
    ASSERT_FALSE(u) << c.name;
    EXPECT_EQ(u.error().fault, c.fault) << c.name;
  }
  for (const auto& message : {icmp(3, 0, ipv6(6, quoted)), icmp(2, 0, ipv6(6, quoted))})
    EXPECT_FALSE(wire::decode_icmpv6_unreachable(uncut(message)));
}

TEST(Icmp, CutAtEveryLength) {
  const Octets v4 = icmp(3, 1, ipv4(6, quoted));
  const Octets v6 = icmp(1, 0, ipv6(6, quoted));
  for (std::size_t n = 0; n < v4.size() - quoted.size(); ++n) {
    const auto u = wire::decode_icmp_unreachable({wire::Bytes(v4).first(n), v4.size()});
    ASSERT_FALSE(u) << n;
    EXPECT_EQ(u.error().fault, Fault::truncated) << n;
  }
  for (std::size_t n = 0; n < v6.size() - quoted.size(); ++n) {
    const auto u = wire::decode_icmpv6_unreachable({wire::Bytes(v6).first(n), v6.size()});
    ASSERT_FALSE(u) << n;
    EXPECT_EQ(u.error().fault, Fault::truncated) << n;
  }
  for (std::size_t n = 0; n < quoted.size(); ++n) {
    const auto tcp = wire::decode_quoted_tcp({wire::Bytes(quoted).first(n), 20});
    ASSERT_FALSE(tcp) << n;
    EXPECT_EQ(tcp.error().fault, Fault::truncated) << n;
  }
}

}  // namespace
}  // namespace rpcrdma::test
