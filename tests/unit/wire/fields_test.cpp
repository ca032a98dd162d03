// SPDX-License-Identifier: GPL-2.0-or-later
// The walk over a version 1 header's fields is held against its decoder, on every truncated and hostile input.
#include "wire/fields.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "encoder.hpp"
#include "wire/rpcrdma_v2.hpp"

namespace rpcrdma::wire {
namespace {

using test::Encoder;
using test::prefix;
using testing::ElementsAre;
using testing::IsEmpty;
using FieldOctets = std::vector<std::uint8_t>;
using FieldWords = std::vector<std::uint32_t>;

class FieldsKept final : public FieldVisitor {
 public:
  void on(const FieldAt& field) override { fields.push_back(field); }
  void payload(std::size_t offset) override { rpc = offset; }

  [[nodiscard]] std::vector<Field> kinds() const {
    std::vector<Field> out;
    for (const FieldAt& f : fields) out.push_back(f.field);
    return out;
  }

  std::vector<FieldAt> fields;
  std::optional<std::size_t> rpc;
};

/// The header that the fields spell. A segment counts when its last field is there.
HeaderV1 spelled(const std::vector<FieldAt>& fields) {
  HeaderV1 out;
  std::uint32_t position = 0;
  Segment segment;
  enum { in_reads, in_writes, in_reply } list = in_reads;
  for (const FieldAt& f : fields) {
    const auto word = static_cast<std::uint32_t>(f.value);
    if (f.field == Field::xid) out.fixed.xid = word;
    if (f.field == Field::version) out.fixed.version = word;
    if (f.field == Field::credit) out.fixed.credit = word;
    if (f.field == Field::proc) out.fixed.proc = word;
    if (f.field == Field::align) out.align = word;
    if (f.field == Field::thresh) out.thresh = word;
    if (f.field == Field::error_code) out.error = word;
    if (f.field == Field::version_low) out.vers_low = word;
    if (f.field == Field::version_high) out.vers_high = word;
    if (f.field == Field::read_end) list = in_writes;
    if (f.field == Field::write_end) list = in_reply;
    if (f.field == Field::segment_count && list == in_writes) out.writes.emplace_back();
    if (f.field == Field::segment_count && list == in_reply) out.reply.emplace();
    if (f.field == Field::position) position = word;
    if (f.field == Field::handle) segment.handle = word;
    if (f.field == Field::length) segment.length = word;
    if (f.field != Field::offset) continue;
    segment.offset = f.value;
    if (list == in_reads) out.reads.push_back({position, segment});
    if (list == in_writes && !out.writes.empty()) out.writes.back().push_back(segment);
    if (list == in_reply && out.reply) out.reply->push_back(segment);
  }
  return out;
}

/// Empty when walk and decoder agree on these octets, and the walk keeps its word.
std::string disagreement(const FieldOctets& octets, std::size_t wire_length) {
  HeaderV1 header;
  const auto decoded = decode_header_v1(octets, wire_length, header);
  FieldsKept kept;
  const auto walked = walk_fields_v1(octets, wire_length, kept);

  if (decoded.has_value() != walked.has_value()) return "one of them refuses";
  if (decoded && *walked != header.length) return "another length";
  if (!decoded && (decoded.error().fault != walked.error().fault || decoded.error().field != walked.error().field ||
                   decoded.error().offset != walked.error().offset)) {
    return "another error: " + std::string(decoded.error().field) + ", " + std::string(walked.error().field);
  }

  std::size_t at = 0;
  for (const FieldAt& f : kept.fields) {
    if (f.offset != at || f.length == 0 || f.offset + f.length > octets.size()) return "a hole, or beyond the octets";
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < f.length; ++i) value = value << 8U | octets[f.offset + i];
    if ((f.length == 4 || f.length == 8) && f.value != value) return "another value";
    at += f.length;
  }
  if (decoded && at != header.length && at != octets.size()) return "the fields end elsewhere";
  const bool carries = decoded && (header.fixed.proc == 0 || header.fixed.proc == 2) && wire_length > header.length;
  if (kept.rpc.has_value() != carries || (carries && *kept.rpc != header.length)) return "the RPC message elsewhere";

  // Of a header that is too short the decoder keeps no list; whoever looks at it wants to see the words.
  const bool too_short = !decoded && decoded.error().field == "header too short";
  HeaderV1 read = spelled(kept.fields);
  if (octets.size() < 16 || wire_length < 16) return header.fixed.xid == 0 ? "" : "fixed words of too few octets";
  if (read.fixed.xid != header.fixed.xid || read.fixed.version != header.fixed.version ||
      read.fixed.credit != header.fixed.credit || read.fixed.proc != header.fixed.proc) {
    return "other fixed words";
  }
  if (too_short) return "";
  // A count that cannot be opens no chunk.
  if (!decoded && decoded.error().field == "segment count" && decoded.error().offset + 4 <= octets.size()) {
    if (read.reply) {
      read.reply.reset();
    } else {
      read.writes.pop_back();
    }
  }
  const auto same_reads = [](const ReadSegment& a, const ReadSegment& b) {
    return a.position == b.position && a.target == b.target;
  };
  if (!std::equal(read.reads.begin(), read.reads.end(), header.reads.begin(), header.reads.end(), same_reads)) {
    return "another Read list";
  }
  if (read.writes != header.writes) return "another Write list";
  if (read.reply != header.reply) return "another Reply chunk";
  if (read.align != header.align || read.thresh != header.thresh) return "another RDMA_MSGP";
  if (read.error != header.error || read.vers_low != header.vers_low || read.vers_high != header.vers_high) {
    return "another error";
  }
  return "";
}

const std::vector<FieldWords>& headers_with_all() {
  static const std::vector<FieldWords> all{
      {7,   1, 32, 0, 1, 64, 0xA, 100, 0, 0x1000, 1, 64,  0xB, 1, 2, 3, 0, 1, 2, 0xC,    200, 0, 0x2000,
       0xD, 1, 0,  1, 1, 0,  0,   1,   1, 5,      6, 0xF, 9,   7, 0, 2, 1, 2, 3, 100003, 3,   6, 0x0},
      {7, 1, 32, 1, 1, 0, 0xA, 100, 0, 0x1000, 0, 0, 1, 2, 1, 2, 3, 4, 5, 6, 7, 8},
      {7, 1, 32, 2, 64, 1024, 0, 1, 1, 1, 2, 3, 4, 0, 0, 7, 1},
      {7, 1, 32, 3},
      {7, 1, 32, 3, 9},
      {7, 2, 32, 4, 1, 1, 2},
      {7, 1, 32, 4, 2, 5},
      {7, 1, 32, 4, 3, 1, 1},
      {7, 1, 32, 5, 1, 1},
      {7, 1, 32, 0, 0, 0, 0},
      {7, 1, 32, 1, 0, 0, 0, 1},
  };
  return all;
}

TEST(FieldsV1, AgreeWithTheDecoderAtEveryCut) {
  for (const FieldWords& words : headers_with_all()) {
    const FieldOctets whole = Encoder().words(words).octets();
    for (std::size_t length = 0; length <= whole.size(); ++length) {
      EXPECT_EQ(disagreement(prefix(whole, length), whole.size()), "") << "captured " << length << " of " << words[3];
      EXPECT_EQ(disagreement(prefix(whole, length), length), "") << "sent " << length << " of " << words[3];
    }
    EXPECT_EQ(disagreement(whole, whole.size() + 100), "");
  }
}

TEST(FieldsV1, AgreeWithTheDecoderOnEachHostileWord) {
  for (const FieldWords& words : headers_with_all()) {
    for (std::size_t at = 3; at < words.size(); ++at) {
      for (const std::uint32_t hostile : {0U, 1U, 2U, 3U, 4U, 5U, 0x10000000U, 0x7FFFFFFFU, 0x80000000U, 0xFFFFFFFFU}) {
        FieldWords changed = words;
        changed[at] = hostile;
        const FieldOctets octets = Encoder().words(changed).octets();
        EXPECT_EQ(disagreement(octets, octets.size()), "") << "word " << at << " " << hostile << " of " << words[3];
        EXPECT_EQ(disagreement(prefix(octets, octets.size() - 6), octets.size()), "") << "word " << at;
        EXPECT_EQ(disagreement(octets, octets.size() + 1000), "") << "word " << at << ", more on the wire";
      }
    }
  }
}

TEST(FieldsV1, AgreeWithTheDecoderOnAnyWords) {
  EXPECT_TRUE(rc::check("walk and decoder agree", [] {
    const auto word = rc::gen::weightedOneOf<std::uint32_t>(
        {{8, rc::gen::inRange<std::uint32_t>(0, 3)}, {1, rc::gen::arbitrary<std::uint32_t>()}});
    const auto proc = *rc::gen::inRange<std::uint32_t>(0, 6);
    const auto body = *rc::gen::container<FieldWords>(word);
    const FieldOctets whole = Encoder().words({1, 1, 1, proc}).words(body).octets();
    const auto length = *rc::gen::inRange<std::size_t>(0, whole.size() + 1);
    const auto wire = *rc::gen::inRange<std::size_t>(length, whole.size() + 40);
    RC_ASSERT(disagreement(prefix(whole, length), wire) == "");
  }));
}

TEST(FieldsV1, AreThoseOfTheSpecification) {
  FieldsKept kept;
  const FieldOctets octets = Encoder().words(headers_with_all()[0]).octets();
  const auto length = walk_fields_v1(octets, octets.size(), kept);
  ASSERT_TRUE(length);
  EXPECT_EQ(kept.rpc, *length);
  using F = Field;
  EXPECT_THAT(
      kept.kinds(),
      ElementsAre(F::xid, F::version, F::credit, F::proc, F::read_item, F::position, F::handle, F::length, F::offset,
                  F::read_item, F::position, F::handle, F::length, F::offset, F::read_end, F::write_item,
                  F::segment_count, F::handle, F::length, F::offset, F::handle, F::length, F::offset, F::write_item,
                  F::segment_count, F::write_end, F::reply_present, F::segment_count, F::handle, F::length, F::offset));
  EXPECT_EQ(kept.fields[8].length, 8U);
  EXPECT_EQ(kept.fields[8].value, 0x1000U);
}

TEST(FieldsV1, OfACutSegmentTheWholeWordsAreThere) {
  FieldsKept kept;
  const FieldOctets octets = Encoder().words({7, 1, 32, 0, 1, 64, 0xA, 100, 0}).octets();
  const auto walked = walk_fields_v1(octets, 100, kept);
  ASSERT_FALSE(walked);
  EXPECT_EQ(walked.error().fault, Fault::truncated);
  using F = Field;
  EXPECT_THAT(kept.kinds(),
              ElementsAre(F::xid, F::version, F::credit, F::proc, F::read_item, F::position, F::handle, F::length));
}

TEST(Fields, GoByTheVersion) {
  const auto kinds = [](const FieldWords& words) {
    FieldsKept kept;
    const FieldOctets octets = Encoder().words(words).octets();
    walk_fields(octets, octets.size(), kept);
    return kept.kinds();
  };
  using F = Field;
  EXPECT_THAT(kinds({}), IsEmpty());
  EXPECT_THAT(kinds({7, 2, 32}), ElementsAre(F::xid, F::version, F::credit));
  EXPECT_THAT(kinds({7, 1, 32, 3}), ElementsAre(F::xid, F::version, F::credit, F::proc));
  EXPECT_THAT(kinds({7, 2, 32, 5}), ElementsAre(F::xid, F::version, F::credit, F::htype));
  EXPECT_THAT(kinds({7, 3, 32, 0, 0, 0, 0}), ElementsAre(F::xid, F::version, F::credit, F::proc, F::unexpected));
  EXPECT_THAT(kinds({7, 3, 32, 4, 1, 1, 2, 0}), ElementsAre(F::xid, F::version, F::credit, F::htype, F::error_code2,
                                                            F::version_low, F::version_high, F::unexpected));
  EXPECT_THAT(kinds({7, 2, 32, 8, 9, 1, 0, 0xA, 100, 0, 0x1000, 0, 0, 0, 0}),
              ElementsAre(F::xid, F::version, F::credit, F::htype, F::inv_handle, F::call_item, F::position, F::handle,
                          F::length, F::offset, F::call_end, F::read_end, F::write_end, F::reply_absent));
  EXPECT_THAT(kinds({7, 2, 32, 7, 1, 6, 5, 0x61626364, 0x65000000}),
              ElementsAre(F::xid, F::version, F::credit, F::htype, F::property_count, F::property_id,
                          F::property_length, F::property_value, F::property_pad));
}

TEST(Fields, HaveNamesAndMeanings) {
  for (std::size_t i = 0; i < field_count; ++i) {
    const FieldText& text = field_text(static_cast<Field>(i));
    EXPECT_FALSE(text.name.empty()) << i;
    EXPECT_TRUE(text.meaning.ends_with('.')) << text.name;
  }
  EXPECT_EQ(field_text(Field::rpc_rest).name, "not RPC");
  EXPECT_EQ(field_text(Field::property_pad).name, "pad");
}

TEST(ValueNames, StandOnceAndEndInAZeroOctet) {
  for (std::size_t i = 0; i < field_count; ++i) {
    const auto field = static_cast<Field>(i);
    std::set<std::uint32_t> values;
    for (const auto& [value, name] : value_names(field)) {
      EXPECT_TRUE(values.insert(value).second) << name;
      EXPECT_EQ(value_name(field, value), name);
      EXPECT_EQ(std::string_view(name.data()), name);
    }
  }
  // RFC 8166 section 4.5, RFC 5531 section 9
  EXPECT_EQ(value_name(Field::error_code, 1), "ERR_VERS");
  EXPECT_EQ(value_name(Field::error_code, 2), "ERR_CHUNK");
  EXPECT_EQ(value_name(Field::error_code, 0), "");
  EXPECT_EQ(value_name(Field::error_code2, 12), "");
  EXPECT_EQ(value_name(Field::accept_state, 4), "GARBAGE_ARGS");
  EXPECT_EQ(value_name(Field::xid, 0), "");
  EXPECT_EQ(value_names(Field::htype).size(), 10U);
}

}  // namespace
}  // namespace rpcrdma::wire
