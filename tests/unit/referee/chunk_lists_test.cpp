// SPDX-License-Identifier: GPL-2.0-or-later
// Group E: the chunk lists of Calls, and those of Replies against them.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "referee/referee.hpp"
#include "story.hpp"

namespace rpcrdma::referee {
namespace {

using story::Chunks;
using story::found;
using story::Story;
using trace::Side;

/// The rules of group E that spoke, whoever was meant.
std::set<std::string> group_e(const Report& report) {
  std::set<std::string> names;
  for (const Finding& finding : report.findings) {
    if (rule(finding.rule).group == 'E') names.insert(std::string(rule(finding.rule).name));
  }
  return names;
}
std::set<std::string> unchecked_e(const Report& report) {
  std::set<std::string> names;
  for (const Unchecked& unchecked : report.unchecked) {
    if (rule(unchecked.rule).group == 'E') names.insert(std::string(rule(unchecked.rule).name));
  }
  return names;
}

Chunks reads(std::vector<wire::ReadSegment> list) {
  Chunks chunks;
  chunks.reads = std::move(list);
  return chunks;
}
Chunks writes(std::vector<wire::WriteChunk> list, std::optional<wire::WriteChunk> reply = std::nullopt) {
  Chunks chunks;
  chunks.writes = std::move(list);
  chunks.reply = std::move(reply);
  return chunks;
}

struct CallCase {
  std::string what;
  Chunks chunks;
  std::size_t octets;  ///< of the RPC message inline; 0: RDMA_NOMSG
  std::set<std::string> rules;
};

class CallLists : public testing::TestWithParam<CallCase> {};

TEST_P(CallLists, AreJudged) {
  const CallCase& c = GetParam();
  Story s;
  s.connect().call(1).reply(1);
  s.message(Side::active, 2, 32, c.chunks, c.octets == 0 ? story::Octets{} : story::rpc_call(2, c.octets));
  auto rules = group_e(s.end());
  rules.erase("ineligible-item-reduced");  // a note: the program has no known binding
  EXPECT_EQ(rules, c.rules);
}

constexpr std::uint64_t top = 0xFFFFFFFFFFFFF000;

INSTANTIATE_TEST_SUITE_P(
    GroupE, CallLists,
    testing::Values(
        CallCase{"nothing", {}, 100, {}}, CallCase{"inside", reads({{96, {1, 100, 0}}}), 100, {}},
        CallCase{"at the end", reads({{100, {1, 100, 0}}}), 100, {}},
        CallCase{"behind the end", reads({{104, {1, 100, 0}}}), 100, {"read-position-out-of-stream"}},
        CallCase{"behind the end of the body chunk",
                 reads({{0, {1, 100, 0}}, {104, {2, 100, 0}}}),
                 0,
                 {"read-position-out-of-stream"}},
        CallCase{"at the end, counting what was moved before", reads({{96, {1, 5, 0}}, {108, {2, 9, 0}}}), 100, {}},
        CallCase{"behind the end, counting what was moved before",
                 reads({{96, {1, 5, 0}}, {112, {2, 9, 0}}}),
                 100,
                 {"read-position-out-of-stream"}},
        CallCase{"unaligned", reads({{98, {1, 100, 0}}}), 100, {"read-position-unaligned"}},
        CallCase{"touching", reads({{48, {1, 52, 0}}, {100, {2, 4, 0}}}), 100, {}},
        CallCase{"overlapping", reads({{48, {1, 53, 0}}, {100, {2, 4, 0}}}), 100, {"read-chunk-overlap"}},
        CallCase{"unordered", reads({{100, {2, 4, 0}}, {48, {1, 52, 0}}}), 100, {"read-list-unordered"}},
        CallCase{"equal positions, apart",
                 reads({{48, {1, 4, 0}}, {100, {2, 4, 0}}, {48, {3, 48, 0}}}),
                 100,
                 {"read-list-unordered"}},
        CallCase{"empty segment", reads({{48, {1, 4, 0}}, {48, {2, 0, 0}}}), 100, {"read-chunk-empty"}},
        CallCase{"no body", reads({{48, {1, 4, 0}}}), 0, {"call-chunk-mixed"}},
        CallCase{"body and an item", reads({{48, {1, 4, 0}}, {0, {2, 96, 0}}}), 0, {"read-list-unordered"}},
        CallCase{"reply chunk of nothing", writes({}, wire::WriteChunk{}), 100, {"reply-chunk-useless"}},
        CallCase{"reply chunk of 23", writes({}, wire::WriteChunk{{1, 23, 0}}), 100, {"reply-chunk-useless"}},
        CallCase{"reply chunk of 24", writes({}, wire::WriteChunk{{1, 20, 0}, {1, 4, 20}}), 100, {}},
        CallCase{"to the last address", writes({{{1, 4096, top}}}), 100, {}},
        CallCase{"beyond the last address", writes({{{1, 4097, top}}}), 100, {"segment-wraps"}},
        CallCase{"nothing beyond the last address", writes({{{1, 0, 0xFFFFFFFFFFFFFFFF}}}), 100, {}},
        CallCase{"write chunks that touch", writes({{{1, 10, 0}}, {{1, 10, 10}}}), 100, {}},
        CallCase{"write chunks that meet", writes({{{1, 11, 0}}, {{1, 10, 10}}}), 100, {"segment-overlap"}},
        CallCase{"meeting under other handles", writes({{{1, 11, 0}}, {{2, 10, 10}}}), 100, {}},
        CallCase{"one inside a longer one, further on",
                 writes({{{1, 100, 0}}, {{1, 10, 200}}, {{1, 10, 50}}}),
                 100,
                 {"segment-overlap"}},
        CallCase{"read chunks may share", reads({{48, {1, 40, 0}}, {88, {1, 40, 0}}}), 100, {}}),
    [](const auto& info) {
      std::string name = info.param.what;
      for (char& c : name) c = c == ' ' || c == ',' ? '_' : c;
      return name;
    });

TEST(CallListsWithBoth, AReadChunkUnderAWriteChunk) {
  for (const bool writable_first : {false, true}) {
    Chunks chunks = reads({{96, {1, 10, writable_first ? 15U : 0U}}});
    chunks.writes = {{{1, 10, writable_first ? 10U : 9U}}};
    Story s;
    s.connect().call(1).reply(1);
    s.message(Side::active, 2, 32, chunks, story::rpc_call(2, 100));
    EXPECT_TRUE(group_e(s.end()).contains("segment-overlap")) << writable_first;
  }
}

TEST(CallListsOfManySegments, AreNoTrouble) {
  std::vector<wire::WriteChunk> list;
  for (std::uint32_t i = 0; i < 200; ++i) list.push_back({{7, 16, std::uint64_t{16} * i}});
  Story s;
  s.connect().call(1).reply(1);
  s.message(Side::active, 2, 32, writes(list), story::rpc_call(2));
  EXPECT_TRUE(group_e(s.end()).empty());
}

struct ReplyCase {
  std::string what;
  Chunks given;
  Chunks returned;
  std::set<std::string> rules;
  bool inline_reply = true;
};

class ReplyLists : public testing::TestWithParam<ReplyCase> {
 protected:
  /// Everything that is returned was written, so that this is no question.
  static void answer(Story& s, const ReplyCase& c) {
    const auto write = [&](const wire::WriteChunk& chunk) {
      for (const auto& segment : chunk) {
        if (segment.length != 0) s.write(Side::passive, segment.handle, segment.offset, segment.length);
      }
    };
    for (const auto& chunk : c.returned.writes) write(chunk);
    if (c.returned.reply) write(*c.returned.reply);
    s.message(Side::passive, 2, 32, c.returned, c.inline_reply ? story::rpc_reply(2) : story::Octets{});
  }
};

TEST_P(ReplyLists, AreHeldAgainstTheCall) {
  const ReplyCase& c = GetParam();
  Story s;
  s.connect().call(1).reply(1).call(2, c.given);
  answer(s, c);
  const Report report = s.end();
  auto rules = group_e(report);
  rules.erase("ineligible-item-reduced");  // a note: the program has no known binding
  EXPECT_EQ(rules, c.rules);
  for (const Finding& finding : report.findings) {
    if (!c.rules.contains(std::string(rule(finding.rule).name))) continue;
    EXPECT_EQ(finding.violator, Party::server);
    EXPECT_EQ(finding.xid, 2U);
    EXPECT_EQ(finding.severity, Severity::error);
  }
}

TEST_P(ReplyLists, AreNotJudgedWhenFramesAreMissing) {
  const ReplyCase& c = GetParam();
  Story s;
  s.connect().call(1).reply(1).call(2, c.given).gap(Side::active);
  answer(s, c);
  const Report report = s.end();
  EXPECT_TRUE(group_e(report).empty());
  EXPECT_FALSE(unchecked_e(report).empty());
  for (const std::string& each : c.rules) EXPECT_TRUE(unchecked_e(report).contains(each)) << each;
}

TEST_P(ReplyLists, AreTakenBackWhenTheRequesterTurnsOutToHaveSentMore) {
  // The Reply may answer a second copy of the Call, which the capture lacks.
  const ReplyCase& c = GetParam();
  for (const bool missing : {true, false}) {
    Story s;
    s.connect().call(1).reply(1).call(2, c.given);
    answer(s, c);
    if (missing) s.gap(Side::active);
    s.call(3).reply(3);
    const Report report = s.end();
    for (const std::string& each : c.rules) {
      EXPECT_EQ(group_e(report).contains(each), !missing) << each;
      EXPECT_EQ(unchecked_e(report).contains(each), missing) << each;
    }
  }
}

TEST_P(ReplyLists, AreNotTakenBackForWhatIsMissingLater) {
  const ReplyCase& c = GetParam();
  Story s;
  s.connect().call(1).reply(1).call(2, c.given);
  answer(s, c);
  // The Call right behind the answer may have stood in front of it: the next one shows.
  s.call(3).reply(3).call(4).reply(4).gap(Side::active).call(5).reply(5);
  const Report report = s.end();
  for (const std::string& each : c.rules) EXPECT_TRUE(group_e(report).contains(each)) << each;
}

TEST_P(ReplyLists, AreNotJudgedWhenTheCallWasSentTwice) {
  const ReplyCase& c = GetParam();
  Story s;
  s.connect().call(1).reply(1).call(2, c.given).call(2, c.given);
  answer(s, c);
  const Report report = s.end();
  EXPECT_TRUE(group_e(report).empty());
  EXPECT_FALSE(unchecked_e(report).empty());
  for (const std::string& each : c.rules) EXPECT_TRUE(unchecked_e(report).contains(each)) << each;
}

const wire::WriteChunk whole{{1, 100, 0}, {1, 100, 100}};

INSTANTIATE_TEST_SUITE_P(
    GroupE, ReplyLists,
    testing::Values(
        ReplyCase{"full", writes({whole}), writes({whole}), {}},
        ReplyCase{"unused", writes({whole}), writes({{{1, 0, 0}, {1, 0, 100}}}), {}},
        ReplyCase{"one segment full", writes({whole}), writes({{{1, 100, 0}, {1, 0, 100}}}), {}},
        ReplyCase{"last segment short", writes({whole}), writes({{{1, 100, 0}, {1, 99, 100}}}), {}},
        ReplyCase{"gap", writes({whole}), writes({{{1, 99, 0}, {1, 1, 100}}}), {"write-fill-gap"}},
        ReplyCase{"no room is no gap",
                  writes({{{1, 100, 0}, {2, 0, 0}, {1, 100, 100}}}),
                  writes({{{1, 100, 0}, {2, 0, 0}, {1, 5, 100}}}),
                  {}},
        ReplyCase{"grown", writes({whole}), writes({{{1, 100, 0}, {1, 101, 100}}}), {"write-length-grown"}},
        ReplyCase{"handle", writes({whole}), writes({{{1, 100, 0}, {2, 0, 100}}}), {"write-segments-changed"}},
        ReplyCase{"offset", writes({whole}), writes({{{1, 100, 0}, {1, 0, 101}}}), {"write-segments-changed"}},
        ReplyCase{"segments", writes({whole}), writes({{{1, 100, 0}}}), {"write-segments-changed"}},
        ReplyCase{"fewer chunks", writes({whole, {}}), writes({whole}), {"write-list-not-returned"}},
        ReplyCase{"more chunks", writes({whole}), writes({whole, {}}), {"write-list-not-returned"}},
        ReplyCase{"empty stays empty", writes({{}, whole}), writes({{}, whole}), {}},
        ReplyCase{"empty filled", writes({{}}), writes({{{1, 0, 0}}}), {"empty-write-chunk-filled"}},
        ReplyCase{"unused and emptied", writes({whole}), writes({{}}), {"unused-write-chunk-shape"}},
        ReplyCase{"reply chunk unused", writes({}, whole), writes({}, wire::WriteChunk{{1, 0, 0}, {1, 0, 100}}), {}},
        ReplyCase{"reply chunk gone", writes({}, whole), writes({}), {"reply-chunk-not-returned"}},
        ReplyCase{"reply chunk and inline", writes({}, whole), writes({}, whole), {"reply-chunk-with-msg"}},
        ReplyCase{"reply chunk used", writes({}, whole), writes({}, whole), {}, false},
        ReplyCase{"reply chunk with a gap",
                  writes({}, whole),
                  writes({}, wire::WriteChunk{{1, 99, 0}, {1, 1, 100}}),
                  {"write-fill-gap"},
                  false},
        ReplyCase{"reply chunk changed",
                  writes({}, whole),
                  writes({}, wire::WriteChunk{{1, 100, 0}}),
                  {"write-segments-changed"},
                  false},
        ReplyCase{"reply chunk from nowhere", writes({whole}), writes({whole}, whole), {"write-segments-changed"}}),
    [](const auto& info) {
      std::string name = info.param.what;
      for (char& c : name) c = c == ' ' ? '_' : c;
      return name;
    });

TEST(ReplyListsOfNfs, AnUnusedChunkMayComeBackEmpty) {
  story::Octets call;
  for (const std::uint32_t word : {2U, 0U, 2U, 100003U, 3U, 6U, 0U, 0U, 0U, 0U, 0U, 0U, 0U, 10U})
    story::put32(call, word);
  story::Octets reply;
  for (const std::uint32_t word : {2U, 1U, 0U, 0U, 0U, 0U, 5U, 0U}) story::put32(reply, word);  // NFS3ERR_IO
  Story s;
  s.connect().call(1).reply(1);
  s.message(Side::active, 2, 32, writes({whole}), call).message(Side::passive, 2, 32, writes({{}}), reply);
  const auto hits = found(s.end(), RuleId::unused_write_chunk_shape);
  ASSERT_EQ(hits.size(), 1U);
  EXPECT_EQ(hits[0].severity, Severity::note);
}

TEST(WordsOfChunkLists, OneIsNotMany) {
  const auto says = [](const Chunks& call, const Chunks& reply, RuleId rule) {
    Story s;
    s.connect().call(1).reply(1).call(2, call).reply(2, reply);
    const auto hits = found(s.end(), rule);
    return hits.size() == 1 ? hits.front().message : std::string();
  };
  const wire::WriteChunk one = {{1, 1, 0}};
  const std::string changed = says(writes({whole}), writes({one}), RuleId::write_segments_changed);
  EXPECT_NE(changed.find("1 segment instead of 2"), std::string::npos) << changed;
  const std::string filled = says(writes({{}}), writes({one}), RuleId::empty_write_chunk_filled);
  EXPECT_NE(filled.find("returns 1 segment in"), std::string::npos) << filled;
  const std::string emptied = says(writes({one}), writes({{}}), RuleId::unused_write_chunk_shape);
  EXPECT_NE(emptied.find("without its 1 segment instead"), std::string::npos) << emptied;
  const std::string grown = says(writes({{{1, 0, 0}}}), writes({one}), RuleId::write_length_grown);
  EXPECT_NE(grown.find("says that 1 octet was written"), std::string::npos) << grown;
}

}  // namespace
}  // namespace rpcrdma::referee
