// SPDX-License-Identifier: GPL-2.0-or-later
// A READ response was lost on its way, and the requester asks for the rest again: nothing of it is missing.
#include <gtest/gtest.h>

#include <algorithm>

#include "ib_peers.hpp"

namespace rpcrdma::test {
namespace {

constexpr std::uint32_t of_packet = 1024;
constexpr std::uint32_t asked_at = Peers::server_psn;

class IbResumedRead : public testing::Test {
 protected:
  IbResumedRead() {
    p.set_up_fields();
    p.handshake();
    p.server_reads(asked_at, 5 * of_packet);
    answer(0);
  }
  void answer(std::uint32_t packet, bool first = false) {
    const std::uint8_t opcode = first || packet == 0 ? op_response_first
                                : packet == 4        ? op_response_last
                                                     : op_response_middle;
    p.client_answers(opcode, asked_at + packet, of_packet);
  }
  void resume(std::uint32_t packet) {
    p.server_reads(asked_at + packet, (5 - packet) * of_packet, 0x10000 + packet * of_packet);
  }
  void goes_on() { p.reply(asked_at + 5 + sent_++); }
  [[nodiscard]] std::ptrdiff_t told(const std::string& what) const {
    return std::count_if(p.sink.lines.begin(), p.sink.lines.end(),
                         [&](const std::string& line) { return line.find(what) != std::string::npos; });
  }

  Peers p;
  std::uint32_t sent_ = 0;
};

// It sends something new as soon as it has asked, and before the rest has come. What it says cannot rest on that.
TEST_F(IbResumedRead, NothingIsMissing) {
  answer(3);
  answer(4);
  resume(1);
  goes_on();
  EXPECT_EQ(told(" send 1 "), 1);
  answer(1, true);
  goes_on();
  answer(2);
  answer(3);
  answer(4);
  goes_on();
  p.finish();
  EXPECT_EQ(told(" gap "), 0);
  EXPECT_EQ(told(" response 1 "), 5);
  EXPECT_EQ(told(" repeated retransmission"), 3);
  EXPECT_EQ(told(" send "), 3);
}

// The capture lacks the first one of the rest that comes: what the requester says may rest on it.
TEST_F(IbResumedRead, SomethingIsMissingOfWhatCameAgain) {
  answer(3);
  answer(4);
  resume(1);
  answer(2);
  goes_on();
  EXPECT_EQ(told(" gap 1"), 1);
}

// It has what stands in front of what it asks for again.
TEST_F(IbResumedRead, SomethingIsMissingInFrontOfIt) {
  answer(2);
  answer(4);
  resume(3);
  goes_on();
  EXPECT_EQ(told(" gap 1"), 2);
}

TEST_F(IbResumedRead, SomethingIsMissingAndNothingAskedFor) {
  answer(2);
  goes_on();
  EXPECT_EQ(told(" gap 1"), 1);
}

// All of the READ again looks like a copy of its request.
TEST_F(IbResumedRead, TheWholeOfItAgainProvesNothing) {
  answer(2);
  resume(0);
  goes_on();
  EXPECT_EQ(told(" gap 1"), 1);
}

TEST_F(IbResumedRead, LongAgo) {
  answer(2);
  resume(1);
  p.time += 1'001'000'000;
  goes_on();
  EXPECT_EQ(told(" gap 1"), 1);
}

// Responses have another length than the REQ's path MTU says: the one in use counts.
TEST(IbReadOfAnotherMtu, EndsWhereItsResponsesEnd) {
  for (const std::uint32_t in_use : {4096U, 512U}) {
    Peers p;
    p.set_up_fields();
    p.handshake();  // 1,024
    p.server_reads(asked_at, 2 * in_use);
    p.client_answers(op_response_first, asked_at, in_use);
    p.client_answers(op_response_last, asked_at + 1, in_use);
    p.reply(asked_at + 2);
    p.moment();
    EXPECT_EQ(p.sink.news().size(), 4U) << in_use;
    EXPECT_EQ(p.sink.facts.size(), 4U);
    EXPECT_NE(p.sink.lines.back().find("send 1 length 48"), std::string::npos) << p.sink.lines.back();
  }
}

}  // namespace
}  // namespace rpcrdma::test
