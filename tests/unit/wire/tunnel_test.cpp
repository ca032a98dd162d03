// SPDX-License-Identifier: GPL-2.0-or-later
// Mirror and overlay headers, each from its specification: whole, cut at every length, and with what they may not hold.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "packets.hpp"
#include "wire/erspan.hpp"
#include "wire/frame_likeness.hpp"
#include "wire/geneve.hpp"
#include "wire/gre.hpp"
#include "wire/llc.hpp"
#include "wire/mpls.hpp"
#include "wire/nvidia_mirror.hpp"
#include "wire/pppoe.hpp"
#include "wire/switch_tags.hpp"
#include "wire/tzsp.hpp"
#include "wire/vxlan.hpp"

namespace rpcrdma::test {
namespace {

using wire::Fault;
using wire::Layer;

Layer whole(const Octets& o) { return {o, o.size()}; }
Layer cut(const Octets& o, std::size_t n) { return {wire::Bytes(o).first(n), o.size()}; }
Octets list(wire::Bytes b) { return {b.begin(), b.end()}; }

using Decoder = wire::Decoded<wire::EtherPayload> (*)(Layer);

wire::Decoded<wire::EtherPayload> erspan2(Layer in) {
  const auto e = wire::decode_erspan(0x88BE, true, in);
  if (!e) return tl::make_unexpected(e.error());
  return e->inside;
}
wire::Decoded<wire::EtherPayload> erspan3(Layer in) {
  const auto e = wire::decode_erspan(0x22EB, true, in);
  if (!e) return tl::make_unexpected(e.error());
  return e->inside;
}
wire::Decoded<wire::EtherPayload> gre(Layer in) {
  const auto g = wire::decode_gre(in);
  if (!g) return tl::make_unexpected(g.error());
  return wire::EtherPayload{g->type, g->payload};
}
wire::Decoded<wire::EtherPayload> llc(Layer in) { return wire::decode_llc(0x05DC, in); }

struct Good {
  const char* name;
  Decoder decode;
  Octets header;
  std::uint16_t type;
};

const std::vector<Good>& good() {
  static const std::vector<Good> all{
      {"GRE", gre, hex("0000 0800"), 0x0800},
      {"GRE, key", gre, hex("2000 6558 00000001"), 0x6558},
      {"GRE, checksum, key, sequence", gre, hex("b000 86dd 0000 0000 00000001 00000002"), 0x86DD},
      {"ERSPAN II", erspan2, hex("1064 0007 00000005"), 0x6558},
      {"ERSPAN III", erspan3, hex("2064 0007 00000005 0000 0000"), 0x6558},
      {"ERSPAN III, platform", erspan3, hex("2064 0007 00000005 0000 0001 1111111111111111"), 0x6558},
      {"VXLAN", wire::decode_vxlan, hex("08000000 00004d00"), 0x6558},
      {"VXLAN, group policy", wire::decode_vxlan, hex("88400123 00004d00"), 0x6558},
      {"VXLAN-GPE, IPv4", wire::decode_vxlan, hex("0c000001 00004d00"), 0x0800},
      {"VXLAN-GPE, IPv6", wire::decode_vxlan, hex("0c000002 00004d00"), 0x86DD},
      {"VXLAN-GPE, Ethernet", wire::decode_vxlan, hex("0c000003 00004d00"), 0x6558},
      {"Geneve", wire::decode_geneve, hex("0000 6558 00004d00"), 0x6558},
      {"Geneve, options", wire::decode_geneve, hex("0240 0800 00004d00 0102 80 01 00000000"), 0x0800},
      {"TZSP", wire::decode_tzsp, hex("01 00 0001 01"), 0x6558},
      {"TZSP, tags", wire::decode_tzsp, hex("01 01 0001 00 00 0a01c8 01"), 0x6558},
      {"Cisco MetaData", wire::decode_cisco_metadata, hex("01 01 0001 0020 0800"), 0x0800},
      {"Cisco MetaData, two options", wire::decode_cisco_metadata, hex("01 02 0001 0020 0002 0000 8100 0001 0800"),
       0x0800},
      {"VN-tag", wire::decode_vn_tag, hex("0001 8002 86dd"), 0x86DD},
      {"FabricPath", wire::decode_fabricpath, hex("0060"), 0x6558},
      {"802.1ah", wire::decode_backbone, hex("00012345"), 0x6558},
      {"DSA", wire::decode_dsa, hex("0001 0800"), 0x0800},
      {"EtherType DSA", wire::decode_ethertype_dsa, hex("0000 4008 0001 8915"), 0x8915},
      {"SNAP", llc, hex("aaaa03 000000 0800"), 0x0800},
      {"SNAP, bridge tunnel", llc, hex("aaaa03 0000f8 86dd"), 0x86DD},
  };
  return all;
}

TEST(Tunnel, PayloadAndType) {
  for (const auto& g : good()) {
    const Octets packet = g.header + hex("a1a2a3");
    const auto e = g.decode(whole(packet));
    ASSERT_TRUE(e) << g.name;
    EXPECT_EQ(e->type, g.type) << g.name;
    EXPECT_EQ(list(e->payload.octets), hex("a1a2a3")) << g.name;
    EXPECT_EQ(e->payload.wire_length, 3U) << g.name;
  }
}

TEST(Tunnel, CutAtEveryLength) {
  for (const auto& g : good()) {
    const Octets packet = g.header + hex("a1a2a3");
    for (std::size_t n = 0; n < g.header.size(); ++n) {
      const Octets shorter(packet.begin(), packet.begin() + static_cast<std::ptrdiff_t>(n));
      const auto by_capture = g.decode(cut(packet, n));
      const auto by_sender = g.decode(whole(shorter));
      ASSERT_FALSE(by_capture) << g.name << " " << n;
      ASSERT_FALSE(by_sender) << g.name << " " << n;
      EXPECT_EQ(by_capture.error().fault, Fault::truncated) << g.name << " " << n;
      EXPECT_EQ(by_sender.error().fault, Fault::invalid) << g.name << " " << n;
    }
  }
}

TEST(Tunnel, Refuses) {
  const struct {
    const char* name;
    Decoder decode;
    Octets header;
    Fault fault;
  } cases[] = {
      {"GRE version 1", gre, hex("2001 880b"), Fault::unsupported},
      {"GRE with routes", gre, hex("4000 0800"), Fault::unsupported},
      {"ERSPAN II, version 0", erspan2, hex("0064 0007 00000005"), Fault::invalid},
      {"ERSPAN III, version 1", erspan3, hex("1064 0007 00000005 0000 0000"), Fault::invalid},
      {"ERSPAN III, InfiniBand", erspan3, hex("2064 0007 00000005 0000 0400"), Fault::unsupported},
      {"VXLAN without VNI", wire::decode_vxlan, hex("00000000 00004d00"), Fault::invalid},
      {"VXLAN, reserved bits", wire::decode_vxlan, hex("08000100 00004d00"), Fault::invalid},
      {"VXLAN, reserved octet", wire::decode_vxlan, hex("08000000 00004d01"), Fault::invalid},
      {"VXLAN-GPE, OAM", wire::decode_vxlan, hex("0d000003 00004d00"), Fault::unsupported},
      {"VXLAN-GPE, version 1", wire::decode_vxlan, hex("1c000003 00004d00"), Fault::unsupported},
      {"VXLAN-GPE, NSH", wire::decode_vxlan, hex("0c000004 00004d00"), Fault::unsupported},
      {"Geneve version 1", wire::decode_geneve, hex("4000 6558 00004d00"), Fault::unsupported},
      {"Geneve, control", wire::decode_geneve, hex("0080 6558 00004d00"), Fault::unsupported},
      {"Geneve, options beyond the end", wire::decode_geneve, hex("3f00 6558 00004d00"), Fault::invalid},
      {"TZSP version 2", wire::decode_tzsp, hex("02 00 0001 01"), Fault::invalid},
      {"TZSP keep-alive", wire::decode_tzsp, hex("01 04 0001 01"), Fault::unsupported},
      {"TZSP, 802.11", wire::decode_tzsp, hex("01 00 0012 01"), Fault::unsupported},
      {"TZSP, padding without end", wire::decode_tzsp, hex("01 00 0001") + filled(100), Fault::unsupported},
      {"PPPoE version 2", wire::decode_pppoe, hex("21 00 1234 0016 0021"), Fault::invalid},
      {"PPPoE discovery", wire::decode_pppoe, hex("11 09 0000 0016 0021"), Fault::invalid},
      {"PPPoE length 1", wire::decode_pppoe, hex("11 00 1234 0001 0021"), Fault::invalid},
      {"PPPoE, LCP", wire::decode_pppoe, hex("11 00 1234 0016 c021"), Fault::unsupported},
      {"Cisco MetaData version 2", wire::decode_cisco_metadata, hex("02 01 0001 0020 0800"), Fault::unsupported},
      {"spanning tree", llc, hex("4242 03 000000 0000"), Fault::unsupported},
      {"SNAP of Cisco", llc, hex("aaaa03 00000c 2000"), Fault::unsupported},
      {"MPLS, associated channel", wire::decode_mpls, hex("0000d140 10000007"), Fault::unsupported},
      {"nothing in 0x8949", wire::decode_nvidia_mirror, filled(100), Fault::unsupported},
  };
  for (const auto& c : cases) {
    const auto e = c.decode(whole(c.header + filled(20)));
    const auto exact = c.decode(whole(c.header));
    const bool beyond = std::string(c.name).find("beyond") != std::string::npos;
    const auto& asked = beyond ? exact : e;
    ASSERT_FALSE(asked) << c.name;
    EXPECT_EQ(asked.error().fault, c.fault) << c.name;
  }
}

TEST(Tunnel, ErspanSaysThatItCut) {
  EXPECT_TRUE(wire::decode_erspan(0x88BE, true, whole(hex("1064 0407 00000005")))->truncated);
  EXPECT_FALSE(wire::decode_erspan(0x88BE, true, whole(hex("1064 0807 00000005")))->truncated);
  EXPECT_TRUE(wire::decode_erspan(0x22EB, true, whole(hex("2064 0407 00000005 0000 0800")))->truncated);
  EXPECT_TRUE(wire::decode_erspan(0x22EB, true, whole(hex("2064 0407 00000005 0000 0800")))->raw_ip);
}

TEST(Tunnel, TzspTellsTheOriginalLength) {
  const Octets packet = hex("01 00 0001 2902 05dc 01") + filled(64);
  const auto e = wire::decode_tzsp(whole(packet));
  ASSERT_TRUE(e);
  EXPECT_EQ(e->payload.octets.size(), 64U);
  EXPECT_EQ(e->payload.wire_length, 1500U);
}

TEST(Tunnel, PppoeEndsThePacket) {
  const Octets packet = hex("11 00 1234 0005 0021 a1a2a3 eeee");
  const auto e = wire::decode_pppoe(whole(packet));
  ASSERT_TRUE(e);
  EXPECT_EQ(e->type, 0x0800);
  EXPECT_EQ(list(e->payload.octets), hex("a1a2a3"));
  EXPECT_EQ(wire::decode_pppoe(whole(hex("11 00 1234 0004 57 a1a2a3")))->type, 0x86DD);
}

TEST(Tunnel, LlcEndsThePacket) {
  const Octets packet = hex("aaaa03 000000 0800 a1a2a3") + filled(40);
  EXPECT_EQ(wire::decode_llc(11, whole(packet))->payload.wire_length, 3U);
}

TEST(Tunnel, MplsByWhatIsThere) {
  const Octets packet = ipv4(17, udp(bth_packet()));
  const Octets stack = hex("003e8040 00010140");
  struct {
    const char* name;
    Octets behind;
    std::uint16_t type;
    std::size_t skipped;
  } const cases[] = {
      {"IPv4", packet, 0x0800, 0},
      {"IPv6", ipv6(17, udp(bth_packet())), 0x86DD, 0},
      {"frame", ethernet(0x0800, packet), 0x6558, 0},
      {"frame to an address that looks like IPv4", hex("45000000 0001") + Octets(6, 2) + hex("0800") + packet, 0x6558,
       0},
      {"frame to an address that begins with 0", hex("000000000001") + Octets(6, 2) + hex("0800") + packet, 0x6558, 0},
      {"frame behind a control word", hex("00000000") + ethernet(0x8915, grh(bth_packet())), 0x6558, 4},
      {"ARP behind a control word", hex("00000007") + ethernet(0x0806, hex("0001 0800 06 04 0001") + filled(40)),
       0x6558, 4},
  };
  for (const auto& c : cases) {
    const Octets in = stack + c.behind;
    const auto e = wire::decode_mpls(whole(in));
    ASSERT_TRUE(e) << c.name;
    EXPECT_EQ(e->type, c.type) << c.name;
    EXPECT_EQ(e->payload.octets.size(), c.behind.size() - c.skipped) << c.name;
  }
  Octets endless;
  for (int i = 0; i < 100; ++i) endless = endless + hex("003e8040");
  EXPECT_EQ(wire::decode_mpls(whole(endless)).error().fault, Fault::unsupported);
}

TEST(Tunnel, MirrorHeaderOfAnyLength) {
  const Octets frame = ethernet(0x0800, ipv4(17, udp(bth_packet())));
  for (std::size_t n = 0; n <= wire::max_nvidia_mirror; n += 2) {
    const Octets in = filled(n, 0x11) + frame;
    const auto e = wire::decode_nvidia_mirror(whole(in));
    ASSERT_TRUE(e) << n;
    EXPECT_EQ(list(e->payload.octets), frame) << n;
  }
  const Octets cut_off = filled(22, 0x11) + Octets(frame.begin(), frame.begin() + 20);
  EXPECT_EQ(wire::decode_nvidia_mirror({cut_off, cut_off.size() + 100}).error().fault, Fault::truncated);
}

}  // namespace
}  // namespace rpcrdma::test
