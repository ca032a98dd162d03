// SPDX-License-Identifier: GPL-2.0-or-later
// By which frame something had surely been sent, though it stands in the file behind that.
#include <gtest/gtest.h>

#include "ib_peers.hpp"

namespace rpcrdma::test {
namespace {

using Frames = std::vector<std::uint64_t>;

struct BaseCase {
  const char* what;
  trace::FrameRef frame;
  trace::FrameRef overtaken_in;
  trace::FrameRef expected;
};

TEST(SentBy, TheEarlierOfTheTwo) {
  for (const BaseCase& c :
       {BaseCase{"nothing overtook it", {7, 70}, {}, {7, 70}}, BaseCase{"overtaken", {7, 70}, {4, 40}, {4, 40}},
        BaseCase{"its first frame stands in front", {7, 70}, {9, 90}, {7, 70}},
        BaseCase{"the file's order counts, not the clock", {7, 70}, {4, 400}, {4, 400}}}) {
    trace::EventBase event;
    event.frame = c.frame;
    event.overtaken_in = c.overtaken_in;
    EXPECT_EQ(event.sent_by().number, c.expected.number) << c.what;
    EXPECT_EQ(event.sent_by().time, c.expected.time) << c.what;
  }
}

struct OrderCase {
  const char* what;
  std::vector<std::uint32_t> calls;  ///< of the client, as they stand in the file from frame 4 on
  Frames sent_by;                    ///< of each, in the order in which they were sent
};

TEST(SentBy, OfRequestsThatFillAHole) {
  for (const OrderCase& c : {
           OrderCase{"in order", {0, 1, 2, 3}, {4, 5, 6, 7}},
           OrderCase{"two exchanged", {0, 2, 1, 3}, {4, 5, 5, 7}},
           OrderCase{"one behind three", {0, 2, 3, 4, 1, 5}, {4, 5, 5, 6, 7, 9}},
           OrderCase{"two holes", {0, 2, 4, 1, 3}, {4, 5, 5, 6, 6}},
           OrderCase{"the first that waits is not the first in the file", {0, 3, 2, 1}, {4, 5, 5, 5}},
       }) {
    Peers p;
    p.step = 10'000;
    p.set_up_fields();
    p.handshake();
    for (const std::uint32_t call : c.calls) p.call(Peers::client_psn + call);
    p.finish();
    EXPECT_EQ(p.sink.sent_by, c.sent_by) << c.what;
  }
}

// The last packet of a Write stands behind the Send that followed it.
TEST(SentBy, OfEachPacketOfAWrite) {
  constexpr std::uint8_t write_first = 0x06;
  constexpr std::uint8_t write_last = 0x08;
  Peers p;
  p.step = 10'000;
  p.set_up_fields();
  p.handshake();
  const std::uint32_t psn = Peers::server_psn;
  p.from_server(ib_packet(write_first, Peers::client_qpn, psn, reth(0x1000, 0xAB, 1028), filled(1024)));
  p.reply(psn + 2, filled(32));
  p.from_server(ib_packet(write_last, Peers::client_qpn, psn + 1, {}, filled(4)));
  p.finish();
  EXPECT_EQ(p.sink.writes_sent_by, (Frames{4, 5}));
}

TEST(SentBy, OfWhatFollowsALoss) {
  Peers p;
  p.set_up_fields();
  p.handshake();
  p.call(Peers::client_psn);
  p.call(Peers::client_psn + 2);
  p.wait_in_vain();
  p.call(Peers::client_psn + 3);
  p.finish();
  ASSERT_EQ(p.sink.sent_by.size(), 3U);
  EXPECT_EQ(p.sink.sent_by[1], 5U);  // nothing filled the hole
}

// Something behind it had come when it was asked for: it had been sent, and the capture lacks that.
TEST(SentBy, OfWhatANakAskedForAndTheCaptureLacks) {
  Peers p;
  p.step = 10'000;
  p.set_up_fields();
  p.handshake();
  p.call(Peers::client_psn);  // 4
  p.server_acks(Peers::client_psn);
  p.server_acks(Peers::client_psn + 1, 0x60);
  p.call(Peers::client_psn + 1);  // 7
  p.call(Peers::client_psn + 2);
  p.time += 10'000'000;
  p.call(Peers::client_psn + 3);  // 9: more is not acknowledged yet
  p.server_acks(Peers::client_psn + 3);
  p.time += 10'000'000;
  p.call(Peers::client_psn + 4);  // 11
  p.finish();
  EXPECT_EQ(p.sink.sent_by, (Frames{4, 4, 4, 4, 11}));
}

TEST(SentBy, OfWhatANakAskedForAndTheCaptureHas) {
  Peers p;
  p.step = 10'000;
  p.set_up_fields();
  p.handshake();
  p.call(Peers::client_psn);
  p.call(Peers::client_psn + 1);
  p.server_acks(Peers::client_psn + 1, 0x60);
  p.call(Peers::client_psn + 1);
  p.call(Peers::client_psn + 2);  // 8
  p.finish();
  EXPECT_EQ(p.sink.sent_by, (Frames{4, 5, 8}));
}

TEST(SentBy, TheOtherSidesHoleDoesNotMatter) {
  Peers p;
  p.step = 10'000;
  p.set_up_fields();
  p.handshake();
  p.reply(Peers::server_psn + 1);
  p.call(Peers::client_psn);
  p.reply(Peers::server_psn);
  p.finish();
  EXPECT_EQ(p.sink.sent_by, (Frames{5, 4, 4}));
}

}  // namespace
}  // namespace rpcrdma::test
