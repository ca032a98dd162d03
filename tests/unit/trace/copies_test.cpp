// SPDX-License-Identifier: GPL-2.0-or-later
// Repeats in vain, and which of them the other side has not been heard since.
#include "trace/copies.hpp"

#include <optional>
#include <vector>

#include <gtest/gtest.h>

namespace rpcrdma::trace {
namespace {

struct Repeat {
  std::uint64_t at = 0;     ///< what is sent again
  std::uint64_t frame = 0;  ///< in which
  std::uint64_t heard = 0;  ///< newest frame of the other side
};

struct Case {
  const char* what;
  std::uint64_t first = 0;  ///< transmission; 0: not known
  std::vector<Repeat> repeats;
  std::uint64_t copies = 0;
  std::uint64_t unheard = 0;
  std::uint64_t unheard_first = 0;
  std::uint64_t unheard_repeat = 0;
};

TEST(Copies, SinceTheOtherSideWasHeard) {
  const std::vector<Case> cases{
      {"never since the first", 10, {{5, 20, 9}, {5, 30, 9}, {5, 40, 9}}, 3, 3, 10, 20},
      {"between the first and its repeat: it has not come yet", 10, {{5, 20, 15}, {5, 30, 15}}, 2, 2, 10, 20},
      {"behind the first repeat", 10, {{5, 20, 9}, {5, 30, 25}, {5, 40, 25}, {5, 50, 25}}, 4, 2, 30, 40},
      {"behind each", 10, {{5, 20, 9}, {5, 30, 25}, {5, 40, 35}}, 3, 0, 40, 0},
      {"the first is not known", 0, {{5, 20, 9}, {5, 30, 9}, {5, 40, 9}}, 2, 2, 20, 30},
      {"what follows it counts with it", 10, {{5, 20, 9}, {6, 21, 9}, {5, 30, 9}}, 2, 2, 10, 20},
      {"something older is sent again: that counts", 10, {{5, 20, 9}, {5, 30, 9}, {4, 40, 9}}, 1, 1, 10, 40},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    Copies copies;
    for (const Repeat& repeat : c.repeats) copies.add(repeat.at, 4, {repeat.heard, 0}, {c.first, 0}, {repeat.frame, 0});
    Liveness told;
    copies.tell(told, 4);
    EXPECT_EQ(told.copies, c.copies);
    EXPECT_EQ(told.last_copy.number, c.repeats.back().frame);
    EXPECT_EQ(told.unheard.copies, c.unheard);
    EXPECT_EQ(told.unheard.first.number, c.unheard_first);
    EXPECT_EQ(told.unheard.first_repeat.number, c.unheard_repeat);
  }
}

TEST(Copies, AnAcknowledgementThatMovesEndsThem) {
  Copies copies;
  copies.add(5, 4, {9, 0}, {10, 0}, {20, 0});
  Liveness told;
  copies.tell(told, 5);
  EXPECT_EQ(told.copies, 0U);
  EXPECT_EQ(told.unheard.copies, 0U);
}

/// Two segments, 5 and 6, of which only the second one goes on being sent again.
TEST(Copies, WhatIsSentAgainAlone) {
  constexpr TimeNs second = 1'000'000'000;
  struct Again {
    std::uint64_t at;
    std::uint64_t frame;
    TimeNs time;
  };
  const auto told_by = [](const std::vector<Again>& all) {
    Copies copies;
    for (const Again& a : all) copies.add(a.at, 4, {9, 0}, {a.at + 5, 0}, {a.frame, a.time});
    Liveness told;
    copies.tell(told, 4);
    return told;
  };
  std::vector<Again> all{{5, 20, 0}, {6, 21, 0}, {6, 22, second}};
  EXPECT_EQ(told_by(all).first_copy.number, 10U) << "as a probe may be";
  all.push_back({6, 23, 2 * second});
  all.push_back({6, 24, 3 * second});
  const Liveness alone = told_by(all);
  EXPECT_EQ(alone.first_copy.number, 11U);
  EXPECT_EQ(alone.first_repeat.number, 21U);
  EXPECT_EQ(alone.last_copy.number, 24U);
  EXPECT_EQ(alone.copies, 4U);
  EXPECT_EQ(alone.unheard.copies, 4U);
  EXPECT_EQ(alone.unheard.first_repeat.number, 21U);
  all.push_back({5, 25, 4 * second});
  EXPECT_EQ(told_by(all).first_copy.number, 10U) << "it has not arrived after all";
  EXPECT_EQ(told_by(all).copies, 2U);
  // Each time both, as go-back-N does.
  all.clear();
  for (std::uint64_t i = 0; i < 4; ++i) {
    all.push_back({5, 20 + 2 * i, static_cast<TimeNs>(i) * second});
    all.push_back({6, 21 + 2 * i, static_cast<TimeNs>(i) * second});
  }
  EXPECT_EQ(told_by(all).first_copy.number, 10U);
  EXPECT_EQ(told_by(all).copies, 4U);
}

/// All before 6 is acknowledged, and was once more in the frame of its own that is sent again.
TEST(Copies, WhatWasAcknowledgedBeforeHidesNothing) {
  constexpr TimeNs second = 1'000'000'000;
  struct Again {
    std::uint64_t at;
    std::uint64_t frame;
    std::uint64_t heard;
    TimeNs time;
  };
  const auto told_by = [](const std::vector<Again>& all) {
    Copies copies;
    for (const Again& a : all) copies.add(a.at, 6, {a.heard, 0}, {a.at + 5, 0}, {a.frame, a.time});
    Liveness told;
    copies.tell(told, 6);
    return told;
  };
  std::vector<Again> all{{5, 20, 15, 0}, {6, 30, 25, second}, {6, 31, 25, 2 * second}};
  const Liveness once = told_by(all);
  EXPECT_EQ(once.first_copy.number, 11U);
  EXPECT_EQ(once.first_repeat.number, 30U);
  EXPECT_EQ(once.last_copy.number, 31U);
  EXPECT_EQ(once.copies, 2U);
  // Who has not heard that it was acknowledged begins each round with it.
  all.clear();
  for (std::uint64_t i = 0; i < 4; ++i) {
    all.push_back({5, 20 + 2 * i, 15, static_cast<TimeNs>(i) * second});
    all.push_back({6, 21 + 2 * i, 15, static_cast<TimeNs>(i) * second});
  }
  EXPECT_EQ(told_by(all).first_copy.number, 11U);
  EXPECT_EQ(told_by(all).copies, 4U);
  // Nothing else is there, or goes on.
  all = {{5, 20, 15, 0}, {5, 21, 15, second}, {5, 22, 15, 2 * second}};
  EXPECT_EQ(told_by(all).first_copy.number, 10U);
  EXPECT_EQ(told_by(all).copies, 3U);
  all = {{6, 20, 15, 0}, {5, 21, 15, second}, {5, 22, 15, 2 * second}, {5, 23, 15, 3 * second}};
  EXPECT_EQ(told_by(all).first_copy.number, 10U) << "behind a probe";
  EXPECT_EQ(told_by(all).copies, 3U);
}

TEST(Copies, QuestionsBeginAnewBehindAnAnswer) {
  Copies copies;
  for (const std::uint64_t frame : {20U, 30U, 40U}) copies.ask(4, {9, 0}, {frame, 0});
  Liveness told;
  copies.tell(told, 4);
  EXPECT_EQ(told.copies, 2U);
  EXPECT_EQ(told.unheard.copies, 2U);
  copies.ask(4, {45, 0}, {50, 0});
  copies.ask(4, {45, 0}, {60, 0});
  Liveness later;
  copies.tell(later, 4);
  EXPECT_EQ(later.copies, 1U);
  EXPECT_EQ(later.first_copy.number, 50U);
  EXPECT_EQ(later.unheard.first_repeat.number, 60U);
}

}  // namespace
}  // namespace rpcrdma::trace
