// SPDX-License-Identifier: GPL-2.0-or-later
#include "wire/ddp.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "octets.hpp"

namespace rpcrdma::wire {
namespace {

using test::hex;
using test::operator+;  // NOLINT(misc-unused-using-decls): argument-dependent lookup does not reach std::vector
using test::Octets;

const Octets write_header = hex("c140 11223344 0102030405060708");
const Octets send_invalidate = hex("4144 deadbeef 00000000 00000007 00000590");
const Octets read_request = hex("11223344 0102030405060708 00001000 55667788 1112131415161718");

TEST(Ddp, TaggedHeader) {
  const auto got = decode_ddp_header(write_header, write_header.size());
  ASSERT_TRUE(got);
  EXPECT_TRUE(got->control.plausible());
  EXPECT_TRUE(got->control.tagged);
  EXPECT_TRUE(got->control.last);
  EXPECT_EQ(got->control.rdmap(), RdmapOpcode::write);
  EXPECT_EQ(got->stag, 0x11223344U);
  EXPECT_EQ(got->offset, 0x0102030405060708U);
  EXPECT_EQ(got->length(), ddp_tagged_length);
}

TEST(Ddp, UntaggedHeader) {
  const auto got = decode_ddp_header(send_invalidate, send_invalidate.size());
  ASSERT_TRUE(got);
  EXPECT_TRUE(got->control.plausible());
  EXPECT_FALSE(got->control.tagged);
  EXPECT_TRUE(got->control.send());
  EXPECT_TRUE(got->control.invalidates());
  EXPECT_EQ(got->invalidate, 0xDEADBEEFU);
  EXPECT_EQ(got->queue, queue_send);
  EXPECT_EQ(got->msn, 7U);
  EXPECT_EQ(got->message_offset, 0x590U);
  EXPECT_EQ(got->length(), ddp_untagged_length);
}

TEST(Ddp, EveryControlWord) {
  std::size_t plausible = 0;
  for (unsigned word = 0; word <= 0xFFFF; ++word) {
    const std::uint8_t octets[2] = {static_cast<std::uint8_t>(word >> 8U), static_cast<std::uint8_t>(word)};
    const DdpControl control = ddp_control(octets);
    const unsigned back = (control.tagged ? 0x8000U : 0U) | (control.last ? 0x4000U : 0U) |
                          (unsigned{control.ddp_reserved} << 10U) | (unsigned{control.ddp_version} << 8U) |
                          (unsigned{control.rdmap_version} << 6U) | (unsigned{control.rdmap_reserved} << 4U) |
                          control.opcode;
    ASSERT_EQ(back, word);
    if (control.plausible()) ++plausible;
  }
  EXPECT_EQ(plausible, 16U);  // eight opcodes, each with and without L
}

TEST(Ddp, CutAtEveryLength) {
  for (const Octets* whole : {&write_header, &send_invalidate, &read_request}) {
    for (std::size_t n = 0; n < whole->size(); ++n) {
      const Bytes part = Bytes(*whole).first(n);
      const bool request = whole == &read_request;
      const auto by_capture = [&] {
        return request ? decode_read_request(part, whole->size()).error().fault
                       : decode_ddp_header(part, whole->size()).error().fault;
      };
      const auto by_sender = [&] {
        return request ? decode_read_request(part, n).error().fault : decode_ddp_header(part, n).error().fault;
      };
      EXPECT_EQ(by_capture(), Fault::truncated) << n;
      EXPECT_EQ(by_sender(), Fault::invalid) << n;
    }
  }
}

TEST(Ddp, ReadRequest) {
  const auto got = decode_read_request(read_request, read_request.size());
  ASSERT_TRUE(got);
  EXPECT_EQ(got->sink_stag, 0x11223344U);
  EXPECT_EQ(got->sink_offset, 0x0102030405060708U);
  EXPECT_EQ(got->size, 0x1000U);
  EXPECT_EQ(got->source_stag, 0x55667788U);
  EXPECT_EQ(got->source_offset, 0x1112131415161718U);
}

TEST(Terminate, ByTheBook) {
  // Remote protection, base or bounds, with the length and the header of the Write that was refused.
  const Octets octets = hex("0101 c000 0594") + write_header;
  const auto got = decode_terminate(octets, octets.size());
  ASSERT_TRUE(got);
  EXPECT_EQ(got->layer, 0);
  EXPECT_EQ(got->etype, 1);
  EXPECT_EQ(got->ecode, 1);
  EXPECT_FALSE(got->low_flags);
  EXPECT_EQ(got->segment_length, 0x594);
  ASSERT_TRUE(got->refused);
  EXPECT_EQ(got->refused->stag, 0x11223344U);
  EXPECT_FALSE(got->refused_read);
}

TEST(Terminate, WithTheReadRequest) {
  const Octets octets = hex("0101 e000 002e 4141 00000000 00000001 00000003 00000000") + read_request;
  const auto got = decode_terminate(octets, octets.size());
  ASSERT_TRUE(got && got->refused && got->refused_read);
  EXPECT_EQ(got->refused->control.rdmap(), RdmapOpcode::read_request);
  EXPECT_EQ(got->refused->msn, 3U);
  EXPECT_EQ(got->refused_read->source_stag, 0x55667788U);
}

TEST(Terminate, FlagsAtTheLowEndAsSiwSendsThem) {
  const Octets octets = hex("2102 0300 0590 0143 00000000 00000000 00000002 00000000");
  const auto got = decode_terminate(octets, octets.size());
  ASSERT_TRUE(got);
  EXPECT_TRUE(got->low_flags);
  EXPECT_EQ(got->layer, 2);
  EXPECT_EQ(got->etype, 1);
  EXPECT_EQ(got->ecode, 2);
  EXPECT_EQ(got->segment_length, 0x590);
  ASSERT_TRUE(got->refused);
  EXPECT_EQ(got->refused->msn, 2U);
}

TEST(Terminate, WithoutAnythingCopied) {
  const auto got = decode_terminate(hex("0007 0000"), 4);
  ASSERT_TRUE(got);
  EXPECT_EQ(got->ecode, 7);
  EXPECT_FALSE(got->segment_length || got->refused || got->refused_read);
}

TEST(Terminate, CutAtEveryLength) {
  const Octets octets = hex("0101 e000 002e 4141 00000000 00000001 00000003 00000000") + read_request;
  for (std::size_t n = 0; n < octets.size(); ++n) {
    const auto got = decode_terminate(Bytes(octets).first(n), octets.size());
    ASSERT_EQ(got.has_value(), n >= 4) << n;
    if (!got) {
      EXPECT_EQ(got.error().fault, Fault::truncated);
      continue;
    }
    EXPECT_EQ(got->ecode, 1);
    EXPECT_EQ(got->segment_length.has_value(), n >= 6) << n;
    EXPECT_EQ(got->refused.has_value(), n >= 24) << n;
    EXPECT_FALSE(got->refused_read) << n;
  }
}

// RFC 5040 section 4.8, RFC 5041 section 8, RFC 5044 section 8, RFC 6581 section 9: every code they name, and no other.
TEST(Terminate, EveryCodeOfTheRfcsHasItsWords) {
  const std::map<std::pair<int, int>, std::set<int>> named = {
      {{0, 0}, {0}},
      {{0, 1}, {0, 1, 2, 3, 4, 9, 255}},
      {{0, 2}, {5, 6, 7, 8, 9, 255}},
      {{1, 0}, {0}},
      {{1, 1}, {0, 1, 2, 3, 4}},
      {{1, 2}, {1, 2, 3, 4, 5, 6}},
      {{2, 0}, {1, 2, 3, 4, 5, 6, 7}},
  };
  std::set<std::string_view> seen;
  for (int layer = 0; layer < 16; ++layer) {
    for (int etype = 0; etype < 16; ++etype) {
      const auto codes = named.find({layer, etype});
      for (int ecode = 0; ecode < 256; ++ecode) {
        const auto words = terminate_words(static_cast<std::uint8_t>(layer), static_cast<std::uint8_t>(etype),
                                           static_cast<std::uint8_t>(ecode));
        const bool wanted = codes != named.end() && codes->second.count(ecode) != 0;
        EXPECT_EQ(!words.empty(), wanted) << layer << '/' << etype << '/' << ecode;
        EXPECT_TRUE(!wanted || seen.insert(words).second) << words;
      }
    }
  }
}

}  // namespace
}  // namespace rpcrdma::wire
