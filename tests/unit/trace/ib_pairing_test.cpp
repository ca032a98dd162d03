// SPDX-License-Identifier: GPL-2.0-or-later
// Connections whose handshake is missing from the capture, in part or altogether.
#include <gtest/gtest.h>

#include "ib_peers.hpp"

namespace rpcrdma::test {
namespace {

constexpr std::uint32_t c0 = 0x7000;
constexpr std::uint32_t s0 = 0x9000;
constexpr std::uint32_t nfs = 100003;
constexpr std::uint32_t callback = 0x40000000;

/// RDMA_MSG without chunks that carries an RPC Call or Reply.
Octets rpc(std::uint32_t xid, bool call, std::uint32_t program = nfs, std::uint32_t version = 1) {
  const Octets header = version == 1 ? be32(xid) + be32(1) + be32(32) + be32(0) + filled(12)
                                     : be32(xid) + be32(2) + be32(10) + be32(call ? 10 : 13) + filled(16);
  const Octets body = call ? be32(2) + be32(program) + be32(4) + be32(1) + filled(16) : filled(16);
  return header + be32(xid) + be32(call ? 0 : 1) + body;
}

/// RDMA_NOMSG with one Read segment at position 0.
Octets long_call(std::uint32_t xid) {
  return be32(xid) + be32(1) + be32(32) + be32(1) + be32(1) + be32(0) + be32(0xAB) + be32(5000) + be64(0x1000) +
         filled(12);
}

class IbPairing : public testing::Test {
 protected:
  IbPairing() { p.set_up_fields(); }
  Peers p;
};

TEST_F(IbPairing, CallTellsTheRoles) {
  p.call(c0, rpc(1, true));
  EXPECT_TRUE(p.sink.news().empty());
  p.server_acks(c0);
  p.reply(s0, rpc(1, false));
  p.client_acks(s0);
  EXPECT_EQ(p.sink.news(), (Lines{"1A #1 adopted 10.0.0.2:-/0x11 10.0.0.1:-/0x22", "1A #1 send 1 length 68 to #1",
                                  "1P #2 acknowledges 1", "1P #3 send 1 length 52 to #3", "1A #4 acknowledges 1"}));
  EXPECT_EQ(p.sink.adopted.at(0).roles_from, trace::RolesFrom::traffic);
  EXPECT_FALSE(p.sink.adopted.at(0).one_way);
}

TEST_F(IbPairing, ServerFirst) {
  p.reply(s0, rpc(1, false));
  p.client_acks(s0);
  p.server_reads(s0 + 1, 8);
  EXPECT_TRUE(p.sink.news().empty());
  p.call(c0, rpc(2, true));
  EXPECT_EQ(p.sink.news(),
            (Lines{"1A #1 adopted 10.0.0.2:-/0x11 10.0.0.1:-/0x22", "1P #1 send 1 length 52 to #1",
                   "1A #2 acknowledges 1", "1P #3 read 1 0xbeef+0x10000 length 8", "1A #4 send 1 length 68 to #4"}));
}

TEST_F(IbPairing, CallOfTheCallbackProgramComesFromTheServer) {
  p.reply(s0, rpc(1, true, callback));
  p.client_acks(s0);
  EXPECT_EQ(p.sink.news().front(), "1A #1 adopted 10.0.0.2:-/0x11 10.0.0.1:-/0x22");
  EXPECT_EQ(p.sink.adopted.at(0).roles_from, trace::RolesFrom::traffic);
}

TEST_F(IbPairing, CallsOfAnyOtherProgramMayComeFromEither) {
  constexpr std::uint32_t defined_by_user = 0x20000001;
  for (std::uint32_t i = 0; i < 20; ++i) {  // each peer may be the one that accepted the connection
    p.reply(s0 + i, rpc(1 + i, true, defined_by_user));
    p.client_acks(s0 + i);
    p.call(c0 + i, rpc(1 + i, false));
    p.server_acks(c0 + i);
  }
  p.finish();
  EXPECT_EQ(p.sink.adopted.at(0).roles_from, trace::RolesFrom::unknown);
}

TEST_F(IbPairing, AmongCallsOfAnyOtherProgramAWriteTells) {
  p.call(c0, rpc(1, true, 0x20000001));
  p.server_acks(c0);
  p.from_server(ib_packet(op_write_only, Peers::client_qpn, s0, reth(0, 1, 4), filled(4)));
  p.client_acks(s0);
  p.finish();
  EXPECT_EQ(p.sink.news().front(), "1A #1 adopted 10.0.0.2:-/0x11 10.0.0.1:-/0x22");
  EXPECT_EQ(p.sink.adopted.at(0).roles_from, trace::RolesFrom::traffic);
}

TEST_F(IbPairing, VersionTwoCall) {
  p.call(c0, rpc(1, true, nfs, 2));
  p.server_acks(c0);
  EXPECT_EQ(p.sink.news().front(), "1A #1 adopted 10.0.0.2:-/0x11 10.0.0.1:-/0x22");
}

// What the server offers to be read may be Replies: then it is the client who reads, and says when it is done.
TEST_F(IbPairing, WhatIsOfferedToBeReadMakesNobodySure) {
  for (std::uint32_t i = 0; i < 8; ++i) {
    p.reply(s0 + i, long_call(5 + i));
    p.client_acks(s0 + i);
    p.from_client(ib_packet(op_read, Peers::server_qpn, c0 + 2 * i, reth(0x1000, 0xAB, 5000)));
    p.call(c0 + 2 * i + 1, be32(5 + i) + be32(1) + be32(32) + be32(3));
    p.server_acks(c0 + 2 * i + 1);
  }
  p.finish();
  EXPECT_EQ(p.sink.adopted.at(0).roles_from, trace::RolesFrom::unknown);
}

TEST_F(IbPairing, VersionTwoRepliesSpeakForTheServer) {
  for (std::uint32_t i = 0; i < 4; ++i) {
    p.reply(s0 + i, rpc(1 + i, false, nfs, 2));
    p.client_acks(s0 + i);
  }
  p.finish();
  EXPECT_EQ(p.sink.news().front(), "1A #1 adopted 10.0.0.2:-/0x11 10.0.0.1:-/0x22");
  EXPECT_EQ(p.sink.adopted.at(0).roles_from, trace::RolesFrom::traffic);
}

// What says farewell settles who is the client, and has to be told of the right side.
TEST_F(IbPairing, FarewellOfTheClientBehindAReply) {
  p.reply(s0, rpc(1, false));
  p.client_acks(s0);
  p.client_dreq();
  p.server_drep();
  EXPECT_EQ(p.sink.news(), (Lines{"1A #1 adopted 10.0.0.2:-/0x11 10.0.0.1:-/0x22", "1P #1 send 1 length 52 to #1",
                                  "1A #2 acknowledges 1", "1A #3 disconnect request", "1P #4 disconnect reply"}));
}

TEST_F(IbPairing, WeakEvidenceWaitsForTheEnd) {
  p.reply(s0, filled(32));  // nothing that could be read
  p.client_acks(s0);
  p.server_reads(s0 + 1, 8);
  p.finish();
  EXPECT_EQ(p.sink.news().front(), "1A #1 adopted 10.0.0.2:-/0x11 10.0.0.1:-/0x22");
  EXPECT_EQ(p.sink.adopted.at(0).roles_from, trace::RolesFrom::unknown);
}

TEST_F(IbPairing, WritesTellTheServer) {
  p.from_server(ib_packet(op_write_only, Peers::client_qpn, s0, reth(0, 1, 4), filled(4)));
  p.client_acks(s0);
  p.finish();
  EXPECT_EQ(p.sink.news().front(), "1A #1 adopted 10.0.0.2:-/0x11 10.0.0.1:-/0x22");
  EXPECT_EQ(p.sink.adopted.at(0).roles_from, trace::RolesFrom::traffic);
}

TEST_F(IbPairing, LongCallSpeaksForItsSender) {
  p.call(c0, long_call(5));
  p.server_acks(c0);
  p.finish();
  EXPECT_EQ(p.sink.news().front(), "1A #1 adopted 10.0.0.2:-/0x11 10.0.0.1:-/0x22");
}

// Two connections between the same hosts: only acknowledged PSNs say what belongs together.
TEST_F(IbPairing, TwoConnectionsOfOnePairOfHosts) {
  const auto client_a = [&](std::uint32_t psn, const Octets& o) { p.from_client(ib_packet(4, 0xA1, psn, {}, o)); };
  const auto client_b = [&](std::uint32_t psn, const Octets& o) { p.from_client(ib_packet(4, 0xB1, psn, {}, o)); };
  const auto ack_a = [&](std::uint32_t psn) { p.from_server(ib_packet(0x11, 0xA2, psn, aeth(31))); };
  const auto ack_b = [&](std::uint32_t psn) { p.from_server(ib_packet(0x11, 0xB2, psn, aeth(31))); };
  client_a(0x100, rpc(1, true));
  client_b(0x900, rpc(2, true));
  ack_b(0x900);
  ack_a(0x100);
  EXPECT_TRUE(p.sink.news().empty());
  client_a(0x101, rpc(3, true));
  client_b(0x901, rpc(4, true));
  ack_a(0x101);
  ack_b(0x901);
  EXPECT_EQ(p.sink.news(), (Lines{"1A #1 adopted 10.0.0.2:-/0xa2 10.0.0.1:-/0xa1", "1A #1 send 1 length 68 to #1",
                                  "1P #4 acknowledges 1", "1A #5 send 2 length 68 to #5", "1P #7 acknowledges 2",
                                  "2A #2 adopted 10.0.0.2:-/0xb2 10.0.0.1:-/0xb1", "2A #2 send 1 length 68 to #2",
                                  "2P #3 acknowledges 1", "2A #6 send 2 length 68 to #6", "2P #8 acknowledges 2"}));
}

TEST_F(IbPairing, OneDirectionAlone) {
  p.call(c0, rpc(1, true));
  p.call(c0 + 1, rpc(2, true));
  EXPECT_TRUE(p.sink.news().empty());
  p.finish();
  EXPECT_EQ(p.sink.news(), (Lines{"1A #1 adopted 10.0.0.2:-/- 10.0.0.1:-/0x22 one-way", "1A #1 send 1 length 68 to #1",
                                  "1A #2 send 2 length 68 to #2"}));
}

TEST_F(IbPairing, ServersDirectionAlone) {
  p.from_server(ib_packet(op_write_only, Peers::client_qpn, s0, reth(0, 1, 4), filled(4)));
  p.reply(s0 + 1, rpc(1, false));
  p.finish();
  EXPECT_EQ(p.sink.news().front(), "1P #1 adopted 10.0.0.2:-/0x11 10.0.0.1:-/- one-way");
}

TEST_F(IbPairing, OneDirectionIsHandedOverWhenItIsLong) {
  for (std::uint32_t i = 0; i < 511; ++i) p.call(c0 + i, rpc(i, true));
  EXPECT_TRUE(p.sink.news().empty());
  p.call(c0 + 511, rpc(511, true));
  EXPECT_EQ(p.sink.news().size(), 513U);
  p.call(c0 + 512, rpc(512, true));
  EXPECT_EQ(p.sink.news(), (Lines{"1A #513 send 513 length 68 to #513"}));
}

TEST_F(IbPairing, AnswersAloneSayNothing) {
  p.client_acks(s0);
  p.client_acks(s0 + 1);
  p.finish();
  EXPECT_TRUE(p.sink.news().empty());
}

// The first request of a side and its acknowledgement changed places: it is no retransmission.
TEST_F(IbPairing, TheCaptureBeginsWithARequestBehindItsAnswer) {
  p.call(c0, rpc(1, true));
  p.server_acks(c0);
  p.client_acks(s0);
  p.reply(s0, rpc(1, false));
  p.call(c0 + 1, rpc(2, true));
  p.finish();
  EXPECT_EQ(p.sink.news(), (Lines{"1A #1 adopted 10.0.0.2:-/0x11 10.0.0.1:-/0x22", "1A #1 send 1 length 68 to #1",
                                  "1P #2 acknowledges 1", "1P #4 send 1 length 52 to #4", "1A #4 acknowledges 1",
                                  "1A #5 send 2 length 68 to #5"}));
}

TEST_F(IbPairing, WhatComesLongBehindItsAnswerWasSentAgain) {
  p.call(c0, rpc(1, true));
  p.server_acks(c0);
  p.client_acks(s0);
  p.time += 2'000'000;
  p.reply(s0, rpc(1, false));
  p.call(c0 + 1, rpc(2, true));
  p.finish();
  EXPECT_EQ(p.sink.news(),
            (Lines{"1A #1 adopted 10.0.0.2:-/0x11 10.0.0.1:-/0x22", "1A #1 send 1 length 68 to #1",
                   "1P #2 acknowledges 1", "1P #4 repeated retransmission", "1A #5 send 2 length 68 to #5"}));
}

// The capture begins in the middle of a disorder: nothing before its lowest PSN is missing.
TEST_F(IbPairing, BeginsInDisorder) {
  p.call(c0 + 1, rpc(2, true));
  p.call(c0, rpc(1, true));
  p.server_acks(c0 + 1);
  EXPECT_EQ(p.sink.news(),
            (Lines{"1A #1 adopted 10.0.0.2:-/0x11 10.0.0.1:-/0x22", "1A #2 quality reordered",
                   "1A #2 send 1 length 68 to #2", "1A #1 send 2 length 68 to #1", "1P #3 acknowledges 2"}));
}

TEST_F(IbPairing, BeginsInsideASend) {
  p.from_client(ib_packet(op_send_last, Peers::server_qpn, c0, {}, filled(40)));
  p.call(c0 + 1, rpc(1, true));
  p.server_acks(c0 + 1);
  EXPECT_EQ(p.sink.news(),
            (Lines{"1A #1 adopted 10.0.0.2:-/0x11 10.0.0.1:-/0x22", "1A #1 send 1 length 40 captured 0 holes to #1",
                   "1A #2 send 2 length 68 to #2", "1P #3 acknowledges 2"}));
}

// Without a REQ the path MTU is not known; responses and what follows the READ tell it.
TEST_F(IbPairing, PathMtuFromResponses) {
  p.call(c0, rpc(1, true));
  p.server_acks(c0);
  p.sink.news();
  p.server_reads(s0, 5000);
  p.client_answers(op_response_first, s0, 2048);
  p.client_answers(op_response_middle, s0 + 1, 2048);
  p.client_answers(op_response_last, s0 + 2, 904);
  p.reply(s0 + 3);
  EXPECT_EQ(p.sink.news(),
            (Lines{"1P #3 read 1 0xbeef+0x10000 length 5000", "1A #4 response 1 0xbeef+0x10000 length 2048",
                   "1A #5 response 1 0xbeef+0x10800 length 2048", "1A #6 response 1 0xbeef+0x11000 length 904 last",
                   "1P #7 send 1 length 48 to #7"}));
}

TEST_F(IbPairing, PathMtuFromTheNextRequest) {
  p.call(c0, rpc(1, true));
  p.server_acks(c0);
  p.sink.news();
  p.server_reads(s0, 5000);
  p.server_reads(s0 + 5, 4000);
  p.server_reads(s0 + 9, 10);
  p.client_answers(op_response_first, s0, 1024);
  const Lines got = p.sink.news();
  ASSERT_EQ(got.size(), 4U);
  EXPECT_EQ(got[2], "1P #5 read 3 0xbeef+0x10000 length 10");
}

TEST_F(IbPairing, ShortReadsNeedNoPathMtu) {
  p.call(c0, rpc(1, true));
  p.server_acks(c0);
  p.sink.news();
  p.server_reads(s0, 4000);
  p.server_reads(s0 + 1, 4000);
  p.client_answers(op_response_only, s0, 4000);
  p.client_answers(op_response_only, s0 + 1, 4000);
  p.reply(s0 + 2);
  EXPECT_EQ(p.sink.news(), (Lines{"1P #3 read 1 0xbeef+0x10000 length 4000", "1P #4 read 2 0xbeef+0x10000 length 4000",
                                  "1A #5 response 1 0xbeef+0x10000 length 4000 last",
                                  "1A #6 response 2 0xbeef+0x10000 length 4000 last", "1P #7 send 1 length 48 to #7"}));
}

TEST_F(IbPairing, ShortReadBeforeOthers) {
  p.call(c0, rpc(1, true));
  p.server_acks(c0);
  p.sink.news();
  p.server_reads(s0, 300);      // one PSN, so the path MTU is not 256; more is not known
  p.server_reads(s0 + 1, 600);  // 512 or more
  p.client_answers(op_response_only, s0, 300);
  p.client_answers(op_response_first, s0 + 1, 512);
  p.client_answers(op_response_last, s0 + 2, 88);
  EXPECT_EQ(p.sink.news(),
            (Lines{"1P #3 read 1 0xbeef+0x10000 length 300", "1P #4 read 2 0xbeef+0x10000 length 600",
                   "1A #5 response 1 0xbeef+0x10000 length 300 last", "1A #6 response 2 0xbeef+0x10000 length 512",
                   "1A #7 response 2 0xbeef+0x10200 length 88 last"}));
}

// A READ of 900 octets that is answered in one packet took one PSN (cm-private-data.md, 3.3): what is missing behind it
// is no part of it.
TEST_F(IbPairing, LossBehindAReadInOnePacket) {
  p.call(c0, rpc(1, true));
  p.server_acks(c0);
  p.server_reads(s0, 900);
  p.client_answers(op_response_only, s0, 900);
  p.sink.news();
  p.reply(s0 + 2);
  p.finish();
  EXPECT_EQ(p.sink.news(), (Lines{"1P #5 gap 1", "1P #5 send 1 length 48 to #5"}));
}

// Only responses answer a READ: an ACK is one of the request behind it.
TEST_F(IbPairing, LossBehindAReadThatAnAcknowledgementEnds) {
  p.call(c0, rpc(1, true));
  p.server_acks(c0);
  p.server_reads(s0, 900);
  p.client_acks(s0 + 1);
  p.reply(s0 + 2);
  p.client_acks(s0 + 2);
  const Lines got = p.sink.news();
  EXPECT_NE(std::find(got.begin(), got.end(), "1P #4 gap 1 proven"), got.end());
}

// What seemed to be the READ's second PSN is a packet that is missing; the next READ has not that path MTU either.
TEST_F(IbPairing, LossThatSeemedToBeOfAReadInFlight) {
  p.call(c0, rpc(1, true));
  p.server_acks(c0);
  p.sink.news();
  p.server_reads(s0, 784);
  p.reply(s0 + 2);
  p.client_answers(op_response_only, s0, 784);
  p.server_reads(s0 + 3, 1832);
  p.client_answers(op_response_only, s0 + 3, 1832);
  p.reply(s0 + 4);
  EXPECT_EQ(p.sink.news(), (Lines{"1P #3 read 1 0xbeef+0x10000 length 784", "1P #4 send 1 length 48 to #4",
                                  "1P #5 gap 1", "1A #5 response 1 0xbeef+0x10000 length 784 last",
                                  "1P #6 read 2 0xbeef+0x10000 length 1832", "1A #7 acknowledges 1",
                                  "1A #7 response 2 0xbeef+0x10000 length 1832 last", "1P #8 send 2 length 48 to #8"}));
}

TEST_F(IbPairing, LostResponseOfAShortRead) {
  p.call(c0, rpc(1, true));
  p.server_acks(c0);
  p.server_reads(s0, 300);
  p.reply(s0 + 1);  // says that the READ took one PSN
  p.server_reads(s0 + 2, 8);
  p.client_answers(op_response_only, s0 + 2, 8);
  p.sink.news();
  p.reply(s0 + 3);
  EXPECT_EQ(p.sink.news().front(), "1A #7 gap 1");
}

TEST_F(IbPairing, RefusalInsideAReadOfUnknownSpan) {
  p.call(c0, rpc(1, true));
  p.server_acks(c0);
  p.sink.news();
  p.server_reads(s0, 5000);
  p.client_answers(op_response_first, s0, 1024);
  p.client_acks(s0 + 1, 0x62);
  EXPECT_EQ(p.sink.news().back(), "1A #5 refuses access: read 1 of #3 length 0");
}

TEST_F(IbPairing, AnswerInsideAReadOfUnknownSpanProvesNoLoss) {
  p.call(c0, rpc(1, true));
  p.server_acks(c0);
  p.sink.news();
  p.server_reads(s0, 5000);
  p.client_answers(op_response_last, s0 + 4, 904);
  EXPECT_EQ(p.sink.news(), (Lines{"1P #3 read 1 0xbeef+0x10000 length 5000"}));
}

// The same PSN on two connections says nothing about either.
TEST_F(IbPairing, SharedPsnIsNoAgreement) {
  p.from_client(ib_packet(4, 0xA1, 0x100, {}, rpc(1, true)));
  p.from_client(ib_packet(4, 0xB1, 0x100, {}, rpc(2, true)));
  p.from_client(ib_packet(4, 0xA1, 0x101, {}, rpc(3, true)));
  p.from_client(ib_packet(4, 0xB1, 0x101, {}, rpc(4, true)));
  p.from_server(ib_packet(op_acknowledge, 0xA2, 0x100, aeth(31)));
  p.from_server(ib_packet(op_acknowledge, 0xA2, 0x101, aeth(31)));
  EXPECT_TRUE(p.sink.news().empty());
  p.finish();
  for (const auto& a : p.sink.adopted) EXPECT_TRUE(a.one_way);
  EXPECT_EQ(p.sink.adopted.size(), 2U);
}

// --- Half a handshake

TEST_F(IbPairing, ReplyOfTheHandshakeIsMissing) {
  p.req();
  p.rtu();
  p.call(c0, rpc(1, true));
  p.reply(0x200, rpc(1, false));
  EXPECT_TRUE(p.sink.news().empty());
  p.client_acks(0x200);
  p.call(c0 + 1, rpc(2, true));
  p.reply(0x201, rpc(2, false));
  p.client_acks(0x201);
  EXPECT_EQ(p.sink.news(),
            (Lines{"1A #1 request 10.0.0.2:40000/0x11 10.0.0.1:20049/0x22", "1A #2 ready",
                   "1A #3 send 1 length 68 to #3", "1P #4 send 1 length 52 to #4", "1A #5 acknowledges 1",
                   "1A #6 send 2 length 68 to #6", "1P #7 send 2 length 52 to #7", "1A #8 acknowledges 2"}));
}

TEST_F(IbPairing, ClientsDirectionAloneWithHandshake) {
  p.req();
  p.rtu();
  p.call(c0, rpc(1, true));
  p.call(c0 + 1, rpc(2, true));
  p.client_dreq();
  // The server's may only be late.
  EXPECT_EQ(p.sink.news(), Lines{});
  p.finish();
  EXPECT_EQ(p.sink.news(),
            (Lines{"1A #1 request 10.0.0.2:40000/0x11 10.0.0.1:20049/0x22", "1A #2 ready",
                   "1A #3 send 1 length 68 to #3", "1A #4 send 2 length 68 to #4", "1A #5 disconnect request"}));
}

TEST_F(IbPairing, ReplyBehindTheClientsFarewell) {
  p.req();
  p.rtu();
  p.call(Peers::client_psn, rpc(1, true));
  p.client_acks(Peers::server_psn);
  p.client_dreq();
  EXPECT_EQ(p.sink.news(), Lines{});
  p.rep();
  p.server_acks(Peers::client_psn);
  p.reply(Peers::server_psn, rpc(1, false));
  p.server_drep();
  EXPECT_EQ(p.sink.facts.size(), 2U);
  for (const std::string& line : p.sink.news()) {
    EXPECT_EQ(line.find("gap"), line.npos) << line;
    EXPECT_EQ(line.find("repeated"), line.npos) << line;
  }
}

// Nothing of the server's is late: its DREP comes without its REP.
TEST_F(IbPairing, ReplyIsMissingInFrontOfTheFarewells) {
  p.req();
  p.rtu();
  p.call(c0, rpc(1, true));
  p.client_dreq();
  p.server_drep();
  EXPECT_EQ(p.sink.news(),
            (Lines{"1A #1 request 10.0.0.2:40000/0x11 10.0.0.1:20049/0x22", "1A #2 ready",
                   "1A #3 send 1 length 68 to #3", "1A #4 disconnect request", "1P #5 disconnect reply"}));
}

TEST_F(IbPairing, ClientsDirectionAloneToTheEnd) {
  p.req();
  p.call(c0, rpc(1, true));
  p.finish();
  EXPECT_EQ(p.sink.news(), (Lines{"1A #1 request 10.0.0.2:40000/0x11 10.0.0.1:20049/0x22", "1A #2 ready by data",
                                  "1A #2 send 1 length 68 to #2"}));
}

// What was there before the REQ is another connection.
TEST_F(IbPairing, OlderTrafficIsNotOfThisHandshake) {
  p.call(c0, rpc(1, true));
  p.req();
  p.rtu();
  p.finish();
  EXPECT_EQ(p.sink.news(), (Lines{"2A #1 adopted 10.0.0.2:-/- 10.0.0.1:-/0x22 one-way", "2A #1 send 1 length 68 to #1",
                                  "1A #2 request 10.0.0.2:40000/0x11 10.0.0.1:20049/-", "1A #3 ready"}));
}

// A pair of legs that was there before a handshake of unknown queue pairs is not that handshake's.
TEST_F(IbPairing, OlderPairIsNotOfThisHandshake) {
  p.call(c0, rpc(1, true));
  p.reply(s0, rpc(1, false));
  p.snap = 54;
  p.req();
  p.snap = 65535;
  p.client_acks(s0);
  p.server_acks(c0);
  p.call(c0 + 1, rpc(2, true));
  p.server_acks(c0 + 1);
  p.client_acks(s0);
  p.finish();
  EXPECT_EQ(p.sink.news().front(), "2A #1 adopted 10.0.0.2:-/0x11 10.0.0.1:-/0x22");
  EXPECT_EQ(p.sink.news().size(), 0U);
  EXPECT_EQ(p.sink.lines.back(), "1A #3 request 10.0.0.2:-/- 10.0.0.1:-/-");
}

TEST_F(IbPairing, TrafficBesideARejectedHandshake) {
  p.req();
  p.call(c0, rpc(1, true));
  p.from_server(cm_packet(cm_rej(p.server_cm)));
  p.finish();
  EXPECT_EQ(p.sink.news(),
            (Lines{"1A #1 request 10.0.0.2:40000/0x11 10.0.0.1:20049/-", "1P #3 reject 8",
                   "2A #2 adopted 10.0.0.2:-/- 10.0.0.1:-/0x22 one-way", "2A #2 send 1 length 68 to #2"}));
}

TEST_F(IbPairing, RejectedHandshakeGetsNoTraffic) {
  p.req();
  p.from_server(cm_packet(cm_rej(p.server_cm)));
  p.call(c0, rpc(1, true));
  p.finish();
  EXPECT_EQ(p.sink.news(),
            (Lines{"1A #1 request 10.0.0.2:40000/0x11 10.0.0.1:20049/-", "1P #2 reject 8",
                   "2A #3 adopted 10.0.0.2:-/- 10.0.0.1:-/0x22 one-way", "2A #3 send 1 length 68 to #3"}));
}

TEST_F(IbPairing, RequestOfTheHandshakeIsMissing) {
  p.rep();
  p.rtu();
  p.call(Peers::client_psn, rpc(1, true));
  p.server_acks(Peers::client_psn);
  p.call(Peers::client_psn + 1, rpc(2, true));
  p.server_acks(Peers::client_psn + 1);
  EXPECT_EQ(p.sink.news(), (Lines{"1A #1 adopted 10.0.0.2:-/0x11 10.0.0.1:-/0x22", "1P #1 reply 10.0.0.1:-/0x22",
                                  "1A #2 ready", "1A #3 send 1 length 68 to #3", "1P #4 acknowledges 1",
                                  "1A #5 send 2 length 68 to #5", "1P #6 acknowledges 2"}));
  EXPECT_EQ(p.sink.adopted.at(0).roles_from, trace::RolesFrom::handshake);
  EXPECT_EQ(p.sink.private_data.at(0), "f6ab0e1801000303 196/196");
}

// --- Ends

TEST_F(IbPairing, DisconnectFindsTheConnectionByItsQueuePair) {
  p.call(c0, rpc(1, true));
  p.server_acks(c0);
  p.client_dreq();
  p.server_drep();
  const Lines got = p.sink.news();
  ASSERT_EQ(got.size(), 5U);
  EXPECT_EQ(got[3], "1A #3 disconnect request");
  EXPECT_EQ(got[4], "1P #4 disconnect reply");
}

TEST_F(IbPairing, NewHandshakeSupersedesAnAdoptedConnection) {
  p.call(c0, rpc(1, true));
  p.server_acks(c0);
  p.sink.news();
  p.req();
  p.rep();
  EXPECT_EQ(p.sink.news(), (Lines{"1A #3 disconnect superseded", "2A #3 request 10.0.0.2:40000/0x11 10.0.0.1:20049/-",
                                  "2P #4 reply 10.0.0.1:20049/0x22"}));
}

// So long before that it cannot be the handshake that is late.
TEST_F(IbPairing, NewHandshakeSupersedesHalfAConnection) {
  p.reply(s0, rpc(1, false));
  p.time += 201'000'000;
  p.req();
  p.rep();
  EXPECT_EQ(p.sink.news(), (Lines{"1P #1 adopted 10.0.0.2:-/0x11 10.0.0.1:-/- one-way", "1P #1 send 1 length 52 to #1",
                                  "1A #2 disconnect superseded", "2A #2 request 10.0.0.2:40000/0x11 10.0.0.1:20049/-",
                                  "2P #3 reply 10.0.0.1:20049/0x22"}));
}

// The REQ is not in the capture, and the server's side comes late.
TEST_F(IbPairing, ReplyBehindAllThatTheClientSaid) {
  p.rtu();
  p.call(Peers::client_psn, rpc(1, true));
  p.client_acks(Peers::server_psn);
  p.rep();
  p.server_acks(Peers::client_psn);
  p.reply(Peers::server_psn, rpc(1, false));
  p.finish();
  EXPECT_EQ(p.sink.facts.size(), 2U);
  EXPECT_EQ(p.sink.adopted.size(), 1U);
  for (const std::string& line : p.sink.lines) {
    EXPECT_EQ(line.front(), '1') << line;
    EXPECT_EQ(line.find("gap"), line.npos) << line;
  }
}

TEST_F(IbPairing, HostTalkingToItself) {
  p.server = p.client;
  p.call(c0, rpc(1, true));
  p.server_acks(c0);
  p.call(c0 + 1, rpc(2, true));
  p.server_acks(c0 + 1);
  EXPECT_EQ(p.sink.news().front(), "1A #1 adopted 10.0.0.2:-/0x11 10.0.0.2:-/0x22");
}

TEST_F(IbPairing, HalfConnectionsStayWithinTheBound) {
  for (std::uint32_t i = 0; i < 1200; ++i) p.from_client(ib_packet(4, 1000 + i, c0 + i, {}, rpc(i, true)));
  p.finish();
  std::size_t adopted = 0;
  std::size_t limits = 0;
  for (const auto& line : p.sink.lines) {
    adopted += line.find(" adopted ") != std::string::npos ? 1U : 0U;
    limits += line.find("quality limit") != std::string::npos ? 1U : 0U;
  }
  EXPECT_EQ(adopted, 1200U);
  EXPECT_EQ(limits, 176U);
}

}  // namespace
}  // namespace rpcrdma::test
