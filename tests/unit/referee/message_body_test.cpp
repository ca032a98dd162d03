// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/state/message_body.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace rpcrdma::referee {
namespace {

using Octets = std::vector<std::uint8_t>;

Octets run(std::size_t length, std::uint8_t value) { return Octets(length, value); }

TEST(MessageBody, GrowsFromItsStartAndForgetsWhatIsBehindAHole) {
  BodyStore store;
  MessageBody body;
  body.put(store, 4, run(4, 2), true);
  EXPECT_TRUE(body.empty());
  body.put(store, 0, run(4, 1), true);
  body.put(store, 4, run(4, 2), true);
  body.put(store, 9, run(4, 3), true);
  const wire::Bytes octets = body.octets();
  EXPECT_EQ(Octets(octets.begin(), octets.end()), (Octets{1, 1, 1, 1, 2, 2, 2, 2}));
}

TEST(MessageBody, TheNewestOctetsCount) {
  BodyStore store;
  MessageBody body;
  body.put(store, 0, run(6, 1), false);
  body.put(store, 2, run(2, 7), false);
  body.put(store, 5, run(2, 8), false);
  const wire::Bytes octets = body.octets();
  EXPECT_EQ(Octets(octets.begin(), octets.end()), (Octets{1, 1, 7, 7, 1, 8, 8}));
}

TEST(MessageBody, IsBounded) {
  BodyStore store;
  MessageBody short_one;
  MessageBody long_one;
  const Octets more = run(BodyStore::most + 1000, 1);
  short_one.put(store, 0, more, false);
  long_one.put(store, 0, more, true);
  EXPECT_EQ(short_one.size(), BodyStore::head);
  EXPECT_EQ(long_one.size(), BodyStore::most);
  long_one.put(store, BodyStore::most, run(4, 1), true);
  long_one.put(store, UINT64_MAX, run(4, 1), true);
  EXPECT_EQ(long_one.size(), BodyStore::most);
}

TEST(MessageBody, OnlySoManyAreLongAtOnce) {
  BodyStore store;
  const Octets octets = run(BodyStore::head + 1, 1);
  std::vector<MessageBody> bodies(BodyStore::most_long + 1);
  for (MessageBody& body : bodies) body.put(store, 0, octets, true);
  EXPECT_EQ(bodies[BodyStore::most_long - 1].size(), BodyStore::head + 1);
  EXPECT_EQ(bodies.back().size(), BodyStore::head);
  bodies.front().clear();
  MessageBody next;
  next.put(store, 0, octets, true);
  EXPECT_EQ(next.size(), BodyStore::head + 1);
}

TEST(MessageBody, GivesItsMemoryBackOnceHoweverItIsMoved) {
  BodyStore store;
  const Octets octets = run(BodyStore::head + 1, 1);
  for (std::size_t i = 0; i < 4 * BodyStore::most_long; ++i) {
    MessageBody first;
    first.put(store, 0, octets, true);
    ASSERT_EQ(first.size(), BodyStore::head + 1) << i;
    MessageBody second = std::move(first);
    MessageBody third;
    third.put(store, 0, octets, true);
    third = std::move(second);
    EXPECT_EQ(third.size(), BodyStore::head + 1);
  }
}

}  // namespace
}  // namespace rpcrdma::referee
