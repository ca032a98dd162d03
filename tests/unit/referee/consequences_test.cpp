// SPDX-License-Identifier: GPL-2.0-or-later
// Which finding follows from which.
#include <gtest/gtest.h>

#include "referee/cause/causes.hpp"

namespace rpcrdma::referee {
namespace {

Finding finding(RuleId rule, Severity severity, ConnectionId connection, std::vector<std::uint64_t> frames) {
  Finding f;
  f.rule = rule;
  f.severity = severity;
  f.connection = connection;
  f.frames = std::move(frames);
  return f;
}

const Finding breach = finding(RuleId::credit_limit_exceeded, Severity::error, 1, {12, 6});
const Finding lesser = finding(RuleId::payload_unaligned, Severity::warning, 1, {12});
const Finding refusal = finding(RuleId::rnr_nak_seen, Severity::warning, 1, {13, 12});

void linked(PackedList<Finding>& all) {
  Consequences consequences;
  for (const Finding& each : all) consequences.hear(each);
  consequences.link(all);
}

TEST(Consequences, FollowTheGravestBreachOfAFrameThatTheyName) {
  for (PackedList<Finding> all : {PackedList{lesser, breach, refusal}, PackedList{breach, lesser, refusal}}) {
    linked(all);
    const std::optional<Finding::Follows> follows = all.at(2).follows;
    ASSERT_TRUE(follows);
    EXPECT_EQ(follows->rule, breach.rule);
    EXPECT_EQ(follows->frame, 12U);
    EXPECT_FALSE(all.at(0).follows);
    EXPECT_FALSE(all.at(1).follows);
  }
}

TEST(Consequences, NotFromWhatIsElsewhereOrAccusesNobody) {
  Finding another_connection = breach;
  another_connection.connection = 2;
  Finding another_frame = breach;
  another_frame.frames = {11, 12};  // its evidence, not its offending frame
  Finding note = breach;
  note.severity = Severity::note;
  const Finding consequence = finding(RuleId::credit_overrun_fatal, Severity::error, 1, {12, 13});
  for (const Finding& other : {another_connection, another_frame, note, consequence}) {
    PackedList<Finding> all{other, refusal};
    linked(all);
    EXPECT_FALSE(all.at(1).follows) << rule(other.rule).name;
  }
}

}  // namespace
}  // namespace rpcrdma::referee
