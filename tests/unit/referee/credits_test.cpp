// SPDX-License-Identifier: GPL-2.0-or-later
// Credits of version 1: which grant binds whom, and from when on.
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

}  // namespace
}  // namespace rpcrdma::referee::story
