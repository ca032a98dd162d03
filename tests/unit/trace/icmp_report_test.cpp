// SPDX-License-Identifier: GPL-2.0-or-later
// What is no RDMA and tells of it all the same: reports of ICMP, and who is there.
#include "trace/link/icmp_report.hpp"

#include <gtest/gtest.h>

#include "../wire/ib_packets.hpp"
#include "../wire/packets.hpp"
#include "trace/link/open_frame.hpp"

namespace rpcrdma::test {
namespace {

using trace::Address;
using trace::Content;
using trace::Opened;
using trace::Undelivered;

Opened opened(const Octets& octets) {
  Opened out;
  open_frame({{7, 1}, trace::LinkType::ethernet, octets, static_cast<std::uint32_t>(octets.size())}, out);
  return out;
}

// RFC 1812 section 4.3.2.3: as much of the datagram as there is room for, and what every router quotes, 8 octets.
TEST(IcmpReport, IcmpQuotesARequest) {
  const Octets req = udp(cm_packet(cm_req({})));
  const auto v4 = [](const Octets& quoted) { return ethernet(0x0800, ipv4(1, hex("0303 0000 00000000") + quoted)); };
  const auto v6 = [](const Octets& quoted) { return ethernet(0x86DD, ipv6(58, hex("0104 0000 00000000") + quoted)); };
  for (const Octets& frame : {v4(ipv4(17, req)), v6(ipv6(17, req))}) {
    const Opened o = opened(frame);
    ASSERT_EQ(o.content, Content::undelivered);
    EXPECT_EQ(o.undelivered.what, Undelivered::What::request);
    EXPECT_EQ(o.undelivered.communication_id, 0x0A0A0A01U);
    EXPECT_EQ(o.undelivered.source.octets[o.undelivered.source.kind == Address::Kind::ipv4 ? 3 : 15], 2);
    EXPECT_EQ(o.undelivered.destination.octets[o.undelivered.destination.kind == Address::Kind::ipv4 ? 3 : 15], 1);
  }
  constexpr std::size_t communication_id = 8 + 12 + 8 + 24 + 4;  // UDP, BTH, DETH, MAD, and itself
  for (std::size_t n = 0; n < req.size(); ++n) {
    Octets quoted = ipv4(17, req);
    quoted.resize(20 + n);
    EXPECT_EQ(opened(v4(quoted)).content, n < communication_id ? Content::nothing : Content::undelivered) << n;
  }
  const struct {
    const char* name;
    Octets quoted;
  } others[] = {
      {"REP", udp(cm_packet(cm_rep({})))},
      {"data", udp(bth_packet(100))},
      {"another port", udp(cm_packet(cm_req({})), 4792)},
  };
  for (const auto& c : others) {
    EXPECT_EQ(opened(v4(ipv4(17, c.quoted))).content, Content::nothing) << c.name;
  }
}

TEST(IcmpReport, WhoSentWhatIsNoRdma) {
  const Octets echo = hex("0000 0000 4e46 0001") + filled(32);
  const struct {
    const char* name;
    Octets frame;
    const char* sender;
  } cases[] = {
      {"ping", ethernet(0x0800, ipv4(1, echo)), "192.168.77.2"},
      {"ping, IPv6", ethernet(0x86DD, ipv6(58, hex("8100 0000 4e46 0001"))), "fd77::2"},
      {"DNS", ethernet(0x0800, ipv4(17, udp(filled(40), 53))), "192.168.77.2"},
      {"inside of a tunnel", ethernet(0x0800, ipv4(4, ipv4(1, echo))), "192.168.77.2"},
      // A switch answers these in the place of others.
      {"ARP", ethernet(0x0806, filled(46)), ""},
      {"neighbour advertisement", ethernet(0x86DD, ipv6(58, hex("8800 0000 60000000") + filled(24))), ""},
      {"router advertisement", ethernet(0x86DD, ipv6(58, hex("8600 0000 40000000") + filled(8))), ""},
      {"no room for a type", ethernet(0x86DD, ipv6(58, {})), ""},
      {"not IP", ethernet(0x88CC, filled(46)), ""},
  };
  for (const auto& c : cases) {
    const Opened o = opened(c.frame);
    EXPECT_EQ(o.content, Content::nothing) << c.name;
    EXPECT_EQ(o.sender.kind == Address::Kind::none ? "" : o.sender.text(), c.sender) << c.name;
  }
}

}  // namespace
}  // namespace rpcrdma::test
