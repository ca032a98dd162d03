// SPDX-License-Identifier: GPL-2.0-or-later
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

#include "encoder.hpp"
#include "wire/rpcrdma.hpp"

namespace rpcrdma::wire {

void PrintTo(Plausible p, std::ostream* out) {
  *out << (p == Plausible::strong ? "strong" : p == Plausible::weak ? "weak" : "no");
}

namespace {

using test::Encoder;
using test::prefix;
using Words = std::vector<std::uint32_t>;
using Octets = std::vector<std::uint8_t>;

constexpr std::uint32_t xid = 0x11223344;

struct Case {
  const char* name;
  Plausible expected;
  Words words;
};

Plausible judge(const Octets& octets) { return plausible_rpcrdma(octets, octets.size()); }

class PlausibleMessage : public testing::TestWithParam<Case> {};

TEST_P(PlausibleMessage, Judged) { EXPECT_EQ(judge(Encoder().words(GetParam().words).octets()), GetParam().expected); }

const auto name_of = [](const auto& info) { return std::string(info.param.name); };

constexpr auto strong = Plausible::strong;
constexpr auto weak = Plausible::weak;
constexpr auto no = Plausible::no;

INSTANTIATE_TEST_SUITE_P(
    Version1, PlausibleMessage,
    testing::Values(
        Case{"call", strong, {xid, 1, 128, 0, 0, 0, 0, xid, 0, 2, 100003, 3, 0, 0, 0, 0, 0}},
        Case{"reply", strong, {xid, 1, 64, 0, 0, 0, 0, xid, 1, 0, 0, 0, 0}},
        Case{"call_with_write_chunk", strong, {xid, 1, 9, 0, 0, 1, 1, 7, 8, 9, 10, 0, 0, xid, 0, 2, 100003, 3, 6}},
        Case{"call_of_rpc_version_3", weak, {xid, 1, 128, 0, 0, 0, 0, xid, 0, 3, 100003, 3, 0, 0, 0, 0, 0}},
        Case{"xid_differs", weak, {xid, 1, 128, 0, 0, 0, 0, xid + 1, 0, 2, 100003, 3, 0, 0, 0, 0, 0}},
        Case{"message_type_2", weak, {xid, 1, 128, 0, 0, 0, 0, xid, 2, 2, 100003, 3, 0, 0, 0, 0, 0}},
        Case{"no_rpc_message", weak, {xid, 1, 128, 0, 0, 0, 0}},
        Case{"broken_list", weak, {xid, 1, 128, 0, 2, 0, 0, xid, 0, 2, 100003, 3, 0}},
        Case{"short_header", weak, {xid, 1, 128, 0, 0}},
        Case{"long_call", strong, {xid, 1, 128, 1, 1, 0, 7, 4096, 0, 0, 0, 0, 0}},
        Case{"long_reply", strong, {xid, 1, 64, 1, 0, 0, 1, 1, 7, 500, 0, 0}},
        Case{"nomsg_without_lists", weak, {xid, 1, 64, 1, 0, 0, 0}},
        Case{"nomsg_with_only_an_empty_chunk", weak, {xid, 1, 64, 1, 0, 0, 1, 0}},
        Case{"nomsg_with_something_behind", weak, {xid, 1, 64, 1, 0, 0, 1, 1, 7, 500, 0, 0, 5}},
        Case{"msgp", strong, {xid, 1, 128, 2, 64, 1024, 0, 0, 0, xid, 0, 2, 100003, 3, 0}},
        Case{"done", strong, {xid, 1, 1, 3}}, Case{"done_with_something_behind", weak, {xid, 1, 1, 3, 0}},
        Case{"err_vers", strong, {xid, 1, 64, 4, 1, 1, 1}},
        Case{"err_vers_upside_down", weak, {xid, 1, 64, 4, 1, 2, 1}},
        Case{"err_vers_huge", weak, {xid, 1, 64, 4, 1, 1, 0xFFFFFFFF}}, Case{"err_chunk", strong, {xid, 1, 64, 4, 2}},
        Case{"err_chunk_of_28", weak, {xid, 1, 64, 4, 2, 0, 0}}, Case{"error_code_7", weak, {xid, 1, 64, 4, 7}},
        Case{"proc_5", no, {xid, 1, 64, 5, 0, 0, 0, xid, 0, 2, 100003, 3, 0}},
        Case{"version_0", no, {xid, 0, 64, 0, 0, 0, 0, xid, 0, 2, 100003, 3, 0}}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    OtherVersions, PlausibleMessage,
    testing::Values(
        // The layout of version 1 under a version that nobody has: worth a second look, no more.
        Case{"version_2_with_proc_0", weak, {xid, 2, 128, 0, 0, 0, 0, xid, 0, 2, 100003, 3, 0, 0, 0, 0, 0}},
        Case{"version_9", weak, {xid, 9, 128, 0, 0, 0, 0, xid, 0, 2, 100003, 3, 0, 0, 0, 0, 0}},
        Case{"version_9_xid_differs", no, {xid, 9, 128, 0, 0, 0, 0, xid + 1, 0, 2, 100003, 3, 0, 0, 0, 0, 0}},
        Case{"version_9_done", no, {xid, 9, 128, 3}}, Case{"version_9_err_vers", weak, {xid, 9, 64, 4, 1, 1, 1}},
        Case{"version_256", no, {xid, 256, 128, 0, 0, 0, 0, xid, 0, 2, 100003, 3, 0, 0, 0, 0, 0}}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Version2, PlausibleMessage,
    testing::Values(Case{"error_vers", strong, {xid, 2, 64, 4, 1, 1, 1}},
                    Case{"error_bad_xdr", strong, {xid, 2, 64, 4, 2}},
                    Case{"error_read_chunks", strong, {xid, 2, 64, 4, 6, 0}},
                    Case{"error_write_resource", strong, {xid, 2, 64, 4, 9, 1, 65536}},
                    Case{"error_system", strong, {xid, 2, 64, 4, 100}},
                    Case{"error_code_12", weak, {xid, 2, 64, 4, 12}},
                    Case{"error_without_its_word", weak, {xid, 2, 64, 4, 6}}, Case{"grant", strong, {0, 2, 40, 5}},
                    Case{"grant_with_xid", weak, {xid, 2, 40, 5}}, Case{"grant_with_body", weak, {0, 2, 40, 5, 0}},
                    Case{"connprop_final", strong, {0, 2, 7, 7, 2, 2, 4, 8192, 5, 4, 1}},
                    Case{"connprop_middle_empty", strong, {0, 2, 7, 6, 0}},
                    Case{"connprop_padded", strong, {0, 2, 7, 7, 1, 99, 3, 0x01020300}},
                    Case{"connprop_count_all_ones", weak, {0, 2, 7, 7, 0xFFFFFFFF, 2, 4, 8192}},
                    Case{"connprop_length_all_ones", weak, {0, 2, 7, 7, 1, 2, 0xFFFFFFFF, 8192}},
                    Case{"connprop_with_more_behind", weak, {0, 2, 7, 7, 1, 2, 4, 8192, 0}},
                    Case{"call_external", strong, {xid, 2, 9, 8, 0, 1, 0, 7, 4096, 0, 0, 0, 0, 0, 0}},
                    Case{"call_external_without_call_chunk", weak, {xid, 2, 9, 8, 0, 0, 0, 0, 0}},
                    Case{"call_external_position_4", weak, {xid, 2, 9, 8, 0, 1, 4, 7, 4096, 0, 0, 0, 0, 0, 0}},
                    Case{"call_middle_first", strong, {xid, 2, 9, 9, 1000, xid, 0, 2, 100003}},
                    Case{"call_middle_later", weak, {xid, 2, 9, 9, 1000, 1, 2, 3, 4}},
                    Case{"call_inline", strong, {xid, 2, 10, 10, 0, 0, 0, 0, xid, 0, 2, 100003}},
                    Case{"call_inline_with_a_reply_in_it", weak, {xid, 2, 10, 10, 0, 0, 0, 0, xid, 1, 0, 0}},
                    Case{"reply_external", strong, {xid, 2, 13, 11, 0, 1, 1, 7, 500, 0, 0}},
                    Case{"reply_external_without_reply_chunk", weak, {xid, 2, 13, 11, 0, 0}},
                    Case{"reply_middle_first", strong, {xid, 2, 13, 12, 1000, xid, 1, 0}},
                    Case{"reply_middle_with_a_call_in_it", weak, {xid, 2, 13, 12, 1000, xid, 0, 2}},
                    Case{"reply_inline", strong, {xid, 2, 13, 13, 0, xid, 1, 0, 0, 0, 0}},
                    Case{"htype_14", no, {xid, 2, 13, 14, 0, xid, 1, 0, 0, 0, 0}}),
    name_of);

TEST(Plausible, CutByTheCaptureIsWeakUntilItCanBeVerified) {
  // The RPC message must show XID, type and, in a Call, the version.
  const Octets call = Encoder().words({xid, 1, 128, 0, 0, 0, 0, xid, 0, 2, 100003, 3, 0, 0, 0, 0, 0}).octets();
  for (std::size_t length = 0; length <= call.size(); ++length) {
    const Plausible expected = length < 16 ? no : length < 40 ? weak : strong;
    EXPECT_EQ(plausible_rpcrdma(prefix(call, length), call.size()), expected) << length;
  }
  const Octets done = Encoder().words({xid, 1, 1, 3}).octets();
  EXPECT_EQ(plausible_rpcrdma(done, 16), strong);
  EXPECT_EQ(plausible_rpcrdma(done, 20), weak);
}

// What else runs over RDMA, as its messages begin.
TEST(Plausible, OtherProtocolsAreNotTakenForRpc) {
  const auto nvme = [](std::uint8_t opcode, std::uint8_t namespace_id) {
    Octets capsule(64, 0);  // little-endian: opcode, flags, command id; namespace
    capsule[0] = opcode;
    capsule[1] = 0x40;
    capsule[2] = 1;
    capsule[4] = namespace_id;
    capsule[24] = 0x10;
    capsule[39] = 0x40;
    return capsule;
  };
  for (int opcode = 0; opcode < 256; ++opcode) {
    for (int id = 0; id < 256; ++id) {
      EXPECT_EQ(judge(nvme(static_cast<std::uint8_t>(opcode), static_cast<std::uint8_t>(id))), no);
    }
  }
  // NVMe completion: 16 octets
  EXPECT_EQ(judge({0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 5, 0, 0, 0}), no);
  EXPECT_EQ(judge({1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0}), no);
  // SMB Direct: negotiation, then data with an SMB2 header
  EXPECT_EQ(judge({0, 1, 0, 1, 0, 0, 255, 0, 0x54, 5, 0, 0, 0, 0, 16, 0, 0, 0, 2, 0}), no);
  Octets smb{10, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 24, 0, 0, 0, 64, 0, 0, 0, 0, 0, 0, 0, 0xFE, 'S', 'M', 'B'};
  smb.resize(24 + 64);
  EXPECT_EQ(judge(smb), no);
  // iSER: 28 octets of header with a write tag, then a SCSI command
  Octets iser{0x11, 0, 0, 0, 0, 1, 0x23, 0x45, 0, 0, 0x7F, 0, 0x11, 0x22, 0, 0};
  iser.resize(28 + 48);
  iser[28] = 1;
  EXPECT_EQ(judge(iser), no);
  // iSER whose tag and address happen to look like version 1 and RDMA_MSG
  iser[4] = iser[5] = iser[6] = 0;
  iser[7] = 1;
  std::fill(iser.begin() + 8, iser.begin() + 16, std::uint8_t{0});
  EXPECT_NE(judge(iser), strong);
}

TEST(Plausible, ZerosOnesAndPatternsAreNot) {
  for (const std::size_t size : {0U, 1U, 15U, 16U, 20U, 28U, 36U, 64U, 200U, 4096U}) {
    for (int value = 0; value < 256; ++value) {
      EXPECT_EQ(judge(Octets(size, static_cast<std::uint8_t>(value))), no) << size << " of " << value;
    }
  }
}

TEST(Plausible, RandomDataIsNot) {
  EXPECT_TRUE(rc::check("random octets are not RPC-over-RDMA", [](const Octets& octets) {
    const auto fixed = decode_fixed_words(octets, octets.size());
    RC_PRE(!fixed || (fixed->version != 1 && fixed->version != 2));  // what says so by chance may be
    RC_ASSERT(judge(octets) == no);
  }));
  EXPECT_TRUE(rc::check("nor do random lists behind good fixed words verify themselves", [](const Octets& octets) {
    RC_ASSERT(judge(Encoder().words({xid, 1, 1, 0}).append(octets).octets()) != strong);
  }));
}

}  // namespace
}  // namespace rpcrdma::wire
