// SPDX-License-Identifier: GPL-2.0-or-later
// Headers of version 2 that are too short.
#include <gtest/gtest.h>

#include "story.hpp"

namespace rpcrdma::referee::story {
namespace {

// The XID is the first word; where there is none, none is named.
TEST(ShortHeaderOfVersion2, IsReportedUnderItsXid) {
  struct Short {
    Octets octets;
    std::optional<std::uint32_t> xid;
  };
  for (const Short& each : {Short{words({0x77, 2, 32}), 0x77}, Short{words({0x78}), 0x78}, Short{{0, 0}, {}}}) {
    Story s;
    s.connect().send(Side::active, words({0, 2, 32, 7, 0})).send(Side::passive, words({0, 2, 32, 7, 0}));
    s.send(Side::active, each.octets);
    const std::vector<Finding> hits = found(s.end(), RuleId::header_too_short);
    ASSERT_EQ(hits.size(), 1U);
    EXPECT_EQ(hits.front().xid, each.xid) << each.octets.size();
  }
}

}  // namespace
}  // namespace rpcrdma::referee::story
