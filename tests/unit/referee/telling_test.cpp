// SPDX-License-Identifier: GPL-2.0-or-later
// The book of findings tells each finding once, when nothing can change it any more.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "referee/docket/findings.hpp"

namespace rpcrdma::referee {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Heard final : public Listener {
 public:
  void finding(const Finding& finding) override {
    findings.push_back(finding.message + "/" + std::to_string(finding.occurrences));
  }
  void connection(const ConnectionFacts& /*connection*/) override {}
  void unchecked(const Unchecked& unchecked) override { reasons.push_back(unchecked.reason); }
  std::vector<std::string> findings;
  std::vector<std::string> reasons;
};

class Telling : public testing::Test {
 protected:
  Telling() { book.tell_to(&heard); }
  [[nodiscard]] static Testimony about(ConnectionId connection, const char* message) {
    return {.rule = RuleId::credit_request_zero, .connection = connection, .message = message};
  }
  [[nodiscard]] static Testimony habit(ConnectionId connection, const char* message) {
    Testimony verdict = about(connection, message);
    verdict.habit = true;
    return verdict;
  }
  void tell(bool certain = true) {
    book.tell_settled([&](ConnectionId) { return certain; });
  }
  Heard heard;
  FindingBook book;
};

TEST_F(Telling, WhatNobodyHoldsIsToldAtOnceAndOnce) {
  book.add(about(1, "a"));
  EXPECT_TRUE(book.anything_settled());
  tell();
  tell();
  book.conclude(1, true);
  book.conclude_all();
  EXPECT_THAT(heard.findings, ElementsAre("a/1"));
}

TEST_F(Telling, WhatIsHeldWaits) {
  {
    std::optional<HeldFinding> held = book.add(about(1, "a"));
    const std::optional<HeldFinding> again(held);
    held.reset();
    tell();
    EXPECT_THAT(heard.findings, IsEmpty());
    book.at(*again).message = "b";
  }
  tell();
  EXPECT_THAT(heard.findings, ElementsAre("b/1"));
}

TEST_F(Telling, WhatIsWithdrawnIsNeverTold) {
  {
    const HeldFinding held = book.add(about(1, "a"));
    book.withdraw(held);
    book.at(held).message = "still there for who holds it";
    tell();
    book.conclude(1, true);
    book.at(held).message = "and behind the end of its connection";
  }
  tell();
  book.conclude_all();
  EXPECT_THAT(heard.findings, IsEmpty());
}

TEST_F(Telling, OfAHabitOnlyTheWithdrawnOnesAreNotCounted) {
  book.add(habit(1, "a"));
  {
    const HeldFinding second = book.add(habit(1, "a"));
    book.withdraw(second);
  }
  book.conclude(1, true);
  EXPECT_THAT(heard.findings, ElementsAre("a/1"));
}

TEST_F(Telling, BehindAWithdrawnOneItsRuleIsToldAsIfItHadNotBeenThere) {
  // At the bound, where more are counted on the last one; and the first of a habit.
  std::optional<HeldFinding> last;
  for (std::size_t i = 0; i < FindingBook::kept_few; ++i) {
    last = book.add({.rule = RuleId::garbage_args, .connection = 1, .message = "early"});
  }
  book.withdraw(*last);
  last.reset();
  std::optional<HeldFinding> first = book.add(habit(1, "first"));
  book.withdraw(*first);
  first.reset();
  tell();
  book.add({.rule = RuleId::garbage_args, .connection = 1, .message = "late"});
  book.add({.rule = RuleId::garbage_args, .connection = 1, .message = "counted"});
  book.add(habit(1, "second"));
  EXPECT_TRUE(book.has(RuleId::garbage_args, 1));
  book.conclude(1, true);
  EXPECT_EQ(heard.findings.size(), FindingBook::kept_few + 1);
  EXPECT_THAT(heard.findings, testing::Contains("late/2"));
  EXPECT_THAT(heard.findings, testing::Contains("second/1"));
  EXPECT_THAT(heard.findings, testing::Not(testing::Contains("first/1")));
}

TEST(Withdrawn, IsNoCauseOfAnything) {
  FindingBook book;
  const HeldFinding held = book.add({.rule = RuleId::credit_request_zero, .connection = 1, .message = "a"});
  const auto any = [](const Finding&) { return true; };
  EXPECT_NE(book.oldest(1, any), nullptr);
  EXPECT_TRUE(book.stands(held));
  book.withdraw(held);
  EXPECT_EQ(book.oldest(1, any), nullptr);
  EXPECT_FALSE(book.stands(held));
  EXPECT_FALSE(book.has(RuleId::credit_request_zero, 1));
}

TEST(Withdrawn, IsNotInTheReportEither) {
  FindingBook book;
  book.add({.rule = RuleId::credit_request_zero, .connection = 1, .message = "a"});
  book.withdraw(book.add({.rule = RuleId::credit_request_zero, .connection = 1, .message = "b"}));
  const auto findings = book.take_findings([](const Finding&) { return true; });
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings.at(0).what.message, "a");
}

TEST_F(Telling, WhatCountsOnWaitsForTheEndOfItsConnection) {
  book.add(habit(1, "a"));
  book.add(habit(1, "a"));
  tell();
  EXPECT_THAT(heard.findings, IsEmpty());
  book.conclude(1, true);
  EXPECT_THAT(heard.findings, ElementsAre("a/2"));
  book.add(habit(1, "new"));
  book.conclude(1, true);
  EXPECT_THAT(heard.findings, ElementsAre("a/2", "new/1"));
}

TEST_F(Telling, TheLastOfTooManyCountsTheRest) {
  ASSERT_EQ(rule(RuleId::garbage_args).repetition, Repetition::few);
  for (std::size_t i = 0; i < FindingBook::kept_few + 5; ++i) {
    book.add({.rule = RuleId::garbage_args, .connection = 1, .message = "a"});
  }
  tell();
  EXPECT_EQ(heard.findings.size(), FindingBook::kept_few - 1);
  book.conclude(1, true);
  EXPECT_EQ(heard.findings.size(), FindingBook::kept_few);
  EXPECT_EQ(heard.findings.back(), "a/6");
}

TEST_F(Telling, AnUncertainConnectionWaitsUntilItIsReconsidered) {
  book.add(about(1, "a"));
  tell(false);
  tell(true);
  EXPECT_THAT(heard.findings, IsEmpty());
  book.reconsider(1);
  tell(true);
  EXPECT_THAT(heard.findings, ElementsAre("a/1"));
}

TEST_F(Telling, WhatIsHeldOutlivesItsConnection) {
  HeldFinding held = book.add(about(1, "a"));
  book.conclude(1, true);
  EXPECT_THAT(heard.findings, IsEmpty());
  book.at(held).message = "b";
  held.reset();
  tell(false);
  EXPECT_THAT(heard.findings, ElementsAre("b/1"));
}

TEST_F(Telling, WhatIsTakenBackBehindTheEndOfItsConnectionIsUncheckedOnce) {
  std::optional<HeldFinding> held = book.add(about(1, "a"));
  book.unchecked(RuleId::credit_request_zero, 1, "frames are missing");  // of another one of that rule
  book.conclude(1, true);
  book.withdraw(*held);
  book.unchecked(RuleId::credit_request_zero, 1, "frames are missing");
  held.reset();
  tell();
  book.conclude_all();
  EXPECT_THAT(heard.findings, IsEmpty());
  EXPECT_THAT(heard.reasons, ElementsAre("frames are missing"));
}

TEST_F(Telling, OfAConnectionThatIsNotReportedNothingIsTold) {
  const HeldFinding held = book.add(about(1, "a"));
  book.add(about(1, "b"));
  book.unchecked(RuleId::capture_gap, 1, "why");
  book.unchecked(RuleId::capture_gap, 2, "because");
  book.conclude(1, false);
  book.conclude(2, true);
  book.conclude_all();
  EXPECT_THAT(heard.findings, IsEmpty());
  EXPECT_THAT(heard.reasons, ElementsAre("because"));
}

TEST_F(Telling, TheCaptureAsAWholeComesLast) {
  book.add(habit(0, "whole"));
  book.add(habit(7, "nobody's"));
  book.conclude_all();
  EXPECT_THAT(heard.findings, ElementsAre("whole/1"));
}

}  // namespace
}  // namespace rpcrdma::referee
