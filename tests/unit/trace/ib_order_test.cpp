// SPDX-License-Identifier: GPL-2.0-or-later
// Whatever the order and however often packets stand in the file: the same things happened.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "ib_peers.hpp"
#include "trace/budget.hpp"
#include "trace/ib/early_packets.hpp"
#include "trace/ib/held_packets.hpp"
#include "trace/ib/psn.hpp"

namespace rpcrdma::test {
namespace {

constexpr std::uint32_t mtu = 1024;

struct Story {
  std::uint32_t first_psn = 0;
  std::vector<Octets> requests;   ///< of the server
  std::vector<Octets> responses;  ///< of the client to its READs
};

/// `kinds`: what the server does, one number a message.
Story tell(std::uint32_t first_psn, const std::vector<std::uint16_t>& kinds) {
  Story s;
  s.first_psn = first_psn;
  std::uint32_t psn = first_psn;
  std::uint8_t fill = 0;
  const auto part = [](std::size_t i, std::size_t n, std::uint8_t first) {
    // First, Middle and Last follow each other in the opcode table; Only stands apart.
    return static_cast<std::uint8_t>(i == 0 ? first : i + 1 == n ? first + 2 : first + 1);
  };
  for (const std::uint16_t kind : kinds) {
    const std::uint32_t length = kind % 5000;
    const std::size_t n = length == 0 ? 1 : (length - 1) / mtu + 1;
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t here = i + 1 < n ? mtu : length - i * mtu;
      const Octets payload = filled(here, ++fill);
      switch (kind % 3) {
        case 0:
          s.requests.push_back(
              ib_packet(n == 1 ? op_send_only : part(i, n, op_send_first), Peers::client_qpn, psn, {}, payload));
          break;
        case 1:
          s.requests.push_back(ib_packet(n == 1 ? op_write_only : part(i, n, op_write_first), Peers::client_qpn, psn,
                                         i == 0 ? reth(kind * std::uint64_t{65536}, kind, length) : Octets{}, payload));
          break;
        default:
          if (i == 0)
            s.requests.push_back(
                ib_packet(op_read, Peers::client_qpn, psn, reth(kind * std::uint64_t{65536}, kind, length)));
          s.responses.push_back(ib_packet(n == 1 ? op_response_only : part(i, n, op_response_first), Peers::server_qpn,
                                          psn, n > 1 && i > 0 && i + 1 < n ? Octets{} : aeth(31), payload));
          break;
      }
      psn = (psn + 1) & 0xFFFFFFU;
    }
  }
  return s;
}

/// Moves packets a little, doubles some, and never loses any.
std::vector<Octets> disturb(std::vector<Octets> packets, const std::vector<std::uint8_t>& noise) {
  for (std::size_t i = 0; i < packets.size() && i < noise.size(); ++i) {
    const std::size_t to = std::min(packets.size() - 1, i + noise[i] % 7U);
    std::rotate(packets.begin() + static_cast<std::ptrdiff_t>(i), packets.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                packets.begin() + static_cast<std::ptrdiff_t>(to) + 1);
    if (noise[i] % 11U == 0) packets.insert(packets.begin() + static_cast<std::ptrdiff_t>(to), packets[i]);
  }
  return packets;
}

Lines facts(const Story& s, const std::vector<Octets>& requests, const std::vector<Octets>& responses) {
  Peers p;
  p.set_up_fields();
  p.client_cm.psn = s.first_psn;
  p.handshake();
  for (const Octets& o : requests) p.from_server(o);
  for (const Octets& o : responses) p.from_client(o);
  p.finish();
  return p.sink.facts;
}

RC_GTEST_PROP(IbOrder, DisorderChangesNothing, ()) {
  const auto first = *rc::gen::element(0U, 0x100U, 0xFFFFF0U, 0xFFFFFFU, 0x7FFFFCU);
  const auto kinds = *rc::gen::container<std::vector<std::uint16_t>>(rc::gen::arbitrary<std::uint16_t>());
  const Story s = tell(first, kinds);
  const auto noise =
      *rc::gen::container<std::vector<std::uint8_t>>(s.requests.size(), rc::gen::arbitrary<std::uint8_t>());
  const auto more =
      *rc::gen::container<std::vector<std::uint8_t>>(s.responses.size(), rc::gen::arbitrary<std::uint8_t>());
  const Lines straight = facts(s, s.requests, s.responses);
  RC_ASSERT(straight == facts(s, disturb(s.requests, noise), disturb(s.responses, more)));
  RC_ASSERT(std::count_if(straight.begin(), straight.end(), [](const auto& l) {
              return l.find("response") != l.npos;
            }) == static_cast<std::ptrdiff_t>(s.responses.size()));
}

// The capture loses packets: what is left comes in order, and nothing is invented.
RC_GTEST_PROP(IbOrder, LossKeepsTheOrder, ()) {
  const auto first = *rc::gen::element(0x100U, 0xFFFFF0U, 0xFFFFFFU);
  const auto kinds = *rc::gen::container<std::vector<std::uint16_t>>(rc::gen::arbitrary<std::uint16_t>());
  const Story s = tell(first, kinds);
  std::vector<Octets> kept;
  for (const Octets& o : s.requests)
    if (*rc::gen::inRange(0, 8) != 0) kept.push_back(o);
  const Lines whole = facts(s, s.requests, {});
  const Lines got = facts(s, kept, {});
  // Writes and READs are told packet by packet: each of them stands in the whole story, in the same order.
  std::size_t at = 0;
  const auto place = [](const std::string& l) { return l.substr(l.find(" at ")); };
  for (const std::string& line : got) {
    if (line.find("send") != line.npos) continue;
    while (at < whole.size() && place(whole[at]) != place(line)) ++at;
    RC_ASSERT(at < whole.size());
  }
}

RC_GTEST_PROP(IbPsn, UnwrapFindsTheNearest, ()) {
  const auto near = *rc::gen::inRange<std::uint64_t>(trace::ib::sequence_origin, trace::ib::sequence_origin << 4U);
  const auto d = *rc::gen::inRange<std::int64_t>(-0x800000, 0x800000);
  const auto target = static_cast<std::uint64_t>(static_cast<std::int64_t>(near) + d);
  RC_ASSERT(trace::ib::unwrap(near, static_cast<std::uint32_t>(target & 0xFFFFFFU)) == target);
}

TEST(IbPsn, Distance) {
  using trace::ib::psn_distance;
  EXPECT_EQ(psn_distance(0xFFFFFF, 0), 1);
  EXPECT_EQ(psn_distance(0, 0xFFFFFF), -1);
  EXPECT_EQ(psn_distance(5, 5), 0);
  EXPECT_EQ(psn_distance(0, 0x7FFFFF), 0x7FFFFF);
  EXPECT_EQ(psn_distance(0, 0x800000), -0x800000);
  EXPECT_EQ(trace::ib::read_span(0, 1024), 1U);
  EXPECT_EQ(trace::ib::read_span(1024, 1024), 1U);
  EXPECT_EQ(trace::ib::read_span(1025, 1024), 2U);
  EXPECT_EQ(trace::ib::read_span(0xFFFFFFFF, 256), 0x1000000U);
}

// What many connections hold back has one bound, and comes back to it.
TEST(HeldPackets, ShareABudget) {
  trace::Budget budget(100);
  const Octets payload(64);
  wire::IbHeader header;
  header.payload = payload;
  {
    trace::ib::HeldPackets first(budget);
    trace::ib::HeldPackets second(budget);
    trace::ib::EarlyPackets early(budget);
    EXPECT_EQ(first.hold(1, {{1, 1}, header, {}}), nullptr);
    EXPECT_FALSE(first.over_bound());
    EXPECT_EQ(second.hold(1, {{2, 2}, header, {}}), nullptr);
    EXPECT_TRUE(second.over_bound());  // it has to let something go
    EXPECT_FALSE(early.hold({{3, 3}, payload, 64, false, header}));
    (void)first.take_first();
    EXPECT_TRUE(early.hold({{3, 3}, payload, 64, false, header}));
    (void)second.take_first();
    EXPECT_FALSE(second.over_bound());
    EXPECT_FALSE(budget.take(37));
    EXPECT_TRUE(budget.take(36));
    budget.give(36);
  }
  EXPECT_TRUE(budget.take(100));
}

}  // namespace
}  // namespace rpcrdma::test
