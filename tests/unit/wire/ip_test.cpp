// SPDX-License-Identifier: GPL-2.0-or-later
#include <gtest/gtest.h>

#include "packets.hpp"
#include "wire/ipv4.hpp"
#include "wire/ipv6.hpp"
#include "wire/tcp.hpp"
#include "wire/udp.hpp"

namespace rpcrdma::test {
namespace {

using wire::Fault;
using wire::Layer;

Layer whole(const Octets& o) { return {o, o.size()}; }

/// `o` as a capture with snap length n shows it.
Layer cut(const Octets& o, std::size_t n) { return {wire::Bytes(o).first(n), o.size()}; }

Octets with(Octets o, std::size_t at, const Octets& replacement) {
  for (const std::uint8_t octet : replacement) o.at(at++) = octet;
  return o;
}

TEST(Ipv4, HeaderOptionsAndPadding) {
  for (std::size_t options = 0; options <= 40; options += 4) {
    const Octets packet = ipv4(17, hex("0102030405"), filled(options, 1)) + filled(9, 0xEE);
    const auto ip = wire::decode_ipv4(whole(packet));
    ASSERT_TRUE(ip) << options;
    EXPECT_EQ(ip->protocol, 17);
    EXPECT_EQ(ip->header_size, 20 + options);
    EXPECT_EQ(ip->payload.wire_length, 5U);
    EXPECT_EQ(Octets(ip->payload.octets.begin(), ip->payload.octets.end()), hex("0102030405"));
    EXPECT_EQ(ip->source[3], 2);
    EXPECT_EQ(ip->destination[3], 1);
  }
}

struct Lengths {
  const char* name;
  std::size_t total;  // as written
  std::size_t payload_captured;
  std::size_t payload_wire;
};

TEST(Ipv4, TotalLength) {
  // 20 octets of header, 30 more in the frame
  const Lengths cases[] = {
      {"fits", 50, 30, 30},
      {"shorter: the rest is Ethernet padding", 33, 13, 13},
      {"header only", 20, 0, 0},
      {"0: the adapter cuts it up later", 0, 30, 30},
      {"longer: the frame's length was lost", 1500, 30, 1480},
      {"longest", 65535, 30, 65515},
  };
  for (const auto& c : cases) {
    const Octets packet = with(ipv4(6, filled(30)), 2, be16(c.total));
    const auto ip = wire::decode_ipv4(whole(packet));
    ASSERT_TRUE(ip) << c.name;
    EXPECT_EQ(ip->payload.octets.size(), c.payload_captured) << c.name;
    EXPECT_EQ(ip->payload.wire_length, c.payload_wire) << c.name;
  }
}

struct Refused {
  const char* name;
  Octets octets;
  Fault fault;
};

TEST(Ipv4, Refuses) {
  const Octets good = ipv4(17, filled(8));
  const Refused cases[] = {
      {"version 6", with(good, 0, hex("65")), Fault::invalid},
      {"version 0", with(good, 0, hex("05")), Fault::invalid},
      {"header length 0", with(good, 0, hex("40")), Fault::invalid},
      {"header length 16", with(good, 0, hex("44")), Fault::invalid},
      {"header longer than the packet", with(good, 0, hex("4f")), Fault::invalid},
      {"total length below the header", with(good, 2, hex("0013")), Fault::invalid},
      {"total length 1", with(good, 2, hex("0001")), Fault::invalid},
      {"later fragment", with(good, 6, hex("2001")), Fault::unsupported},
      {"last fragment", with(good, 6, hex("00b9")), Fault::unsupported},
      {"last offset", with(good, 6, hex("1fff")), Fault::unsupported},
  };
  for (const auto& c : cases) {
    const auto ip = wire::decode_ipv4(whole(c.octets));
    ASSERT_FALSE(ip) << c.name;
    EXPECT_EQ(ip.error().fault, c.fault) << c.name;
  }
  EXPECT_TRUE(wire::decode_ipv4(whole(with(good, 6, hex("4000"))))) << "don't fragment";
}

TEST(Ipv4, FirstFragmentIsTheBeginningOfAPacket) {
  const auto ip = wire::decode_ipv4(whole(with(ipv4(17, filled(8)), 6, hex("2000"))));
  ASSERT_TRUE(ip);
  EXPECT_TRUE(ip->first_fragment);
  EXPECT_EQ(ip->payload.wire_length, 8U);
  EXPECT_FALSE(wire::decode_ipv4(whole(ipv4(17, filled(8))))->first_fragment);
}

TEST(Ipv4, CutAtEveryLength) {
  const Octets packet = ipv4(17, filled(16), filled(8, 1));
  for (std::size_t n = 0; n <= packet.size(); ++n) {
    const auto ip = wire::decode_ipv4(cut(packet, n));
    if (n < 28) {
      ASSERT_FALSE(ip) << n;
      EXPECT_EQ(ip.error().fault, Fault::truncated) << n;
    } else {
      ASSERT_TRUE(ip) << n;
      EXPECT_EQ(ip->payload.octets.size(), n - 28);
      EXPECT_EQ(ip->payload.wire_length, 16U);
    }
  }
  for (std::size_t n = 0; n < 20; ++n) {
    const auto ip = wire::decode_ipv4(whole(Octets(packet.begin(), packet.begin() + static_cast<std::ptrdiff_t>(n))));
    ASSERT_FALSE(ip) << n;
    EXPECT_EQ(ip.error().fault, Fault::invalid) << n;
  }
}

TEST(Ipv6, HeaderAndPadding) {
  const Octets packet = ipv6(17, hex("010203")) + filled(6, 0xEE);
  const auto ip = wire::decode_ipv6(whole(packet));
  ASSERT_TRUE(ip);
  EXPECT_EQ(ip->protocol, 17);
  EXPECT_EQ(ip->header_size, 40U);
  EXPECT_EQ(ip->payload.wire_length, 3U);
  EXPECT_EQ(ip->payload.octets.size(), 3U);
  EXPECT_EQ(ip->source[15], 2);
  EXPECT_EQ(ip->destination[15], 1);
}

TEST(Ipv6, PayloadLengthZeroMeansTheFrames) {
  const Octets packet = with(ipv6(6, filled(100)), 4, hex("0000"));
  const auto ip = wire::decode_ipv6(whole(packet));
  ASSERT_TRUE(ip);
  EXPECT_EQ(ip->payload.wire_length, 100U);
}

TEST(Ipv6, PayloadLengthBeyondTheFrame) {
  const Octets packet = with(ipv6(6, filled(100)), 4, hex("ffff"));
  const auto ip = wire::decode_ipv6(whole(packet));
  ASSERT_TRUE(ip);
  EXPECT_EQ(ip->payload.wire_length, 65535U);
  EXPECT_EQ(ip->payload.octets.size(), 100U);
}

struct Chain {
  const char* name;
  std::uint8_t first;
  Octets extensions;
};

TEST(Ipv6, PassesOverExtensionHeaders) {
  const Chain cases[] = {
      {"hop by hop", 0, hex("1100010400000000")},
      {"routing, 24 octets", 43, hex("1102000000000000") + filled(16)},
      {"destination options", 60, hex("1100010400000000")},
      {"authentication, 16 octets", 51, hex("1102000000000001 00000001 aabbccdd")},
      {"atomic fragment", 44, hex("1100000000000001")},
      {"mobility", 135, hex("1100000000000000")},
      {"hop by hop, routing, destination", 0, hex("2b00010400000000 3c00000000000000 1100010400000000")},
      {"as many as are passed over", 60,
       hex("3c00010400000000 3c00010400000000 3c00010400000000 3c00010400000000"
           "3c00010400000000 3c00010400000000 3c00010400000000 1100010400000000")},
  };
  for (const auto& c : cases) {
    const Octets packet = ipv6(c.first, c.extensions + hex("aabbcc"));
    const auto ip = wire::decode_ipv6(whole(packet));
    ASSERT_TRUE(ip) << c.name;
    EXPECT_EQ(ip->protocol, 17) << c.name;
    EXPECT_EQ(ip->header_size, 40 + c.extensions.size()) << c.name;
    EXPECT_EQ(Octets(ip->payload.octets.begin(), ip->payload.octets.end()), hex("aabbcc")) << c.name;
    EXPECT_EQ(ip->payload.wire_length, 3U) << c.name;
    for (std::size_t n = 0; n < 40 + c.extensions.size(); ++n) {
      const auto short_one = wire::decode_ipv6(cut(packet, n));
      ASSERT_FALSE(short_one) << c.name << " " << n;
      EXPECT_EQ(short_one.error().fault, Fault::truncated) << c.name << " " << n;
    }
  }
}

TEST(Ipv6, Refuses) {
  Octets endless;
  for (int i = 0; i < 200; ++i) endless = endless + hex("3c00010400000000");
  const Refused cases[] = {
      {"version 4", with(ipv6(17, filled(8)), 0, hex("40")), Fault::invalid},
      {"later fragment", ipv6(44, hex("1100000800000001") + filled(8)), Fault::unsupported},
      {"fragment behind hop by hop", ipv6(0, hex("2c00010400000000 1100ffff00000001")), Fault::unsupported},
      {"extension longer than the packet", ipv6(0, hex("11ff010400000000")), Fault::invalid},
      {"extension of 4 octets", ipv6(0, hex("11000104")), Fault::invalid},
      {"extensions without end", ipv6(60, endless), Fault::unsupported},
  };
  for (const auto& c : cases) {
    const auto ip = wire::decode_ipv6(whole(c.octets));
    ASSERT_FALSE(ip) << c.name;
    EXPECT_EQ(ip.error().fault, c.fault) << c.name;
  }
}

TEST(Ipv6, FirstFragmentIsTheBeginningOfAPacket) {
  const auto ip = wire::decode_ipv6(whole(ipv6(44, hex("1100000100000001") + filled(8))));
  ASSERT_TRUE(ip);
  EXPECT_TRUE(ip->first_fragment);
  EXPECT_EQ(ip->protocol, 17);
  EXPECT_EQ(ip->payload.wire_length, 8U);
  EXPECT_FALSE(wire::decode_ipv6(whole(ipv6(44, hex("1100000000000001") + filled(8))))->first_fragment);
}

TEST(Ipv6, OtherProtocolsAreNamedNotOpened) {
  for (const int next : {50, 58, 59, 41, 255}) {
    const auto ip = wire::decode_ipv6(whole(ipv6(static_cast<std::uint8_t>(next), filled(64))));
    ASSERT_TRUE(ip) << next;
    EXPECT_EQ(ip->protocol, next);
    EXPECT_EQ(ip->header_size, 40U);
  }
}

TEST(Udp, Lengths) {
  const Lengths cases[] = {
      {"fits", 28, 20, 20},
      {"shorter than IP's", 18, 10, 10},
      {"header only", 8, 0, 0},
      {"0: up to the end of the IP packet", 0, 20, 20},
      {"longer than IP's", 2000, 20, 20},
  };
  for (const auto& c : cases) {
    const auto u = wire::decode_udp(whole(with(udp(filled(20)), 4, be16(c.total))));
    ASSERT_TRUE(u) << c.name;
    EXPECT_EQ(u->source_port, 0xC001);
    EXPECT_EQ(u->destination_port, 4791);
    EXPECT_EQ(u->payload.octets.size(), c.payload_captured) << c.name;
    EXPECT_EQ(u->payload.wire_length, c.payload_wire) << c.name;
  }
  for (const std::size_t length : {1U, 7U}) {
    const auto u = wire::decode_udp(whole(with(udp(filled(20)), 4, be16(length))));
    ASSERT_FALSE(u) << length;
    EXPECT_EQ(u.error().fault, Fault::invalid);
  }
}

TEST(Udp, CutAtEveryLength) {
  const Octets packet = udp(filled(6));
  for (std::size_t n = 0; n <= packet.size(); ++n) {
    const auto u = wire::decode_udp(cut(packet, n));
    ASSERT_EQ(u.has_value(), n >= 4) << n;
    if (!u) {
      EXPECT_EQ(u.error().fault, Fault::truncated) << n;
      continue;
    }
    EXPECT_EQ(u->destination_port, 4791);
    EXPECT_EQ(u->payload.octets.size(), n < 8 ? 0 : n - 8) << n;
    EXPECT_EQ(u->payload.wire_length, 6U) << n;
  }
  const auto none = wire::decode_udp(whole(Octets(packet.begin(), packet.begin() + 7)));
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().fault, Fault::invalid);
}

TEST(Tcp, HeaderAndOptions) {
  for (std::size_t options = 0; options <= 40; options += 4) {
    const Octets packet = tcp(hex("0a0b0c"), filled(options, 1));
    const auto t = wire::decode_tcp(whole(packet));
    ASSERT_TRUE(t) << options;
    EXPECT_EQ(t->source_port, 0xC002);
    EXPECT_EQ(t->destination_port, 20049);
    EXPECT_EQ(t->sequence, 0x01020304U);
    EXPECT_EQ(t->acknowledgement, 0x05060708U);
    EXPECT_EQ(t->flags, 0x18);
    EXPECT_EQ(t->payload.wire_length, 3U);
    EXPECT_EQ(Octets(t->payload.octets.begin(), t->payload.octets.end()), hex("0a0b0c")) << options;
  }
}

TEST(Tcp, Refuses) {
  const Octets good = tcp(filled(4));
  for (const char* offset : {"00", "10", "40", "f0", "70"}) {
    const auto t = wire::decode_tcp(whole(with(good, 12, hex(offset))));
    ASSERT_FALSE(t) << offset;
    EXPECT_EQ(t.error().fault, Fault::invalid) << offset;
  }
  EXPECT_TRUE(wire::decode_tcp(whole(with(good, 12, hex("60")))));
}

TEST(Tcp, CutAtEveryLength) {
  const Octets packet = tcp(filled(10), filled(12, 1));
  for (std::size_t n = 0; n <= packet.size(); ++n) {
    const auto t = wire::decode_tcp(cut(packet, n));
    ASSERT_EQ(t.has_value(), n >= 14) << n;
    if (!t) {
      EXPECT_EQ(t.error().fault, Fault::truncated) << n;
      continue;
    }
    EXPECT_EQ(t->payload.octets.size(), n < 32 ? 0 : n - 32) << n;
    EXPECT_EQ(t->payload.wire_length, 10U) << n;
  }
}

}  // namespace
}  // namespace rpcrdma::test
