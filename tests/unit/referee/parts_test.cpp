// SPDX-License-Identifier: GPL-2.0-or-later
// The referee's small parts against plain models.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <vector>

#include "referee/state/coverage.hpp"
#include "referee/state/latency.hpp"
#include "referee/state/memory_map.hpp"

namespace rpcrdma::referee {
namespace {

TEST(Coverage, AgreesWithABitmap) {
  EXPECT_TRUE(rc::check("intervals count what a bitmap counts", [] {
    Coverage coverage;
    std::vector<bool> bitmap(512);
    const auto n = *rc::gen::inRange(0, 60);
    for (int i = 0; i < n; ++i) {
      const auto begin = static_cast<std::size_t>(*rc::gen::inRange(0, 512));
      const auto end = std::min<std::size_t>(512, begin + static_cast<std::size_t>(*rc::gen::inRange(0, 40)));
      coverage.add(begin, end);
      std::fill(bitmap.begin() + static_cast<std::ptrdiff_t>(begin), bitmap.begin() + static_cast<std::ptrdiff_t>(end),
                true);
    }
    const auto from = static_cast<std::size_t>(*rc::gen::inRange(0, 512));
    const auto to = from + static_cast<std::size_t>(*rc::gen::inRange(0, 512 - static_cast<int>(from) + 1));
    const auto expected = std::count(bitmap.begin() + static_cast<std::ptrdiff_t>(from),
                                     bitmap.begin() + static_cast<std::ptrdiff_t>(to), true);
    RC_ASSERT(coverage.within(from, to) == static_cast<std::uint64_t>(expected));
  }));
}

TEST(Latency, PercentilesAreCloseAndEndsExact) {
  EXPECT_TRUE(rc::check("within 2 %", [] {
    const auto values =
        *rc::gen::nonEmpty(rc::gen::container<std::vector<std::uint32_t>>(rc::gen::inRange(0U, 2'000'000'000U)));
    LatencyHistogram histogram;
    for (const auto v : values) histogram.add(v);
    auto sorted = values;
    std::sort(sorted.begin(), sorted.end());
    const Latency facts = histogram.facts();
    RC_ASSERT(facts.count == sorted.size());
    RC_ASSERT(facts.min == static_cast<double>(sorted.front()) / 1000.0);
    RC_ASSERT(facts.max == static_cast<double>(sorted.back()) / 1000.0);
    const double exact =
        static_cast<double>(sorted[static_cast<std::size_t>(0.5 * static_cast<double>(sorted.size() - 1))]) / 1000.0;
    RC_ASSERT(facts.p50 >= exact * 0.98 - 0.001);
    RC_ASSERT(facts.p50 <= exact * 1.02 + 0.001);
  }));
}

TEST(Latency, FewValuesGiveTheNearestRank) {
  LatencyHistogram histogram;
  for (const TimeNs v : {3000, 31000}) histogram.add(v);
  const Latency facts = histogram.facts();
  EXPECT_EQ(facts.p50, 3.0);
  EXPECT_EQ(facts.p90, 31.0);
  EXPECT_EQ(facts.p99, 31.0);
}

TEST(Latency, PartsPutTogetherAreTheWhole) {
  EXPECT_TRUE(rc::check("as if all had been added to one", [] {
    const auto values =
        *rc::gen::nonEmpty(rc::gen::container<std::vector<std::uint32_t>>(rc::gen::inRange(0U, 2'000'000'000U)));
    const auto cut = *rc::gen::inRange<std::size_t>(0, values.size() + 1);
    LatencyHistogram one;
    LatencyHistogram first;
    LatencyHistogram second;
    for (std::size_t i = 0; i < values.size(); ++i) {
      one.add(values[i]);
      (i < cut ? first : second).add(values[i]);
    }
    LatencyHistogram both;
    both.add(first);
    both.add(second);
    RC_ASSERT(both.facts().count == one.facts().count);
    RC_ASSERT(both.facts().min == one.facts().min);
    RC_ASSERT(both.facts().max == one.facts().max);
    RC_ASSERT(both.facts().p50 == one.facts().p50);
    RC_ASSERT(both.facts().p99 == one.facts().p99);
  }));
}

struct FindCase {
  const char* what;
  std::uint64_t offset;
  std::uint64_t length;
  MemoryMap::Hit::Verdict verdict;
};

TEST(MemoryMap, TheUnionOfSegmentsCounts) {
  using Verdict = MemoryMap::Hit::Verdict;
  MemoryMap map;
  const TransactionId owner{1, 1};
  map.expose({0x10, 0x100, 0x1000}, Access::write, owner, {1, 0});
  map.expose({0x10, 0x100, 0x1100}, Access::write, owner, {1, 0});
  map.expose({0x10, 0x100, 0x8000}, Access::read, owner, {1, 0});
  for (const FindCase& c :
       {FindCase{"first", 0x1000, 0x100, Verdict::inside}, FindCase{"both", 0x1000, 0x200, Verdict::inside},
        FindCase{"one over", 0x1000, 0x201, Verdict::outside}, FindCase{"before", 0xfff, 2, Verdict::outside},
        FindCase{"wrong kind", 0x8000, 4, Verdict::wrong_kind},
        FindCase{"wraps", 0xffffffffffffffffULL, 2, Verdict::outside}}) {
    EXPECT_EQ(map.find(0x10, c.offset, c.length, true).verdict, c.verdict) << c.what;
  }
  EXPECT_EQ(map.find(0x11, 0, 1, true).verdict, Verdict::unknown_handle);
  map.retire(owner, 0x10, {9, 0});
  EXPECT_EQ(map.find(0x10, 0x1000, 0x100, true).verdict, Verdict::retired);
  map.forget(owner, 0x10);
  EXPECT_EQ(map.size(), 0U);
}

TEST(MemoryMap, AllOfThemTogetherHaveABound) {
  RegionRoom room(4);
  MemoryMap one;
  one.share_room(room);
  const TransactionId owner{1, 1};
  const auto offer = [&](MemoryMap& map, std::uint32_t handle, std::uint64_t offset, std::uint64_t frame) {
    return map.expose({handle, 0x100, offset}, Access::write, owner, {frame, 0});
  };
  {
    MemoryMap other;
    other.share_room(room);
    EXPECT_TRUE(offer(one, 1, 0, 1));
    EXPECT_TRUE(offer(one, 1, 0x200, 1));
    EXPECT_TRUE(offer(other, 1, 0, 2));
    EXPECT_TRUE(offer(other, 2, 0, 2));
    EXPECT_FALSE(offer(other, 3, 0, 3));
    EXPECT_FALSE(offer(one, 1, 0x400, 4));
    EXPECT_FALSE(other.knows(3));
    EXPECT_EQ(room.turned_away().count, 2U);
    EXPECT_EQ(room.turned_away().first.number, 3U);
    one.forget(owner, 1);  // makes room for two
    EXPECT_TRUE(offer(other, 3, 0, 5));
    EXPECT_TRUE(offer(other, 4, 0, 5));
    EXPECT_FALSE(offer(one, 1, 0, 6));
    other.clear();
    EXPECT_TRUE(offer(other, 5, 0, 7));
    EXPECT_TRUE(offer(other, 6, 0, 7));
  }  // with its connection goes what it held
  for (std::uint64_t offset = 0; offset < 0x400; offset += 0x100) EXPECT_TRUE(offer(one, 1, offset, 8)) << offset;
  EXPECT_FALSE(offer(one, 1, 0x400, 8));
}

TEST(MemoryMap, WhatItDoesNotKeepTakesNoRoom) {
  RegionRoom room(MemoryMap::most_sharing + 1);
  MemoryMap map;
  map.share_room(room);
  for (std::uint32_t i = 0; i < MemoryMap::most_sharing; ++i) {
    ASSERT_TRUE(map.expose({7, 0x100, 0}, Access::write, TransactionId{i, i + 1}, {1, 0})) << i;
  }
  for (std::uint32_t i = 0; i < 3; ++i) {
    EXPECT_FALSE(map.expose({7, 0x100, 0}, Access::write, TransactionId{1, 5000 + i}, {1, 0}));  // shared by too many
  }
  EXPECT_TRUE(map.expose({8, 0x100, 0}, Access::write, TransactionId{1, 1}, {1, 0}));
  EXPECT_EQ(room.turned_away().count, 0U);
}

}  // namespace
}  // namespace rpcrdma::referee
