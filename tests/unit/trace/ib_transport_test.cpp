// SPDX-License-Identifier: GPL-2.0-or-later
// Flows between queue pairs: order, holes, repetition, reassembly, acknowledgement and refusal.
#include "trace/ib_transport.hpp"

#include <gtest/gtest.h>

#include "ib_peers.hpp"

namespace rpcrdma::test {
namespace {

constexpr std::uint32_t mtu = 1024;
constexpr std::uint32_t c0 = Peers::client_psn;
constexpr std::uint32_t s0 = Peers::server_psn;

class IbFlow : public testing::Test {
 protected:
  IbFlow() {
    p.set_up_fields();
    p.handshake();
  }
  /// Sets the first PSNs; everything before is forgotten.
  void start_at(std::uint32_t client, std::uint32_t server) {
    p.client_cm.local_id += 1;
    p.server_cm.remote_id += 1;
    p.server_cm.local_id += 1;
    p.server_cm.psn = client;
    p.client_cm.psn = server;
    p.handshake();
  }
  void client(std::uint8_t opcode, std::uint32_t psn, const Octets& extended, std::size_t length, std::uint8_t fill) {
    p.from_client(ib_packet(opcode, Peers::server_qpn, psn, extended, filled(length, fill)));
  }
  void server(std::uint8_t opcode, std::uint32_t psn, const Octets& extended, std::size_t length, std::uint8_t fill) {
    p.from_server(ib_packet(opcode, Peers::client_qpn, psn, extended, filled(length, fill)));
  }
  Peers p;
};

// --- Sends

TEST_F(IbFlow, SendOfManyPackets) {
  client(op_send_first, c0, {}, mtu, 1);
  client(op_send_middle, c0 + 1, {}, mtu, 2);
  client(op_send_last, c0 + 2, {}, 101, 3);  // with three octets of pad
  EXPECT_EQ(p.sink.news(), (Lines{"1A #4 send 1 length 2149 to #6"}));
  EXPECT_EQ(p.sink.sends.at(0), filled(mtu, 1) + filled(mtu, 2) + filled(101, 3));
  client(op_send_only, c0 + 3, {}, 0, 0);
  EXPECT_EQ(p.sink.news(), (Lines{"1A #7 send 2 length 0 to #7"}));
}

TEST_F(IbFlow, SendInvalidates) {
  server(op_send_only_invalidate, s0, be32(0xCAFE), 40, 1);
  server(op_send_first, s0 + 1, {}, mtu, 1);
  server(op_send_last_invalidate, s0 + 2, be32(0xF00D), 5, 1);
  EXPECT_EQ(p.sink.news(), (Lines{"1P #4 send 1 length 40 invalidates 0xcafe to #4",
                                  "1P #5 send 2 length 1029 invalidates 0xf00d to #6"}));
}

TEST_F(IbFlow, CutSendKeepsItsLength) {
  client(op_send_first, c0, {}, mtu, 1);
  p.snap = 112;
  client(op_send_middle, c0 + 1, {}, mtu, 2);
  p.snap = 65535;
  client(op_send_last, c0 + 2, {}, 10, 3);
  EXPECT_EQ(p.sink.news(), (Lines{"1A #4 send 1 length 2058 captured 1124 to #6"}));
  EXPECT_EQ(p.sink.sends.at(0), filled(mtu, 1) + filled(100, 2));
}

TEST_F(IbFlow, HugeSendIsCountedButNotKept) {
  const std::uint32_t packets = 1100;
  for (std::uint32_t i = 0; i < packets; ++i)
    client(i == 0 ? op_send_first : i + 1 == packets ? op_send_last : op_send_middle, c0 + i, {}, mtu, 1);
  const Lines got = p.sink.news();
  EXPECT_EQ(got, (Lines{"1A #1028 quality limit", "1A #4 send 1 length 1126400 captured 1048576 to #1103"}));
}

TEST_F(IbFlow, ContinuationOfNothingIsDropped) {
  client(op_send_only, c0, {}, 8, 1);
  client(op_send_middle, c0 + 1, {}, mtu, 1);
  client(op_send_last, c0 + 2, {}, 8, 1);
  client(op_send_only, c0 + 3, {}, 8, 1);
  EXPECT_EQ(p.sink.news(), (Lines{"1A #4 send 1 length 8 to #4", "1A #7 send 2 length 8 to #7"}));
}

TEST_F(IbFlow, SendsWrapAround) {
  start_at(0xFFFFFE, s0);
  for (std::uint32_t i = 0; i < 5; ++i) p.call(0xFFFFFE + i);
  p.server_acks(0x000001);
  const Lines got = p.sink.news();
  ASSERT_EQ(got.size(), 6U);
  EXPECT_EQ(got[4], "2A #11 send 5 length 64 to #11");
  EXPECT_EQ(got[5], "2P #12 acknowledges 4");
}

// --- Writes

TEST_F(IbFlow, WriteAdvancesItsAddress) {
  start_at(c0, 0xFFFFFF);
  server(op_write_first, 0xFFFFFF, reth(0xFFFFFFF0, 0xAB, 2 * mtu + 7), mtu, 1);
  server(op_write_middle, 0x000000, {}, mtu, 2);
  server(op_write_last, 0x000001, {}, 7, 3);
  server(op_write_only, 0x000002, reth(0x20, 0xCD, 3), 3, 4);
  EXPECT_EQ(p.sink.news(), (Lines{"2P #7 write 1 0xab+0xfffffff0 length 1024 of 2055 first",
                                  "2P #8 write 1 0xab+0x1000003f0 length 1024 of 2055",
                                  "2P #9 write 1 0xab+0x1000007f0 length 7 of 2055 last",
                                  "2P #10 write 2 0xcd+0x20 length 3 of 3 first last"}));
}

TEST_F(IbFlow, WriteWithAHoleGoesOnWhereItFits) {
  server(op_write_first, s0, reth(0, 0xAB, 3 * mtu), mtu, 1);
  server(op_write_last, s0 + 2, {}, mtu, 3);
  p.client_acks(s0 + 2);
  p.moment();
  EXPECT_EQ(p.sink.news(), (Lines{"1P #4 write 1 0xab+0x0 length 1024 of 3072 first", "1P #6 gap 1 proven",
                                  "1P #5 write 1 0xab+0x800 length 1024 of 3072 last"}));
}

TEST_F(IbFlow, WriteWhoseBeginningIsMissingHasNoPlace) {
  server(op_write_first, s0, reth(0, 0xAB, 2 * mtu), mtu, 1);
  // The Last of the first Write and the First of a second one are missing.
  server(op_write_last, s0 + 3, {}, 55, 3);
  p.client_acks(s0 + 3);
  server(op_write_middle, s0 + 4, {}, mtu, 3);
  p.moment();
  EXPECT_EQ(p.sink.news(), (Lines{"1P #4 write 1 0xab+0x0 length 1024 of 2048 first", "1P #6 gap 2 proven"}));
}

// --- READs

TEST_F(IbFlow, ReadTakesItsSpan) {
  start_at(c0, 0xFFFFFE);
  p.server_reads(0xFFFFFE, 4 * mtu + 1);
  p.client_answers(op_response_first, 0xFFFFFE, mtu);
  p.client_answers(op_response_middle, 0xFFFFFF, mtu);
  p.client_answers(op_response_middle, 0x000000, mtu);
  p.client_answers(op_response_middle, 0x000001, mtu);
  p.client_answers(op_response_last, 0x000002, 1);
  p.reply(0x000003);
  EXPECT_EQ(p.sink.news(),
            (Lines{"2P #7 read 1 0xbeef+0x10000 length 4097", "2A #8 response 1 0xbeef+0x10000 length 1024",
                   "2A #9 response 1 0xbeef+0x10400 length 1024", "2A #10 response 1 0xbeef+0x10800 length 1024",
                   "2A #11 response 1 0xbeef+0x10c00 length 1024", "2A #12 response 1 0xbeef+0x11000 length 1 last",
                   "2P #13 send 1 length 48 to #13"}));
}

TEST_F(IbFlow, EmptyRead) {
  p.server_reads(s0, 0);
  p.client_answers(op_response_only, s0, 0);
  p.reply(s0 + 1);
  EXPECT_EQ(p.sink.news(), (Lines{"1P #4 read 1 0xbeef+0x10000 length 0",
                                  "1A #5 response 1 0xbeef+0x10000 length 0 last", "1P #6 send 1 length 48 to #6"}));
}

TEST_F(IbFlow, ReadsInFlight) {
  p.server_reads(s0, 2 * mtu, 0x10000);
  p.server_reads(s0 + 2, 100, 0x20000);
  p.reply(s0 + 3);
  p.client_answers(op_response_first, s0, mtu);
  p.client_answers(op_response_last, s0 + 1, mtu);
  p.client_answers(op_response_only, s0 + 2, 100);
  const Lines got = p.sink.news();
  ASSERT_EQ(got.size(), 6U);
  EXPECT_EQ(got[3], "1A #7 response 1 0xbeef+0x10000 length 1024");
  EXPECT_EQ(got[4], "1A #8 response 1 0xbeef+0x10400 length 1024 last");
  EXPECT_EQ(got[5], "1A #9 response 2 0xbeef+0x20000 length 100 last");
}

// Between two READs stand PSNs that have no response: the second one's is due all the same.
TEST_F(IbFlow, ReadsApart) {
  p.server_reads(s0, 8, 0x10000);
  p.reply(s0 + 1);
  p.server_reads(s0 + 2, 8, 0x20000);
  p.client_answers(op_response_only, s0, 8);
  p.client_answers(op_response_only, s0 + 2, 8);
  const Lines got = p.sink.news();
  EXPECT_EQ(got.back(), "1A #8 response 2 0xbeef+0x20000 length 8 last");
}

TEST_F(IbFlow, ResponsesBetweenTwoGoneOnesAreSorted) {
  p.server_reads(s0, 4 * mtu);
  p.client_answers(op_response_last, s0 + 3, mtu);
  p.client_answers(op_response_middle, s0 + 1, mtu);
  EXPECT_EQ(p.sink.news(), (Lines{"1P #4 read 1 0xbeef+0x10000 length 4096", "1A #6 quality reordered"}));
}

TEST_F(IbFlow, ResumedReadIsARepetition) {
  p.server_reads(s0, 4 * mtu);
  p.client_answers(op_response_first, s0, mtu);
  // the second response is lost on the way to the capture
  p.client_answers(op_response_middle, s0 + 2, mtu);
  p.client_answers(op_response_last, s0 + 3, mtu);
  p.server_reads(s0 + 1, 3 * mtu, 0x10000 + mtu);
  p.client_answers(op_response_first, s0 + 1, mtu);
  p.client_answers(op_response_middle, s0 + 2, mtu);
  p.client_answers(op_response_last, s0 + 3, mtu);
  p.reply(s0 + 4);
  EXPECT_EQ(
      p.sink.news(),
      (Lines{"1P #4 read 1 0xbeef+0x10000 length 4096", "1A #5 response 1 0xbeef+0x10000 length 1024",
             "1P #8 repeated retransmission", "1A #9 quality resent", "1A #9 response 1 0xbeef+0x10400 length 1024",
             "1A #6 response 1 0xbeef+0x10800 length 1024", "1A #7 response 1 0xbeef+0x10c00 length 1024 last",
             "1A #10 repeated retransmission", "1A #11 repeated retransmission", "1P #12 send 1 length 48 to #12"}));
}

// The capture has lost a response; the requester goes on, so it had it.
TEST_F(IbFlow, LostResponse) {
  p.server_reads(s0, 3 * mtu);
  p.client_answers(op_response_first, s0, mtu);
  p.client_answers(op_response_last, s0 + 2, mtu);
  p.reply(s0 + 3);
  p.client_answers(op_response_middle, s0 + 1, mtu);
  EXPECT_EQ(p.sink.news(),
            (Lines{"1P #4 read 1 0xbeef+0x10000 length 3072", "1A #5 response 1 0xbeef+0x10000 length 1024",
                   "1A #7 gap 1", "1A #6 response 1 0xbeef+0x10800 length 1024", "1P #7 send 1 length 48 to #7",
                   "1A #8 response 1 0xbeef+0x10400 length 1024 last"}));
}

TEST_F(IbFlow, LostResponseAtTheEnd) {
  p.server_reads(s0, 3 * mtu);
  p.client_answers(op_response_first, s0, mtu);
  p.client_answers(op_response_last, s0 + 2, mtu);
  p.finish();
  EXPECT_EQ(p.sink.news(),
            (Lines{"1P #4 read 1 0xbeef+0x10000 length 3072", "1A #5 response 1 0xbeef+0x10000 length 1024",
                   "1A #6 gap 1", "1A #6 response 1 0xbeef+0x10800 length 1024"}));
}

// A READ Request that is not in the capture is one lost packet, however many responses it has.
TEST_F(IbFlow, LostReadRequest) {
  p.client_answers(op_response_first, s0, mtu);
  p.client_answers(op_response_middle, s0 + 1, mtu);
  p.client_answers(op_response_last, s0 + 2, mtu);
  p.reply(s0 + 3);
  p.moment();
  EXPECT_EQ(p.sink.news(), (Lines{"1P #4 gap 1 proven", "1P #7 send 1 length 48 to #7"}));
}

TEST_F(IbFlow, OutstandingReadsAreBounded) {
  p.server_reads(s0, 8);
  p.client_answers(op_response_only, s0, 8);
  for (std::uint32_t i = 1; i <= 1100; ++i) p.server_reads(s0 + i, 8);
  const Lines got = p.sink.news();
  EXPECT_EQ(std::count_if(got.begin(), got.end(), [](const auto& l) { return l.find("limit") != l.npos; }), 1);
}

// --- Order and holes

TEST_F(IbFlow, PacketsAreSortedByPsn) {
  p.call(c0);
  p.call(c0 + 2, filled(66));
  p.call(c0 + 1, filled(65));
  p.call(c0 + 4, filled(68));
  p.call(c0 + 3, filled(67));
  EXPECT_EQ(p.sink.news(),
            (Lines{"1A #4 send 1 length 64 to #4", "1A #6 quality reordered", "1A #6 send 2 length 65 to #6",
                   "1A #5 send 3 length 66 to #5", "1A #8 send 4 length 67 to #8", "1A #7 send 5 length 68 to #7"}));
}

TEST_F(IbFlow, DisorderBehindAHole) {
  p.call(c0 + 3);
  p.call(c0 + 2);
  EXPECT_EQ(p.sink.news(), (Lines{"1A #5 quality reordered"}));
}

TEST_F(IbFlow, AcknowledgedHoleIsTheCapturesLoss) {
  p.call(c0);
  p.call(c0 + 3);
  EXPECT_EQ(p.sink.news().size(), 1U);
  p.server_acks(c0 + 3);
  p.moment();
  EXPECT_EQ(p.sink.news(), (Lines{"1A #6 gap 2 proven", "1A #5 send 2 length 64 to #5", "1P #6 acknowledges 2"}));
  // The last packet is missing, and nothing behind it is needed to know.
  p.server_acks(c0 + 4);
  p.moment();
  EXPECT_EQ(p.sink.news(), Lines{});
  p.wait_in_vain();
  EXPECT_EQ(p.sink.news(), (Lines{"1A #8 gap 1 proven"}));
  p.call(c0 + 4);
  EXPECT_EQ(p.sink.news(), (Lines{"1A #11 repeated retransmission"}));
}

TEST_F(IbFlow, HeldAnswersComeOutBeforeTheClose) {
  p.call(c0);
  p.sink.news();
  p.server_acks(c0 + 1);
  p.client_dreq();
  const Lines told = p.sink.news();
  ASSERT_FALSE(told.empty());
  EXPECT_EQ(told.front(), "1A #5 gap 1 proven");
}

TEST_F(IbFlow, WhatWaitsBehindAHoleComesOutBeforeTheClose) {
  p.call(c0 + 1);
  p.client_dreq();
  EXPECT_EQ(p.sink.news(), (Lines{"1A #5 gap 1", "1A #4 send 1 length 64 to #4", "1A #5 disconnect request"}));
}

constexpr trace::TimeNs rnr_time = 640'000;  // timer code 12

// A refusal seen by two taps, with a packet that was under way between the two copies.
TEST_F(IbFlow, RefusalTwiceInTheCapture) {
  p.step = 10'000;
  p.call(c0);
  p.call(c0 + 1);
  p.sink.news();
  p.server_acks(c0 + 1, 0x2C);
  p.call(c0 + 2);
  p.server_acks(c0 + 1, 0x2C);
  EXPECT_EQ(p.sink.news(), (Lines{"1P #6 acknowledges 1", "1P #6 refuses rnr: send 2 of #5 length 64",
                                  "1A #7 send 3 length 64 to #7", "1P #8 repeated duplicate"}));
  p.time += rnr_time;
  p.call(c0 + 1);
  p.server_acks(c0 + 1, 0x2C);  // and this one refuses the second try
  EXPECT_EQ(p.sink.news(), (Lines{"1A #9 repeated retransmission", "1P #10 refuses rnr: send 2 of #5 length 64"}));
}

TEST_F(IbFlow, AcknowledgementBeforeTheHoleProvesNothing) {
  p.call(c0);
  p.call(c0 + 2);
  p.server_acks(c0);
  EXPECT_EQ(p.sink.news(), (Lines{"1A #4 send 1 length 64 to #4", "1P #6 acknowledges 1"}));
  p.server_acks(c0 + 1, 0x60);  // NAK: c0 + 1 is missing there, too
  p.call(c0 + 1);
  EXPECT_EQ(p.sink.news(), (Lines{"1P #7 refuses sequence: unknown 0 of #0 length 0", "1A #8 quality resent",
                                  "1A #8 send 2 length 64 to #8", "1A #5 send 3 length 64 to #5"}));
}

TEST_F(IbFlow, RefusalBehindTheHoleProvesIt) {
  p.call(c0 + 1);
  p.server_acks(c0 + 1, 0x2C);
  p.moment();
  EXPECT_EQ(p.sink.news(),
            (Lines{"1A #5 gap 1 proven", "1A #4 send 1 length 64 to #4", "1P #5 refuses rnr: send 1 of #4 length 64"}));
}

TEST_F(IbFlow, HoleIsGivenUpAfterSomeSeconds) {
  p.call(c0);
  p.call(c0 + 2);
  p.time += 4'000'000'000;
  p.call(c0 + 3);
  EXPECT_EQ(p.sink.news().size(), 1U);
  p.time += 2'000'000'000;
  p.call(c0 + 4);
  EXPECT_EQ(p.sink.news(), (Lines{"1A #7 gap 1", "1A #5 send 2 length 64 to #5", "1A #6 send 3 length 64 to #6",
                                  "1A #7 send 4 length 64 to #7"}));
}

TEST_F(IbFlow, HeldPacketsAreBounded) {
  for (std::uint32_t i = 1; i <= 2100; ++i) p.call(c0 + i);
  const Lines got = p.sink.news();
  ASSERT_EQ(got.size(), 2102U);
  EXPECT_EQ(got[0], "1A #2052 quality limit");
  EXPECT_EQ(got[1], "1A #2052 gap 1");
}

TEST_F(IbFlow, EndOfCaptureFlushes) {
  p.call(c0 + 1);
  p.call(c0 + 3);
  p.finish();
  EXPECT_EQ(p.sink.news(),
            (Lines{"1A #5 gap 1", "1A #4 send 1 length 64 to #4", "1A #5 gap 1", "1A #5 send 2 length 64 to #5"}));
}

TEST_F(IbFlow, SendWithAMissingMiddle) {
  client(op_send_first, c0, {}, mtu, 1);
  client(op_send_last, c0 + 2, {}, 8, 3);
  p.server_acks(c0 + 2);
  p.moment();
  EXPECT_EQ(p.sink.news(), (Lines{"1A #6 gap 1 proven", "1A #4 send 1 length 2056 captured 1024 holes to #5",
                                  "1P #6 acknowledges 1"}));
}

TEST_F(IbFlow, SendWithAMissingEnd) {
  client(op_send_first, c0, {}, mtu, 1);
  client(op_send_only, c0 + 2, {}, 8, 3);
  p.server_acks(c0 + 2);
  p.moment();
  EXPECT_EQ(p.sink.news(), (Lines{"1A #6 gap 1 proven", "1A #4 send 1 length 1024 holes to #4",
                                  "1A #5 send 2 length 8 to #5", "1P #6 acknowledges 2"}));
}

TEST_F(IbFlow, SendWithAMissingBeginning) {
  p.call(c0);
  client(op_send_last, c0 + 2, {}, 8, 3);
  p.server_acks(c0 + 2);
  p.moment();
  EXPECT_EQ(p.sink.news(), (Lines{"1A #4 send 1 length 64 to #4", "1A #6 gap 1 proven",
                                  "1A #5 send 2 length 8 captured 0 holes to #5", "1P #6 acknowledges 2"}));
}

// A Send that its sender broke off is none; nothing of it is missing from the capture.
TEST_F(IbFlow, SendBrokenOff) {
  client(op_send_first, c0, {}, mtu, 1);
  client(op_send_only, c0 + 1, {}, 8, 1);
  EXPECT_EQ(p.sink.news(), (Lines{"1A #5 send 2 length 8 to #5"}));
}

// The handshake says where a direction begins.
TEST_F(IbFlow, FirstPacketMissing) {
  p.call(c0 + 1);
  EXPECT_TRUE(p.sink.news().empty());
  p.server_acks(c0 + 1);
  p.moment();
  EXPECT_EQ(p.sink.news(), (Lines{"1A #5 gap 1 proven", "1A #4 send 1 length 64 to #4", "1P #5 acknowledges 1"}));
}

// --- Repetition

TEST_F(IbFlow, DuplicateOfTheCapture) {
  p.step = 0;
  p.call(c0);
  p.call(c0);
  EXPECT_EQ(p.sink.news(), (Lines{"1A #4 send 1 length 64 to #4", "1A #5 repeated duplicate"}));
  p.call(c0 + 2);
  p.call(c0 + 2);
  EXPECT_EQ(p.sink.news(), (Lines{"1A #7 repeated duplicate"}));
}

TEST_F(IbFlow, HeldPacketSentAgain) {
  p.step = 10'000;
  p.call(c0 + 1);
  p.server_acks(c0, 0x60);
  p.call(c0 + 1);
  p.call(c0);
  const Lines got = p.sink.news();
  EXPECT_EQ(got.at(1), "1A #6 repeated retransmission");
  EXPECT_EQ(got.back(), "1A #4 send 2 length 64 to #4");
}

TEST_F(IbFlow, RetransmissionAfterATimeout) {
  p.call(c0);
  p.time += 500'000'000;
  p.call(c0);
  EXPECT_EQ(p.sink.news(), (Lines{"1A #4 send 1 length 64 to #4", "1A #5 repeated retransmission"}));
}

TEST_F(IbFlow, OtherOctetsAreNoDuplicate) {
  p.step = 0;
  p.call(c0, filled(64, 1));
  p.call(c0, filled(64, 2));
  EXPECT_EQ(p.sink.news(), (Lines{"1A #4 send 1 length 64 to #4", "1A #5 repeated retransmission"}));
}

// After a NAK everything from the hole on is sent again at once; none of it is the capture's doing.
TEST_F(IbFlow, GoBackN) {
  p.step = 10'000;
  p.call(c0);
  p.call(c0 + 1);
  p.call(c0 + 2);
  p.server_acks(c0 + 1, 0x60);
  p.call(c0 + 1);
  p.call(c0 + 2);
  p.server_acks(c0 + 2);
  EXPECT_EQ(p.sink.news(),
            (Lines{"1A #4 send 1 length 64 to #4", "1A #5 send 2 length 64 to #5", "1A #6 send 3 length 64 to #6",
                   "1P #7 acknowledges 1", "1P #7 refuses sequence: send 2 of #5 length 64",
                   "1A #8 repeated retransmission", "1A #9 repeated retransmission", "1P #10 acknowledges 3"}));
}

TEST_F(IbFlow, RnrGoBackN) {
  p.step = 10'000;
  p.call(c0);
  p.call(c0 + 1);
  p.server_acks(c0, 0x2C);
  p.server_acks(c0, 0x2C);  // the capture has it twice
  p.time += rnr_time;
  p.call(c0);
  p.server_acks(c0, 0x2C);  // and the receiver is still not ready
  p.time += rnr_time;
  p.call(c0);
  p.call(c0 + 1);
  p.server_acks(c0 + 1);
  EXPECT_EQ(p.sink.news(),
            (Lines{"1A #4 send 1 length 64 to #4", "1A #5 send 2 length 64 to #5",
                   "1P #6 refuses rnr: send 1 of #4 length 64", "1P #7 repeated duplicate",
                   "1A #8 repeated retransmission", "1P #9 refuses rnr: send 1 of #4 length 64",
                   "1A #10 repeated retransmission", "1A #11 repeated retransmission", "1P #12 acknowledges 2"}));
}

// --- Acknowledgement and refusal

TEST_F(IbFlow, AcknowledgesCompleteSendsOnly) {
  client(op_send_first, c0, {}, mtu, 1);
  client(op_send_last, c0 + 1, {}, 8, 1);
  p.call(c0 + 2);
  p.server_acks(c0);
  EXPECT_EQ(p.sink.news().size(), 2U);
  p.server_acks(c0 + 2);
  p.server_acks(c0 + 2);
  p.server_acks(c0 + 1);
  EXPECT_EQ(p.sink.news(), (Lines{"1P #8 acknowledges 2"}));
}

TEST_F(IbFlow, ResponsesAcknowledgeWhatIsBefore) {
  p.reply(s0);
  p.server_reads(s0 + 1, 8);
  p.client_answers(op_response_only, s0 + 1, 8);
  EXPECT_EQ(p.sink.news(), (Lines{"1P #4 send 1 length 48 to #4", "1P #5 read 1 0xbeef+0x10000 length 8",
                                  "1A #6 acknowledges 1", "1A #6 response 1 0xbeef+0x10000 length 8 last"}));
}

TEST_F(IbFlow, RefusedWrite) {
  server(op_write_first, s0, reth(0, 0xAB, 2 * mtu), mtu, 1);
  server(op_write_last, s0 + 1, {}, mtu, 1);
  p.client_acks(s0 + 1, 0x62);
  EXPECT_EQ(p.sink.news().back(), "1A #6 refuses access: write 1 of #5 length 0");
}

/// A NAK of an earlier use of the queue pair names a PSN in front of the first one, which the REQ has.
TEST_F(IbFlow, WhatWasNeverSentIsNotRefused) {
  p.reply(s0);
  p.client_acks(s0 - 1'000, 0x62);
  p.client_acks(s0);
  EXPECT_EQ(p.sink.news(), (Lines{"1P #4 send 1 length 48 to #4", "1A #6 acknowledges 1"}));
}

TEST_F(IbFlow, RefusedRead) {
  p.server_reads(s0, 3 * mtu);
  p.client_acks(s0 + 2, 0x62);
  EXPECT_EQ(p.sink.news().back(), "1A #5 refuses access: read 1 of #4 length 0");
}

TEST_F(IbFlow, RefusedSendAsFarAsSeen) {
  client(op_send_first, c0, {}, mtu, 1);
  client(op_send_middle, c0 + 1, {}, mtu, 1);
  p.server_acks(c0 + 1, 0x63);
  client(op_send_last, c0 + 2, {}, mtu, 1);
  EXPECT_EQ(p.sink.news(),
            (Lines{"1P #6 refuses operational: send 1 of #5 length 2048", "1A #4 send 1 length 3072 to #7"}));
}

TEST_F(IbFlow, RefusalOfTheUnseen) {
  p.server_acks(c0 + 5, 0x61);
  p.wait_in_vain();
  EXPECT_EQ(p.sink.news(), (Lines{"1A #4 gap 5 proven", "1P #4 refuses invalid: unknown 0 of #0 length 0"}));
  p.client_acks(s0, 0x64);
  p.wait_in_vain();
  EXPECT_EQ(p.sink.news(), (Lines{"1A #6 refuses other: unknown 0 of #0 length 0"}));
}

// --- The rest

TEST_F(IbFlow, ImmediateAndAtomic) {
  client(0x05, c0, be32(1), 8, 1);
  Octets atomic = reth(0x10000, 0xBEEF, 0);
  atomic.resize(28);
  client(0x13, c0 + 1, atomic, 0, 1);
  client(op_send_only, c0 + 2, {}, 8, 1);
  EXPECT_EQ(p.sink.news(), (Lines{"1A #4 send 1 length 8 to #4", "1A #4 quality immediate",
                                  "1A #5 atomic 1 0xbeef+0x10000", "1A #6 send 2 length 8 to #6"}));
}

TEST_F(IbFlow, OtherServicesAreQuietlyIgnored) {
  for (const std::uint8_t opcode : Octets{0x24, 0x44, 0x64, 0x81, 0xA4, 0xFF})
    p.from_client(ib_packet(opcode, Peers::server_qpn, c0, filled(16), filled(64)));
  p.finish();
  EXPECT_TRUE(p.sink.news().empty());
}

TEST_F(IbFlow, ChecksTheFirstPackets) {
  p.true_crc = false;
  for (std::uint32_t i = 0; i < 6; ++i) p.call(c0 + i);
  Lines got = p.sink.news();
  EXPECT_EQ(std::count_if(got.begin(), got.end(), [](const auto& l) { return l.find("checksum") != l.npos; }), 4);
  p.reply(s0);
  EXPECT_EQ(p.sink.news(), (Lines{"1P #10 quality checksum", "1P #10 send 1 length 48 to #10"}));
}

TEST(IbChecksum, OfEveryPacketWhenAsked) {
  Peers p(true);
  p.set_up_fields();
  p.handshake();
  for (std::uint32_t i = 0; i < 6; ++i) p.call(c0 + i);
  p.sink.news();
  p.true_crc = false;
  p.call(c0 + 6);
  EXPECT_EQ(p.sink.news().front(), "1A #10 quality checksum");
  p.snap = 40;  // what is cut cannot be checked
  p.call(c0 + 7);
  EXPECT_EQ(p.sink.news().size(), 1U);
}

// A queue pair that starts over with older PSNs, without a handshake in the capture.
TEST_F(IbFlow, StrangersBecomeTheStream) {
  p.call(c0);
  const std::uint32_t elsewhere = c0 - 0x300000;
  for (std::uint32_t i = 0; i < 20; ++i) p.call(elsewhere + i);
  const Lines got = p.sink.news();
  EXPECT_EQ(got.at(16).substr(0, 11), "1A #20 gap ");
  EXPECT_EQ(got.back(), "1A #24 send 6 length 64 to #24");
}

}  // namespace
}  // namespace rpcrdma::test
