// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/series.hpp"

#include <gtest/gtest.h>

#include "../referee/story.hpp"

namespace rpcrdma::report {
namespace {

using referee::story::Story;
using trace::Side;

TEST(Series, CountsWhatWasMovedAndHowLongItTook) {
  Series series;
  Story story({}, &series);
  story.connect().call(1).reply(1).wait(1'000'000).call(2).write(Side::passive, 5, 0x1000, 700);
  story.read(Side::passive, 6, 0x2000, 900).wait(2'000'000).reply(2);
  const auto report = story.end();
  const Series::Connection* connection = series.connection(1);
  ASSERT_NE(connection, nullptr);
  std::uint64_t read = 0;
  std::uint64_t written = 0;
  std::uint64_t answered = 0;
  trace::TimeNs worst = 0;
  std::uint64_t outstanding = 0;
  for (const auto& [at, interval] : connection->intervals) {
    EXPECT_LT(at, Series::most_intervals);
    read += interval.read;
    written += interval.written;
    outstanding = std::max(outstanding, interval.outstanding);
    for (const Series::Latency& latency : interval.latencies) {
      answered += latency.count;
      worst = std::max(worst, latency.worst);
    }
  }
  EXPECT_EQ(read, 900U);
  EXPECT_EQ(written, 700U);
  EXPECT_EQ(answered, 2U);
  EXPECT_EQ(outstanding, 1U);
  EXPECT_DOUBLE_EQ(static_cast<double>(worst) / 1000, report.connections[0].latency.max);
  EXPECT_EQ(connection->procedures.size(), 1U);
}

TEST(Series, StaysBoundedAndLosesNothingHoweverLongItTakes) {
  Series series;
  Story story({}, &series);
  story.connect();
  std::uint64_t sent = 0;
  for (std::uint32_t xid = 1; xid <= 3000; ++xid) {
    story.call(xid).wait(xid % 100 == 0 ? 3'600'000'000'000 : 1000).reply(xid);
    sent += 28 + 40 + 28 + 24;
  }
  const Series::Connection& connection = *series.connection(1);
  EXPECT_LE(connection.intervals.size(), Series::most_intervals);
  std::uint64_t found = 0;
  std::uint64_t answered = 0;
  for (const auto& [at, interval] : connection.intervals) {
    found += interval.sent;
    for (const Series::Latency& latency : interval.latencies) answered += latency.count;
  }
  EXPECT_EQ(found, sent);
  EXPECT_EQ(answered, 3000U);
}

TEST(Series, AClockThatWasSetBackHarmsNothing) {
  Series series;
  Story story({}, &series);
  story.connect().call(1).reply(1).wait(-5'000'000'000).call(2).reply(2);
  EXPECT_GE(series.connection(1)->intervals.size(), 1U);
  EXPECT_EQ(series.connection(1)->intervals.begin()->first, 0U);
}

}  // namespace
}  // namespace rpcrdma::report
