// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/two_ways.hpp"

#include <gtest/gtest.h>

#include "../wire/packets.hpp"

namespace rpcrdma::test {
namespace {

using namespace trace;  // NOLINT(google-build-using-namespace): the names under test

constexpr TimeNs start = 1'700'000'000'000'000'000;
constexpr TimeNs millisecond = 1'000'000;

struct Seen {
  TwoWays ways;
  Octets octets = bth_packet();

  bool packet(std::uint16_t way, TimeNs later, std::uint8_t psn = 1) {
    octets[11] = psn;
    IbPacket p;
    p.ref = {1, start + later};
    p.octets = octets;
    p.wire_length = static_cast<std::uint32_t>(octets.size());
    p.way = way;
    return ways.copy(p);
  }
};

TEST(TwoWays, TheOtherWaysCopyCountsOnce) {
  Seen s;
  EXPECT_FALSE(s.packet(0, 0));
  EXPECT_TRUE(s.packet(9, millisecond));
  EXPECT_FALSE(s.packet(9, 2 * millisecond, 2)) << "the mirror was first";
  EXPECT_TRUE(s.packet(0, 3 * millisecond, 2));
  EXPECT_TRUE(s.packet(5, 3 * millisecond, 2)) << "a third way";
}

TEST(TwoWays, SentAgainIsNoCopyButItsCopyIs) {
  Seen s;
  EXPECT_FALSE(s.packet(0, 0));
  EXPECT_FALSE(s.packet(0, millisecond)) << "the transport knows what this is";
  EXPECT_TRUE(s.packet(9, 2 * millisecond));
  EXPECT_TRUE(s.packet(9, 3 * millisecond));
  EXPECT_FALSE(s.packet(9, 4 * millisecond)) << "a third time, and nowhere else";
}

TEST(TwoWays, MuchLaterIsAnother) {
  Seen s;
  EXPECT_FALSE(s.packet(0, 0));
  EXPECT_FALSE(s.packet(9, TwoWays::window + 1));
}

TEST(TwoWays, OneWayHasNoCopies) {
  Seen s;
  for (int i = 0; i < 100'000; ++i) ASSERT_FALSE(s.packet(0, i * 1000, static_cast<std::uint8_t>(i % 3)));
}

}  // namespace
}  // namespace rpcrdma::test
