// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/sightings.hpp"

#include <gtest/gtest.h>

namespace rpcrdma::test {
namespace {

using trace::Address;
using trace::Sightings;

Address numbered(std::uint32_t n) {
  Address a;
  a.kind = Address::Kind::ipv4;
  a.octets = {10, static_cast<std::uint8_t>(n >> 16U), static_cast<std::uint8_t>(n >> 8U),
              static_cast<std::uint8_t>(n)};
  return a;
}

// Many at once, so that each of the few places in front of the table is another's in between.
TEST(Sightings, TheNewestFrameOfEachAddress) {
  Sightings all;
  constexpr std::uint32_t addresses = 1000;
  for (std::uint64_t round = 0; round < 3; ++round) {
    for (std::uint32_t n = 0; n < addresses; ++n) all.note(numbered(n), {round * addresses + n + 1, 0});
  }
  ASSERT_EQ(all.newest().size(), addresses);
  for (std::uint32_t n = 0; n < addresses; ++n) {
    EXPECT_EQ(all.newest().at(numbered(n)).number, 2 * addresses + n + 1) << n;
  }
}

TEST(Sightings, NetworksAreNotToldApart) {
  Sightings all;
  Address elsewhere = numbered(1);
  elsewhere.network = 3;
  all.note(elsewhere, {1, 0});
  all.note(numbered(1), {2, 0});
  ASSERT_EQ(all.newest().size(), 1U);
  EXPECT_EQ(all.newest().at(numbered(1)).number, 2U);
}

TEST(Sightings, HaveABound) {
  Sightings all;
  for (std::uint32_t n = 0; n < 2 * Sightings::most; ++n) all.note(numbered(n), {n + 1, 0});
  EXPECT_EQ(all.newest().size(), Sightings::most);
  all.note(numbered(7), {1U << 20U, 0});
  EXPECT_EQ(all.newest().at(numbered(7)).number, 1U << 20U);
}

}  // namespace
}  // namespace rpcrdma::test
