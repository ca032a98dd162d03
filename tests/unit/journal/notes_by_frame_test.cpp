// SPDX-License-Identifier: GPL-2.0-or-later
#include "journal/notes_by_frame.hpp"

#include <gtest/gtest.h>

#include <ctime>

namespace rpcrdma::test {
namespace {

using journal::none;
using journal::Note;
using journal::NoteKind;
using journal::NotesByFrame;
using Indices = std::vector<std::uint32_t>;

[[nodiscard]] Indices of(const NotesByFrame& notes, std::uint32_t frame) {
  Indices all;
  for (std::uint32_t at = notes.first(frame); at != none; at = notes[at].next) all.push_back(notes[at].index);
  return all;
}

[[nodiscard]] NotesByFrame five_in_frame_9() {
  NotesByFrame notes;
  for (const std::uint32_t index : {1U, 2U, 3U, 4U, 5U}) notes.add(9, NoteKind::message, index);
  return notes;
}

TEST(NotesByFrame, StandInTheOrderInWhichTheyCome) {
  NotesByFrame notes = five_in_frame_9();
  notes.add(70000, NoteKind::part, 7);
  notes.add(9, NoteKind::part, 6);
  EXPECT_EQ(of(notes, 9), (Indices{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(of(notes, 70000), Indices{7});
  EXPECT_TRUE(of(notes, 8).empty());
  EXPECT_TRUE(of(notes, 7000000).empty());
}

TEST(NotesByFrame, GoHomeInTheirOrderBehindWhatIsThere) {
  NotesByFrame notes = five_in_frame_9();
  notes.add(3, NoteKind::message, 0);
  notes.spread(9, [](const Note& note) { return note.index == 3 ? 9U : note.index % 2 == 1 ? 3U : 60000U; });
  EXPECT_EQ(of(notes, 3), (Indices{0, 1, 5}));
  EXPECT_EQ(of(notes, 9), Indices{3});
  EXPECT_EQ(of(notes, 60000), (Indices{2, 4}));
  notes.add(9, NoteKind::message, 6);
  EXPECT_EQ(of(notes, 9), (Indices{3, 6}));
  notes.spread(60000, [](const Note&) { return 3U; });
  EXPECT_TRUE(of(notes, 60000).empty());
  notes.add(60000, NoteKind::message, 8);
  EXPECT_EQ(of(notes, 60000), Indices{8});
  EXPECT_EQ(of(notes, 3), (Indices{0, 1, 5, 2, 4}));
}

TEST(NotesByFrame, WhatIsSortedOrRemovedIsAddedToAtItsEnd) {
  NotesByFrame notes = five_in_frame_9();
  notes.sort(9, [](const Note& note) { return 3 - note.index % 3; });
  EXPECT_EQ(of(notes, 9), (Indices{2, 5, 1, 4, 3}));
  notes.add(9, NoteKind::message, 6);
  EXPECT_EQ(of(notes, 9), (Indices{2, 5, 1, 4, 3, 6}));
  for (const std::uint32_t index : {6U, 1U, 2U, 77U}) notes.remove(9, NoteKind::message, index);
  notes.remove(9, NoteKind::part, 3);
  notes.remove(10, NoteKind::message, 3);
  notes.add(9, NoteKind::message, 7);
  EXPECT_EQ(of(notes, 9), (Indices{5, 4, 3, 7}));
  for (const std::uint32_t index : {5U, 4U, 3U, 7U}) notes.remove(9, NoteKind::message, index);
  EXPECT_TRUE(of(notes, 9).empty());
}

TEST(NotesByFrame, AFrameOfManyTakesItsTimeOnce) {
  const std::uint32_t many = 400000;
  const std::clock_t start = std::clock();  // of the processor: a busy machine does not count
  NotesByFrame notes;
  for (std::uint32_t index = 0; index < many; ++index) notes.add(9, NoteKind::message, index);
  notes.spread(9, [](const Note& note) { return note.index % 2 == 0 ? 1U : 2U; });
  // Looking for each from the beginning would be 80 billion steps.
  EXPECT_LT(std::clock() - start, 20 * CLOCKS_PER_SEC);
  EXPECT_EQ(of(notes, 1).size(), many / 2);
  EXPECT_EQ(of(notes, 2).back(), many - 1);
}

}  // namespace
}  // namespace rpcrdma::test
