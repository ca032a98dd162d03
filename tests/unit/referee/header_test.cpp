// SPDX-License-Identifier: GPL-2.0-or-later
// Headers that cannot be decoded: which rule, and nothing read behind them.
#include <gtest/gtest.h>

#include "story.hpp"

namespace rpcrdma::referee {
namespace {

using story::found;
using story::Story;
using story::words;
using trace::Side;

TEST(Header, AListThatNeverEndsIsNoPresenceWord) {
  // RDMA_MSG with one Read segment; the message ends where the word of the next one is due (RFC 8166 section 4.5.2).
  Story s;
  s.connect(std::nullopt, std::nullopt).call(1).reply(1);
  s.send(Side::active, words({2, 1, 32, 0, 1, 0, 0x77, 4096, 0, 0x1000}));
  const Report report = s.end();
  EXPECT_EQ(found(report, RuleId::xdr_malformed).size(), 1U);
  EXPECT_EQ(found(report, RuleId::xdr_bool_invalid).size(), 0U);
}

TEST(Header, AWordThatIsNeitherIsOne) {
  Story s;
  s.connect(std::nullopt, std::nullopt).call(1).reply(1);
  s.send(Side::active, words({2, 1, 32, 0, 1, 0, 0x77, 4096, 0, 0x1000, 7, 0, 0}));
  const Report report = s.end();
  EXPECT_EQ(found(report, RuleId::xdr_malformed).size(), 0U);
  EXPECT_EQ(found(report, RuleId::xdr_bool_invalid).size(), 1U);
}

}  // namespace
}  // namespace rpcrdma::referee
