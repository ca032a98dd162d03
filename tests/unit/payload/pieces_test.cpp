// SPDX-License-Identifier: GPL-2.0-or-later
#include "payload/pieces.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <optional>
#include <string>

namespace rpcrdma::payload {
namespace {

using Octets = std::vector<std::uint8_t>;
constexpr std::uint64_t last_octet = UINT64_MAX;

[[nodiscard]] Octets text(std::string_view t) { return {t.begin(), t.end()}; }

void add(Pieces& pieces, std::uint32_t handle, std::uint64_t offset, std::string_view octets) {
  pieces.add(handle, offset, octets.size(), text(octets));
}

[[nodiscard]] Stream copied(const Pieces& pieces, std::uint32_t handle, std::uint64_t offset, std::uint64_t length) {
  Stream out;
  pieces.copy(handle, offset, length, out);
  return out;
}
[[nodiscard]] std::string read(const Pieces& pieces, std::uint64_t offset, std::uint64_t length) {
  const Stream out = copied(pieces, 1, offset, length);
  return std::string(out.octets.begin(), out.octets.end()) + (out.cut ? "|" : "");
}

TEST(Pieces, OrderDoesNotMatter) {
  Pieces pieces;
  add(pieces, 1, 104, "efgh");
  add(pieces, 1, 100, "abcd");
  add(pieces, 1, 108, "ij");
  EXPECT_EQ(read(pieces, 100, 10), "abcdefghij");
  EXPECT_EQ(read(pieces, 103, 3), "def");
  EXPECT_EQ(pieces.covered(1, 100, 10), 10U);
}

TEST(Pieces, HandlesAreApart) {
  Pieces pieces;
  add(pieces, 1, 0, "abcd");
  add(pieces, 2, 4, "efgh");
  EXPECT_EQ(pieces.covered(1, 0, 8), 4U);
  EXPECT_EQ(pieces.covered(2, 0, 8), 0U);
  EXPECT_EQ(pieces.covered(2, 4, 4), 4U);
  EXPECT_EQ(read(pieces, 0, 8), "abcd|");
}

TEST(Pieces, WhatIsWrittenLaterIsWhatIsThere) {
  struct Case {
    const char* name;
    std::uint64_t offset;
    std::string_view octets;
    std::string_view then;
  };
  const Case cases[] = {
      {"the same again", 100, "ABCDEFGH", "ABCDEFGH"},
      {"the start", 100, "AB", "ABcdefgh"},
      {"the middle", 102, "CD", "abCDefgh"},
      {"the end", 106, "GH", "abcdefGH"},
      {"over the start", 98, "yzAB", "ABcdefgh"},
      {"over the end", 106, "GHIJ", "abcdefGH"},
      {"all and more", 98, "yzABCDEFGHIJ", "ABCDEFGH"},
      {"nothing", 103, "", "abcdefgh"},
  };
  for (const bool in_two : {false, true}) {
    for (const Case& c : cases) {
      SCOPED_TRACE(c.name);
      Pieces pieces;
      add(pieces, 1, 104, in_two ? "efgh" : "");
      add(pieces, 1, 100, in_two ? "abcd" : "abcdefgh");
      add(pieces, 1, c.offset, c.octets);
      EXPECT_EQ(read(pieces, 100, 8), c.then);
      EXPECT_EQ(pieces.covered(1, 100, 8), 8U);
    }
  }
}

TEST(Pieces, EndOfMemory) {
  Pieces pieces;
  add(pieces, 1, last_octet - 3, "abcd");  // the last octet there is
  EXPECT_EQ(pieces.covered(1, last_octet - 3, 4), 4U);
  EXPECT_EQ(read(pieces, last_octet - 3, 4), "abcd");
  add(pieces, 1, last_octet - 1, "CDx");  // over the end: not memory
  EXPECT_EQ(read(pieces, last_octet - 3, 4), "abcd");
  add(pieces, 1, last_octet, "D");
  EXPECT_EQ(read(pieces, last_octet - 3, 4), "abcD");
  EXPECT_EQ(pieces.covered(1, last_octet - 3, 100), 4U);
  EXPECT_EQ(read(pieces, last_octet - 3, 100), "abcD|");
  pieces.add(2, 0, UINT64_MAX, {});  // claims everything
  EXPECT_EQ(pieces.covered(2, 5, 1000), 1000U);
  EXPECT_EQ(copied(pieces, 2, 5, 1000).octets.size(), 0U);
}

TEST(Pieces, NotCapturedIsCountedOnly) {
  Pieces pieces;
  pieces.add(1, 0, 10, text("abcd"));  // six were cut off
  add(pieces, 1, 10, "klmn");
  EXPECT_EQ(pieces.covered(1, 0, 14), 14U);
  const Stream out = copied(pieces, 1, 0, 14);
  EXPECT_EQ(out.octets, text("abcd"));
  EXPECT_EQ(out.wire_length, 14U);
  EXPECT_TRUE(out.cut);
  EXPECT_EQ(read(pieces, 4, 4), "|");
  EXPECT_EQ(read(pieces, 11, 2), "lm");
}

TEST(Pieces, KeepsNoMoreThanItsLimit) {
  Pieces pieces;
  const Octets much(std::size_t{1} << 20U, 0x55);
  for (std::uint64_t i = 0; i < 80; ++i) pieces.add(1, i << 20U, much.size(), much);
  EXPECT_EQ(pieces.octets(), Pieces::most_octets);
  EXPECT_EQ(pieces.covered(1, 0, std::uint64_t{80} << 20U), std::uint64_t{80} << 20U);
  EXPECT_TRUE(copied(pieces, 1, std::uint64_t{63} << 20U, std::uint64_t{2} << 20U).cut);
}

TEST(Pieces, StreamTakesNoMoreThanItMay) {
  Pieces pieces;
  add(pieces, 1, 0, "abcdefgh");
  Stream out;
  out.most = 12;
  for (int i = 0; i < 1000; ++i) pieces.copy(1, 0, 8, out);
  EXPECT_EQ(out.octets, text("abcdefghabcd"));
  EXPECT_EQ(out.wire_length, 8000U);
  EXPECT_TRUE(out.cut);
  out.append({}, UINT64_MAX);
  EXPECT_EQ(out.wire_length, UINT64_MAX);
}

// Against a map of single octets.
RC_GTEST_PROP(Pieces, AnyOverlapReadsAsMemory, ()) {
  Pieces pieces;
  std::map<std::uint64_t, std::optional<std::uint8_t>> memory;
  const std::uint64_t base = *rc::gen::element<std::uint64_t>(0, 1000, last_octet - 63);
  const int steps = *rc::gen::inRange(1, 24);
  for (int step = 0; step < steps; ++step) {
    const auto at = *rc::gen::inRange<std::uint64_t>(0, 64);
    const auto length = *rc::gen::inRange<std::uint64_t>(1, 65 - at);
    const auto captured = *rc::gen::inRange<std::uint64_t>(0, length + 1);
    const Octets octets(captured, static_cast<std::uint8_t>(step + 1));
    pieces.add(7, base + at, length, octets);
    for (std::uint64_t i = 0; i < length; ++i) {
      memory[base + at + i] = i < captured ? std::optional(static_cast<std::uint8_t>(step + 1)) : std::nullopt;
    }
  }
  const auto at = *rc::gen::inRange<std::uint64_t>(0, 64);
  const auto length = *rc::gen::inRange<std::uint64_t>(0, 65 - at);
  std::uint64_t covered = 0;
  while (covered < length && memory.count(base + at + covered) != 0) ++covered;
  RC_ASSERT(pieces.covered(7, base + at, length) == covered);
  Octets expected;
  for (std::uint64_t i = 0; i < length; ++i) {
    const auto octet = memory.find(base + at + i);
    if (octet == memory.end() || !octet->second) break;
    expected.push_back(*octet->second);
  }
  const Stream out = copied(pieces, 7, base + at, length);
  RC_ASSERT(out.octets == expected);
  RC_ASSERT(out.wire_length == length);
  RC_ASSERT(out.cut == (expected.size() < length));
}

}  // namespace
}  // namespace rpcrdma::payload
