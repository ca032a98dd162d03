// SPDX-License-Identifier: GPL-2.0-or-later
// What is known of each direction when an InfiniBand connection, or the capture, ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ib_peers.hpp"
#include "wire/ib.hpp"

namespace rpcrdma::test {
namespace {

using testing::ElementsAre;

constexpr trace::TimeNs long_enough = 1'000'000'000;
constexpr std::uint32_t first_psn = Peers::client_psn;

class IbLiveness : public testing::Test {
 protected:
  IbLiveness() { p.set_up_fields(); }
  Lines told() {
    p.finish();
    return p.sink.liveness;
  }
  /// Frames 1 to 3.
  void open() { p.handshake(); }
  Peers p;
};

TEST_F(IbLiveness, AllAcknowledged) {
  open();
  p.call(first_psn);
  p.server_acks(first_psn);
  p.reply(Peers::server_psn);
  p.client_acks(Peers::server_psn);
  EXPECT_THAT(told(), ElementsAre("C heard #7 seen 1", "S heard #6 seen 1"));
  EXPECT_EQ(p.sink.told_before.front(), p.sink.lines.size());
}

TEST_F(IbLiveness, NotAcknowledged) {
  open();
  p.call(first_psn);
  p.server_acks(first_psn);
  p.call(first_psn + 1);
  p.call(first_psn + 2);
  EXPECT_THAT(told(), ElementsAre("C heard #7 unacknowledged #6 seen 3", "S heard #5 seen 0"));
}

TEST_F(IbLiveness, AReadIsOpenUntilItsLastResponse) {
  open();
  p.server_reads(Peers::server_psn, 3000);  // three responses of 1024 octets at most
  p.client_answers(op_response_first, Peers::server_psn, 1024);
  p.client_answers(op_response_middle, Peers::server_psn + 1, 1024);
  EXPECT_THAT(told(), ElementsAre("C heard #6 seen 2", "S heard #4 unacknowledged #4 seen 1"));
}

TEST_F(IbLiveness, AReadThatWasAnsweredIsNot) {
  open();
  p.server_reads(Peers::server_psn, 3000);
  p.client_answers(op_response_first, Peers::server_psn, 1024);
  p.client_answers(op_response_middle, Peers::server_psn + 1, 1024);
  p.client_answers(op_response_last, Peers::server_psn + 2, 952);
  EXPECT_THAT(told(), ElementsAre("C heard #7 seen 3", "S heard #4 seen 1"));
}

TEST_F(IbLiveness, SentAgainWithoutAnswer) {
  open();
  p.call(first_psn);
  p.call(first_psn + 1);
  p.step = long_enough;
  for (int i = 0; i < 3; ++i) {
    p.call(first_psn);
    p.call(first_psn + 1);
  }
  EXPECT_THAT(told(), ElementsAre("C heard #11 unacknowledged #4 copies 3 #4-#10 seen 2", "S heard #2 seen 0"));
}

TEST_F(IbLiveness, AnAcknowledgementEndsTheRun) {
  open();
  p.call(first_psn);
  p.call(first_psn + 1);
  p.step = long_enough;
  p.call(first_psn);
  p.call(first_psn + 1);
  p.server_acks(first_psn);  // 8
  p.call(first_psn + 1);
  EXPECT_THAT(told(), ElementsAre("C heard #9 unacknowledged #5 copies 1 #5-#9 seen 2", "S heard #8 seen 0"));
}

// A copy of something older, of a tap that is late: that is not what is sent again.
TEST_F(IbLiveness, WhatRoundsBeginWithCounts) {
  open();
  p.call(first_psn);
  p.server_acks(first_psn);
  p.call(first_psn + 1);
  p.step = long_enough;
  p.call(first_psn);
  for (int i = 0; i < 3; ++i) p.call(first_psn + 1);
  EXPECT_THAT(told(), ElementsAre("C heard #10 unacknowledged #6 copies 3 #6-#10 seen 2", "S heard #5 seen 0"));
}

// The rest of a round stands there twice, and the next round begins where each does.
TEST_F(IbLiveness, ARoundThatIsInTheCaptureTwice) {
  open();
  p.call(first_psn);
  p.call(first_psn + 1);
  p.step = long_enough;
  for (int i = 0; i < 3; ++i) {
    for (const std::uint32_t at : {0U, 0U, 1U, 1U}) p.call(first_psn + at);
  }
  EXPECT_THAT(told(), ElementsAre("C heard #17 unacknowledged #4 copies 6 #4-#15 seen 2", "S heard #2 seen 0"));
}

// RNR NAKs are answers, but they acknowledge nothing.
TEST_F(IbLiveness, ANakIsHeard) {
  open();
  p.call(first_psn);
  p.server_acks(first_psn, 0x20);
  p.call(first_psn);
  p.server_acks(first_psn, 0x20);
  p.call(first_psn);
  EXPECT_THAT(told(), ElementsAre("C heard #8 unacknowledged #4 copies 2 #4-#8 seen 1 denied #7 not ready",
                                  "S heard #7 seen 0"));
}

TEST_F(IbLiveness, ANakThatAsksForWhatIsNext) {
  open();
  p.call(first_psn);
  p.call(first_psn + 1);
  p.server_acks(first_psn + 1, 0x60);
  EXPECT_THAT(told(), ElementsAre("C heard #5 unacknowledged #5 seen 2 denied #6", "S heard #6 seen 0"));
}

// A second mirror's copy of it is no other sign of life.
TEST_F(IbLiveness, ANakThatIsInTheCaptureTwice) {
  open();
  p.call(first_psn);
  p.call(first_psn + 1);
  p.server_acks(first_psn + 1, 0x60);
  p.step = 1'000;
  p.server_acks(first_psn + 1, 0x60);
  EXPECT_THAT(told(), ElementsAre("C heard #5 unacknowledged #5 seen 2 denied #6", "S heard #6 seen 0"));
}

// A mirror that is late: what the server said before the Call stands once more behind it.
TEST_F(IbLiveness, WhatIsInTheCaptureTwiceWasSaidOnce) {
  open();
  p.step = 10'000;
  p.call(first_psn);  // 4
  p.server_acks(first_psn);
  p.reply(Peers::server_psn);
  p.client_acks(Peers::server_psn);
  p.call(first_psn + 1);  // 8
  p.server_acks(first_psn);
  p.reply(Peers::server_psn);
  p.client_acks(Peers::server_psn);
  EXPECT_THAT(told(), ElementsAre("C heard #8 unacknowledged #8 seen 2", "S heard #6 seen 1"));
}

TEST_F(IbLiveness, WhatIsSaidAgainLaterIsHeard) {
  open();
  p.call(first_psn);
  p.server_acks(first_psn);
  p.reply(Peers::server_psn);
  p.client_acks(Peers::server_psn);
  p.call(first_psn + 1);  // 8
  p.step = 10 * 1'000'000;
  p.server_acks(first_psn);
  EXPECT_THAT(told(), ElementsAre("C heard #8 unacknowledged #8 seen 2", "S heard #9 seen 1"));
}

// The request came again, to be acknowledged again.
TEST_F(IbLiveness, AnAcknowledgementThatWasAskedForAgainIsHeard) {
  open();
  p.call(first_psn);  // 4
  p.step = long_enough;
  p.call(first_psn);
  p.step = 1'000;
  p.server_acks(first_psn);
  p.step = 500'000;
  p.call(first_psn);  // 7
  p.step = 1'000;
  p.server_acks(first_psn);
  EXPECT_THAT(told(), ElementsAre("C heard #7 copies 1 #4-#7 seen 1", "S heard #8 seen 0"));
}

TEST_F(IbLiveness, ANakOfWhatCameMeanwhile) {
  open();
  p.call(first_psn);
  p.call(first_psn + 1);
  p.server_acks(first_psn, 0x60);
  p.step = long_enough;
  p.call(first_psn);
  p.server_acks(first_psn);
  EXPECT_THAT(told(), ElementsAre("C heard #7 unacknowledged #5 seen 2", "S heard #8 seen 0"));
}

// Of two taps the client's is late: the Reply stands in front of the capture, what acknowledges it behind its Call.
TEST_F(IbLiveness, AcknowledgedAndInFrontOfTheCapture) {
  p.call(first_psn);
  p.client_acks(Peers::server_psn);
  p.call(first_psn + 1);
  p.reply(Peers::server_psn + 1);
  p.client_acks(Peers::server_psn + 1);
  p.step = long_enough;
  p.call(first_psn + 2);
  p.server_acks(first_psn + 2);
  EXPECT_THAT(told(), ElementsAre("C heard #6 seen 3", "S heard #7 seen 1 before #2"));
}

TEST_F(IbLiveness, TheFirstTwoChangedPlaces) {
  p.client_acks(Peers::server_psn);
  p.step = 1000;
  p.reply(Peers::server_psn);
  p.call(first_psn);
  p.server_acks(first_psn);
  EXPECT_THAT(told(), ElementsAre("C heard #3 seen 1", "S heard #4 seen 1"));
}

TEST_F(IbLiveness, NothingIsInFrontOfWhatBeginsInTheCapture) {
  open();
  p.client_acks(Peers::server_psn - 1);
  p.call(first_psn);
  p.server_acks(first_psn);
  EXPECT_THAT(told(), ElementsAre("C heard #5 seen 1", "S heard #6 seen 0"));
}

// Who tells of congestion received something, and is there.
TEST_F(IbLiveness, ACongestionNotificationIsHeard) {
  open();
  p.call(first_psn);
  p.step = long_enough;
  p.call(first_psn);
  p.from_server(ib_packet(wire::congestion_notification, Peers::client_qpn, 0, filled(16), {}));
  p.call(first_psn);
  EXPECT_THAT(told(), ElementsAre("C heard #7 unacknowledged #4 copies 2 #4-#7 seen 1", "S heard #6 seen 0"));
}

TEST_F(IbLiveness, CapturedTwiceIsNotSentAgain) {
  open();
  p.call(first_psn);
  p.step = 1000;
  p.call(first_psn);
  EXPECT_THAT(told(), ElementsAre("C heard #4 unacknowledged #4 seen 1", "S heard #2 seen 0"));
}

TEST_F(IbLiveness, SentAgainBehindAHole) {
  open();
  p.call(first_psn + 1);
  p.step = long_enough;
  p.call(first_psn + 1);
  EXPECT_THAT(told(),
              ElementsAre("C heard #5 unacknowledged #4 copies 1 #4-#5 seen 1 missing 1 in 1", "S heard #2 seen 0"));
}

TEST_F(IbLiveness, OneDirectionOnly) {
  for (std::uint32_t i = 0; i < 3; ++i) p.call(first_psn + i);
  EXPECT_THAT(told(), ElementsAre("C heard #3 unacknowledged #1 seen 3", "S heard #0 seen 0"));
}

TEST_F(IbLiveness, ARequestThatNobodyAnswers) {
  p.req();
  p.step = long_enough;
  p.req();
  p.req();
  EXPECT_THAT(told(), ElementsAre("C heard #3 unacknowledged #1 copies 2 #1-#3 seen 0", "S heard #0 seen 0"));
}

TEST_F(IbLiveness, ARequestThatIsCapturedTwice) {
  p.req();
  p.step = 1000;
  p.req();
  EXPECT_THAT(told(), ElementsAre("C heard #1 unacknowledged #1 seen 0", "S heard #0 seen 0"));
}

TEST_F(IbLiveness, AReplyThatNobodyAnswers) {
  p.req();
  p.step = long_enough;
  p.req();
  p.rep();
  p.rep();
  EXPECT_THAT(told(), ElementsAre("C heard #2 seen 0", "S heard #4 unacknowledged #3 copies 1 #3-#4 seen 0"));
}

// An MRA says that the REQ has come and that its answer will take a while.
TEST_F(IbLiveness, AnMraAcknowledgesTheRequest) {
  p.req();
  p.from_server(cm_packet(cm_mra(p.server_cm)));
  EXPECT_THAT(told(), ElementsAre("C heard #1 seen 0", "S heard #2 seen 0"));
}

TEST_F(IbLiveness, ToldBeforeTheFirstClose) {
  open();
  p.call(first_psn);
  p.client_dreq();
  p.server_drep();
  p.server_acks(first_psn);
  EXPECT_THAT(told(), ElementsAre("C heard #5 unacknowledged #4 seen 1", "S heard #2 seen 0"));
  EXPECT_EQ(p.sink.lines[p.sink.told_before.at(0)], "1A #5 disconnect request");
}

TEST_F(IbLiveness, ToldBeforeAReject) {
  p.req();
  p.from_server(cm_packet(cm_rej(p.server_cm)));
  EXPECT_THAT(told(), ElementsAre("C heard #1 seen 0", "S heard #2 seen 0"));
  EXPECT_EQ(p.sink.lines[p.sink.told_before.at(0)], "1P #2 reject 8");
}

TEST_F(IbLiveness, ToldBeforeANewEpoch) {
  open();
  p.call(first_psn);
  p.client_cm.local_id += 1;
  p.client_cm.transaction += 7;
  p.req();
  ASSERT_EQ(p.sink.liveness.size(), 2U);
  EXPECT_EQ(p.sink.liveness[0], "C heard #4 unacknowledged #4 seen 1");
  EXPECT_EQ(p.sink.liveness[1], "S heard #2 seen 0");
  EXPECT_EQ(p.sink.lines[p.sink.told_before[0]], "1A #5 disconnect superseded");
}

TEST_F(IbLiveness, WhatIsMissingAndInHowManyPlaces) {
  open();
  for (std::uint32_t i = 0; i < 20; ++i) {
    if (i != 3 && i != 4 && i != 9) p.call(first_psn + i);
    p.server_acks(first_psn + i);
  }
  EXPECT_THAT(told(), ElementsAre("C heard #39 seen 17 missing 3 in 2", "S heard #40 seen 0"));
}

// What waited for its connection to be known is older than what is known of it.
TEST_F(IbLiveness, DataThatWaitedForTheReply) {
  p.req();
  p.call(first_psn);  // 2: waits
  p.req();            // 3
  p.rep();
  EXPECT_THAT(told(), ElementsAre("C heard #3 unacknowledged #2 seen 1", "S heard #4 seen 0"));
}

}  // namespace
}  // namespace rpcrdma::test
