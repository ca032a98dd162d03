// SPDX-License-Identifier: GPL-2.0-or-later
// Credits of version 1: which grant binds whom, and from when on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "story.hpp"

namespace rpcrdma::referee::story {
namespace {

// The adapter acknowledges; a little later its host has taken what came.
constexpr trace::TimeNs taken = 200'000;

TEST(Credits, GrantDecreaseCountsOnlyOnceItHasArrived) {
  for (const bool acknowledged : {false, true}) {
    Story s;
    s.connect().call(1).reply(1, {}, 4).call(2).reply(2, {}, 1);
    if (acknowledged) s.acknowledge(Side::active);
    s.wait(taken).call(3, {}).call(4, {}).reply(3, {}, 4).reply(4, {}, 4);
    EXPECT_EQ(found(s.end(), RuleId::credit_limit_exceeded).size(), acknowledged ? 1U : 0U);
  }
}

TEST(Credits, GrantDecreaseCountsOnlyOnceItCanHaveBeenTaken) {
  for (const bool at_once : {true, false}) {
    Story s;
    s.connect().call(1).reply(1, {}, 4).call(2).reply(2, {}, 1).acknowledge(Side::active);
    if (!at_once) s.wait(taken);
    s.call(3, {}).call(4, {}).reply(3, {}, 4).reply(4, {}, 4);
    EXPECT_EQ(found(s.end(), RuleId::credit_limit_exceeded).empty(), at_once);
  }
}

// Whichever of the two grants it knows of: 5 of 4 are open, or 4 of 2.
TEST(Credits, TooManyByEachGrantThatMayBeInForce) {
  Story s;
  s.connect().call(1).reply(1, {}, 4).call(2).call(3).call(4).call(5).reply(2, {}, 2).acknowledge(Side::active);
  s.call(6).reply(3).reply(4).reply(5).reply(6);
  EXPECT_EQ(found(s.end(), RuleId::credit_limit_exceeded).size(), 1U);
}

TEST(Credits, CallsUpToTheGrantAreFine) {
  Story s;
  s.connect().call(1).reply(1, {}, 3).call(2).call(3).call(4).reply(2, {}, 3).reply(3, {}, 3).reply(4, {}, 3);
  EXPECT_EQ(above_note(s.end()), 0U);
}

TEST(Credits, ALoweredGrantBindsBehindTheFrameThatFollowsItsAcknowledgement) {
  // Neighbours may have been exchanged (two queues of one adapter): RFC 8166 section 3.3.1 binds who has the Reply.
  for (const bool neighbours : {true, false}) {
    Story s;
    s.connect().call(1).reply(1, {}, 3).call(2).reply(2, {}, 1).call(3).acknowledge(Side::active);
    if (!neighbours) s.acknowledge(Side::passive);
    s.wait(taken).call(4).reply(3, {}, 1).reply(4, {}, 1);
    EXPECT_EQ(found(s.end(), RuleId::credit_limit_exceeded).empty(), neighbours);
  }
}

/// `calls` within a grant of 256, of which the first is refused for want of a Receive.
Report first_refused_of(std::uint32_t calls) {
  Story s;
  s.connect().call(1, {}, 256).reply(1, {}, 256);
  for (std::uint32_t i = 0; i < calls; ++i) s.call(2 + i, {}, 256);
  s.refuse(Side::passive, trace::Refusal::Kind::rnr, trace::Refusal::Refused::send, 2);
  return s.close(Side::passive).end();
}

TEST(Credits, TheRefusedCallIsKnownBehindAsManyAsLinuxHasSlots) {
  const auto unbacked = found(first_refused_of(128), RuleId::credit_grant_unbacked);
  ASSERT_EQ(unbacked.size(), 1U);
  EXPECT_EQ(unbacked.front().violator, Party::server);
}

TEST(Credits, BehindMoreThanAreRememberedItIsSaidSo) {
  const Report report = first_refused_of(129);
  EXPECT_TRUE(found(report, RuleId::credit_grant_unbacked).empty());
  const auto seen = found(report, RuleId::rnr_nak_seen);
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_FALSE(seen.front().violator);
  EXPECT_THAT(seen.front().message, testing::HasSubstr("than the analyzer remembers"));
}

/// Codes 4 and above: no size and no operation follows from them.
TEST(Refusals, AReservedNakIsNoInvalidRequest) {
  Story s;
  s.connect().call(1).reply(1).call(2);
  s.refuse(Side::passive, trace::Refusal::Kind::nak_other, trace::Refusal::Refused::send, 2);
  const Report report = s.close(Side::active).end();
  EXPECT_TRUE(found(report, RuleId::nak_invalid_request).empty());
  const auto lost = found(report, RuleId::connection_lost);
  ASSERT_EQ(lost.size(), 1U);
  EXPECT_FALSE(lost.front().violator);
  ASSERT_TRUE(report.connections.at(0).closed);
  EXPECT_EQ(report.connections.at(0).closed->how, Closed::How::nak);
}

}  // namespace
}  // namespace rpcrdma::referee::story
