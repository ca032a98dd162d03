// SPDX-License-Identifier: GPL-2.0-or-later
#include "wire/rpcrdma.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <optional>
#include <string>
#include <vector>

#include "encoder.hpp"

namespace rpcrdma::wire {
namespace {

using test::Encoder;
using test::prefix;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using Octets = std::vector<std::uint8_t>;

constexpr std::uint32_t xid = 0x11223344;

/// What the test wants in a header; encoded on its own.
struct Wanted {
  std::uint32_t proc = 0;
  std::vector<ReadSegment> reads;
  std::vector<WriteChunk> writes;
  std::optional<WriteChunk> reply;
  std::uint32_t credit = 128;
  std::uint32_t version = 1;
};

void encode_segment(Encoder& e, const Segment& s) { e.word(s.handle).word(s.length).hyper(s.offset); }

void encode_chunk(Encoder& e, const WriteChunk& chunk) {
  e.word(static_cast<std::uint32_t>(chunk.size()));
  for (const auto& s : chunk) encode_segment(e, s);
}

Octets encode(const Wanted& w) {
  Encoder e;
  e.words({xid, w.version, w.credit, w.proc});
  if (w.proc == 2) e.words({64, 1024});
  for (const auto& r : w.reads) {
    e.words({1, r.position});
    encode_segment(e, r.target);
  }
  e.word(0);
  for (const auto& chunk : w.writes) {
    e.word(1);
    encode_chunk(e, chunk);
  }
  e.word(0);
  e.word(w.reply ? 1 : 0);
  if (w.reply) encode_chunk(e, *w.reply);
  return e.octets();
}

/// A header with everything in it, of the given procedure.
Wanted full(std::uint32_t proc) {
  return {proc,
          {{0, {0xA1, 4096, 0x1000}}, {0, {0xA2, 100, 0x7F0011220000}}, {116, {0xA3, 1, 8}}},
          {{{0x00010203, 4096, 0x7F0011220000}}, {}, {{1, 0, 0}, {2, 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF}}},
          WriteChunk{{0xB1, 1000, 5}, {0xB2, 2000, 6}}};
}

tl::expected<void, DecodeError> decode(const Octets& octets, HeaderV1& out) {
  return decode_header_v1(octets, octets.size(), out);
}

Octets call() { return Encoder().words({xid, 0, 2, 100003, 3, 1, 0, 0, 0, 0}).octets(); }

Octets with(Octets first, const Octets& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

void expect_equal(const HeaderV1& header, const Wanted& wanted) {
  EXPECT_EQ(header.fixed.proc, wanted.proc);
  ASSERT_THAT(header.reads, SizeIs(wanted.reads.size()));
  for (std::size_t i = 0; i < wanted.reads.size(); ++i) {
    EXPECT_EQ(header.reads[i].position, wanted.reads[i].position);
    EXPECT_EQ(header.reads[i].target, wanted.reads[i].target);
  }
  EXPECT_EQ(header.writes, wanted.writes);
  EXPECT_EQ(header.reply, wanted.reply);
}

TEST(HeaderV1, ShortCall) {
  HeaderV1 header;
  ASSERT_TRUE(decode(with(encode({}), call()), header));
  EXPECT_EQ(header.fixed.xid, xid);
  EXPECT_EQ(header.fixed.version, 1U);
  EXPECT_EQ(header.fixed.credit, 128U);
  EXPECT_EQ(header.fixed.proc, 0U);
  EXPECT_EQ(header.length, 28U);
  EXPECT_THAT(header.reads, IsEmpty());
  EXPECT_THAT(header.writes, IsEmpty());
  EXPECT_FALSE(header.reply);
}

TEST(HeaderV1, ChunkedCallAndItsReply) {
  const Octets chunked =
      Encoder().words({xid, 1, 128, 0, 0, 1, 1, 0x00010203, 0x1000, 0x7F00, 0x11220000, 0, 0}).append(call()).octets();
  HeaderV1 header;
  ASSERT_TRUE(decode(chunked, header));
  EXPECT_EQ(header.length, 52U);
  EXPECT_THAT(header.writes, ElementsAre(ElementsAre(Segment{0x00010203, 4096, 0x7F0011220000})));
}

TEST(HeaderV1, LongCallOfTwoSegmentsWithReplyChunk) {
  const Wanted wanted{1, {{0, {1, 4096, 0x1000}}, {0, {2, 96, 0x3000}}}, {}, WriteChunk{{3, 8192, 0}}};
  HeaderV1 header;
  ASSERT_TRUE(decode(encode(wanted), header));
  expect_equal(header, wanted);
  EXPECT_EQ(header.length, 16U + 2 * 24 + 4 + 4 + 4 + 4 + 16);
}

TEST(HeaderV1, EverythingAtOnce) {
  for (const std::uint32_t proc : {0U, 1U, 2U}) {
    HeaderV1 header;
    ASSERT_TRUE(decode(encode(full(proc)), header)) << proc;
    expect_equal(header, full(proc));
    EXPECT_EQ(header.length, encode(full(proc)).size());
    EXPECT_EQ(header.align, proc == 2 ? 64U : 0U);
    EXPECT_EQ(header.thresh, proc == 2 ? 1024U : 0U);
  }
}

TEST(HeaderV1, EmptyReplyChunkIsPresent) {
  Wanted wanted;
  wanted.reply = WriteChunk{};
  HeaderV1 header;
  ASSERT_TRUE(decode(encode(wanted), header));
  ASSERT_TRUE(header.reply);
  EXPECT_THAT(*header.reply, IsEmpty());
}

TEST(HeaderV1, Errors) {
  HeaderV1 header;
  ASSERT_TRUE(decode(Encoder().words({xid, 2, 64, 4, 1, 1, 1}).octets(), header));
  EXPECT_EQ(header.fixed.version, 2U) << "copied from the request, not judged here";
  EXPECT_EQ(header.error, err_vers);
  EXPECT_EQ(header.vers_low, 1U);
  EXPECT_EQ(header.vers_high, 1U);
  EXPECT_EQ(header.length, 28U);

  ASSERT_TRUE(decode(Encoder().words({xid, 1, 64, 4, 2}).octets(), header));
  EXPECT_EQ(header.error, err_chunk);
  EXPECT_EQ(header.vers_low, 0U);
  EXPECT_EQ(header.length, 20U);
}

TEST(HeaderV1, DoneIsSixteenOctets) {
  HeaderV1 header;
  ASSERT_TRUE(decode(Encoder().words({xid, 1, 1, 3}).octets(), header));
  EXPECT_EQ(header.length, 16U);
}

struct Broken {
  const char* name;
  std::vector<std::uint32_t> words;
  const char* field;
  std::size_t offset;
};

class BrokenHeader : public testing::TestWithParam<Broken> {};

TEST_P(BrokenHeader, IsInvalidAndKeepsTheFixedWords) {
  HeaderV1 header;
  const auto decoded = decode(Encoder().words(GetParam().words).octets(), header);
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().fault, Fault::invalid);
  EXPECT_EQ(decoded.error().field, GetParam().field);
  EXPECT_EQ(decoded.error().offset, GetParam().offset);
  EXPECT_EQ(header.fixed.xid, xid);
  EXPECT_EQ(header.fixed.proc, GetParam().words[3]);
  EXPECT_EQ(header.length, 0U);
}

INSTANTIATE_TEST_SUITE_P(
    Wire, BrokenHeader,
    testing::Values(
        Broken{"proc_5", {xid, 1, 1, 5, 0, 0, 0}, "proc", 12},
        Broken{"proc_all_ones", {xid, 1, 1, 0xFFFFFFFF}, "proc", 12},
        Broken{"msg_of_24", {xid, 1, 1, 0, 0, 0}, "header too short", 0},
        Broken{"nomsg_of_24", {xid, 1, 1, 1, 0, 0}, "header too short", 0},
        Broken{"msgp_of_32", {xid, 1, 1, 2, 0, 0, 0, 0}, "header too short", 0},
        Broken{"error_of_16", {xid, 1, 1, 4}, "header too short", 0},
        Broken{"err_vers_of_24", {xid, 1, 1, 4, 1, 1}, "header too short", 0},
        Broken{"error_code_3", {xid, 1, 1, 4, 3, 1, 1}, "error code", 16},
        Broken{"read_discriminator", {xid, 1, 1, 0, 2, 0, 0}, "list discriminator", 16},
        Broken{"write_discriminator", {xid, 1, 1, 0, 0, 0xFFFFFFFF, 0}, "list discriminator", 20},
        Broken{"reply_discriminator", {xid, 1, 1, 0, 0, 0, 3}, "list discriminator", 24},
        Broken{"second_read_discriminator", {xid, 1, 1, 0, 1, 0, 1, 2, 3, 4, 9, 0, 0}, "list discriminator", 40},
        Broken{"read_segment_cut", {xid, 1, 1, 0, 1, 0, 1, 2}, "read segment", 20},
        Broken{"read_list_without_end", {xid, 1, 1, 0, 1, 0, 1, 2, 3, 4}, "unfinished list", 40},
        Broken{"write_count_all_ones", {xid, 1, 1, 0, 0, 1, 0xFFFFFFFF, 0, 0}, "segment count", 24},
        Broken{"write_count_wraps_at_32_bits", {xid, 1, 1, 0, 0, 1, 0x10000000, 0, 0}, "segment count", 24},
        Broken{"write_count_one_too_many", {xid, 1, 1, 0, 0, 1, 2, 1, 2, 3, 4, 0, 0}, "segment count", 24},
        Broken{"reply_count_all_ones", {xid, 1, 1, 0, 0, 0, 1, 0xFFFFFFFF}, "segment count", 28},
        Broken{"reply_chunk_missing", {xid, 1, 1, 0, 0, 0, 1}, "segment count", 28}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(HeaderV1, BelowSixteenOctetsNothingIsKnown) {
  const Octets octets = encode({});
  for (std::size_t length = 0; length < 16; ++length) {
    HeaderV1 header;
    const auto decoded = decode(prefix(octets, length), header);
    ASSERT_FALSE(decoded);
    EXPECT_EQ(decoded.error().fault, Fault::invalid);
    EXPECT_EQ(decoded.error().field, "header too short");
    EXPECT_EQ(header.fixed.xid, 0U);
  }
}

TEST(HeaderV1, CutAtEveryLength) {
  const std::vector<Octets> wholes{encode({}),
                                   encode(full(0)),
                                   encode(full(1)),
                                   encode(full(2)),
                                   Encoder().words({xid, 1, 1, 3}).octets(),
                                   Encoder().words({xid, 1, 1, 4, 1, 1, 1}).octets(),
                                   Encoder().words({xid, 1, 1, 4, 2}).octets()};
  for (const auto& whole : wholes) {
    for (std::size_t length = 0; length < whole.size(); ++length) {
      const auto part = prefix(whole, length);
      SCOPED_TRACE(std::to_string(length) + " of " + std::to_string(whole.size()));
      HeaderV1 header;
      // The capture cut it.
      const auto cut = decode_header_v1(part, whole.size(), header);
      ASSERT_FALSE(cut);
      EXPECT_EQ(cut.error().fault, Fault::truncated);
      EXPECT_LE(cut.error().offset, length);
      EXPECT_EQ(header.fixed.xid, length >= 16 ? xid : 0U);
      // The sender cut it.
      const auto sent = decode_header_v1(part, length, header);
      ASSERT_FALSE(sent);
      EXPECT_EQ(sent.error().fault, Fault::invalid);
      EXPECT_EQ(header.fixed.xid, length >= 16 ? xid : 0U);
    }
    HeaderV1 header;
    EXPECT_TRUE(decode(whole, header));
  }
}

TEST(HeaderV1, ListsDecodedBeforeTheCutStay) {
  const Wanted wanted = full(0);
  const Octets whole = encode(wanted);
  HeaderV1 header;
  // Two Read segments and half of the third.
  ASSERT_FALSE(decode_header_v1(prefix(whole, 16 + 2 * 24 + 12), whole.size(), header));
  EXPECT_THAT(header.reads, SizeIs(2));
  EXPECT_THAT(header.writes, IsEmpty());
  // All but the last octet: everything is there except the last segment of the Reply chunk.
  ASSERT_FALSE(decode_header_v1(prefix(whole, whole.size() - 1), whole.size(), header));
  EXPECT_THAT(header.reads, SizeIs(3));
  EXPECT_EQ(header.writes, wanted.writes);
  ASSERT_TRUE(header.reply);
  EXPECT_THAT(*header.reply, ElementsAre(wanted.reply->front()));
}

TEST(HeaderV1, CountThatOnlyTheCaptureCutIsTruncated) {
  const Octets start = Encoder().words({xid, 1, 1, 0, 0, 1, 100, 1, 2, 3, 4}).octets();
  HeaderV1 header;
  // 100 segments and the two discriminators behind them fit into the message.
  const auto fits = decode_header_v1(start, 28 + 1600 + 8, header);
  ASSERT_FALSE(fits);
  EXPECT_EQ(fits.error().fault, Fault::truncated);
  EXPECT_THAT(header.writes, ElementsAre(SizeIs(1)));
  const auto does_not = decode_header_v1(start, 28 + 1599, header);
  ASSERT_FALSE(does_not);
  EXPECT_EQ(does_not.error().fault, Fault::invalid);
  EXPECT_EQ(does_not.error().field, "segment count");
}

TEST(HeaderV1, AnInstanceServesAgainWithoutLeftovers) {
  HeaderV1 header;
  ASSERT_TRUE(decode(encode(full(2)), header));
  ASSERT_TRUE(decode(encode({}), header));
  expect_equal(header, {});
  EXPECT_EQ(header.align, 0U);
  EXPECT_EQ(header.thresh, 0U);
  ASSERT_TRUE(decode(Encoder().words({xid, 1, 1, 4, 1, 7, 8}).octets(), header));
  ASSERT_TRUE(decode(Encoder().words({xid, 1, 1, 3}).octets(), header));
  EXPECT_EQ(header.error + header.vers_low + header.vers_high, 0U);
  ASSERT_TRUE(decode(encode(full(1)), header));
  expect_equal(header, full(1));
  header.clear();
  EXPECT_EQ(header.fixed.xid, 0U);
  EXPECT_EQ(header.length, 0U);
}

TEST(HeaderV1, SteadyStateKeepsItsMemory) {
  HeaderV1 header;
  const Octets octets = encode(full(0));
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(decode(octets, header));
  std::vector<const Segment*> before;
  for (const auto& chunk : header.writes) before.push_back(chunk.data());
  before.push_back(header.reply->data());
  ASSERT_TRUE(decode(octets, header));
  for (const auto& chunk : header.writes) {
    if (chunk.empty()) continue;
    EXPECT_THAT(before, testing::Contains(chunk.data()));
  }
  EXPECT_THAT(before, testing::Contains(header.reply->data()));
}

TEST(HeaderV1, ManyChunksDoNotPileUpMemory) {
  Wanted wanted;
  wanted.writes.assign(5000, WriteChunk{{1, 2, 3}});
  wanted.writes.push_back(WriteChunk(5000, Segment{4, 5, 6}));
  HeaderV1 header;
  ASSERT_TRUE(decode(encode(wanted), header));
  EXPECT_EQ(header.writes, wanted.writes);
  header.clear();
  EXPECT_LE(header.spare.size(), 16U);
  for (const auto& chunk : header.spare) EXPECT_LE(chunk.capacity(), 1024U);
}

Segment any_segment() {
  return {*rc::gen::arbitrary<std::uint32_t>(), *rc::gen::arbitrary<std::uint32_t>(),
          *rc::gen::arbitrary<std::uint64_t>()};
}

WriteChunk any_chunk() {
  WriteChunk chunk(*rc::gen::inRange<std::size_t>(0, 5));
  for (auto& segment : chunk) segment = any_segment();
  return chunk;
}

// Only inside a property.
Wanted any_header() {
  Wanted wanted;
  wanted.proc = *rc::gen::inRange<std::uint32_t>(0, 3);
  wanted.reads.resize(*rc::gen::inRange<std::size_t>(0, 6));
  for (auto& read : wanted.reads) read = {*rc::gen::arbitrary<std::uint32_t>(), any_segment()};
  wanted.writes.resize(*rc::gen::inRange<std::size_t>(0, 4));
  for (auto& chunk : wanted.writes) chunk = any_chunk();
  if (*rc::gen::arbitrary<bool>()) wanted.reply = any_chunk();
  return wanted;
}

bool equal(const HeaderV1& header, const Wanted& wanted) {
  if (header.fixed.proc != wanted.proc || header.reads.size() != wanted.reads.size()) return false;
  for (std::size_t i = 0; i < wanted.reads.size(); ++i) {
    if (header.reads[i].position != wanted.reads[i].position || header.reads[i].target != wanted.reads[i].target) {
      return false;
    }
  }
  return header.writes == wanted.writes && header.reply == wanted.reply;
}

TEST(HeaderV1, EncodedThenDecoded) {
  HeaderV1 header;  // one instance for all
  EXPECT_TRUE(rc::check("what is encoded is decoded, whatever follows", [&header] {
    const Wanted wanted = any_header();
    const Octets octets = encode(wanted);
    const auto more = *rc::gen::inRange<std::size_t>(0, 50);
    RC_ASSERT(decode(with(octets, Octets(more, 0xEE)), header).has_value());
    RC_ASSERT(equal(header, wanted));
    RC_ASSERT(header.length == octets.size());
  }));
}

TEST(HeaderV1, AnyCutOfAnyHeaderIsTruncatedOrInvalidNeverBoth) {
  EXPECT_TRUE(rc::check("the wire length decides", [] {
    const Octets octets = encode(any_header());
    const auto length = *rc::gen::inRange<std::size_t>(0, octets.size());
    HeaderV1 header;
    const auto cut = decode_header_v1(prefix(octets, length), octets.size(), header);
    RC_ASSERT(!cut && cut.error().fault == Fault::truncated);
    const auto sent = decode_header_v1(prefix(octets, length), length, header);
    RC_ASSERT(!sent && sent.error().fault == Fault::invalid);
  }));
}

TEST(PositionZero, IsAskedOfEachReadSegment) {
  const ReadSegment zero{0, {0xA1, 4096, 0x1000}};
  const ReadSegment later{116, {0, 0, 0}};
  EXPECT_TRUE(position_zero(zero));
  EXPECT_FALSE(position_zero(later));
  HeaderV1 header;
  EXPECT_FALSE(has_position_zero(header));
  header.writes = {{zero.target}};
  header.reply = {zero.target};
  EXPECT_FALSE(has_position_zero(header)) << "only Read segments have a position";
  header.reads = {later, later};
  EXPECT_FALSE(has_position_zero(header));
  header.reads = {later, zero};
  EXPECT_TRUE(has_position_zero(header)) << "not only the first one counts";
}

TEST(FixedWords, NeedSixteenOctets) {
  const Octets octets = Encoder().words({xid, 2, 7, 10, 99}).octets();
  const auto words = decode_fixed_words(octets, octets.size());
  ASSERT_TRUE(words);
  EXPECT_EQ(words->xid, xid);
  EXPECT_EQ(words->version, 2U);
  EXPECT_EQ(words->credit, 7U);
  EXPECT_EQ(words->proc, 10U);
  for (std::size_t length = 0; length < 16; ++length) {
    EXPECT_EQ(decode_fixed_words(prefix(octets, length), 16).error().fault, Fault::truncated);
    EXPECT_EQ(decode_fixed_words(prefix(octets, length), length).error().fault, Fault::invalid);
  }
}

TEST(Names, OfProceduresAndHeaderTypes) {
  EXPECT_EQ(proc_name(0), "RDMA_MSG");
  EXPECT_EQ(proc_name(1), "RDMA_NOMSG");
  EXPECT_EQ(proc_name(2), "RDMA_MSGP");
  EXPECT_EQ(proc_name(3), "RDMA_DONE");
  EXPECT_EQ(proc_name(4), "RDMA_ERROR");
  EXPECT_EQ(proc_name(5), "");
  EXPECT_EQ(htype_name_v2(3), "");
  EXPECT_EQ(htype_name_v2(4), "RDMA2_ERROR");
  EXPECT_EQ(htype_name_v2(5), "RDMA2_GRANT");
  EXPECT_EQ(htype_name_v2(6), "RDMA2_CONNPROP_MIDDLE");
  EXPECT_EQ(htype_name_v2(7), "RDMA2_CONNPROP_FINAL");
  EXPECT_EQ(htype_name_v2(8), "RDMA2_CALL_EXTERNAL");
  EXPECT_EQ(htype_name_v2(9), "RDMA2_CALL_MIDDLE");
  EXPECT_EQ(htype_name_v2(10), "RDMA2_CALL_INLINE");
  EXPECT_EQ(htype_name_v2(11), "RDMA2_REPLY_EXTERNAL");
  EXPECT_EQ(htype_name_v2(12), "RDMA2_REPLY_MIDDLE");
  EXPECT_EQ(htype_name_v2(13), "RDMA2_REPLY_INLINE");
  EXPECT_EQ(htype_name_v2(14), "");
  EXPECT_EQ(htype_name_v2(0xFFFFFFFF), "");
}

}  // namespace
}  // namespace rpcrdma::wire
