// SPDX-License-Identifier: GPL-2.0-or-later
// What Replies say, whole and cut at every length.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "nfs_steps_messages.hpp"
#include "wire/nfs_status.hpp"

namespace rpcrdma::wire {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::IsEmpty;

/// xid, REPLY, MSG_ACCEPTED, AUTH_NONE, SUCCESS
Encoder reply_header(std::uint32_t accept_stat = 0) { return words({0x11223344, 1, 0, 0, 0, accept_stat}); }

struct Answer {
  std::uint32_t number;
  std::uint32_t status;
  Encoder results;
};

Encoder reply_of(const std::vector<Answer>& answers) {
  Encoder reply = join({reply_header(), words({answers.back().status}), Encoder().text("tag")});
  reply.word(static_cast<std::uint32_t>(answers.size()));
  for (const Answer& answer : answers) {
    reply.words({answer.number, answer.status}).append(answer.results.octets());
  }
  return reply;
}

ReplySteps read_reply(const Octets& octets, std::size_t wire_length, const Asked& asked = compound_asked,
                      const DataPlaces& places = {}) {
  ReplySteps steps;
  read_reply_steps(octets, wire_length, asked, places, steps);
  return steps;
}
ReplySteps read_reply(const Encoder& reply, const Asked& asked = compound_asked) {
  return read_reply(reply.octets(), reply.size(), asked);
}

/// sr_sessionid, sr_sequenceid, sr_slotid, sr_highest_slotid, sr_target_highest_slotid, sr_status_flags
Answer sequence_answer(std::uint32_t flags = 0) { return {53, 0, join({session(), words({1, 2, 3, 4, flags})})}; }
const Answer putfh_answer{22, 0, {}};

struct ReplyCase {
  std::string name;
  bool callback;
  Answer answer;
  std::string told;
};

std::vector<ReplyCase> reply_cases() {
  const std::string session = session_told;
  const auto s = [] { return test::state(); };
  return {
      {"DELEGRETURN", false, {8, 0, {}}, "8=0"},
      {"DELEGRETURN_revoked", false, {8, 10087, {}}, "8=10087"},
      // wr_callback_id<1>, wr_count, wr_committed, wr_writeverf; cr_consecutive, cr_synchronous
      {"COPY_synchronous", false, {60, 0, words({0, 1, 2, 2, 8, 9, 1, 1})}, "60=0 synchronous count 4294967298"},
      {"COPY_asynchronous",
       false,
       {60, 0, join({words({1}), s(), words({0, 0, 0, 8, 9, 1, 0})})},
       "60=0 asynchronous count 0 callback " + std::string(state_told)},
      {"COPY_requirements", false, {60, 10094, words({1, 1})}, "60=10094"},
      {"COPY_failed", false, {60, 28, {}}, "60=28"},
      // osr_count, osr_complete<1>
      {"OFFLOAD_STATUS_going_on", false, {67, 0, words({0, 512, 0})}, "67=0 count 512"},
      {"OFFLOAD_STATUS_complete", false, {67, 0, words({0, 512, 1, 0})}, "67=0 count 512 complete 0"},
      {"OFFLOAD_STATUS_failed", false, {67, 0, words({0, 512, 1, 5})}, "67=0 count 512 complete 5"},
      {"OFFLOAD_STATUS_unknown", false, {67, 10025, {}}, "67=10025"},
      {"OFFLOAD_CANCEL", false, {66, 0, {}}, "66=0"},
      // csr_sessionid, csr_sequence, csr_flags, two channel_attrs4
      {"CREATE_SESSION",
       false,
       {43, 0, join({test::session(), words({9, 3}), channel(), channel()})},
       "43=0 " + session + " flags 3"},
      {"CREATE_SESSION_stale", false, {43, 10022, {}}, "43=10022"},
      // bctsr_sessid, bctsr_dir, bctsr_use_conn_in_rdma_mode
      {"BIND_CONN_TO_SESSION",
       false,
       {41, 0, join({test::session(), words({3, 0})})},
       "41=0 " + session + " direction 3"},
      // lrs_present, lrs_stateid
      {"LAYOUTRETURN", false, {51, 0, join({words({1}), s()})}, "51=0"},
      {"LAYOUTRETURN_last", false, {51, 0, words({0})}, "51=0"},
      {"RECLAIM_COMPLETE", false, {58, 10054, {}}, "58=10054"},
      {"EXCHANGE_ID",
       false,
       {42, 0, join({words({1, 2, 1, 3, 0, 0, 9}), Encoder().text("owner"), Encoder().text("scope"), words({0})})},
       "42=0 client 4294967298"},
      {"EXCHANGE_ID_known",
       false,
       {42, 0,
        join({words({1, 2, 1, 0x80000003, 0, 0, 9}), Encoder().text("owner"), Encoder().text("scope"), words({0})})},
       "42=0 client 4294967298 known"},
      // count, committed, writeverf
      {"WRITE", false, {38, 0, words({4096, 2, 1, 2})}, "38=0 count 4096"},
      {"DESTROY_CLIENTID", false, {57, 0, {}}, "57=0"},
      {"WRITE_later", false, {38, 10008, {}}, "38=10008"},
      {"CB_RECALL", true, {4, 0, {}}, "4=0"},
      {"CB_RECALL_later", true, {4, 10008, {}}, "4=10008"},
      {"CB_LAYOUTRECALL_none", true, {5, 10060, {}}, "5=10060"},
      {"CB_OFFLOAD", true, {15, 0, {}}, "15=0"},
      // obj_attributes: a bitmap and opaque values
      {"CB_GETATTR", true, {3, 0, join({words({1, 24}), Encoder().opaque(16)})}, "3=0"},
  };
}

class EveryReply : public testing::TestWithParam<ReplyCase> {
 protected:
  [[nodiscard]] static Asked asked() { return GetParam().callback ? callback_asked : compound_asked; }
  [[nodiscard]] static Encoder reply() {
    // csr_sessionid, csr_sequenceid, csr_slotid, csr_highest_slotid, csr_target_highest_slotid
    const Answer first =
        GetParam().callback ? Answer{11, 0, join({session(), words({1, 0, 0, 0})})} : sequence_answer(0x201);
    std::vector<Answer> answers{first, GetParam().answer};
    if (GetParam().answer.status == 0) {
      answers.push_back(GetParam().callback ? Answer{10, 0, {}} : putfh_answer);
    }
    return reply_of(answers);
  }
  [[nodiscard]] static Told expected() {
    Told told{GetParam().callback ? "11=0" : "53=0 " + std::string(session_told) + " flags 513", GetParam().told};
    if (GetParam().answer.status == 0) told.emplace_back(GetParam().callback ? "10=0" : "22=0");
    return told;
  }
};

TEST_P(EveryReply, IsRead) {
  const ReplySteps read = read_reply(reply(), asked());
  EXPECT_TRUE(read.whole()) << read.stopped->field;
  ASSERT_TRUE(read.rpc);
  EXPECT_TRUE(read.rpc->accepted);
  EXPECT_EQ(read.rpc->status, 0U);
  EXPECT_EQ(read.status, GetParam().answer.status);
  EXPECT_EQ(read.announced, expected().size());
  EXPECT_EQ(all_told(read.steps), expected());
}

TEST_P(EveryReply, CutAnywhereIsItsBeginning) {
  const Octets octets = reply().octets();
  for (std::size_t n = 0; n < octets.size(); ++n) {
    const Octets cut = prefix(octets, n);
    const ReplySteps read = read_reply(cut, octets.size(), asked());
    ASSERT_TRUE(read.stopped) << n;
    EXPECT_EQ(read.stopped->fault, Fault::truncated) << n;
    EXPECT_LE(read.stopped->offset, n);
    EXPECT_EQ(read.rpc.has_value(), n >= 24) << n;
    EXPECT_EQ(read.status.has_value(), n >= 28) << n;
    expect_first_of(expected(), all_told(read.steps), n);

    const ReplySteps ended = read_reply(cut, n, asked());
    ASSERT_TRUE(ended.stopped) << n;
    EXPECT_EQ(ended.stopped->fault, Fault::invalid) << n;
  }
}

INSTANTIATE_TEST_SUITE_P(Operations, EveryReply, testing::ValuesIn(reply_cases()),
                         [](const auto& info) { return info.param.name; });

TEST(ReplySteps, SequenceIsReadableFromACutMessage) {
  // 24 octets of RPC, status, empty tag, count; SEQUENCE, its status, its 36 octets
  const Octets octets = join({reply_header(), words({0, 0, 3, 53, 0}), session(), words({1, 2, 3, 4, 0x400})}).octets();
  const ReplySteps read = read_reply(octets, 300000);
  EXPECT_EQ(read.stopped->fault, Fault::truncated);
  ASSERT_EQ(read.steps.size(), 1U);
  const auto* const sequenced = std::get_if<Sequenced>(&read.steps[0].result);
  ASSERT_NE(sequenced, nullptr);
  EXPECT_EQ(sequenced->flags, seq4_backchannel_fault);
}

TEST(ReplySteps, WhatRpcRefuses) {
  for (const std::uint32_t status : {1U, 2U, 3U, 4U, 5U}) {
    const ReplySteps read = read_reply(reply_header(status));
    EXPECT_TRUE(read.whole());
    ASSERT_TRUE(read.rpc);
    EXPECT_EQ(read.rpc->status, status);
    EXPECT_FALSE(read.status);
  }
  const ReplySteps denied = read_reply(words({1, 1, 1, 1, 5}));  // MSG_DENIED, AUTH_ERROR, AUTH_TOOWEAK
  ASSERT_TRUE(denied.rpc);
  EXPECT_FALSE(denied.rpc->accepted);
  EXPECT_TRUE(denied.whole());
  const ReplySteps no_reply = read_reply(words({1, 0, 2, 100003, 4, 1}));
  EXPECT_FALSE(no_reply.rpc);
  EXPECT_EQ(no_reply.stopped->fault, Fault::invalid);
}

TEST(ReplySteps, Nfs3SaysItsStatusFirst) {
  const Asked asked{100003, 3, 7, {}};
  const Octets octets = join({reply_header(), words({10008, 0, 0})}).octets();  // JUKEBOX, no attributes
  for (std::size_t n = 0; n <= octets.size(); ++n) {
    const ReplySteps read = read_reply(prefix(octets, n), octets.size(), asked);
    EXPECT_EQ(read.whole(), n >= 28) << n;
    EXPECT_EQ(read.status.has_value(), n >= 28) << n;
    if (n < 28) {
      EXPECT_EQ(read.stopped->fault, Fault::truncated);
    } else {
      EXPECT_EQ(*read.status, nfs3err_jukebox);
    }
    EXPECT_THAT(read.steps, IsEmpty());
  }
  const ReplySteps nothing = read_reply(reply_header(), {100003, 3, 0, {}});
  EXPECT_TRUE(nothing.whole());
  EXPECT_FALSE(nothing.status);
}

TEST(ReplySteps, OtherProgramsAreNotRead) {
  for (const Asked& asked :
       {Asked{100003, 2, 6, {}}, Asked{100021, 4, 2, {}}, Asked{100003, 4, 2, {}}, Asked{0x40000000, 1, 2, {}}}) {
    const ReplySteps read = read_reply(join({reply_header(), words({0, 0, 0})}), asked);
    ASSERT_TRUE(read.stopped);
    EXPECT_EQ(read.stopped->fault, Fault::unsupported);
    EXPECT_FALSE(read.status);
  }
}

TEST(ReplySteps, UnderRpcsecGss) {
  // A verifier of RPCSEC_GSS with a checksum of four octets
  const Encoder header = words({0x11223344, 1, 0, 6, 4, 77, 0});
  const Encoder results = words({10008, 0, 1, 38, 10008});  // COMPOUND's status, empty tag, WRITE: DELAY
  const auto asked = [](std::optional<Protection> protection) { return Asked{100003, 4, 1, protection}; };
  EXPECT_THAT(all_told(read_reply(join({header, results}), asked(Protection::none)).steps), ElementsAre("38=10008"));
  EXPECT_THAT(all_told(read_reply(join({header, integrity(results)}), asked(Protection::integrity)).steps),
              ElementsAre("38=10008"));
  const ReplySteps nfs3 =
      read_reply(join({header, integrity(words({10008, 0, 0}))}), {100003, 3, 7, Protection::integrity});
  EXPECT_EQ(nfs3.status, nfs3err_jukebox);
  EXPECT_TRUE(nfs3.whole());
  for (const auto protection : {std::optional<Protection>{}, std::optional(Protection::privacy)}) {
    const ReplySteps read = read_reply(join({header, integrity(results)}), asked(protection));
    ASSERT_TRUE(read.stopped);
    EXPECT_EQ(read.stopped->fault, Fault::unsupported);
    EXPECT_FALSE(read.status);
  }
  // Without such a verifier nothing is protected, whoever does not know the Call.
  EXPECT_TRUE(read_reply(reply_of({putfh_answer}), asked({})).whole());
}

TEST(ReplySteps, WhatCannotBe) {
  struct Row {
    std::string name;
    std::vector<Answer> answers;
    Fault fault;
    Told told;
  };
  for (const Row& row : {
           Row{"two callbacks of a copy",
               {{60, 0, join({words({2}), state(), state(), words({0, 0, 0, 8, 9, 1, 0})})}},
               Fault::invalid,
               {"60=0"}},
           Row{"two callbacks, whose words would do for a copy without one",
               {{60, 0, words({2, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 8, 9, 1, 0})}},
               Fault::invalid,
               {"60=0"}},
           Row{"no boolean", {{60, 0, words({0, 0, 0, 2, 8, 9, 1, 2})}}, Fault::invalid, {"60=0"}},
           Row{"two completions", {{67, 0, words({0, 0, 2, 0, 0})}}, Fault::invalid, {"67=0"}},
           Row{"four thousand million completions",
               {{67, 0, words({0, 0, 0xFFFFFFFF, 0, 0})}},
               Fault::invalid,
               {"67=0"}},
           Row{"an operation that does not exist", {{76, 0, {}}}, Fault::unsupported, {"76=0"}},
           Row{"something behind a failure", {{22, 70, {}}, {9, 0, {}}}, Fault::invalid, {"22=70"}},
       }) {
    const ReplySteps read = read_reply(reply_of(row.answers));
    ASSERT_TRUE(read.stopped) << row.name;
    EXPECT_EQ(read.stopped->fault, row.fault) << row.name;
    EXPECT_THAT(all_told(read.steps), ElementsAreArray(row.told)) << row.name;
  }
}

TEST(ReplySteps, HostileCounts) {
  for (const std::uint32_t count : {3U, 0x3FFFFFFFU, 0xFFFFFFFFU}) {
    const Octets octets = join({reply_header(), words({0, 0, count, 22, 0, 22, 0})}).octets();
    const ReplySteps read = read_reply(octets, octets.size());
    ASSERT_TRUE(read.stopped);
    EXPECT_EQ(read.stopped->fault, Fault::invalid) << count;
    const ReplySteps cut = read_reply(octets, std::size_t{0x40000000});
    ASSERT_TRUE(cut.stopped);
    EXPECT_EQ(cut.stopped->fault, count > 0x8000000 ? Fault::invalid : Fault::truncated) << count;
    EXPECT_EQ(cut.steps.size(), count > 0x8000000 ? 0U : 2U);
  }
  const ReplySteps many = read_reply(reply_of(std::vector<Answer>(1000, putfh_answer)));
  EXPECT_EQ(many.steps.size(), steps_limit);
  EXPECT_EQ(many.announced, 1000U);
  EXPECT_EQ(many.stopped->fault, Fault::unsupported);
}

TEST(MovedResults, BehindThemReadingGoesOn) {
  // READ: eof, 4096 octets; GETATTR. The data are here, or a Write chunk holds them.
  for (const bool moved : {false, true}) {
    Encoder reply = reply_of({sequence_answer(), {25, 0, words({1, 4096})}, {9, 0, words({1, 24, 4, 5})}});
    Octets octets = reply.octets();
    if (!moved) {
      const auto at = octets.end() - 24;  // GETATTR's operation, status and four words
      octets.insert(at, 4096, 0x5A);
    }
    NfsItems listed;
    const std::vector<std::uint64_t> lengths(moved ? 1 : 0, 4096);
    list_reply_items(octets, octets.size(), 100003, 4, 1, lengths, listed);
    for (const DataPlaces& places : {DataPlaces(&listed), DataPlaces()}) {
      const ReplySteps read = read_reply(octets, octets.size(), compound_asked, places);
      EXPECT_TRUE(read.whole()) << moved;
      EXPECT_THAT(all_told(read.steps), ElementsAre("53=0 " + std::string(session_told) + " flags 0", "25=0", "9=0"));
    }
  }
}

}  // namespace
}  // namespace rpcrdma::wire
