// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/rules/table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

namespace rpcrdma::referee {
namespace {

TEST(RuleTable, EveryIdFindsItsRow) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(RuleId::count_); ++i) {
    const auto id = static_cast<RuleId>(i);
    EXPECT_EQ(rule(id).id, id);
    EXPECT_EQ(find_rule(rule(id).name), &rule(id)) << "names are unique";
  }
  EXPECT_EQ(find_rule("no-such-rule"), nullptr);
  EXPECT_EQ(find_rule(""), nullptr);
}

TEST(RuleTable, AnIdOutsideTheTableIsHarmless) { EXPECT_FALSE(rule(RuleId::count_).name.empty()); }

TEST(RuleTable, GroupsStandInOrder) {
  char group = 'A';
  for (const Rule& r : all_rules()) {
    if (r.id == RuleId::v2_first_message_too_large) group = 'A';  // the rules of version 2 follow in their own block
    EXPECT_GE(r.group, group) << r.name;
    EXPECT_LE(r.group, 'N') << r.name;
    group = r.group;
  }
}

TEST(RuleTable, EveryRowIsWrittenForAPerson) {
  const std::set<std::string_view> held{"sender", "receiver", "requester", "responder",
                                        "client", "server",   "nobody",    "by evidence"};
  for (const Rule& r : all_rules()) {
    SCOPED_TRACE(std::string(r.name));
    EXPECT_TRUE(held.contains(r.who)) << r.who;
    EXPECT_FALSE(r.source.empty());
    EXPECT_GE(r.title.size(), 10U);
    EXPECT_LE(r.title.size(), 90U);
    EXPECT_NE(r.title.back(), '.');
    for (const std::string_view part : {r.explanation, r.evidence, r.next}) {
      EXPECT_GE(part.size(), 30U);
      EXPECT_EQ(part.back(), '.');
      EXPECT_EQ(part.find("  "), std::string_view::npos) << part;
      EXPECT_TRUE(std::all_of(part.begin(), part.end(), [](char c) { return c >= ' ' && c <= '~'; })) << part;
    }
  }
}

TEST(RuleTable, ErrorsNameASpecification) {
  for (const Rule& r : all_rules()) {
    if (r.severity != Severity::error) continue;
    EXPECT_TRUE(r.source.find("RFC") != std::string_view::npos || r.source.find("draft") != std::string_view::npos ||
                r.source.find("IBA") != std::string_view::npos)
        << r.name << ": " << r.source;
    EXPECT_NE(r.who, "nobody") << r.name;
  }
}

TEST(RuleTable, KnownHabitsAreNotes) {
  for (const RuleId id : {RuleId::remote_invalidation_server_r_clear, RuleId::private_data_server_r_clear,
                          RuleId::reply_chunk_unneeded_use, RuleId::retransmit_after_reconnect, RuleId::cm_dreq,
                          RuleId::rnr_retry_zero, RuleId::private_data_absent, RuleId::capture_gap}) {
    EXPECT_EQ(rule(id).severity, Severity::note) << rule(id).name;
  }
}

TEST(RuleTable, Words) {
  EXPECT_EQ(text(Severity::note), "note");
  EXPECT_EQ(text(Severity::warning), "warning");
  EXPECT_EQ(text(Severity::error), "error");
  EXPECT_EQ(text(Versions::v1), "1");
  EXPECT_EQ(text(Versions::v2), "2");
  EXPECT_EQ(text(Versions::both), "1, 2");
}

}  // namespace
}  // namespace rpcrdma::referee
