// SPDX-License-Identifier: GPL-2.0-or-later
// Captures that begin anywhere: inside a message of many packets, which nobody answers before its end.
#include <gtest/gtest.h>

#include <algorithm>

#include "ib_peers.hpp"

namespace rpcrdma::test {
namespace {

constexpr std::uint32_t asks = 0x7000;
constexpr std::uint32_t serves = 0x9000;
constexpr std::size_t path_mtu = 1024;
constexpr std::uint32_t in_a_mebibyte = 1024;  // packets

Octets rpc_message(std::uint32_t xid, bool call) {
  const Octets header = be32(xid) + be32(1) + be32(32) + be32(0) + filled(12);
  const Octets body = call ? be32(2) + be32(100003) + be32(4) + be32(1) + filled(16) : filled(16);
  return header + be32(xid) + be32(call ? 0 : 1) + body;
}

class IbBeginsInside : public testing::TestWithParam<std::uint32_t> {
 protected:
  explicit IbBeginsInside(bool share = false) : p(false, share) { p.true_crc = false; }

  void write_part(std::uint8_t opcode, std::uint32_t psn, std::uint32_t qpn = Peers::client_qpn) {
    const Octets extended = opcode == op_write_first ? reth(0x1000, 0xBEEF, in_a_mebibyte * path_mtu) : Octets{};
    p.from_server(ib_packet(opcode, qpn, psn, extended, filled(path_mtu)));
  }
  /// The last `packets` of a Write of one mebibyte. Returns the PSN behind it.
  std::uint32_t write(std::uint32_t psn, std::uint32_t packets, std::uint32_t qpn = Peers::client_qpn) {
    for (std::uint32_t left = packets; left > 0; --left)
      write_part(left == in_a_mebibyte ? op_write_first : left > 1 ? op_write_middle : op_write_last, psn++, qpn);
    return psn;
  }
  [[nodiscard]] std::ptrdiff_t told(const std::string& what) const {
    return std::count_if(p.sink.lines.begin(), p.sink.lines.end(),
                         [&](const std::string& line) { return line.find(what) != std::string::npos; });
  }

  Peers p;
};

/// How many packets of the message are there.
class IbBeginsInsideA : public IbBeginsInside {};
INSTANTIATE_TEST_SUITE_P(, IbBeginsInsideA, testing::Values(1U, 511U, 512U, 513U, 1023U, in_a_mebibyte));

// The client acknowledges a Write at its end, and calls next when it has its Reply.
TEST_P(IbBeginsInsideA, Write) {
  const std::uint32_t answered = write(serves, GetParam());
  p.client_acks(answered - 1);
  p.reply(answered, rpc_message(1, false));
  p.client_acks(answered);
  p.call(asks, rpc_message(2, true));
  p.server_acks(asks);
  p.finish();
  ASSERT_EQ(p.sink.adopted.size(), 1U);
  EXPECT_FALSE(p.sink.adopted[0].one_way);
  EXPECT_EQ(p.sink.adopted[0].roles_from, trace::RolesFrom::traffic);
  EXPECT_EQ(p.sink.adopted[0].client.qpn, Peers::client_qpn);
  EXPECT_EQ(p.sink.adopted[0].server.qpn, Peers::server_qpn);
  EXPECT_EQ(told(" gap "), 0);
  EXPECT_EQ(told(" send 1 length "), 2);
  EXPECT_EQ(told(" write 1 "), GetParam() == in_a_mebibyte ? in_a_mebibyte : 0);
  EXPECT_EQ(told(" acknowledges 1"), 2);
}

// What the server reads is answered by the client, and what that is tells only the next READ.
TEST_P(IbBeginsInsideA, ReadResponse) {
  std::uint32_t psn = serves;
  for (std::uint32_t left = GetParam(); left > 0; --left)
    p.client_answers(left == in_a_mebibyte ? op_response_first
                     : left > 1            ? op_response_middle
                                           : op_response_last,
                     psn++, path_mtu);
  p.reply(psn, rpc_message(1, false));
  p.client_acks(psn);
  p.call(asks, rpc_message(2, true));
  p.server_acks(asks);
  p.server_reads(psn + 1, 8);
  p.client_answers(op_response_only, psn + 1, 8);
  p.finish();
  ASSERT_EQ(p.sink.adopted.size(), 1U);
  EXPECT_FALSE(p.sink.adopted[0].one_way);
  EXPECT_EQ(p.sink.adopted[0].client.qpn, Peers::client_qpn);
  EXPECT_EQ(told(" gap "), 0);
  EXPECT_EQ(told(" response 1 0xbeef+0x10000 length 8 last"), 1);
}

// Several connections of two hosts at a time: one agreement pairs none.
TEST_P(IbBeginsInsideA, WriteOfEachOfTwo) {
  struct One {
    std::uint32_t client_qpn, server_qpn, asks, serves;
  };
  One connections[] = {{0xA2, 0xA1, 0x100, 0x50000}, {0xB2, 0xB1, 0x900, 0x70000}};
  for (std::uint32_t i = 0; i < GetParam(); ++i)
    for (One& c : connections)
      write_part(i + 1 == GetParam() ? op_write_last : op_write_middle, c.serves++, c.client_qpn);
  for (One& c : connections) p.from_client(ib_packet(op_acknowledge, c.server_qpn, c.serves - 1, aeth(0x1F)));
  for (One& c : connections) c.serves = write(c.serves, in_a_mebibyte, c.client_qpn);
  for (One& c : connections) p.from_client(ib_packet(op_acknowledge, c.server_qpn, c.serves - 1, aeth(0x1F)));
  for (const One& c : connections) {
    p.from_client(ib_packet(op_send_only, c.server_qpn, c.asks, {}, rpc_message(2, true)));
    p.from_server(ib_packet(op_acknowledge, c.client_qpn, c.asks, aeth(0x1F)));
  }
  p.finish();
  ASSERT_EQ(p.sink.adopted.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_FALSE(p.sink.adopted[i].one_way);
    EXPECT_EQ(p.sink.adopted[i].client.qpn, connections[i].client_qpn);
    EXPECT_EQ(p.sink.adopted[i].server.qpn, connections[i].server_qpn);
  }
  EXPECT_EQ(told(" write 1 "), 2 * in_a_mebibyte);
  EXPECT_EQ(told(" gap "), 0);
}

// Where only one direction was captured its Writes are handed over before all of them are kept.
TEST_F(IbBeginsInside, WritesOfOneDirectionAreHandedOver) {
  std::uint32_t psn = serves;
  for (unsigned i = 0; i < 8; ++i) {
    EXPECT_EQ(p.sink.adopted.size(), 0U);
    psn = write(psn, in_a_mebibyte);
  }
  ASSERT_EQ(p.sink.adopted.size(), 1U);
  EXPECT_TRUE(p.sink.adopted[0].one_way);
  EXPECT_EQ(p.sink.adopted[0].client.qpn, Peers::client_qpn);
  p.finish();
  EXPECT_EQ(told(" length 1024 of 1048576"), 8 * in_a_mebibyte);
}

class IbBeginsInsideInAShare : public IbBeginsInside {
 protected:
  IbBeginsInsideInAShare() : IbBeginsInside(true) {}
};

// What waits in all of them is bounded, too: a share of a capture has 64 MiB for that, of which each leg takes seven.
TEST_F(IbBeginsInsideInAShare, WhatWaitsIsBoundedForAllTogether) {
  constexpr std::uint32_t first_qpn = 0x100;
  constexpr std::uint32_t packets = 1792;
  constexpr std::size_t octets = 4096;
  const auto writes = [&](std::uint32_t i) {
    for (std::uint32_t n = 0; n < packets; ++n) {
      const std::uint8_t opcode = n == 0 ? op_write_first : op_write_middle;
      const Octets extended = n == 0 ? reth(0x1000, 0xBEEF, packets * octets) : Octets{};
      p.from_server(ib_packet(opcode, first_qpn + i, (i << 16U) + n, extended, filled(octets)));
    }
  };
  for (std::uint32_t i = 0; i < 8; ++i) writes(i);
  EXPECT_EQ(told("quality limit"), 0);
  EXPECT_EQ(p.sink.adopted.size(), 0U);
  writes(8);
  EXPECT_EQ(told("quality limit"), 1);
  ASSERT_EQ(p.sink.adopted.size(), 1U);
  EXPECT_TRUE(p.sink.adopted[0].one_way);
  EXPECT_EQ(p.sink.adopted[0].client.qpn, first_qpn);
  EXPECT_EQ(told(" write 1 "), packets);

  // The others still find their partners.
  for (std::uint32_t n = packets - 2; n < packets; ++n)
    p.from_client(ib_packet(op_acknowledge, 0x22, (8U << 16U) + n, aeth(0x1F)));
  p.finish();
  EXPECT_EQ(
      std::count_if(p.sink.adopted.begin(), p.sink.adopted.end(), [](const trace::Adopted& a) { return !a.one_way; }),
      1);
  EXPECT_EQ(told(" write 1 "), 9 * packets);
}

}  // namespace
}  // namespace rpcrdma::test
