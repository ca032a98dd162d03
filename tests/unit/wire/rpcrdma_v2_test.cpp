// SPDX-License-Identifier: GPL-2.0-or-later
#include "wire/rpcrdma_v2.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

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
using Kind = Item::Kind;

constexpr std::uint32_t xid = 0x11223344;

class Listing final : public ItemVisitor {
 public:
  void on(const Item& item) override { items.push_back(item); }
  void on(const Property& property) override { properties.push_back(property); }
  [[nodiscard]] const Item* first(Kind kind) const {
    for (const Item& item : items) {
      if (item.kind == kind) return &item;
    }
    return nullptr;
  }
  std::vector<Item> items;
  std::vector<Property> properties;
};

Encoder head(std::uint32_t htype) { return Encoder().words({xid, 2, 9, htype}); }
Encoder& rpc(Encoder& e, std::uint32_t type) { return e.words({xid, type, 2, 100003, 3, 0, 0, 0, 0, 0}); }

struct Message {
  const char* name;
  Octets octets;
  std::size_t header;  ///< its length
  std::size_t behind;  ///< octets of payload or of what does not belong there
};

Octets call_external() {
  return head(8)
      .word(0xC1)
      .words({1, 0, 0xC1, 4096, 0, 0x1000})
      .words({1, 0, 0xC2, 100, 0, 0x9000})
      .word(0)  // rdma_call
      .words({1, 116, 0xA3, 8, 0, 8})
      .word(0)  // rdma_reads
      .words({1, 2, 1, 10, 0, 1, 2, 20, 0xFFFFFFFF, 0xFFFFFFFF})
      .words({1, 0})
      .word(0)  // writes
      .words({1, 1, 0xB1, 1000, 0, 5})
      .octets();
}

std::vector<Message> messages() {
  Encoder call = head(10).words({0, 0, 0, 0});
  Encoder reply = head(13).word(0);
  Encoder first_part = head(9).word(1000);
  Encoder reply_part = head(12).word(4);
  Encoder full =
      head(10).words({0xA1, 1, 116, 0xA1, 5, 0, 8, 0}).words({1, 1, 0xB1, 8, 0, 0, 0}).words({1, 1, 3, 4, 0, 5});
  return {
      {"grant", Encoder().words({0, 2, 40, 5}).octets(), 16, 0},
      {"grant with a body", Encoder().words({0, 2, 40, 5, 1}).octets(), 16, 4},
      {"error VERS", head(4).words({1, 1, 2}).octets(), 28, 0},
      {"error BAD_XDR", head(4).word(2).octets(), 20, 0},
      {"error READ_CHUNKS", head(4).words({6, 0}).octets(), 24, 0},
      {"error WRITE_CHUNKS", head(4).words({7, 1}).octets(), 24, 0},
      {"error SEGMENTS", head(4).words({8, 16}).octets(), 24, 0},
      {"error WRITE_RESOURCE", head(4).words({9, 1, 65536}).octets(), 28, 0},
      {"error REPLY_RESOURCE", head(4).words({10, 8000}).octets(), 24, 0},
      {"error nobody knows", head(4).word(77).octets(), 20, 0},
      {"no properties", head(6).word(0).octets(), 20, 0},
      {"two properties", head(7).words({2, 2, 4, 8192, 5, 4, 1}).octets(), 44, 0},
      {"odd property", head(7).words({1, 4242}).opaque(5).octets(), 36, 0},
      {"call external", call_external(), call_external().size(), 0},
      {"call middle", rpc(first_part, 0).octets(), 20, 40},
      {"call inline", rpc(call, 0).octets(), 32, 40},
      {"call inline with chunks", rpc(full, 0).octets(), 16 + 32 + 28 + 24, 40},
      {"reply external", head(11).words({0, 1, 1, 7, 8, 0, 9}).octets(), 44, 0},
      {"reply middle", rpc(reply_part, 1).octets(), 20, 40},
      {"reply inline", rpc(reply, 1).octets(), 20, 40},
  };
}

TEST(HeaderV2, LengthsOfEveryType) {
  for (const Message& m : messages()) {
    HeaderV2 header;
    ASSERT_TRUE(decode_header_v2(m.octets, m.octets.size(), header)) << m.name;
    EXPECT_EQ(header.length, m.header) << m.name;
    EXPECT_EQ(m.octets.size() - header.length, m.behind) << m.name;
    EXPECT_EQ(header.fixed.version, 2U) << m.name;
  }
}

TEST(HeaderV2, ItemsLeaveNothingOutAndDoNotOverlap) {
  for (const Message& m : messages()) {
    Listing listing;
    ASSERT_TRUE(walk_v2(m.octets, m.octets.size(), listing)) << m.name;
    std::size_t at = 0;
    for (const Item& item : listing.items) {
      EXPECT_EQ(item.offset, at) << m.name << " kind " << static_cast<int>(item.kind);
      at += item.length;
    }
    EXPECT_EQ(at, m.octets.size()) << m.name;
  }
}

TEST(HeaderV2, CutByTheCaptureAtEveryLength) {
  for (const Message& m : messages()) {
    for (std::size_t n = 0; n < m.octets.size(); ++n) {
      const Octets cut = prefix(m.octets, n);
      HeaderV2 header;
      const auto decoded = decode_header_v2(cut, m.octets.size(), header);
      if (n >= m.header) {
        EXPECT_TRUE(decoded) << m.name << " at " << n;
        continue;
      }
      ASSERT_FALSE(decoded) << m.name << " at " << n;
      EXPECT_EQ(decoded.error().fault, Fault::truncated) << m.name << " at " << n << ": " << decoded.error().field;
      EXPECT_LE(decoded.error().offset, n) << m.name;
      if (n >= 16) {
        EXPECT_EQ(header.fixed.credit, m.octets[11]) << m.name;
      }
    }
  }
}

TEST(HeaderV2, CutOnTheWireAtEveryLength) {
  for (const Message& m : messages()) {
    for (std::size_t n = 0; n < m.header; ++n) {
      const Octets cut = prefix(m.octets, n);
      HeaderV2 header;
      const auto decoded = decode_header_v2(cut, n, header);
      ASSERT_FALSE(decoded) << m.name << " at " << n;
      EXPECT_EQ(decoded.error().fault, Fault::invalid) << m.name << " at " << n << ": " << decoded.error().field;
      if (n < 16) {
        EXPECT_EQ(decoded.error().field, "header too short");
      }
    }
  }
}

TEST(HeaderV2, ValuesOfCallExternal) {
  HeaderV2 header;
  ASSERT_TRUE(decode_header_v2(call_external(), call_external().size(), header));
  EXPECT_EQ(header.type(), HeaderType::call_external);
  EXPECT_EQ(header.inv_handle, 0xC1U);
  ASSERT_THAT(header.call_chunk, SizeIs(2));
  EXPECT_EQ(header.call_chunk[0].position, 0U);
  EXPECT_EQ(header.call_chunk[1].target, (Segment{0xC2, 100, 0x9000}));
  ASSERT_THAT(header.lists.reads, SizeIs(1));
  EXPECT_EQ(header.lists.reads[0].position, 116U);
  EXPECT_EQ(header.lists.reads[0].target, (Segment{0xA3, 8, 8}));
  EXPECT_THAT(header.lists.writes,
              ElementsAre(ElementsAre(Segment{1, 10, 1}, Segment{2, 20, 0xFFFFFFFFFFFFFFFF}), IsEmpty()));
  ASSERT_TRUE(header.lists.reply);
  EXPECT_THAT(*header.lists.reply, ElementsAre(Segment{0xB1, 1000, 5}));
  EXPECT_EQ(header.lists.fixed.xid, xid) << "the shared lists know whose they are";
}

TEST(HeaderV2, SegmentsOfTheTreeHaveTheirPlace) {
  Listing listing;
  const Octets octets = call_external();
  ASSERT_TRUE(walk_v2(octets, octets.size(), listing));
  const Item* call = listing.first(Kind::call_segment);
  ASSERT_NE(call, nullptr);
  EXPECT_EQ(call->offset, 20U);
  EXPECT_EQ(call->length, 24U);
  const Item* read = listing.first(Kind::read_segment);
  ASSERT_NE(read, nullptr);
  EXPECT_EQ(read->offset, 72U);
  EXPECT_EQ(read->position, 116U);
  EXPECT_EQ(read->segment.handle, 0xA3U);
  const Item* chunk = listing.first(Kind::write_chunk);
  ASSERT_NE(chunk, nullptr);
  EXPECT_EQ(chunk->value, 2U);
  const Item* written = listing.first(Kind::write_segment);
  ASSERT_NE(written, nullptr);
  EXPECT_EQ(written->offset, chunk->offset + 8);
  EXPECT_EQ(written->length, 16U);
}

TEST(HeaderV2, ErrorBodies) {
  HeaderV2 header;
  ASSERT_TRUE(decode_header_v2(head(4).words({9, 1, 65536}).octets(), 28, header));
  EXPECT_EQ(header.error, static_cast<std::uint32_t>(ErrorCode::write_resource));
  EXPECT_EQ(header.chunk_index, 1U);
  EXPECT_EQ(header.length_needed, 65536U);
  ASSERT_TRUE(decode_header_v2(head(4).words({8, 16}).octets(), 24, header));
  EXPECT_EQ(header.most, 16U);
  EXPECT_EQ(header.chunk_index, 0U) << "nothing is left of the message before";
  ASSERT_TRUE(decode_header_v2(head(4).words({1, 1, 3}).octets(), 28, header));
  EXPECT_EQ(header.vers_low, 1U);
  EXPECT_EQ(header.vers_high, 3U);
  ASSERT_TRUE(decode_header_v2(head(4).words({10, 77}).octets(), 24, header));
  EXPECT_EQ(header.length_needed, 77U);
}

TEST(HeaderV2, ReusedInstanceForgetsEverything) {
  HeaderV2 header;
  ASSERT_TRUE(decode_header_v2(call_external(), call_external().size(), header));
  ASSERT_TRUE(decode_header_v2(Encoder().words({0, 2, 1, 5}).octets(), 16, header));
  EXPECT_THAT(header.call_chunk, IsEmpty());
  EXPECT_THAT(header.lists.reads, IsEmpty());
  EXPECT_THAT(header.lists.writes, IsEmpty());
  EXPECT_FALSE(header.lists.reply);
  EXPECT_EQ(header.inv_handle, 0U);
}

struct PropertyCase {
  const char* name;
  std::vector<std::uint32_t> words;  ///< which, length, data
  Property::Form form;
  std::uint32_t number;
};

TEST(HeaderV2, Properties) {
  using Form = Property::Form;
  const std::vector<PropertyCase> cases{
      {"send size", {1, 4, 8192}, Form::number, 8192},
      {"receive size", {2, 4, 1024}, Form::number, 1024},
      {"segment size", {3, 4, 65536}, Form::number, 65536},
      {"segment count", {4, 4, 8}, Form::number, 8},
      {"reverse", {5, 4, 3}, Form::number, 3},
      {"send size by default", {1, 0}, Form::standard, 4096},
      {"segment size by default", {3, 0}, Form::standard, 1048576},
      {"segment count by default", {4, 0}, Form::standard, 16},
      {"reverse by default", {5, 0}, Form::standard, 0},
      {"two octets", {2, 2, 0x20000000}, Form::too_short, 0},
      {"eight octets", {2, 8, 5, 6}, Form::too_long, 5},
      {"authentication nested", {6, 8, 4, 0x01020304}, Form::nested, 0},
      {"authentication nested, padded", {6, 8, 1, 0x01000000}, Form::nested, 0},
      {"authentication nested, empty", {6, 4, 0}, Form::nested, 0},
      {"authentication flat", {6, 8, 0xDEADBEEF, 0x01020304}, Form::flat, 0},
      {"authentication short", {6, 3, 0x01020300}, Form::flat, 0},
      {"authentication absent", {6, 0}, Form::standard, 0},
      {"unknown", {4242, 4, 7}, Form::unknown, 0},
      {"unknown, empty", {0, 0}, Form::unknown, 0},
  };
  for (const PropertyCase& c : cases) {
    const Octets octets = head(7).word(1).words(c.words).octets();
    HeaderV2 header;
    ASSERT_TRUE(decode_header_v2(octets, octets.size(), header)) << c.name;
    ASSERT_THAT(header.properties, SizeIs(1)) << c.name;
    EXPECT_EQ(header.properties[0].id, c.words[0]) << c.name;
    EXPECT_EQ(header.properties[0].form, c.form) << c.name;
    EXPECT_EQ(header.properties[0].number, c.number) << c.name;
    EXPECT_EQ(header.properties[0].offset, 20U) << c.name;
    EXPECT_EQ(header.properties[0].data_offset, 28U) << c.name;
  }
}

TEST(HeaderV2, HostileCounts) {
  HeaderV2 header;
  const auto field_of = [&](const Octets& octets) {
    const auto decoded = decode_header_v2(octets, octets.size(), header);
    EXPECT_FALSE(decoded);
    if (decoded) return std::string();
    EXPECT_EQ(decoded.error().fault, Fault::invalid);
    return std::string(decoded.error().field);
  };
  EXPECT_EQ(field_of(head(7).word(0xFFFFFFFF).octets()), "property count");
  EXPECT_EQ(field_of(head(7).words({1, 1, 0xFFFFFFFF, 0}).octets()), "property");
  EXPECT_EQ(field_of(head(7).words({1, 1, 0xFFFFFFFD, 0}).octets()), "property");
  EXPECT_EQ(field_of(head(7).words({1, 1, 5, 0}).octets()), "property") << "data or its pad behind the end";
  EXPECT_EQ(field_of(head(13).words({1, 0xFFFFFFFF, 0}).octets()), "segment count");
  EXPECT_EQ(field_of(head(10).words({0, 2}).octets()), "list discriminator");
  EXPECT_EQ(field_of(head(11).words({0, 3}).octets()), "list discriminator");
  EXPECT_EQ(field_of(head(4).octets()), "error code");
}

TEST(HeaderV2, UnknownTypeStaysReadable) {
  for (const std::uint32_t htype : {0U, 1U, 2U, 3U, 14U, 0xFFFFFFFFU}) {
    const Octets octets = head(htype).words({1, 2, 3}).octets();
    HeaderV2 header;
    const auto decoded = decode_header_v2(octets, octets.size(), header);
    ASSERT_FALSE(decoded) << htype;
    EXPECT_EQ(decoded.error().fault, Fault::unsupported) << htype;
    EXPECT_EQ(decoded.error().field, "htype");
    EXPECT_EQ(header.fixed.xid, xid);
    EXPECT_EQ(header.fixed.proc, htype);
    Listing listing;
    static_cast<void>(walk_v2(octets, octets.size(), listing));
    ASSERT_THAT(listing.items, SizeIs(5));
    EXPECT_EQ(listing.items.back().kind, Kind::unknown_body);
    EXPECT_EQ(listing.items.back().offset, 16U);
    EXPECT_EQ(listing.items.back().length, 12U);
  }
}

TEST(HeaderV2, PayloadIsNamedEvenWhereItWasNotCaptured) {
  Encoder e = head(13).word(0);
  const Octets octets = rpc(e, 1).octets();
  Listing listing;
  ASSERT_TRUE(walk_v2(prefix(octets, 24), octets.size(), listing));
  EXPECT_EQ(listing.items.back().kind, Kind::payload);
  EXPECT_EQ(listing.items.back().offset, 20U);
  EXPECT_EQ(listing.items.back().length, 40U);
}

// Messages of drafts 00 to 02 have rdma_flags behind the prefix.
Octets earlier_call(std::uint32_t flags = 0) {
  Encoder e = head(0).words({flags, 0, 0, 0, 0});
  return rpc(e, 0).octets();
}

TEST(EarlierDraft, IsToldFromTheNewest) {
  const auto told = [](const Octets& octets) { return earlier_draft(octets, octets.size()); };
  EXPECT_TRUE(told(earlier_call()));
  EXPECT_TRUE(told(earlier_call(3)));
  EXPECT_FALSE(told(earlier_call(8))) << "no such flag";
  EXPECT_TRUE(told(head(1).words({0, 0xA1, 1, 0, 0xA1, 100, 0, 5, 0, 0, 0}).octets()));
  EXPECT_FALSE(told(head(1).words({0, 0, 0, 0, 0, 7}).octets())) << "something behind the lists";
  EXPECT_TRUE(told(head(5).words({0, 1, 2, 4, 8192}).octets())) << "RDMA2_CONNPROP";
  EXPECT_FALSE(told(head(5).octets())) << "RDMA2_GRANT of the newest draft";
  for (const Message& m : messages()) EXPECT_FALSE(told(m.octets)) << m.name;
}

TEST(EarlierDraft, AVersionOneLayoutIsNoEarlierDraft) {
  // RDMA_MSG as version 1 has it, though its version word says 2, and the same in version 1.
  for (const std::uint32_t version : {1U, 2U}) {
    Encoder e;
    e.words({xid, version, 9, 0, 0, 0, 0});
    EXPECT_FALSE(earlier_draft(rpc(e, 0).octets(), e.size()));
  }
  Encoder one = Encoder().words({xid, 1, 9, 0, 0, 0, 0, 0, 0});
  EXPECT_FALSE(earlier_draft(rpc(one, 0).octets(), one.size())) << "the layout fits, the version does not";
}

TEST(EarlierDraft, IsDecodedWhenAskedFor) {
  HeaderV2 header;
  const Octets call = earlier_call(2);
  ASSERT_TRUE(decode_header_v2(call, call.size(), header, Draft::earlier));
  EXPECT_EQ(header.draft, Draft::earlier);
  EXPECT_EQ(header.flags, 2U);
  EXPECT_EQ(header.length, 36U);
  const Octets error = head(4).words({1, 2}).octets();
  ASSERT_TRUE(decode_header_v2(error, error.size(), header, Draft::earlier));
  EXPECT_EQ(header.error, 2U);
  const Octets properties = head(5).words({0, 1, 2, 4, 8192}).octets();
  ASSERT_TRUE(decode_header_v2(properties, properties.size(), header, Draft::earlier));
  ASSERT_THAT(header.properties, SizeIs(1));
  EXPECT_EQ(header.properties[0].number, 8192U);
  const Octets grant = head(6).word(0).octets();
  ASSERT_TRUE(decode_header_v2(grant, grant.size(), header, Draft::earlier));
  for (const std::uint32_t htype : {2U, 3U, 7U, 10U}) {
    const Octets unknown = head(htype).word(0).octets();
    EXPECT_EQ(decode_header_v2(unknown, unknown.size(), header, Draft::earlier).error().fault, Fault::unsupported);
  }
  for (std::size_t n = 0; n < 36; ++n) {
    EXPECT_EQ(decode_header_v2(prefix(call, n), call.size(), header, Draft::earlier).error().fault, Fault::truncated);
    EXPECT_EQ(decode_header_v2(prefix(call, n), n, header, Draft::earlier).error().fault, Fault::invalid);
  }
}

TEST(HeaderV2, AnyOctetsGiveAnAnswer) {
  EXPECT_TRUE(rc::check("a decoded header lies inside what was captured", [] {
    auto octets = *rc::gen::container<std::vector<std::uint8_t>>(rc::gen::arbitrary<std::uint8_t>());
    const auto htype = *rc::gen::inRange<std::uint8_t>(0, 15);
    if (octets.size() >= 16) {
      for (std::size_t i = 4; i < 15; ++i) octets[i] = 0;
      octets[7] = 2;
      octets[15] = htype;
    }
    HeaderV2 header;
    const auto decoded = decode_header_v2(octets, octets.size(), header);
    if (decoded) {
      RC_ASSERT(header.length <= octets.size());
    } else {
      RC_ASSERT(decoded.error().fault != Fault::truncated);
    }
  }));
}

TEST(Names, OfVersion2) {
  EXPECT_EQ(error_name_v2(0), "");
  EXPECT_EQ(error_name_v2(1), "RDMA2_ERR_VERS");
  EXPECT_EQ(error_name_v2(5), "RDMA2_ERR_INVAL_CONT");
  EXPECT_EQ(error_name_v2(9), "RDMA2_ERR_WRITE_RESOURCE");
  EXPECT_EQ(error_name_v2(11), "RDMA2_ERR_VERS_MISMATCH");
  EXPECT_EQ(error_name_v2(12), "");
  EXPECT_EQ(error_name_v2(100), "RDMA2_ERR_SYSTEM");
  EXPECT_EQ(property_name(1), "Maximum Send Size");
  EXPECT_EQ(property_name(6), "Host Authentication Message");
  EXPECT_EQ(property_name(0), "");
  EXPECT_EQ(property_name(7), "");
  EXPECT_EQ(reverse_level_name(3), "general");
  EXPECT_EQ(reverse_level_name(4), "");
  EXPECT_EQ(property_default(3), 1048576U);
  EXPECT_EQ(property_default(6), std::nullopt);
  EXPECT_EQ(earlier_htype_name(0), "RDMA2_MSG");
  EXPECT_EQ(earlier_htype_name(5), "RDMA2_CONNPROP");
  EXPECT_EQ(earlier_htype_name(7), "");
}

}  // namespace
}  // namespace rpcrdma::wire
