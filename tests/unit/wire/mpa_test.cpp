// SPDX-License-Identifier: GPL-2.0-or-later
#include "wire/mpa.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <string>
#include <vector>

#include "octets.hpp"

namespace rpcrdma::wire {
namespace {

using test::hex;
using test::operator+;  // NOLINT(misc-unused-using-decls): argument-dependent lookup does not reach std::vector
using test::Octets;
using test::text;

const std::string request_key = "MPA ID Req Frame";
const std::string reply_key = "MPA ID Rep Frame";

Octets frame(const std::string& key, const std::string& rest) { return text(key) + hex(rest); }

// Revision 2, C and S, IRD and ORD 16, peer-to-peer with a Read as RTR, then a client's private data.
const Octets enhanced_request = frame(request_key, "50 02 000c 8010 4010 f6ab0e1801010303");
const Octets plain_reply = frame(reply_key, "00 01 0008 f6ab0e1801000303");

TEST(MpaKey, EveryPrefix) {
  for (const std::string& key : {request_key, reply_key}) {
    const Octets whole = text(key + "x");
    for (std::size_t n = 0; n <= whole.size(); ++n) {
      const MpaKey got = mpa_key(Bytes(whole).first(n));
      if (n < mpa_key_length) {
        EXPECT_EQ(got, MpaKey::partial) << n;
      } else {
        EXPECT_EQ(got, key == request_key ? MpaKey::request : MpaKey::reply) << n;
      }
    }
    for (std::size_t n = 0; n < mpa_key_length; ++n) {
      Octets other = whole;
      other[n] ^= 0x20U;
      EXPECT_EQ(mpa_key(other), MpaKey::none) << n;
    }
  }
}

TEST(MpaFrame, EnhancedWordComesBeforeThePrivateData) {
  const auto got = decode_mpa_frame(enhanced_request, enhanced_request.size());
  ASSERT_TRUE(got);
  EXPECT_TRUE(got->header.request);
  EXPECT_EQ(got->header.flags, mpa_flag_crc | mpa_flag_enhanced);
  EXPECT_EQ(got->header.revision, 2);
  EXPECT_EQ(got->header.frame_length(), enhanced_request.size());
  ASSERT_TRUE(got->enhanced);
  EXPECT_TRUE(got->enhanced->peer_to_peer);
  EXPECT_FALSE(got->enhanced->rtr_send);
  EXPECT_FALSE(got->enhanced->rtr_write);
  EXPECT_TRUE(got->enhanced->rtr_read);
  EXPECT_EQ(got->enhanced->ird, 16);
  EXPECT_EQ(got->enhanced->ord, 16);
  EXPECT_EQ(got->private_data_wire_length, 8U);
  EXPECT_THAT(got->private_data, testing::ElementsAreArray(hex("f6ab0e1801010303")));
}

TEST(MpaFrame, WhenThereIsAnEnhancedWord) {
  struct Row {
    const char* rest;
    bool enhanced;
    std::uint32_t private_data;
  };
  for (const Row& row :
       {Row{"10 02 0004 00010002", true, 0}, Row{"10 02 0003 000102", false, 3}, Row{"10 01 0004 00010002", false, 4},
        Row{"00 02 0004 00010002", false, 4}, Row{"10 02 0000", false, 0}, Row{"10 03 0004 00010002", false, 4}}) {
    const Octets octets = frame(reply_key, row.rest);
    const auto got = decode_mpa_frame(octets, octets.size());
    ASSERT_TRUE(got) << row.rest;
    EXPECT_EQ(got->enhanced.has_value(), row.enhanced) << row.rest;
    EXPECT_EQ(got->private_data_wire_length, row.private_data) << row.rest;
    EXPECT_EQ(got->private_data.size(), row.private_data) << row.rest;
  }
}

TEST(MpaFrame, ADepthOfAllOnesTakesNoPart) {
  const Octets octets = frame(reply_key, "10 02 0004 7fff bfff");
  const auto got = decode_mpa_frame(octets, octets.size());
  ASSERT_TRUE(got && got->enhanced);
  EXPECT_FALSE(got->enhanced->ird);
  EXPECT_FALSE(got->enhanced->ord);
  EXPECT_FALSE(got->enhanced->peer_to_peer);
  EXPECT_TRUE(got->enhanced->rtr_send);
  EXPECT_TRUE(got->enhanced->rtr_write);
  EXPECT_FALSE(got->enhanced->rtr_read);
}

TEST(MpaFrame, CutByTheCaptureAtEveryLength) {
  for (std::size_t n = 0; n < enhanced_request.size(); ++n) {
    const auto got = decode_mpa_frame(Bytes(enhanced_request).first(n), enhanced_request.size());
    if (n < mpa_header_length) {
      ASSERT_FALSE(got) << n;
      EXPECT_EQ(got.error().fault, Fault::truncated) << n;
      continue;
    }
    ASSERT_TRUE(got) << n;
    EXPECT_EQ(got->private_data_wire_length, 8U) << n;
    EXPECT_EQ(got->enhanced.has_value(), n >= 24) << n;
    EXPECT_EQ(got->private_data.size(), n < 24 ? 0 : n - 24) << n;
  }
}

TEST(MpaFrame, CutByItsSenderAtEveryLength) {
  for (std::size_t n = 0; n < plain_reply.size(); ++n) {
    const auto got = decode_mpa_frame(Bytes(plain_reply).first(n), n);
    ASSERT_FALSE(got) << n;
    EXPECT_EQ(got.error().fault, Fault::invalid) << n;
  }
  EXPECT_TRUE(decode_mpa_frame(plain_reply, plain_reply.size()));
  const Octets more = plain_reply + hex("00112233");
  const auto got = decode_mpa_frame(more, more.size());
  ASSERT_TRUE(got);
  EXPECT_EQ(got->private_data.size(), 8U);
}

TEST(Fpdu, SizeIsAMultipleOfFourWithTheCrcBehind) {
  EXPECT_EQ(fpdu_size(0), 8U);
  EXPECT_EQ(fpdu_size(14), 20U);
  EXPECT_EQ(fpdu_size(15), 24U);
  EXPECT_EQ(fpdu_size(18), 24U);
  EXPECT_EQ(fpdu_size(65535), 65544U);
  for (std::uint32_t length = 0; length <= 0xFFFF; ++length) {
    const std::uint32_t size = fpdu_size(static_cast<std::uint16_t>(length));
    ASSERT_EQ(size % 4, 0U);
    ASSERT_GE(size, length + 6);
    ASSERT_LE(size, length + 9);
  }
}

/// What the arithmetic must agree with: a walk octet by octet.
struct Walk {
  Markers markers;
  [[nodiscard]] bool marker(std::uint64_t p) const {
    return markers.used && (p - markers.base) % Markers::interval < Markers::octets;
  }
  [[nodiscard]] std::uint64_t after(std::uint64_t p, std::uint64_t count) const {
    while (marker(p)) ++p;
    while (count > 0) {
      if (!marker(p)) --count;
      ++p;
    }
    return p;
  }
  [[nodiscard]] std::uint64_t plain(std::uint64_t from, std::uint64_t to) const {
    std::uint64_t n = 0;
    for (; from < to; ++from) n += marker(from) ? 0 : 1;
    return n;
  }
};

TEST(Markers, AgreeWithAWalkOverTheOctets) {
  EXPECT_TRUE(rc::check("after, plain, inside, until_next", [] {
    const Markers markers{*rc::gen::arbitrary<bool>(), *rc::gen::inRange<std::uint64_t>(0, 600)};
    const Walk walk{markers};
    const auto from = markers.base + *rc::gen::inRange<std::uint64_t>(0, 2000);
    const auto count = *rc::gen::inRange<std::uint64_t>(0, 3000);
    const auto end = markers.after(from, count);
    if (count > 0 || markers.inside(from) == 0) RC_ASSERT(end == walk.after(from, count));
    RC_ASSERT(markers.plain(from, from + count) == walk.plain(from, from + count));
    RC_ASSERT((markers.inside(from) != 0) == walk.marker(from));
    if (markers.used && markers.inside(from) == 0) RC_ASSERT(walk.marker(from + markers.until_next(from)));
  }));
}

TEST(Markers, TheFirstOneStandsAtTheFirstOctet) {
  const Markers markers{true, 1000};
  EXPECT_EQ(markers.inside(1000), 4U);
  EXPECT_EQ(markers.inside(1003), 1U);
  EXPECT_EQ(markers.inside(1004), 0U);
  EXPECT_EQ(markers.until_next(1004), 508U);
  EXPECT_EQ(markers.after(1000, 508), 1512U);
  EXPECT_EQ(markers.after(1000, 509), 1517U);
}

}  // namespace
}  // namespace rpcrdma::wire
