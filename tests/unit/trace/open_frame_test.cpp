// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/link/open_frame.hpp"

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "../wire/packets.hpp"
#include "wire/icrc.hpp"

namespace rpcrdma::test {
namespace {

using namespace trace;  // NOLINT(google-build-using-namespace): the names under test

Frame frame_of(LinkType link, const Octets& octets) {
  return {{7, 1'700'000'000'000'000'000}, link, octets, static_cast<std::uint32_t>(octets.size())};
}

Opened open(LinkType link, const Octets& octets) {
  Opened out;
  open_frame(frame_of(link, octets), out);
  return out;
}

Octets list(wire::Bytes b) { return {b.begin(), b.end()}; }

const Octets& bth() {
  static const Octets packet = bth_packet(8);
  return packet;
}

struct IbCase {
  const char* name;
  LinkType link;
  Octets frame;
  Transport transport;
  const char* source;
  const char* destination;
  std::size_t network;  ///< octets before the BTH that the ICRC covers
};

const std::vector<IbCase>& ib_cases() {
  static const Octets v4 = ipv4(17, udp(bth()));
  static const Octets v6 = ipv6(17, udp(bth()));
  static const Octets v1 = grh(bth());
  static const char* const v4s = "192.168.77.2";
  static const char* const v4d = "192.168.77.1";
  static const char* const v6s = "fd77::2";
  static const char* const v6d = "fd77::1";
  static const char* const gs = "fe80::5054:ff:fe00:2";
  static const char* const gd = "fe80::5054:ff:fe00:1";
  static const Octets sll = hex("0000 0001 0006 525400000001 0000");
  using T = Transport;
  static const std::vector<IbCase> all{
      {"Ethernet, IPv4", LinkType::ethernet, ethernet(0x0800, v4), T::rocev2, v4s, v4d, 28},
      {"Ethernet, IPv4, padded", LinkType::ethernet, ethernet(0x0800, v4) + filled(20, 0xEE), T::rocev2, v4s, v4d, 28},
      {"Ethernet, IPv4 with options", LinkType::ethernet, ethernet(0x0800, ipv4(17, udp(bth()), filled(8, 1))),
       T::rocev2, v4s, v4d, 36},
      {"VLAN, IPv6", LinkType::ethernet, ethernet(0x86DD, v6, hex("8100004d")), T::rocev2, v6s, v6d, 48},
      {"QinQ, IPv4", LinkType::ethernet, ethernet(0x0800, v4, hex("88a8004d81000001")), T::rocev2, v4s, v4d, 28},
      {"IPv6, extension header", LinkType::ethernet, ethernet(0x86DD, ipv6(60, hex("1100010400000000") + udp(bth()))),
       T::rocev2, v6s, v6d, 56},
      {"Ethernet, RoCEv1", LinkType::ethernet, ethernet(0x8915, v1), T::rocev1, gs, gd, 40},
      {"VLAN, RoCEv1, padded", LinkType::ethernet, ethernet(0x8915, v1, hex("8100004d")) + filled(9, 0xEE), T::rocev1,
       gs, gd, 40},
      {"cooked, IPv4", LinkType::linux_sll, sll + hex("0800") + v4, T::rocev2, v4s, v4d, 28},
      {"cooked, RoCEv1", LinkType::linux_sll, sll + hex("8915") + v1, T::rocev1, gs, gd, 40},
      {"cooked 2, IPv6", LinkType::linux_sll2, hex("86dd 0000 00000002 0001 00 06 525400000001 0000") + v6, T::rocev2,
       v6s, v6d, 48},
      {"null, IPv4", LinkType::null_loopback, hex("02000000") + v4, T::rocev2, v4s, v4d, 28},
      {"loop, IPv6", LinkType::loop, hex("00000018") + v6, T::rocev2, v6s, v6d, 48},
      {"raw IPv4", LinkType::raw_ip, v4, T::rocev2, v4s, v4d, 28},
      {"raw IPv6", LinkType::raw_ip, v6, T::rocev2, v6s, v6d, 48},
      {"IPv4", LinkType::ipv4, v4, T::rocev2, v4s, v4d, 28},
      {"IPv6", LinkType::ipv6, v6, T::rocev2, v6s, v6d, 48},
      {"InfiniBand, local", LinkType::infiniband, lrh(2, bth()), T::infiniband, "lid 5", "lid 7", 8},
      {"InfiniBand, global", LinkType::infiniband, lrh(3, v1), T::infiniband, gs, gd, 48},
      {"ERF, Ethernet", LinkType::erf, erf(2, ethernet(0x0800, v4)), T::rocev2, v4s, v4d, 28},
      {"ERF, Ethernet with stream and extension headers", LinkType::erf,
       erf(0x80 | 16, ethernet(0x8915, v1), hex("8300000000000000 0500000000000000")), T::rocev1, gs, gd, 40},
      {"ERF, InfiniBand", LinkType::erf, erf(21, lrh(2, bth())), T::infiniband, "lid 5", "lid 7", 8},
      {"ERF, InfiniBand with an extension header", LinkType::erf, erf(0x80 | 21, lrh(3, v1), hex("0500000000000000")),
       T::infiniband, gs, gd, 48},
      {"ERF, IPv4", LinkType::erf, erf(22, v4), T::rocev2, v4s, v4d, 28},
      {"ERF, IPv6", LinkType::erf, erf(23, v6), T::rocev2, v6s, v6d, 48},
  };
  return all;
}

TEST(OpenFrame, InfinibandOverEveryLink) {
  for (const auto& c : ib_cases()) {
    const Opened o = open(c.link, c.frame);
    ASSERT_EQ(o.content, Content::infiniband) << c.name;
    EXPECT_FALSE(o.frame_cut) << c.name;
    EXPECT_EQ(o.ib.ref.number, 7U) << c.name;
    EXPECT_EQ(o.ib.transport, c.transport) << c.name;
    EXPECT_EQ(o.ib.source.text(), c.source) << c.name;
    EXPECT_EQ(o.ib.destination.text(), c.destination) << c.name;
    EXPECT_EQ(list(o.ib.octets), bth()) << c.name;
    EXPECT_EQ(o.ib.wire_length, bth().size()) << c.name;
    EXPECT_EQ(o.ib.network.size(), c.network) << c.name;
    EXPECT_EQ(o.ib.network.data() + c.network, o.ib.octets.data()) << c.name;
  }
}

// What the ICRC is computed over is what the frame is opened to, on every transport.
TEST(OpenFrame, NetworkFitsTheIcrc) {
  for (const auto& c : ib_cases()) {
    const Opened o = open(c.link, c.frame);
    const auto layout = o.ib.transport == Transport::rocev1       ? wire::IcrcLayout::grh
                        : o.ib.transport == Transport::infiniband ? wire::IcrcLayout::lrh
                        : o.ib.source.kind == Address::Kind::ipv4 ? wire::IcrcLayout::rocev2_ipv4
                                                                  : wire::IcrcLayout::rocev2_ipv6;
    EXPECT_TRUE(wire::icrc(layout, o.ib.network, o.ib.octets).has_value()) << c.name;
  }
}

TEST(OpenFrame, InfinibandCutAtEveryLength) {
  for (const auto& c : ib_cases()) {
    const Opened all = open(c.link, c.frame);
    const auto start = static_cast<std::size_t>(all.ib.octets.data() - c.frame.data());
    for (std::size_t n = 0; n < c.frame.size(); ++n) {
      Frame f = frame_of(c.link, c.frame);
      f.octets = f.octets.first(n);
      Opened o;
      open_frame(f, o);
      if (c.link != LinkType::erf || n < start) {
        EXPECT_TRUE(o.frame_cut) << c.name << " " << n;
      }
      if (n >= start) {
        ASSERT_EQ(o.content, Content::infiniband) << c.name << " " << n;
        EXPECT_EQ(o.ib.octets.size(), std::min(n - start, bth().size())) << c.name << " " << n;
        EXPECT_EQ(o.ib.wire_length, bth().size()) << c.name << " " << n;
        EXPECT_EQ(o.ib.network.size(), c.network) << c.name << " " << n;
      } else if (o.content == Content::infiniband) {
        // The ports were enough to tell RoCEv2.
        EXPECT_EQ(o.ib.transport, Transport::rocev2) << c.name << " " << n;
        EXPECT_LT(start - n, 5U) << c.name << " " << n;
        EXPECT_TRUE(o.ib.octets.empty()) << c.name << " " << n;
        EXPECT_EQ(o.ib.wire_length, bth().size()) << c.name << " " << n;
      } else {
        EXPECT_EQ(o.content, Content::nothing) << c.name << " " << n;
      }
    }
  }
}

struct TcpCase {
  const char* name;
  LinkType link;
  Octets frame;
  const char* source;
};

const std::vector<TcpCase>& tcp_cases() {
  static const Octets segment = tcp(hex("a1a2a3a4a5"), filled(12, 1));
  static const std::vector<TcpCase> all{
      {"Ethernet, IPv4, padded", LinkType::ethernet, ethernet(0x0800, ipv4(6, segment)) + filled(6, 0xEE),
       "192.168.77.2"},
      {"VLAN, IPv6", LinkType::ethernet, ethernet(0x86DD, ipv6(6, segment), hex("8100004d")), "fd77::2"},
      {"cooked 2", LinkType::linux_sll2, hex("0800 0000 00000002 0001 00 06 525400000001 0000") + ipv4(6, segment),
       "192.168.77.2"},
      {"ERF, Ethernet", LinkType::erf, erf(2, ethernet(0x0800, ipv4(6, segment))), "192.168.77.2"},
  };
  return all;
}

TEST(OpenFrame, Tcp) {
  for (const auto& c : tcp_cases()) {
    const Opened o = open(c.link, c.frame);
    ASSERT_EQ(o.content, Content::tcp) << c.name;
    EXPECT_EQ(o.tcp.ref.number, 7U);
    EXPECT_EQ(o.tcp.source.text(), c.source) << c.name;
    EXPECT_EQ(o.tcp.source_port, 0xC002);
    EXPECT_EQ(o.tcp.destination_port, 20049);
    EXPECT_EQ(o.tcp.sequence, 0x01020304U);
    EXPECT_EQ(o.tcp.acknowledgement, 0x05060708U);
    EXPECT_EQ(o.tcp.flags, 0x18);
    EXPECT_EQ(list(o.tcp.payload), hex("a1a2a3a4a5")) << c.name;
    EXPECT_EQ(o.tcp.wire_length, 5U) << c.name;
  }
}

TEST(OpenFrame, TcpCutAtEveryLength) {
  for (const auto& c : tcp_cases()) {
    const Opened all = open(c.link, c.frame);
    const auto start = static_cast<std::size_t>(all.tcp.payload.data() - c.frame.data());
    for (std::size_t n = 0; n < c.frame.size(); ++n) {
      Frame f = frame_of(c.link, c.frame);
      f.octets = f.octets.first(n);
      Opened o;
      open_frame(f, o);
      ASSERT_EQ(o.content == Content::tcp, n + 18 >= start) << c.name << " " << n;  // 14 of 32 octets of header
      if (o.content != Content::tcp) continue;
      EXPECT_EQ(o.tcp.payload.size(), n < start ? 0 : std::min<std::size_t>(n - start, 5)) << c.name << " " << n;
      EXPECT_EQ(o.tcp.wire_length, 5U) << c.name << " " << n;
    }
  }
}

TEST(OpenFrame, SegmentationOffloadShowsTotalLengthZero) {
  Octets packet = ipv4(6, tcp(filled(70'000)));
  packet[2] = packet[3] = 0;
  const Octets octets = ethernet(0x0800, packet);
  const Opened o = open(LinkType::ethernet, octets);
  ASSERT_EQ(o.content, Content::tcp);
  EXPECT_EQ(o.tcp.payload.size(), 70'000U);
  EXPECT_EQ(o.tcp.wire_length, 70'000U);
}

// Where no layer has a length of its own, the frame ends before its check sequence, captured or not.
TEST(OpenFrame, FrameCheckSequenceIsNoPayload) {
  Octets packet = ipv4(6, tcp(filled(300)));
  packet[2] = packet[3] = 0;
  const Octets whole = ethernet(0x0800, packet) + filled(4, 0x5A);
  for (std::size_t missing = 0; missing <= 6; ++missing) {
    const Octets octets(whole.begin(), whole.end() - static_cast<std::ptrdiff_t>(missing));
    Frame frame = frame_of(LinkType::ethernet, octets);
    frame.wire_length = static_cast<std::uint32_t>(whole.size());
    frame.fcs_length = 4;
    Opened o;
    open_frame(frame, o);
    ASSERT_EQ(o.content, Content::tcp);
    EXPECT_EQ(o.tcp.wire_length, 300U);
    EXPECT_EQ(o.tcp.payload.size(), missing < 4 ? 300U : 304U - missing);
    EXPECT_EQ(o.frame_cut, missing > 4) << missing;
  }
  for (std::uint32_t length = 0; length <= 4; ++length) {
    const Octets octets(length);
    Frame frame = frame_of(LinkType::ethernet, octets);
    frame.fcs_length = 4;
    Opened o;
    open_frame(frame, o);
    EXPECT_EQ(o.content, Content::nothing);
  }
}

TEST(FrameCheckSequence, BitsOrOctets) {
  for (const auto& [said, octets] :
       {std::pair{-1, 0}, {0, 0}, {2, 2}, {4, 4}, {7, 7}, {8, 1}, {16, 2}, {32, 4}, {255, 31}}) {
    EXPECT_EQ(fcs_octets(said), octets) << said;
  }
}

TEST(OpenFrame, LostFrameLengthIsTruncation) {
  // A switch or a tool cut the frame, and its record has the shorter length too: IP still knows. A switch may have put
  // a time stamp and a check sequence of its own behind, 20 octets at most, which are none of the packet's.
  const Octets octets = ethernet(0x0800, ipv4(17, udp(bth_packet(1000))));
  const Octets start(octets.begin(), octets.begin() + 96);
  const Opened o = open(LinkType::ethernet, start);
  ASSERT_EQ(o.content, Content::infiniband);
  EXPECT_TRUE(o.frame_cut);
  EXPECT_EQ(o.ib.octets.size(), 96U - 20U - 42U);
  EXPECT_EQ(o.ib.wire_length, 1016U);
  // What says where the packet belongs is kept: nobody cuts a frame to less.
  const Octets shortest(octets.begin(), octets.begin() + 60);
  EXPECT_EQ(open(LinkType::ethernet, shortest).ib.octets.size(), 12U);
  // Whole, with four octets behind: IP ends it.
  const Octets whole = octets + filled(4);
  const Opened all = open(LinkType::ethernet, whole);
  EXPECT_FALSE(all.frame_cut);
  EXPECT_EQ(all.ib.octets.size(), 1016U);
}

struct Nothing {
  const char* name;
  LinkType link;
  Octets frame;
  Content content = Content::nothing;
};

TEST(OpenFrame, EverythingElse) {
  const Octets v4 = ipv4(17, udp(bth()));
  Octets later = v4;
  later[7] = 0x10;
  Octets long_lrh = lrh(3, grh(bth()));
  long_lrh[5] = 4;  // 16 octets: not even the GRH
  const Nothing cases[] = {
      {"no octets", LinkType::ethernet, {}},
      {"ARP", LinkType::ethernet, ethernet(0x0806, filled(46))},
      {"802.2", LinkType::ethernet, ethernet(0x0026, filled(46))},
      {"UDP source port 4791", LinkType::ethernet, ethernet(0x0800, ipv4(17, udp(bth(), 69, 4791)))},
      {"DNS", LinkType::ethernet, ethernet(0x0800, ipv4(17, udp(filled(40), 53)))},
      {"VXLAN without the flag", LinkType::ethernet, ethernet(0x0800, ipv4(17, udp(filled(40), 4789)))},
      {"VXLAN over IPv6, an empty frame", LinkType::ethernet,
       ethernet(0x86DD, ipv6(17, udp(hex("08000000 00004d00"), 4789)))},
      {"Geneve, no EtherType", LinkType::ethernet, ethernet(0x0800, ipv4(17, udp(filled(40), 6081)))},
      {"GRE keep-alive", LinkType::ethernet, ethernet(0x0800, ipv4(47, filled(40)))},
      {"GRE of PPTP", LinkType::ethernet, ethernet(0x0800, ipv4(47, hex("3001 880b") + filled(40))), Content::tunnel},
      {"IPv6 in what says IPv4", LinkType::ethernet, ethernet(0x0800, ipv4(4, ipv6(17, udp(bth()))))},
      {"UDP 4791 too short for a BTH", LinkType::ethernet, ethernet(0x0800, ipv4(17, udp(filled(11)))) + filled(40)},
      {"ICMP", LinkType::ethernet, ethernet(0x0800, ipv4(1, bth()))},
      {"later fragment", LinkType::ethernet, ethernet(0x0800, later)},
      {"later IPv6 fragment", LinkType::ethernet, ethernet(0x86DD, ipv6(44, hex("1100000900000001") + udp(bth())))},
      {"ESP", LinkType::ethernet, ethernet(0x86DD, ipv6(50, udp(bth())))},
      {"IPv4 announced, IPv6 inside", LinkType::ethernet, ethernet(0x0800, ipv6(17, udp(bth())))},
      {"RoCEv1 with another next header", LinkType::ethernet, ethernet(0x8915, grh(bth(), 17))},
      {"raw IP of version 5", LinkType::raw_ip, hex("55") + filled(60)},
      {"loopback, other family", LinkType::null_loopback, hex("07000000") + v4},
      {"InfiniBand, raw", LinkType::infiniband, lrh(0, bth())},
      {"InfiniBand, GRH beyond the packet length", LinkType::infiniband, long_lrh},
      {"ERF, IB link packet", LinkType::erf, erf(25, filled(6))},
      {"ERF, metadata", LinkType::erf, erf(0x80 | 27, filled(24), hex("1000000000000000"))},
      {"ERF, HDLC", LinkType::erf, erf(1, filled(40)), Content::unknown_link},
      {"unknown link", static_cast<LinkType>(147), ethernet(0x0800, v4), Content::unknown_link},
      {"no such link", static_cast<LinkType>(0xFFFFFFFF), {}, Content::unknown_link},
  };
  for (const auto& c : cases) EXPECT_EQ(open(c.link, c.frame).content, c.content) << c.name;
}

// RFC 4963: numbers of fragments come again while a piece of an older packet waits.
TEST(OpenFrame, OfTwoPacketsNoneIsMade) {
  const auto packet = [](std::uint8_t fill) {
    Octets whole = bth_packet(100);
    std::fill(whole.begin() + 12, whole.end() - 4, fill);
    Octets network = ipv4(17, udp(whole));
    network[6] = 0;  // it may be cut up
    const auto crc = wire::icrc(wire::IcrcLayout::rocev2_ipv4, wire::Bytes(network).first(28),
                                wire::Bytes(whole).first(whole.size() - 4));
    for (unsigned i = 0; i < 4; ++i) whole[whole.size() - 4 + i] = static_cast<std::uint8_t>(crc.value_or(0) >> 8U * i);
    return udp(whole);
  };
  const auto piece = [](const Octets& of, std::size_t offset, std::size_t size, bool more) {
    const auto from = of.begin() + static_cast<std::ptrdiff_t>(offset);
    Octets out = ipv4(17, {from, from + static_cast<std::ptrdiff_t>(size)});
    out[6] = static_cast<std::uint8_t>(more ? 0x20 : 0);
    out[7] = static_cast<std::uint8_t>(offset / 8);
    return ethernet(0x0800, out);
  };
  const Octets one = packet(1);
  const Octets another = packet(2);
  constexpr std::size_t cut = 64;
  const struct {
    const char* name;
    const Octets& end;
    Content content;
  } cases[] = {{"its own", one, Content::infiniband}, {"another's", another, Content::nothing}};
  for (const auto& c : cases) {
    Fragments fragments;
    Opened o;
    for (const Octets& frame : {piece(one, 0, cut, true), piece(c.end, cut, c.end.size() - cut, false)}) {
      open_frame(frame_of(LinkType::ethernet, frame), o, &fragments);
    }
    EXPECT_EQ(o.content, c.content) << c.name;
    EXPECT_EQ(o.not_opened.by, c.content == Content::nothing ? NotOpened::By::fragment : NotOpened::By::nothing)
        << c.name;
  }
}

// The UDP header says how long the packet was whose beginning it is.
TEST(OpenFrame, FirstFragmentIsATruncatedFrame) {
  const Octets whole = udp(bth_packet(1000));
  const Octets start(whole.begin(), whole.begin() + 208);
  Octets v4 = ipv4(17, start);
  v4[6] = 0x20;
  for (const Octets& frame : {ethernet(0x0800, v4), ethernet(0x86DD, ipv6(44, hex("1100000100000001") + start))}) {
    const Opened o = open(LinkType::ethernet, frame);
    ASSERT_EQ(o.content, Content::infiniband);
    EXPECT_TRUE(o.frame_cut);
    EXPECT_EQ(o.ib.octets.size(), 200U);
    EXPECT_EQ(o.ib.wire_length, 1016U);
  }
}

struct Inside {
  const char* name;
  Octets frame;
};

/// `inner` in every encapsulation, each from its specification.
std::vector<Inside> tunnels(const Octets& inner, const Octets& packet) {
  const auto over = [](const Octets& datagram) { return ethernet(0x0800, ipv4(17, datagram)); };
  const auto gre = [](const Octets& octets) { return ethernet(0x0800, ipv4(47, octets)); };
  const Octets macs(inner.begin(), inner.begin() + 12);
  const Octets behind(inner.begin() + 12, inner.end());
  return {
      {"GRE, Ethernet", gre(hex("0000 6558") + inner)},
      {"GRE, key, sequence and checksum", gre(hex("b000 6558 1234 0000 00000001 00000002") + inner)},
      {"GRE, IPv4", gre(hex("0000 0800") + packet)},
      {"GRE over IPv6", ethernet(0x86DD, ipv6(47, hex("0000 6558") + inner))},
      {"ERSPAN I", gre(hex("0000 88be") + inner)},
      {"ERSPAN II", gre(hex("1000 88be 00000001 1064 0007 00000005") + inner)},
      {"ERSPAN III", gre(hex("1000 22eb 00000001 2064 0007 00000005 0000 0000") + inner)},
      {"ERSPAN III, platform", gre(hex("1000 22eb 00000001 2064 0007 00000005 0000 0001 1111111111111111") + inner)},
      {"ERSPAN III, IP", gre(hex("1000 22eb 00000001 2064 0007 00000005 0000 0800") + packet)},
      {"NVIDIA in GRE", gre(hex("0000 8949") + filled(22, 0x11) + inner)},
      {"MPLS in GRE", gre(hex("0000 8847 0003e140") + packet)},
      {"VXLAN", over(udp(hex("08000000 00004d00") + inner, 4789))},
      {"VXLAN, group policy", over(udp(hex("88000123 00004d00") + inner, 4789))},
      {"VXLAN, Linux", over(udp(hex("08000000 00004d00") + inner, 8472))},
      {"VXLAN-GPE", over(udp(hex("0c000003 00004d00") + inner, 4790))},
      {"VXLAN-GPE, IPv4", over(udp(hex("0c000001 00004d00") + packet, 4790))},
      {"Geneve", over(udp(hex("0000 6558 00004d00") + inner, 6081))},
      {"Geneve with options, IPv4", over(udp(hex("0200 0800 00004d00 0102030400000000") + packet, 6081))},
      {"TZSP", over(udp(hex("01000001 00 0a01c8 01") + inner, 37008))},
      {"MPLS, IPv4", ethernet(0x8847, hex("003e8040 00010140") + packet)},
      {"MPLS, frame", ethernet(0x8847, hex("00010140") + inner)},
      {"MPLS, control word", ethernet(0x8847, hex("00010140 00000000") + inner)},
      {"PPPoE", ethernet(0x8864, hex("1100 1234") + be16(packet.size() + 2) + hex("0021") + packet)},
      {"IP in IP", ethernet(0x0800, ipv4(4, packet))},
      {"IP in IPv6", ethernet(0x86DD, ipv6(4, packet))},
      {"Cisco MetaData", macs + hex("8909 01 01 0001 0020") + behind},
      {"FabricPath", ethernet(0x8903, hex("0060") + inner)},
      {"VN-tag", macs + hex("8926 0001 8002") + behind},
      {"802.1ah", ethernet(0x88E7, hex("00012345") + inner)},
      {"SNAP", macs + be16(behind.size() + 6) + hex("aaaa03 000000") + behind},
      {"DSA", macs + hex("c008 0001") + behind},
      {"EtherType DSA", macs + hex("dada 0000 4008 0001") + behind},
      {"NVIDIA", ethernet(0x8949, inner)},
  };
}

TEST(OpenFrame, InEveryEncapsulation) {
  const Octets packet = ipv4(17, udp(bth()));
  for (const auto& [name, frame] : tunnels(ethernet(0x0800, packet), packet)) {
    const Octets padded = frame + filled(9, 0xEE);
    const Opened o = open(LinkType::ethernet, padded);
    ASSERT_EQ(o.content, Content::infiniband) << name;
    EXPECT_EQ(list(o.ib.octets), bth()) << name;
    EXPECT_EQ(o.ib.source.text(), "192.168.77.2") << name;
    EXPECT_EQ(o.ib.network.size(), 28U) << name;
    EXPECT_NE(o.ib.way, 0U) << name;
    EXPECT_FALSE(o.frame_cut) << name;
  }
}

TEST(OpenFrame, WhatTheNetworkIsCalled) {
  const Octets packet = ipv4(17, udp(bth()));
  const std::map<std::string, std::string> names = {
      {"VXLAN", "VXLAN 77"},
      {"VXLAN, group policy", "VXLAN 77"},
      {"VXLAN, Linux", "VXLAN 77"},
      {"VXLAN-GPE", "VXLAN 77"},
      {"VXLAN-GPE, IPv4", "VXLAN 77"},
      {"Geneve", "Geneve 77"},
      {"Geneve with options, IPv4", "Geneve 77"},
  };
  const auto tagged = [](const Octets& frame, const Octets& tags) {
    return Octets(frame.begin(), frame.begin() + 12) + tags + Octets(frame.begin() + 12, frame.end());
  };
  const Octets inner = ethernet(0x0800, packet);
  for (const auto& [name, frame] : tunnels(inner, packet)) {
    const auto at = names.find(name);
    const std::string expected = at == names.end() ? "" : at->second;
    EXPECT_EQ(open(LinkType::ethernet, frame).network.text(), expected) << name;
    // Of a mirror's own tags nothing is left.
    const std::string outside = open(LinkType::ethernet, tagged(frame, hex("8100 6009"))).network.text();
    const std::string both = expected.empty() ? "VLAN 9" : "VLAN 9, " + expected;
    const bool mirror = std::string_view(name).find("ERSPAN") == 0 || std::string_view(name).find("NVIDIA") == 0 ||
                        std::string_view(name) == "TZSP";
    EXPECT_EQ(outside, mirror ? "" : both) << name;
  }
  for (const auto& [name, frame] : tunnels(tagged(inner, hex("88a8 0064 8100 00c8")), packet)) {
    if (std::string_view(name) != "VXLAN" && std::string_view(name) != "TZSP") continue;
    const std::string before = std::string_view(name) == "VXLAN" ? "VXLAN 77, " : "";
    EXPECT_EQ(open(LinkType::ethernet, frame).network.text(), before + "VLAN 100, VLAN 200") << name;
  }
  const std::pair<Octets, const char*> keys[] = {
      {ethernet(0x0800, packet, hex("8100 e000")), ""},  // a priority alone
      {ethernet(0x0800, ipv4(47, hex("2000 0800 0000004d") + packet)), "GRE 77"},
      {ethernet(0x0800, ipv4(47, hex("2000 6558 00004dff") + inner)), "NVGRE 77"},
      {ethernet(0x6558, inner, hex("8100 0007")), "VLAN 7"},
      {ethernet(0x0800, packet, hex("8100 0fff 8100 0ffe 8100 0ffd 8100 0ffc")),
       "VLAN 4095, VLAN 4094, VLAN 4093, VLAN 4092"},
  };
  for (const auto& [frame, name] : keys) {
    const Opened o = open(LinkType::ethernet, frame);
    EXPECT_EQ(o.content, Content::infiniband) << name;
    EXPECT_EQ(o.network.text(), name);
  }
}

// At no length is anything read that is not there, and what is opened is the packet.
TEST(OpenFrame, EncapsulationCutAtEveryLength) {
  const Octets packet = ipv4(17, udp(bth()));
  for (const auto& [name, frame] : tunnels(ethernet(0x0800, packet), packet)) {
    for (std::size_t n = 0; n < frame.size(); ++n) {
      const Octets kept(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(n));
      Frame f = frame_of(LinkType::ethernet, kept);
      f.wire_length = static_cast<std::uint32_t>(frame.size());
      Opened o;
      open_frame(f, o);
      EXPECT_TRUE(o.frame_cut) << name << " " << n;
      if (o.content == Content::infiniband) {
        EXPECT_EQ(o.ib.wire_length, bth().size()) << name << " " << n;
        EXPECT_EQ(o.ib.octets.size(), bth().size() - std::min(frame.size() - n, bth().size())) << name << " " << n;
      }
    }
  }
}

TEST(OpenFrame, EightDeepButNotNine) {
  Octets frame = ethernet(0x0800, ipv4(17, udp(bth())));
  for (int depth = 1; depth <= 9; ++depth) {
    frame = ethernet(0x0800, ipv4(47, hex("0000 6558") + frame));
    const Opened o = open(LinkType::ethernet, frame);
    EXPECT_EQ(o.content, depth <= 8 ? Content::infiniband : Content::tunnel) << depth;
    EXPECT_EQ(o.not_opened.by, depth <= 8 ? NotOpened::By::nothing : NotOpened::By::too_deep) << depth;
  }
}

TEST(OpenFrame, WhatIsNotOpenedIsNamed) {
  const Octets inner = ethernet(0x0800, ipv4(17, udp(bth())));
  Octets later = ipv4(17, udp(bth()));
  later[7] = 0x10;
  const std::pair<Octets, std::string> cases[] = {
      {ethernet(0x88E5, inner), "EtherType 0x88e5 (MACsec)"},
      {ethernet(0x1234, inner), "EtherType 0x1234"},
      {ethernet(0x0800, ipv4(47, hex("0000 894f") + inner)), "EtherType 0x894f (NSH)"},
      {ethernet(0x0800, ipv4(47, hex("3001 880b") + inner)), "IP protocol 47 (GRE)"},
      {ethernet(0x86DD, ipv6(50, inner)), "IP protocol 50 (ESP)"},
      {ethernet(0x0800, ipv4(17, udp(hex("0c000004 00004d00") + inner, 4790))), "UDP port 4790 (VXLAN-GPE)"},
      {ethernet(0x0800, ipv4(17, udp(hex("30ff 0004 00000005 45000000"), 2152))), "UDP port 2152 (GTP-U)"},
      {ethernet(0x0800, ipv4(17, udp(hex("30ff 0005 00000005 45000000"), 2152))), "nothing"},
      {ethernet(0x0800, later), "fragments of IP packets that are not whole (protocol 17)"},
      {ethernet(0x0806, filled(46)), "nothing"},
      {inner, "nothing"},
  };
  for (const auto& [frame, text] : cases) EXPECT_EQ(open(LinkType::ethernet, frame).not_opened.text(), text);
}

// A switch that wrote the shorter length into IP forgot that UDP has one too.
TEST(OpenFrame, LengthsRewrittenByAMirror) {
  const Octets whole = udp(bth_packet(1000));
  const Octets start(whole.begin(), whole.begin() + 208);
  const Opened o =
      open(LinkType::ethernet, ethernet(0x0800, ipv4(47, hex("0000 88be") + ethernet(0x0800, ipv4(17, start)))));
  ASSERT_EQ(o.content, Content::infiniband);
  EXPECT_EQ(o.ib.octets.size(), 200U);
  EXPECT_EQ(o.ib.wire_length, 1016U);
}

// The switch says that it cut the frame, and all lengths inside say that nothing is missing.
TEST(OpenFrame, CutByAMirrorAndNoLengthTells) {
  const auto mirrored = [](const char* erspan, std::size_t payload) {
    return ethernet(0x0800, ipv4(47, hex("1000 88be 00000001") + hex(erspan) +
                                         ethernet(0x0800, ipv4(17, udp(bth_packet(payload))))));
  };
  const Opened whole = open(LinkType::ethernet, mirrored("1064 0007 00000005", 64));
  EXPECT_EQ(whole.content, Content::infiniband);
  EXPECT_FALSE(whole.frame_cut);
  const Opened cut = open(LinkType::ethernet, mirrored("1064 0407 00000005", 64));
  EXPECT_EQ(cut.content, Content::nothing);
  EXPECT_EQ(cut.not_opened.by, NotOpened::By::shortened);
  EXPECT_TRUE(cut.frame_cut);
  EXPECT_EQ(open(LinkType::ethernet, mirrored("1064 0407 00000005", 4)).content, Content::infiniband) << "an ACK";
}

TEST(OpenFrame, DisagreeingLengthsOfLrhAndGrhEndAtTheShorter) {
  Octets octets = lrh(3, grh(bth()));
  octets[8 + 4] = 0xFF;  // GRH PayLen
  const Opened a = open(LinkType::infiniband, octets);
  ASSERT_EQ(a.content, Content::infiniband);
  EXPECT_EQ(a.ib.wire_length, bth().size());
  octets[8 + 4] = 0;
  octets[8 + 5] = 16;
  const Opened b = open(LinkType::infiniband, octets);
  ASSERT_EQ(b.content, Content::infiniband);
  EXPECT_EQ(b.ib.wire_length, 16U);
  EXPECT_EQ(b.ib.octets.size(), 16U);
}

// One object serves all frames: an address of an earlier frame must not shine through.
TEST(OpenFrame, ObjectIsReused) {
  Opened o;
  const Octets v6 = ipv6(17, udp(bth()));
  const Octets local = lrh(2, bth());
  open_frame(frame_of(LinkType::raw_ip, v6), o);
  open_frame(frame_of(LinkType::infiniband, local), o);
  EXPECT_EQ(o.ib.source, open(LinkType::infiniband, local).ib.source);
  open_frame(frame_of(LinkType::raw_ip, {}), o);
  EXPECT_EQ(o.content, Content::nothing);
  EXPECT_FALSE(o.frame_cut);
}

TEST(AddressText, EveryKind) {
  Address a;
  EXPECT_EQ(a.text(), "");
  a = {{192, 168, 77, 2}, Address::Kind::ipv4};
  EXPECT_EQ(a.text(), "192.168.77.2");
  a = {{0, 5}, Address::Kind::lid};
  EXPECT_EQ(a.text(), "lid 5");
  a = {{0xC0, 0x01}, Address::Kind::lid};
  EXPECT_EQ(a.text(), "lid 49153");
  a = {{0xfd, 0x77, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, Address::Kind::ipv6};
  EXPECT_EQ(a.text(), "fd77::1");
  a.kind = Address::Kind::gid;
  EXPECT_EQ(a.text(), "fd77::1");
  a = {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 168, 77, 1}, Address::Kind::gid};
  EXPECT_EQ(a.text(), "::ffff:192.168.77.1");
}

}  // namespace
}  // namespace rpcrdma::test
