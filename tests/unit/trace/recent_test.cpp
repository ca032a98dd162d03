// SPDX-License-Identifier: GPL-2.0-or-later
// The newest few: the oldest makes room, and the newest is found first.
#include "trace/recent.hpp"

#include <gtest/gtest.h>

namespace rpcrdma::trace {

namespace {

struct Numbered {
  int name = 0;
  int number = 0;
};

TEST(Recent, TheOldestMakesRoom) {
  Recent<int, 4> some;
  const auto there = [&](int wanted) { return some.newest([&](int each) { return each == wanted; }) != nullptr; };
  for (int n = 1; n <= 4; ++n) {
    EXPECT_FALSE(some.full()) << n;
    some.add(int{n});
  }
  EXPECT_TRUE(some.full());
  EXPECT_TRUE(there(1));
  for (int n = 5; n <= 11; ++n) {
    some.add(int{n});
    EXPECT_FALSE(there(n - 4)) << n;
    for (int kept = n - 3; kept <= n; ++kept) EXPECT_TRUE(there(kept)) << n;
  }
}

TEST(Recent, TheNewestIsFoundFirst) {
  Recent<Numbered, 4> some;
  for (int n = 1; n <= 9; ++n) {
    some.add({n % 2, n});
    const Numbered* const odd = some.newest([](const Numbered& each) { return each.name == 1; });
    ASSERT_NE(odd, nullptr);
    EXPECT_EQ(odd->number, n % 2 == 1 ? n : n - 1);
  }
}

TEST(Recent, ReleasedItBeginsAnew) {
  Recent<int, 4> some;
  for (int n = 1; n <= 6; ++n) some.add(int{n});
  some.release();
  EXPECT_EQ(some.begin(), some.end());
  for (int n = 7; n <= 10; ++n) some.add(int{n});
  EXPECT_TRUE(some.full());
  EXPECT_EQ(*some.newest([](int) { return true; }), 10);
}

}  // namespace

}  // namespace rpcrdma::trace
