// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/pages.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "report/ladder_text.hpp"
#include "report/layout.hpp"
#include "report/report.hpp"

namespace rpcrdma::report {
namespace {

using testing::HasSubstr;

TEST(Pages, AreThere) {
  const std::filesystem::path root = RPCRDMA_SOURCE_DIR;
  std::set<std::string_view> lessons;
  for (const auto& rule : referee::all_rules()) {
    EXPECT_TRUE(std::filesystem::exists(root / rule_page(rule))) << rule.name;
    EXPECT_TRUE(std::filesystem::exists(root / lesson(rule))) << rule.name << ": " << lesson(rule);
    lessons.insert(lesson(rule));
  }
  EXPECT_GE(lessons.size(), 10U) << "each lesson has its rules";
}

TEST(Pages, LessonsFitTheirRules) {
  const auto of = [](std::string_view name) { return lesson(*referee::find_rule(name)); };
  EXPECT_EQ(of("private-data-absent"), "docs/learn/01-private-data.md");
  EXPECT_EQ(of("inline-threshold-exceeded"), "docs/learn/02-inline.md");
  EXPECT_EQ(of("read-chunk-overlap"), "docs/learn/03-read-chunk.md");
  EXPECT_EQ(of("rdma-write-out-of-bounds"), "docs/learn/04-write-chunk.md");
  EXPECT_EQ(of("reply-chunk-ignored"), "docs/learn/05-reply-chunk.md");
  EXPECT_EQ(of("long-call-avoidable"), "docs/learn/06-long-call.md");
  EXPECT_EQ(of("credit-limit-exceeded"), "docs/learn/07-credits.md");
  EXPECT_EQ(of("remote-invalidation-not-allowed"), "docs/learn/08-remote-invalidation.md");
  EXPECT_EQ(of("done-duplicate"), "docs/learn/09-pull-completion.md");
  EXPECT_EQ(of("v2-credit-exceeded"), "docs/learn/10-version-2.md");
}

TEST(Pages, DrawingsAreLaddersOfRules) {
  const auto drawings = rule_drawings();
  // Nothing of RPC-over-RDMA to be drawn is there in one of them.
  EXPECT_GE(drawings.size() + 2, referee::all_rules().size());
  for (const RuleDrawing& each : drawings) {
    EXPECT_NE(referee::find_rule(each.rule), nullptr) << each.rule;
    EXPECT_FALSE(each.scenario.empty());
    EXPECT_THAT(std::string(each.drawing), testing::StartsWith("   frame      seconds client"));
    const auto page = explain(each.rule, false, false);
    ASSERT_TRUE(page);
    EXPECT_THAT(*page, HasSubstr(std::string(each.drawing)));
    EXPECT_THAT(*explain(each.rule, false, true), HasSubstr(in_ascii(each.drawing)));
  }
}

}  // namespace
}  // namespace rpcrdma::report
