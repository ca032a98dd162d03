// SPDX-License-Identifier: GPL-2.0-or-later
// What is kept of promises where there are more than room, and which of them go first.
#include "referee/state/promises.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace rpcrdma::referee {
namespace {

wire::StateId state(std::uint32_t number) {
  wire::StateId made;
  for (std::size_t i = 0; i < 4; ++i) made.other[i] = static_cast<std::uint8_t>(number >> (8 * i));
  return made;
}

FrameRef frame(std::uint64_t number) { return {number, static_cast<trace::TimeNs>(number) * 1'000'000}; }

AsyncCopy copy(std::uint32_t number) {
  AsyncCopy made;
  made.state = state(number);
  made.call = frame(2 * std::uint64_t{number});
  made.reply = frame(2 * std::uint64_t{number} + 1);
  return made;
}

Recall recall(std::uint32_t number, Recall::Of of = Recall::Of::delegation) {
  Recall made;
  made.of = of;
  made.state = state(number);
  made.callback = frame(number);
  return made;
}

std::size_t awaited(const Promises& promises) {
  return static_cast<std::size_t>(std::count_if(promises.recalls.begin(), promises.recalls.end(),
                                                [](const Recall& each) { return each.ended.number == 0; }));
}

constexpr auto full = static_cast<std::uint32_t>(Promises::most_copies);
static_assert(Promises::most_recalls == full);

TEST(Promises, ACopyFindsRoomWhereAnotherIsOver) {
  Promises promises;
  for (std::uint32_t i = 1; i <= full; ++i) promises.begin_copy(copy(i));
  promises.begin_copy(copy(full + 1));
  ASSERT_EQ(promises.copies.size(), full);
  EXPECT_EQ(promises.copies.back().state, state(full)) << "all are awaited: the new one finds no room";
  promises.end_copy(state(7), frame(5000));
  promises.begin_copy(copy(full + 2));
  ASSERT_EQ(promises.copies.size(), full);
  EXPECT_EQ(promises.copies.back().state, state(full + 2));
  EXPECT_TRUE(std::none_of(promises.copies.begin(), promises.copies.end(),
                           [](const AsyncCopy& each) { return each.state == state(7); }));
}

TEST(Promises, ACopyThatIsDoneBeforeItsReply) {
  struct Case {
    std::uint64_t done;  ///< frame
    bool over;
  };
  // The Call is frame 20, the Reply frame 21. What was done in front of the Call was another copy with that name.
  for (const Case& each : {Case{19, false}, Case{20, false}, Case{21, true}}) {
    Promises promises;
    promises.end_copy(state(10), frame(each.done));
    promises.begin_copy(copy(10));
    EXPECT_EQ(promises.copies.back().ended.number != 0, each.over) << each.done;
  }
}

TEST(Promises, OfRecallsThatAreOverTheLongestWaitStays) {
  Promises promises;
  for (std::uint32_t i = 1; i <= full; ++i) {
    promises.begin_recall(recall(i));
    // The third waits longest.
    promises.give_back_delegation(state(i), frame(i + (i == 3 ? 100'000U : i)));
  }
  promises.begin_recall(recall(full + 1));
  promises.begin_recall(recall(full + 2));
  ASSERT_EQ(promises.recalls.size(), full);
  EXPECT_TRUE(std::any_of(promises.recalls.begin(), promises.recalls.end(),
                          [](const Recall& each) { return each.state == state(3); }));
  EXPECT_TRUE(std::none_of(promises.recalls.begin(), promises.recalls.end(),
                           [](const Recall& each) { return each.state == state(1) || each.state == state(2); }));
  EXPECT_EQ(awaited(promises), 2U);
}

TEST(Promises, ARecallFindsNoRoomWhereAllAreAwaited) {
  Promises promises;
  for (std::uint32_t i = 1; i <= full + 1; ++i) promises.begin_recall(recall(i));
  EXPECT_EQ(promises.recalls.size(), full);
  EXPECT_EQ(promises.recalls.back().state, state(full));
}

TEST(Promises, ARecallThatCrossesItsReturn) {
  Promises delegations;
  delegations.give_back_delegation(state(5), frame(1));
  delegations.begin_recall(recall(5));
  delegations.begin_recall(recall(6));
  EXPECT_EQ(awaited(delegations), 1U);

  // Of a layout a part may have been given back; only a return that is under way is meant.
  for (const bool answered : {false, true}) {
    Promises layouts;
    layouts.give_back_layouts({wire::Layouts::Of::file, state(5)}, frame(1));
    if (answered) layouts.layouts_answered(frame(1));
    layouts.begin_recall(recall(5, Recall::Of::layout));
    EXPECT_EQ(awaited(layouts), answered ? 1U : 0U) << answered;
  }
}

TEST(Promises, BehindAConnectionOfAServerThatHasForgotten) {
  Promises promises;
  promises.begin_recall(recall(10));
  promises.begin_copy(copy(10));
  promises.begin_recall(recall(30));
  ConnectionFacts on;
  on.id = 2;
  on.opened = frame(25);
  promises.forget(on);  // whether it is a new one is not known
  EXPECT_EQ(promises.recalls.size(), 2U);
  EXPECT_TRUE(promises.may_be_forgotten(frame(10), 1));
  EXPECT_FALSE(promises.may_be_forgotten(frame(10), 2));
  EXPECT_FALSE(promises.may_be_forgotten(frame(30), 1));
  on.handshake_seen = true;
  promises.forget(on);
  ASSERT_EQ(promises.recalls.size(), 1U);
  EXPECT_EQ(promises.recalls.front().state, state(30));
  EXPECT_TRUE(promises.copies.empty());
  promises.begin_recall(recall(24));  // read late, behind a hole
  EXPECT_EQ(promises.recalls.size(), 1U);
}

}  // namespace
}  // namespace rpcrdma::referee
