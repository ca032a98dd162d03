// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/quantity.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace rpcrdma::report {
namespace {

constexpr auto earliest = std::numeric_limits<trace::TimeNs>::min();
constexpr auto latest = std::numeric_limits<trace::TimeNs>::max();

TEST(Quantity, DecimalSeconds) {
  EXPECT_EQ(decimal_seconds(0), "0.000000000");
  EXPECT_EQ(decimal_seconds(1'764'900'000'123'456'789), "1764900000.123456789");
  EXPECT_EQ(decimal_seconds(1'000'000'001), "1.000000001");
  EXPECT_EQ(decimal_seconds(-1), "-0.000000001");
  EXPECT_EQ(decimal_seconds(-1'500'000'000), "-1.500000000");
  EXPECT_EQ(decimal_seconds(latest), "9223372036.854775807");
  EXPECT_EQ(decimal_seconds(earliest), "-9223372036.854775808");
}

TEST(Quantity, Calendar) {
  EXPECT_EQ(calendar(0), "1970-01-01 00:00:00.000000 UTC");
  EXPECT_EQ(calendar(1'764'900'000'123'456'789), "2025-12-05 02:00:00.123456 UTC");
  EXPECT_EQ(calendar(951'782'400'000'000'000), "2000-02-29 00:00:00.000000 UTC");
  EXPECT_EQ(calendar(-1'000), "1969-12-31 23:59:59.999999 UTC");
  EXPECT_EQ(calendar(latest), "2262-04-11 23:47:16.854775 UTC");
  EXPECT_EQ(calendar(earliest), "1677-09-21 00:12:43.145224 UTC");
}

// 4.99 s are not five, and nobody who waits for less than that may seem to have waited as long.
TEST(Quantity, WaitsAreNeverRoundedUp) {
  using referee::waited;
  EXPECT_EQ(waited(0), "0.0 s");
  EXPECT_EQ(waited(99'999'999), "0.0 s");
  EXPECT_EQ(waited(100'000'000), "0.1 s");
  EXPECT_EQ(waited(4'999'999'999), "4.9 s");
  EXPECT_EQ(waited(5'000'000'000), "5.0 s");
  EXPECT_EQ(waited(-1), "0.0 s");
  EXPECT_EQ(waited(earliest), "0.0 s");
  EXPECT_EQ(waited(latest), "9223372036.8 s");
}

TEST(Quantity, Grouped) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(123456), "123,456");
  EXPECT_EQ(grouped(std::numeric_limits<std::uint64_t>::max()), "18,446,744,073,709,551,615");
}

TEST(Quantity, Counted) {
  EXPECT_EQ(counted(0, "frame"), "0 frames");
  EXPECT_EQ(counted(1, "frame"), "1 frame");
  EXPECT_EQ(counted(1024, "octet"), "1,024 octets");
}

TEST(Quantity, Duration) {
  EXPECT_EQ(duration(0), "0 us");
  EXPECT_EQ(duration(412.4), "412 us");
  EXPECT_EQ(duration(999.4), "999 us");
  EXPECT_EQ(duration(999.9), "1 ms");
  EXPECT_EQ(duration(1234), "1.23 ms");
  EXPECT_EQ(duration(45'600), "45.6 ms");
  EXPECT_EQ(duration(999'900), "1.00 s");
  EXPECT_EQ(duration(61'500'000), "61.50 s");
  EXPECT_EQ(duration(std::numeric_limits<double>::quiet_NaN()), "unknown");
}

TEST(Quantity, Listed) {
  EXPECT_EQ(listed({}, 3), "");
  EXPECT_EQ(listed({5}, 3), "5");
  EXPECT_EQ(listed({5, 6, 7}, 3), "5, 6, 7");
  EXPECT_EQ(listed({5, 6, 7, 8}, 3), "5, 6, 7 and 1 more");
}

TEST(Quantity, Xid) {
  EXPECT_EQ(xid(0x08ea8cef), "0x08ea8cef");
  EXPECT_EQ(xid(0), "0x00000000");
}

}  // namespace
}  // namespace rpcrdma::report
