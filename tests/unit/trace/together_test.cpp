// SPDX-License-Identifier: GPL-2.0-or-later
// With which other taps a packet is compared.
#include <gtest/gtest.h>

#include <vector>

#include "trace/taps/together.hpp"

namespace {

using rpcrdma::trace::taps::Together;
using Pairs = std::vector<std::size_t>;

Pairs at(const Together& together, rpcrdma::trace::TimeNs time) {
  const auto found = together.at(time);
  return {found.begin(), found.end()};
}

TEST(Together, WhoRanWhenItPassed) {
  Together together;
  EXPECT_EQ(at(together, 5), Pairs());
  together.add(10, 20, 0);
  together.add(15, 30, 1);
  together.add(-5, 12, 2);
  EXPECT_EQ(at(together, -6), Pairs());
  EXPECT_EQ(at(together, -5), Pairs({2}));
  EXPECT_EQ(at(together, 10), Pairs({0, 2}));
  EXPECT_EQ(at(together, 13), Pairs({0}));
  EXPECT_EQ(at(together, 20), Pairs({0, 1}));  // the end is part of it
  EXPECT_EQ(at(together, 21), Pairs({1}));
  EXPECT_EQ(at(together, 31), Pairs());
}

TEST(Together, EndsOfTheClock) {
  Together together;
  together.add(INT64_MIN, INT64_MAX, 7);
  EXPECT_EQ(at(together, INT64_MIN), Pairs({7}));
  EXPECT_EQ(at(together, 0), Pairs({7}));
  EXPECT_EQ(at(together, INT64_MAX), Pairs({7}));
}

TEST(Together, FullWhereTooManyRunAtOnce) {
  Together together;
  for (std::size_t i = 0; i < Together::most; ++i) {
    EXPECT_FALSE(together.full(0, 100));
    together.add(static_cast<rpcrdma::trace::TimeNs>(i) * 10, 100, i);
  }
  EXPECT_TRUE(together.full(0, 100));
  EXPECT_TRUE(together.full(100, 200));
  EXPECT_TRUE(together.full(70, 70));
  EXPECT_FALSE(together.full(0, 69));     // one fewer
  EXPECT_FALSE(together.full(101, 200));  // all are over
}

TEST(Together, TheFilesOfARingFollowOnEachOther) {
  Together together;
  for (std::size_t i = 0; i < 1000; ++i) {
    const auto begin = static_cast<rpcrdma::trace::TimeNs>(i) * 100;
    ASSERT_FALSE(together.full(begin, begin + 110));  // a little more than its own time
    together.add(begin, begin + 110, i);
  }
  EXPECT_EQ(at(together, 505), Pairs({4, 5}));
  EXPECT_EQ(at(together, 550), Pairs({5}));
}

}  // namespace
