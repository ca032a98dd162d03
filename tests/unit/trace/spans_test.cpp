// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/spans.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace {

using rpcrdma::trace::elapsed;
using rpcrdma::trace::minus;
using rpcrdma::trace::plus;
using rpcrdma::trace::TimeNs;

constexpr TimeNs most = std::numeric_limits<TimeNs>::max();
constexpr TimeNs least = std::numeric_limits<TimeNs>::min();

TEST(Spans, sumsAndDifferencesAreHeldAtTheLimits) {
  const struct {
    TimeNs a, b, sum, difference;
  } rows[] = {
      {1, 2, 3, -1},
      {most, 0, most, most},
      {most, 1, most, most - 1},
      {most, -1, most - 1, most},
      {least, 1, least + 1, least},
      {least, -1, least, least + 1},
      {most, most, most, 0},
      {least, least, least, 0},
      {most, least, -1, most},
      {least, most, -1, least},
      {0, least, least, most},
      {-1, least, least, most},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(plus(row.a, row.b), row.sum) << row.a << ' ' << row.b;
    EXPECT_EQ(minus(row.a, row.b), row.difference) << row.a << ' ' << row.b;
  }
}

TEST(Spans, nothingPassesWhereTheClockRanBackwards) {
  EXPECT_EQ(elapsed(3, 5), 2);
  EXPECT_EQ(elapsed(5, 3), 0);
  EXPECT_EQ(elapsed(5, 5), 0);
  EXPECT_EQ(elapsed(least, most), most);
  EXPECT_EQ(elapsed(most, least), 0);
}

}  // namespace
