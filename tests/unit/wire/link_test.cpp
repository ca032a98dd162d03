// SPDX-License-Identifier: GPL-2.0-or-later
#include <gtest/gtest.h>

#include "packets.hpp"
#include "wire/cooked.hpp"
#include "wire/erf.hpp"
#include "wire/ethernet.hpp"
#include "wire/grh.hpp"

namespace rpcrdma::test {
namespace {

using wire::Fault;
using wire::Layer;

Layer whole(const Octets& o) { return {o, o.size()}; }
Layer cut(const Octets& o, std::size_t n) { return {wire::Bytes(o).first(n), o.size()}; }
Octets list(wire::Bytes b) { return {b.begin(), b.end()}; }

using LinkDecoder = wire::Decoded<wire::EtherPayload> (*)(Layer);

struct Link {
  const char* name;
  LinkDecoder decode;
  Octets header;
  std::uint16_t type;
};

const std::vector<Link>& links() {
  static const Octets macs = hex("525400000001 525400000002");
  static const std::vector<Link> all{
      {"Ethernet", wire::decode_ethernet, macs + hex("0800"), 0x0800},
      {"Ethernet, RoCEv1", wire::decode_ethernet, macs + hex("8915"), 0x8915},
      {"Ethernet, a length", wire::decode_ethernet, macs + hex("0026"), 0x0026},
      {"VLAN", wire::decode_ethernet, macs + hex("8100 004d 86dd"), 0x86DD},
      {"QinQ", wire::decode_ethernet, macs + hex("88a8 0064 8100 e04d 0800"), 0x0800},
      {"old QinQ", wire::decode_ethernet, macs + hex("9100 0064 8100 004d 0800"), 0x0800},
      {"four tags", wire::decode_ethernet, macs + hex("88a8 0001 88a8 0002 8100 0003 8100 0004 8915"), 0x8915},
      {"cooked", wire::decode_cooked, hex("0000 0001 0006 525400000001 0000 0800"), 0x0800},
      {"cooked, VLAN", wire::decode_cooked, hex("0000 0001 0006 525400000001 0000 8100 004d 86dd"), 0x86DD},
      {"cooked 2", wire::decode_cooked2, hex("0800 0000 00000002 0001 00 06 525400000001 0000"), 0x0800},
      {"cooked 2, VLAN", wire::decode_cooked2, hex("8100 0000 00000002 0001 00 06 525400000001 0000 004d 0800"),
       0x0800},
      {"loopback, little-endian", wire::decode_loopback, hex("02000000"), 0x0800},
      {"loopback, big-endian", wire::decode_loopback, hex("00000002"), 0x0800},
      {"loopback, Linux IPv6", wire::decode_loopback, hex("0a000000"), 0x86DD},
      {"loopback, Windows IPv6", wire::decode_loopback, hex("17000000"), 0x86DD},
      {"loopback, OpenBSD IPv6", wire::decode_loopback, hex("00000018"), 0x86DD},
      {"loopback, FreeBSD IPv6", wire::decode_loopback, hex("1c000000"), 0x86DD},
      {"loopback, macOS IPv6", wire::decode_loopback, hex("1e000000"), 0x86DD},
  };
  return all;
}

TEST(Link, PayloadAndType) {
  for (const auto& l : links()) {
    const Octets frame = l.header + hex("a1a2a3");
    const auto e = l.decode(whole(frame));
    ASSERT_TRUE(e) << l.name;
    EXPECT_EQ(e->type, l.type) << l.name;
    EXPECT_EQ(list(e->payload.octets), hex("a1a2a3")) << l.name;
    EXPECT_EQ(e->payload.wire_length, 3U) << l.name;
  }
}

TEST(Link, CutAtEveryLength) {
  for (const auto& l : links()) {
    const Octets frame = l.header + hex("a1a2a3");
    for (std::size_t n = 0; n <= frame.size(); ++n) {
      const auto e = l.decode(cut(frame, n));
      ASSERT_EQ(e.has_value(), n >= l.header.size()) << l.name << " " << n;
      if (!e) {
        EXPECT_EQ(e.error().fault, Fault::truncated) << l.name << " " << n;
        EXPECT_EQ(l.decode(whole(Octets(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(n)))).error().fault,
                  Fault::invalid)
            << l.name << " " << n;
      } else {
        EXPECT_EQ(e->payload.octets.size(), n - l.header.size());
        EXPECT_EQ(e->payload.wire_length, 3U);
      }
    }
  }
}

TEST(Link, VlanTagsAreBounded) {
  Octets tags;
  for (int i = 0; i < 300; ++i) tags = tags + hex("8100 0001");
  const auto e = wire::decode_ethernet(whole(ethernet(0x0800, filled(40), tags)));
  ASSERT_FALSE(e);
  EXPECT_EQ(e.error().fault, Fault::unsupported);
}

TEST(Link, UnknownLoopbackFamilies) {
  for (const char* family : {"00000000", "00000007", "02000001", "00020000", "ff000000", "00000102"}) {
    const auto e = wire::decode_loopback(whole(hex(family) + filled(40)));
    ASSERT_FALSE(e) << family;
    EXPECT_EQ(e.error().fault, Fault::unsupported) << family;
  }
}

TEST(Link, RawIp) {
  EXPECT_EQ(wire::decode_raw_ip(whole(hex("45")))->type, 0x0800);
  EXPECT_EQ(wire::decode_raw_ip(whole(hex("60")))->type, 0x86DD);
  EXPECT_EQ(wire::decode_raw_ip(whole(hex("50"))).error().fault, Fault::invalid);
  EXPECT_EQ(wire::decode_raw_ip({{}, 20}).error().fault, Fault::truncated);
}

struct ErfCase {
  const char* name;
  std::uint8_t type;
  Octets extensions;
  wire::ErfRecord::Kind kind;
};

const std::vector<ErfCase>& erf_cases() {
  using Kind = wire::ErfRecord::Kind;
  static const std::vector<ErfCase> all{
      {"Ethernet", 2, {}, Kind::ethernet},
      {"Ethernet with colour", 11, {}, Kind::ethernet},
      {"Ethernet with stream", 16, {}, Kind::ethernet},
      {"Ethernet with hash", 20, {}, Kind::ethernet},
      {"InfiniBand", 21, {}, Kind::infiniband},
      {"IPv4", 22, {}, Kind::ipv4},
      {"IPv6", 23, {}, Kind::ipv6},
      {"InfiniBand, one extension header", 0x80 | 21, hex("0500000000000000"), Kind::infiniband},
      {"Ethernet, three extension headers", 0x80 | 2, hex("8300000000000000 8500000000000001 0600000000000002"),
       Kind::ethernet},
      {"IB link", 25, {}, Kind::no_frame},
      {"metadata", 0x80 | 27, hex("1000000000000000"), Kind::no_frame},
      {"HDLC", 1, {}, Kind::other_link},
      {"ATM", 3, {}, Kind::other_link},
      {"never heard of", 0xFF, hex("0000000000000000"), Kind::other_link},
  };
  return all;
}

TEST(Erf, Kinds) {
  for (const auto& c : erf_cases()) {
    for (std::size_t size = 60; size < 68; ++size) {  // every amount of filling
      const Octets frame = filled(size, 0x5A);
      const Octets record = erf(c.type, frame, c.extensions);
      const auto r = wire::decode_erf(whole(record));
      ASSERT_TRUE(r) << c.name;
      EXPECT_EQ(r->kind, c.kind) << c.name;
      EXPECT_EQ(list(r->frame.octets), frame) << c.name;
      EXPECT_EQ(r->frame.wire_length, size) << c.name;
    }
  }
}

TEST(Erf, CutByTheCardOrByTheSnapLength) {
  // the card kept 32 octets of 1500
  const Octets by_card = erf(21, filled(32), {}, 1500);
  const auto a = wire::decode_erf(whole(by_card));
  ASSERT_TRUE(a);
  EXPECT_EQ(a->frame.octets.size(), 32U);
  EXPECT_EQ(a->frame.wire_length, 1500U);

  for (const auto& c : erf_cases()) {
    const Octets record = erf(c.type, filled(64), c.extensions);
    const std::size_t headers = 16 + c.extensions.size() + (c.kind == wire::ErfRecord::Kind::ethernet ? 2 : 0);
    for (std::size_t n = 0; n <= record.size(); ++n) {
      const auto r = wire::decode_erf(cut(record, n));
      ASSERT_EQ(r.has_value(), n >= headers) << c.name << " " << n;
      if (r) {
        EXPECT_EQ(r->frame.octets.size(), std::min<std::size_t>(n - headers, 64)) << c.name << " " << n;
        EXPECT_EQ(r->frame.wire_length, 64U);
      } else {
        EXPECT_EQ(r.error().fault, Fault::truncated) << c.name << " " << n;
      }
    }
  }
}

TEST(Erf, WireLengthZeroLeavesItToTheRecord) {
  Octets record = erf(21, filled(64));
  record[14] = record[15] = 0;
  const auto r = wire::decode_erf(whole(record));
  ASSERT_TRUE(r);
  EXPECT_EQ(r->frame.octets.size(), 64U);
  EXPECT_EQ(r->frame.wire_length, 64U);
}

TEST(Erf, HostileLengths) {
  for (const std::size_t length : {0U, 1U, 15U, 17U, 23U}) {  // ends inside header, extension header or pad
    Octets record = erf(0x80 | 2, filled(64), hex("0500000000000000"));
    record[10] = 0;
    record[11] = static_cast<std::uint8_t>(length);
    const auto r = wire::decode_erf(whole(record));
    ASSERT_FALSE(r) << length;
    EXPECT_EQ(r.error().fault, Fault::invalid) << length;
  }
  Octets record = erf(21, filled(64));
  record[10] = record[11] = record[14] = record[15] = 0xFF;
  const auto r = wire::decode_erf(whole(record));
  ASSERT_TRUE(r);
  EXPECT_EQ(r->frame.octets.size(), 64U);
  EXPECT_EQ(r->frame.wire_length, 65535U);
}

TEST(Erf, ExtensionHeadersAreBounded) {
  Octets extensions;
  for (int i = 0; i < 100; ++i) extensions = extensions + hex("8500000000000000");
  const auto r = wire::decode_erf(whole(erf(0x80 | 21, filled(64), extensions)));
  ASSERT_FALSE(r);
  EXPECT_EQ(r.error().fault, Fault::unsupported);
}

TEST(Lrh, LocalAndGlobal) {
  const Octets local = lrh(2, filled(24));
  const auto a = wire::decode_lrh(whole(local));
  ASSERT_TRUE(a);
  EXPECT_FALSE(a->global);
  EXPECT_EQ(wire::load_be16(a->source), 5);
  EXPECT_EQ(wire::load_be16(a->destination), 7);
  EXPECT_EQ(a->payload.wire_length, 24U);  // without the VCRC
  EXPECT_EQ(a->payload.octets.size(), 24U);
  EXPECT_TRUE(wire::decode_lrh(whole(lrh(3, filled(64))))->global);
  // Virtual lane, service level and the reserved bits beside the length do not matter.
  Octets other = local;
  other[0] = 0xF0;
  other[1] |= 0xFC;
  other[4] |= 0xF8;
  EXPECT_EQ(wire::decode_lrh(whole(other))->payload.wire_length, 24U);
}

TEST(Lrh, Refuses) {
  for (const int next : {0, 1}) {
    EXPECT_EQ(wire::decode_lrh(whole(lrh(static_cast<std::uint8_t>(next), filled(24)))).error().fault,
              Fault::unsupported);
  }
  for (const int words : {0, 1}) {
    Octets o = lrh(2, filled(24));
    o[5] = static_cast<std::uint8_t>(words);
    EXPECT_EQ(wire::decode_lrh(whole(o)).error().fault, Fault::invalid);
  }
  const Octets o = lrh(2, filled(24));
  for (std::size_t n = 0; n < 8; ++n) EXPECT_EQ(wire::decode_lrh(cut(o, n)).error().fault, Fault::truncated);
  for (std::size_t n = 8; n <= o.size(); ++n) {
    const auto l = wire::decode_lrh(cut(o, n));
    ASSERT_TRUE(l);
    EXPECT_EQ(l->payload.octets.size(), std::min<std::size_t>(n - 8, 24));
    EXPECT_EQ(l->payload.wire_length, 24U);
  }
}

TEST(Grh, PayloadAndPadding) {
  const Octets o = grh(filled(28)) + filled(10, 0xEE);
  for (std::size_t n = 0; n <= o.size(); ++n) {
    const auto g = wire::decode_grh(cut(o, n));
    ASSERT_EQ(g.has_value(), n >= 40) << n;
    if (!g) {
      EXPECT_EQ(g.error().fault, Fault::truncated);
      continue;
    }
    EXPECT_EQ(g->source[15], 2);
    EXPECT_EQ(g->destination[15], 1);
    EXPECT_EQ(g->payload.octets.size(), std::min<std::size_t>(n - 40, 28));
    EXPECT_EQ(g->payload.wire_length, 28U);
  }
}

TEST(Grh, Refuses) {
  Octets o = grh(filled(28));
  o[0] = 0x40;
  EXPECT_EQ(wire::decode_grh(whole(o)).error().fault, Fault::invalid);
  EXPECT_EQ(wire::decode_grh(whole(grh(filled(28), 17))).error().fault, Fault::unsupported);
}

}  // namespace
}  // namespace rpcrdma::test
