// SPDX-License-Identifier: GPL-2.0-or-later
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "encoder.hpp"
#include "wire/nfs_items.hpp"

namespace rpcrdma::wire {
namespace {

using test::Encoder;
using Octets = std::vector<std::uint8_t>;
using Lengths = std::vector<std::uint64_t>;

constexpr std::uint32_t nfs = 100003;
constexpr std::size_t huge = 1U << 20U;

Encoder reply_header() { return Encoder().words({0x11223344, 1, 0, 0, 0, 0}); }
Encoder call_header(std::uint32_t version, std::uint32_t procedure) {
  Encoder e;
  e.words({0x11223344, 0, 2, nfs, version, procedure, 1}).opaque(20).words({0, 0});
  return e;
}
Encoder stateid() { return Encoder().words({1, 2, 3, 4}); }
Encoder join(std::initializer_list<Encoder> parts) {
  Encoder e;
  for (const auto& part : parts) e.append(part.octets());
  return e;
}

/// Builds an unreduced stream and remembers where items are; then takes some of them out.
class Stream {
 public:
  explicit Stream(const Encoder& start) : octets_(start.octets()) {}
  Stream& then(const Encoder& more) {
    octets_.insert(octets_.end(), more.octets().begin(), more.octets().end());
    return *this;
  }
  /// A counted item of this many octets that a chunk may hold, each with another value.
  Stream& item(std::size_t length) {
    Encoder e;
    e.opaque(length, static_cast<std::uint8_t>(0xA0 + items_.size()));
    items_.push_back({octets_.size() + 4, length, (length + 3) / 4 * 4});
    return then(e);
  }
  [[nodiscard]] const Octets& whole() const { return octets_; }
  [[nodiscard]] std::size_t at(std::size_t item) const { return items_[item].at; }
  [[nodiscard]] Octets without(const std::vector<std::size_t>& moved) const {
    Octets out = octets_;
    for (std::size_t i = items_.size(); i-- > 0;) {
      if (std::find(moved.begin(), moved.end(), i) == moved.end()) continue;
      const auto from = out.begin() + static_cast<std::ptrdiff_t>(items_[i].at);
      out.erase(from, from + static_cast<std::ptrdiff_t>(items_[i].padded));
    }
    return out;
  }

 private:
  struct Part {
    std::size_t at, length, padded;
  };
  Octets octets_;
  std::vector<Part> items_;
};

/// What whoever shows the ordinary stream does with an answer.
Octets rebuild(const Octets& reduced, const std::vector<PlacedItem>& places, const std::vector<Octets>& chunks) {
  Octets out;
  std::size_t done = 0;
  for (const auto& place : places) {
    out.insert(out.end(), reduced.begin() + static_cast<std::ptrdiff_t>(done),
               reduced.begin() + static_cast<std::ptrdiff_t>(place.position));
    EXPECT_EQ(place.unreduced, out.size());
    const Octets& data = chunks[place.chunk];
    EXPECT_EQ(place.length, data.size());
    out.insert(out.end(), data.begin(), data.end());
    out.resize(out.size() + place.pad, 0);
    done = place.position;
  }
  out.insert(out.end(), reduced.begin() + static_cast<std::ptrdiff_t>(done), reduced.end());
  return out;
}

Encoder compound_results(std::uint32_t count) { return join({reply_header(), Encoder().words({0, 0, count})}); }
Encoder sequence() { return join({Encoder().words({53, 0}), stateid(), Encoder().words({1, 0, 63, 63, 0})}); }
Encoder putfh() { return Encoder().words({22, 0}); }
Encoder getattr() { return Encoder().words({9, 0, 1, 4}).opaque(24); }
Encoder v3_attributes(bool present) { return present ? Encoder().word(1).fill(84, 0) : Encoder().word(0); }

struct ReplyCase {
  std::string name;
  std::uint32_t version;
  std::uint32_t procedure;
  Stream stream;
  std::vector<std::size_t> moved;     ///< which items of the stream
  std::vector<std::size_t> contents;  ///< octets of each Write chunk, in order
};

std::vector<ReplyCase> reply_cases() {
  const auto read = [] { return Encoder().words({25, 0, 1}); };
  const auto two_reads = [&](std::size_t a, std::size_t b) {
    Stream s(join({compound_results(5), sequence(), putfh(), read()}));
    s.item(a).then(getattr()).then(read()).item(b);
    return s;
  };
  return {
      {"v2 READ", 2, 6, Stream(reply_header()).then(Encoder().word(0).fill(68)).item(1001), {0}, {1001}},
      {"v2 READLINK", 2, 5, Stream(reply_header()).then(Encoder().word(0)).item(6), {0}, {6}},
      {"v3 READ with attributes",
       3,
       6,
       Stream(reply_header())
           .then(Encoder().word(0))
           .then(v3_attributes(true))
           .then(Encoder().words({4096, 0}))
           .item(4096),
       {0},
       {4096}},
      {"v3 READ without attributes",
       3,
       6,
       Stream(reply_header()).then(Encoder().word(0)).then(v3_attributes(false)).then(Encoder().words({5, 1})).item(5),
       {0},
       {5, 0}},
      {"v3 READ inline",
       3,
       6,
       Stream(reply_header()).then(Encoder().word(0)).then(v3_attributes(false)).then(Encoder().words({5, 1})).item(5),
       {},
       {0}},
      {"v3 READLINK", 3, 5, Stream(reply_header()).then(Encoder().word(0)).then(v3_attributes(true)).item(9), {0}, {9}},
      {"v4 READ",
       4,
       1,
       Stream(join({compound_results(4), sequence(), putfh(), read()})).item(65537).then(getattr()),
       {0},
       {65537}},
      {"v4 READLINK", 4, 1, Stream(join({compound_results(2), putfh(), Encoder().words({27, 0})})).item(3), {0}, {3}},
      {"v4 READ then a failure",
       4,
       1,
       Stream(join({compound_results(3), putfh(), read()})).item(7).then(Encoder().words({15, 2})),
       {0},
       {7}},
      {"both of two", 4, 1, two_reads(1000, 2002), {0, 1}, {1000, 2002}},
      {"both of two, one chunk more", 4, 1, two_reads(1000, 2002), {0, 1}, {1000, 2002, 0}},
      {"the first of two", 4, 1, two_reads(1000, 2002), {0}, {1000}},
      {"the first of two, the other chunk unused", 4, 1, two_reads(1000, 2002), {0}, {1000, 0}},
      {"the second of two", 4, 1, two_reads(1000, 2002), {1}, {0, 2002}},
      {"the second of two alike", 4, 1, two_reads(1000, 1000), {1}, {0, 1000}},
      {"the first of two alike", 4, 1, two_reads(1000, 1000), {0}, {1000, 0}},
      {"an empty item uses no chunk", 4, 1, two_reads(0, 500), {1}, {500}},
      {"an empty item uses a chunk", 4, 1, two_reads(0, 500), {1}, {0, 500}},
      {"the last item is empty", 4, 1, two_reads(500, 0), {0}, {500, 0}},
      {"an unused chunk in front of both", 4, 1, two_reads(300, 500), {0, 1}, {0, 300, 500}},
      {"neither", 4, 1, two_reads(8, 12), {}, {0, 0}},
      {"data of READ_PLUS, which must not be",
       4,
       1,
       Stream(join({compound_results(2), putfh(), Encoder().words({68, 0, 1, 2, 0, 0, 0})}))
           .item(5000)
           .then(Encoder().words({1, 0, 5000, 0, 4096})),
       {0},
       {5000}},
  };
}

class Placing : public testing::TestWithParam<ReplyCase> {};

TEST_P(Placing, RebuildsTheStream) {
  const auto& c = GetParam();
  const Octets reduced = c.stream.without(c.moved);
  std::vector<Octets> chunks;
  Lengths lengths;
  std::size_t next = 0;
  for (const std::size_t length : c.contents) {
    lengths.push_back(length);
    chunks.emplace_back(length, static_cast<std::uint8_t>(length == 0 ? 0 : 0xA0 + c.moved[next++]));
  }
  std::vector<PlacedItem> places;
  ASSERT_EQ(place_items(reduced, reduced.size(), nfs, c.version, c.procedure, lengths, places), Placement::placed);
  ASSERT_EQ(places.size(), c.moved.size());
  Octets rebuilt = rebuild(reduced, places, chunks);
  EXPECT_EQ(rebuilt.size(), c.stream.whole().size());
  // The pads of the encoder are not zero; compare but for those.
  for (std::size_t i = 0; i < c.moved.size(); ++i) {
    const std::size_t from = c.stream.at(c.moved[i]) + places[i].length;
    std::copy_n(c.stream.whole().begin() + static_cast<std::ptrdiff_t>(from), places[i].pad,
                rebuilt.begin() + static_cast<std::ptrdiff_t>(from));
  }
  EXPECT_EQ(rebuilt, c.stream.whole());
  EXPECT_EQ(std::all_of(places.begin(), places.end(), [](const PlacedItem& p) { return p.eligible; }),
            c.name.find("must not") == std::string::npos);
}

TEST_P(Placing, IsFoundInTheListToo) {
  const auto& c = GetParam();
  const Octets reduced = c.stream.without(c.moved);
  const Lengths lengths(c.contents.begin(), c.contents.end());
  NfsItems found;
  list_reply_items(reduced, reduced.size(), nfs, c.version, c.procedure, lengths, found);
  EXPECT_EQ(found.end, WalkEnd::whole);
  EXPECT_EQ(found.left, 0U);
  EXPECT_EQ(found.reached, c.stream.whole().size());
  EXPECT_EQ(static_cast<std::size_t>(
                std::count_if(found.items.begin(), found.items.end(), [](const NfsItem& i) { return i.moved(); })),
            c.moved.size());
}

TEST_P(Placing, CutAnywhereIsTruncatedOrPlacedAlike) {
  const auto& c = GetParam();
  const Octets reduced = c.stream.without(c.moved);
  const Lengths lengths(c.contents.begin(), c.contents.end());
  std::vector<PlacedItem> whole;
  ASSERT_EQ(place_items(reduced, reduced.size(), nfs, c.version, c.procedure, lengths, whole), Placement::placed);
  for (std::size_t n = 0; n < reduced.size(); ++n) {
    const Octets cut = test::prefix(reduced, n);
    std::vector<PlacedItem> places;
    const Placement placement = place_items(cut, reduced.size(), nfs, c.version, c.procedure, lengths, places);
    if (placement == Placement::placed) {
      ASSERT_EQ(places.size(), whole.size()) << n;
      for (std::size_t i = 0; i < whole.size(); ++i) EXPECT_EQ(places[i].position, whole[i].position) << n;
    } else {
      EXPECT_EQ(placement, Placement::truncated) << n;
      EXPECT_TRUE(places.empty());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Replies, Placing, testing::ValuesIn(reply_cases()), [](const auto& info) {
  std::string name;
  for (const char c : info.param.name) name += c == ' ' || c == ',' ? '_' : c;
  return name;
});

// RFC 4506 section 4.10. A pad that the chunk holds is not added again.
TEST(PlaceItems, TheCountSaysHowMuchOfALongChunkIsData) {
  for (const std::uint64_t more : {0U, 1U, 2U, 3U, 4U, 3095U}) {
    Stream s(join({compound_results(2), putfh(), Encoder().words({25, 0, 1})}));
    s.item(1001);
    const Octets reduced = s.without({0});
    std::vector<PlacedItem> places;
    ASSERT_EQ(place_items(reduced, reduced.size(), nfs, 4, 1, Lengths{1001 + more}, places), Placement::placed);
    ASSERT_EQ(places.size(), 1U);
    EXPECT_EQ(std::pair(places[0].length, places[0].pad), more == 3 ? std::pair(1004UL, 0U) : std::pair(1001UL, 3U));
  }
}

TEST(PlaceItems, APadLeftBehindAtTheEndDoesNoHarm) {
  Stream s(join({compound_results(2), putfh(), Encoder().words({25, 0, 1})}));
  s.item(1001);
  Octets reduced = s.without({0});
  reduced.resize(reduced.size() + 3, 0);
  std::vector<PlacedItem> places;
  EXPECT_EQ(place_items(reduced, reduced.size(), nfs, 4, 1, Lengths{1001}, places), Placement::placed);
  reduced.push_back(0);
  EXPECT_EQ(place_items(reduced, reduced.size(), nfs, 4, 1, Lengths{1001}, places), Placement::disagree);
}

TEST(PlaceItems, WhatIsUnknownBehindTheLastDoesNoHarm) {
  Stream s(join({compound_results(3), putfh(), Encoder().words({25, 0, 1})}));
  s.item(1001).then(Encoder().words({99, 0, 7}));
  const Octets reduced = s.without({0});
  std::vector<PlacedItem> places;
  EXPECT_EQ(place_items(reduced, reduced.size(), nfs, 4, 1, Lengths{1001}, places), Placement::placed);
  EXPECT_EQ(place_items(reduced, reduced.size(), nfs, 4, 1, Lengths{1001, 5}, places), Placement::unsupported);
}

TEST(PlaceItems, CannotTell) {
  const auto v3_read = [](std::uint32_t status, std::uint32_t length) {
    return join({reply_header(), Encoder().words({status, 0, length, 1, length})}).octets();
  };
  struct Case {
    std::string name;
    Octets octets;
    std::uint32_t program, version, procedure;
    Lengths lengths;
    Placement placement;
  };
  const Octets denied = Encoder().words({7, 1, 1, 1, 1}).octets();
  const Octets garbage = Encoder().words({7, 1, 0, 0, 0, 4}).octets();
  const std::vector<Case> cases = {
      {"length", v3_read(0, 100), nfs, 3, 6, {96}, Placement::disagree},
      {"status", v3_read(70, 100), nfs, 3, 6, {100}, Placement::disagree},
      {"two chunks for one item", v3_read(0, 100), nfs, 3, 6, {100, 100}, Placement::disagree},
      {"denied", denied, nfs, 3, 6, {100}, Placement::disagree},
      {"garbage arguments", garbage, nfs, 3, 6, {100}, Placement::disagree},
      {"a Call", call_header(3, 6).octets(), nfs, 3, 6, {100}, Placement::invalid},
      {"another procedure", v3_read(0, 100), nfs, 3, 16, {100}, Placement::unsupported},
      {"another program", v3_read(0, 100), 100005, 3, 6, {100}, Placement::unsupported},
      {"another version", v3_read(0, 100), nfs, 5, 6, {100}, Placement::unsupported},
      {"nothing to place in anything", v3_read(0, 100), 100005, 3, 6, {0, 0}, Placement::placed},
      {"nothing to place", {}, nfs, 3, 6, {}, Placement::placed},
      {"no message", {}, nfs, 3, 6, {1}, Placement::invalid},
      {"a long one", v3_read(0, 0xFFFFFFFF), nfs, 3, 6, {0xFFFFFFFE}, Placement::disagree},
  };
  for (const auto& c : cases) {
    std::vector<PlacedItem> places(3);
    EXPECT_EQ(place_items(c.octets, c.octets.size(), c.program, c.version, c.procedure, c.lengths, places), c.placement)
        << c.name;
    EXPECT_TRUE(places.empty()) << c.name;
  }
}

TEST(ReplyItems, AnItemThatCannotBeHereWasMovedWhateverTheChunkSays) {
  const Octets octets = join({reply_header(), Encoder().words({0, 0, 100, 1, 100})}).octets();
  NfsItems found;
  list_reply_items(octets, octets.size(), nfs, 3, 6, Lengths{64}, found);
  ASSERT_EQ(found.items.size(), 1U);
  EXPECT_TRUE(found.items[0].moved());
  EXPECT_EQ(found.items[0].length, 100U);
  EXPECT_EQ(found.items[0].chunk_length, 64U);
  EXPECT_EQ(found.end, WalkEnd::whole);
}

TEST(ReplyItems, ItemsAreLimited) {
  Encoder e = compound_results(257);
  for (int i = 0; i < 257; ++i) e.words({25, 0, 1, 0});
  const Octets octets = e.octets();
  NfsItems found;
  list_reply_items(octets, octets.size(), nfs, 4, 1, {}, found);
  EXPECT_EQ(found.end, WalkEnd::unsupported);
  EXPECT_EQ(found.items.size(), 256U);
}

struct CallCase {
  std::string name;
  std::uint32_t version;
  std::uint32_t procedure;
  Stream stream;
  std::size_t items;     ///< of the stream
  std::size_t eligible;  ///< of those, from the first
};

std::vector<CallCase> call_cases() {
  const auto compound = [](std::uint32_t count) { return Encoder().words({0, 2, count}); };
  const auto sequence_args = join({Encoder().words({53}), stateid(), Encoder().words({1, 0, 0, 0})});
  const auto putfh_args = Encoder().word(22).opaque(28);
  const auto write_args = join({Encoder().word(38), stateid(), Encoder().words({0, 0, 2})});
  const auto getattr_args = Encoder().words({9, 2, 1, 2});
  return {
      {"v2 WRITE", 2, 8, Stream(call_header(2, 8)).then(Encoder().fill(32).words({0, 0, 9})).item(9), 1, 1},
      {"v2 SYMLINK", 2, 13,
       Stream(call_header(2, 13)).then(Encoder().fill(32).text("name")).item(11).then(Encoder().fill(32)), 1, 1},
      {"v3 WRITE", 3, 7, Stream(call_header(3, 7)).then(Encoder().opaque(28).words({0, 0, 7, 2})).item(7), 1, 1},
      {"v3 SYMLINK, nothing set", 3, 10,
       Stream(call_header(3, 10)).then(Encoder().opaque(28).text("name").words({0, 0, 0, 0, 0, 0})).item(1024), 1, 1},
      {"v3 SYMLINK, all set", 3, 10,
       Stream(call_header(3, 10))
           .then(Encoder().opaque(28).text("name").words({1, 0777, 1, 0, 1, 0, 1, 0, 9, 2, 1, 2, 2, 3, 4}))
           .item(10),
       1, 1},
      {"v4 WRITE", 4, 1,
       Stream(join({call_header(4, 1), compound(4), sequence_args, putfh_args, write_args}))
           .item(4095)
           .then(getattr_args),
       1, 1},
      {"v4 two WRITEs", 4, 1,
       Stream(join({call_header(4, 1), compound(4), putfh_args, write_args}))
           .item(5)
           .then(getattr_args)
           .then(write_args)
           .item(6000),
       2, 2},
      {"v4 symbolic link", 4, 1,
       Stream(join({call_header(4, 1), compound(2), putfh_args, Encoder().words({6, 5})}))
           .item(30)
           .then(Encoder().text("name").words({0, 0})),
       1, 1},
      {"v4 attributes, which must not be", 4, 1,
       Stream(
           join({call_header(4, 1), compound(2), putfh_args, Encoder().word(34), stateid(), Encoder().words({1, 4})}))
           .item(24),
       1, 0},
      {"v4 a name, which must not be", 4, 1,
       Stream(join({call_header(4, 1), compound(3), putfh_args, Encoder().word(15)})).item(33).then(getattr_args), 1,
       0},
  };
}

class Calls : public testing::TestWithParam<CallCase> {
 protected:
  static std::vector<ReadChunk> chunks_for(const NfsItems& found) {
    std::vector<ReadChunk> chunks;
    for (const auto& item : found.items) chunks.push_back({static_cast<std::uint32_t>(item.position), item.length, 1});
    return chunks;
  }
};

TEST_P(Calls, InPlace) {
  const auto& c = GetParam();
  const Octets& whole = c.stream.whole();
  NfsItems found;
  list_call_items(whole, whole.size(), {}, found);
  EXPECT_EQ(found.end, WalkEnd::whole) << found.field;
  EXPECT_EQ(found.left, 0U);
  ASSERT_EQ(found.items.size(), c.eligible);
  for (std::size_t i = 0; i < c.eligible; ++i) {
    EXPECT_EQ(found.items[i].data_at(), c.stream.at(i));
    EXPECT_EQ(found.items[i].position, c.stream.at(i));
    EXPECT_FALSE(found.items[i].moved());
  }
}

TEST_P(Calls, MovedEachAlone) {
  const auto& c = GetParam();
  for (std::size_t i = 0; i < c.items; ++i) {
    const Octets reduced = c.stream.without({i});
    const std::vector<ReadChunk> chunks{{static_cast<std::uint32_t>(c.stream.at(i)), 77, 1}};
    NfsItems found;
    list_call_items(reduced, reduced.size(), chunks, found);
    EXPECT_EQ(found.end, WalkEnd::whole) << found.field;
    EXPECT_EQ(found.left, 0U);
    EXPECT_EQ(found.reached, c.stream.whole().size());
    EXPECT_EQ(found.chunks_used, 1U);
    const auto moved =
        std::find_if(found.items.begin(), found.items.end(), [](const NfsItem& item) { return item.moved(); });
    ASSERT_NE(moved, found.items.end());
    EXPECT_EQ(moved->position, c.stream.at(i));
    EXPECT_EQ(moved->chunk_length, 77U);
    EXPECT_EQ(moved->eligible, i < c.eligible);
  }
}

TEST_P(Calls, MovedAll) {
  const auto& c = GetParam();
  std::vector<std::size_t> all;
  std::vector<ReadChunk> chunks;
  for (std::size_t i = 0; i < c.items; ++i) {
    all.push_back(i);
    chunks.push_back({static_cast<std::uint32_t>(c.stream.at(i)), 77, 1});
  }
  const Octets reduced = c.stream.without(all);
  NfsItems found;
  list_call_items(reduced, reduced.size(), chunks, found);
  EXPECT_EQ(found.end, WalkEnd::whole) << found.field;
  EXPECT_EQ(found.chunks_used, c.items);
  EXPECT_EQ(found.reached, c.stream.whole().size());
}

TEST_P(Calls, CutAnywhere) {
  const auto& c = GetParam();
  const Octets& whole = c.stream.whole();
  for (std::size_t n = 0; n < whole.size(); ++n) {
    const Octets cut = test::prefix(whole, n);
    NfsItems found;
    list_call_items(cut, whole.size(), {}, found);
    EXPECT_EQ(found.end, WalkEnd::truncated) << n;
    list_call_items(cut, cut.size(), {}, found);
    EXPECT_EQ(found.end, WalkEnd::invalid) << n;
  }
}

TEST_P(Calls, APositionWhereNoItemBeginsIsMisplaced) {
  const auto& c = GetParam();
  const Octets& whole = c.stream.whole();
  NfsItems found;
  list_call_items(whole, whole.size(), {}, found);
  // Every multiple of four up to the data of the first item, where the stream is as it would be without the chunk.
  for (std::uint32_t position = 4; position < c.stream.at(0); position += 4) {
    const std::vector<ReadChunk> chunks{{position, 8, 1}};
    list_call_items(whole, whole.size(), chunks, found);
    const bool named = !found.items.empty() && found.items[0].moved();
    EXPECT_TRUE(named ? !found.items[0].eligible : found.end == WalkEnd::misplaced || found.end == WalkEnd::invalid)
        << position;
    if (position < 40) {
      EXPECT_EQ(found.end, WalkEnd::misplaced) << position;
    }
  }
  // At the very end there is no item either, or an empty one; behind it nothing can be said by a walk.
  const auto end = static_cast<std::uint32_t>(whole.size());
  list_call_items(whole, whole.size(), std::vector<ReadChunk>{{end, 8, 1}}, found);
  EXPECT_TRUE(found.end == WalkEnd::misplaced || (found.items.back().moved() && !found.items.back().eligible));
  list_call_items(whole, whole.size(), std::vector<ReadChunk>{{end + 4, 8, 1}}, found);
  EXPECT_EQ(found.end, WalkEnd::whole);
  EXPECT_EQ(found.chunks_used, 0U);
}

INSTANTIATE_TEST_SUITE_P(All, Calls, testing::ValuesIn(call_cases()), [](const auto& info) {
  std::string name;
  for (const char c : info.param.name) name += c == ' ' || c == ',' ? '_' : c;
  return name;
});

TEST(CallItems, ACutCaptureDoesNotAccuse) {
  const auto cases = call_cases();
  const Octets& whole = cases[5].stream.whole();
  const auto position = static_cast<std::uint32_t>(cases[5].stream.at(0));
  const Octets cut = test::prefix(whole, position - 8);
  NfsItems found;
  list_call_items(cut, huge, std::vector<ReadChunk>{{position - 4, 8, 1}}, found);
  EXPECT_EQ(found.end, WalkEnd::truncated);
}

TEST(CallItems, ProtectedArgumentsAreNotLookedInto) {
  for (const std::uint32_t service : {1U, 2U, 3U}) {
    Encoder e;
    e.words({0x11223344, 0, 2, nfs, 3, 7, 6, 24, 1, 0, 1, service, 4, 0x55555555, 6, 0});
    e.opaque(28).words({0, 0, 7, 2}).opaque(7);
    NfsItems found;
    list_call_items(e.octets(), e.size(), {}, found);
    EXPECT_EQ(found.end, service == 1 ? WalkEnd::whole : WalkEnd::unsupported);
    EXPECT_EQ(found.items.size(), service == 1 ? 1U : 0U);
  }
}

TEST(CallItems, SayWhichResultsAreWanted) {
  struct Case {
    std::string name;
    Encoder call;
    std::vector<std::uint64_t> most;
  };
  const auto no_limit = WantedItem::no_limit;
  const auto read_args = [](std::uint32_t count) {
    return join({Encoder().word(25), stateid(), Encoder().words({0, 0, count})});
  };
  const std::vector<Case> cases = {
      {"v2 READ", join({call_header(2, 6), Encoder().fill(32).words({0, 77, 0})}), {77}},
      {"v2 READLINK", join({call_header(2, 5), Encoder().fill(32)}), {no_limit}},
      {"v3 READ", join({call_header(3, 6), Encoder().opaque(28).words({0, 0, 4096})}), {4096}},
      {"v3 READLINK", join({call_header(3, 5), Encoder().opaque(28)}), {no_limit}},
      {"v3 WRITE", join({call_header(3, 7), Encoder().opaque(28).words({0, 0, 5, 2}).opaque(5)}), {}},
      {"v4",
       join({call_header(4, 1), Encoder().words({0, 1, 5, 22}).opaque(28), read_args(5), Encoder().word(27),
             read_args(0xFFFFFFFF), Encoder().word(10)}),
       {5, no_limit, 0xFFFFFFFF}},
  };
  for (const auto& c : cases) {
    NfsItems found;
    list_call_items(c.call.octets(), c.call.size(), {}, found);
    EXPECT_EQ(found.end, WalkEnd::whole) << c.name;
    EXPECT_EQ(found.left, 0U) << c.name;
    std::vector<std::uint64_t> most;
    for (const auto& wanted : found.wanted) most.push_back(wanted.most);
    EXPECT_EQ(most, c.most) << c.name;
    for (std::size_t n = 0; n < c.call.size(); ++n) {
      list_call_items(test::prefix(c.call.octets(), n), c.call.size(), {}, found);
      EXPECT_EQ(found.end, WalkEnd::truncated) << c.name << ' ' << n;
    }
  }
}

TEST(CallItems, ResultsAreLimited) {
  Encoder e = join({call_header(4, 1), Encoder().words({0, 1, 257})});
  for (int i = 0; i < 257; ++i) e.word(27);
  NfsItems found;
  list_call_items(e.octets(), e.size(), {}, found);
  EXPECT_EQ(found.end, WalkEnd::unsupported);
  EXPECT_EQ(found.wanted.size(), 256U);
}

TEST(ReadChunks, SegmentsOfOnePositionAreOneChunk) {
  const std::vector<ReadSegment> reads = {
      {0, {1, 100, 0}}, {200, {2, 10, 0}}, {120, {3, 0xFFFFFFFF, 0}}, {200, {4, 2, 0}}, {120, {5, 0xFFFFFFFF, 0}}};
  std::vector<ReadChunk> chunks;
  collect_read_chunks(reads, chunks);
  ASSERT_EQ(chunks.size(), 2U);
  EXPECT_EQ(chunks[0].position, 120U);
  EXPECT_EQ(chunks[0].length, 0x1FFFFFFFEU);
  EXPECT_EQ(chunks[0].segments, 2U);
  EXPECT_EQ(chunks[1].position, 200U);
  EXPECT_EQ(chunks[1].length, 12U);
  collect_read_chunks({}, chunks);
  EXPECT_TRUE(chunks.empty());
}

TEST(DdpBinding, OfPrograms) {
  struct Case {
    std::uint32_t program, version, procedure;
    bool known, arguments, results;
  };
  for (const auto& c : std::vector<Case>{{nfs, 2, 6, true, false, true},
                                         {nfs, 2, 7, true, false, false},
                                         {nfs, 2, 8, true, true, false},
                                         {nfs, 3, 7, true, true, false},
                                         {nfs, 3, 8, true, false, false},
                                         {nfs, 3, 5, true, false, true},
                                         {nfs, 3, 17, true, false, false},
                                         {nfs, 4, 1, true, true, true},
                                         {nfs, 4, 0, true, false, false},
                                         {nfs, 5, 1, false, false, false},
                                         {100227, 3, 1, true, false, false},
                                         {100227, 4, 1, false, false, false},
                                         {100005, 3, 1, false, false, false},
                                         {0x40000000, 1, 1, false, false, false}}) {
    const auto binding = ddp_binding(c.program, c.version, c.procedure);
    EXPECT_EQ(binding.known, c.known) << c.program << '.' << c.version << '.' << c.procedure;
    EXPECT_EQ(binding.arguments, c.arguments) << c.program << '.' << c.version << '.' << c.procedure;
    EXPECT_EQ(binding.results, c.results) << c.program << '.' << c.version << '.' << c.procedure;
  }
}

}  // namespace
}  // namespace rpcrdma::wire
