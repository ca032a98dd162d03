// SPDX-License-Identifier: GPL-2.0-or-later
// Credits of version 2: a limit that cannot be, unless something that was sent before it is still to come.
#include <gtest/gtest.h>

#include "story.hpp"

namespace rpcrdma::referee::story {
namespace {

/// RDMA2_GRANT: its sender lets its peer send so many messages from the start.
Octets grant(std::uint32_t limit) { return words({0, 2, limit, 5}); }

/// A limit is less than 2^31 - 1 away from what its sender has received, or sent.
constexpr std::uint32_t furthest = 0x7FFFFFFE;

/// The server's third limit is below what it has sent: it can only be counted from what it has received. Its fifth is
/// too far from both, by what the capture has shown: four messages of the client stand behind it that came before.
class LimitInDoubt : public testing::Test {
 public:
  LimitInDoubt() {
    s.connect().send(Side::active, grant(1000));
    for (int i = 0; i < 3; ++i) s.send(Side::passive, grant(1));
    s.send(Side::passive, grant(100));
    s.frame += 4;
    s.send(Side::passive, grant(furthest + 5));
    const std::uint64_t late = s.frame - 4;
    for (std::uint64_t i = 0; i < 4; ++i) s.send(Side::active, grant(1000), std::nullopt, late + i);
  }
  /// The doubt is over with the first of them.
  void client_sends(int messages) {
    for (int i = 0; i < messages; ++i) s.send(Side::active, grant(1000));
  }

  Story s;
};

TEST_F(LimitInDoubt, WhatIsUncheckedMeanwhileHasTheDoubtForItsReason) {
  client_sends(1);
  const Report report = s.end();
  EXPECT_TRUE(found(report, RuleId::v2_credit_limit_invalid).empty());
  std::vector<std::string> reasons;
  for (const Unchecked& each : report.unchecked) {
    if (each.rule == RuleId::v2_credit_exceeded) reasons.push_back(each.reason);
  }
  EXPECT_EQ(reasons, (std::vector<std::string>{"whether the limits of the peer count from 0 is not known"}));
}

// It says how many may be sent, as any limit does.
TEST_F(LimitInDoubt, HoldsOnceTheDoubtIsOver) {
  client_sends(120);
  s.acknowledge(Side::active).send(Side::passive, grant(furthest + 5));
  EXPECT_TRUE(found(s.end(), RuleId::v2_credit_exceeded).empty());
}

// By what it has sent, the server's last limit would allow this: but that it does not count so was proven before.
TEST_F(LimitInDoubt, WhatWasProvenBeforeStaysProven) {
  client_sends(15);
  s.send(Side::passive, grant(10)).acknowledge(Side::active);
  client_sends(2);  // the first one takes the spare Receive
  s.send(Side::passive, grant(10));
  const std::vector<Finding> hits = found(s.end(), RuleId::v2_credit_exceeded);
  ASSERT_FALSE(hits.empty());
  EXPECT_EQ(hits.front().severity, Severity::error);
}

// One that no message can explain: from then on nothing is held against the server's limits.
TEST(LimitFromElsewhere, IsNamedAsTheReason) {
  Story s;
  s.connect().send(Side::active, grant(1000)).send(Side::passive, grant(furthest + 50));
  for (int i = 0; i < 3; ++i) s.send(Side::active, grant(1000));
  const Report report = s.end();
  EXPECT_EQ(found(report, RuleId::v2_credit_limit_invalid).size(), 1U);
}

}  // namespace
}  // namespace rpcrdma::referee::story
