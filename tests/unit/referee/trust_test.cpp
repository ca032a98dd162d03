// SPDX-License-Identifier: GPL-2.0-or-later
// What was open when the capture lost something, and is still known when it is trusted again.
#include <gtest/gtest.h>

#include "story.hpp"

namespace rpcrdma::referee::story {
namespace {

constexpr std::uint32_t slow = 7;
constexpr std::uint32_t buffer = 0x100;
constexpr std::uint32_t many = 300;  // more than it takes to be trusted again, and than are remembered

[[nodiscard]] Chunks to_write(std::uint32_t handle) {
  Chunks chunks;
  chunks.writes = {{{handle, 3000, 0x10000}}};
  return chunks;
}

Story& exchanges(Story& s, std::uint32_t count, std::uint32_t from = 1000) {
  for (std::uint32_t xid = from; xid < from + count; ++xid) s.call(xid).reply(xid);
  return s;
}

// The DREQ that a DREP answers is a packet that the capture lacks, and counts as one. Behind the DREQ nothing is
// missing.
TEST(Trust, FarewellThatIsMissingIsAGap) {
  for (const bool missing : {true, false}) {
    Story s;
    s.connect().call(1).reply(1);
    if (!missing) s.close(Side::active);
    s.close(Side::passive, trace::Disconnect::How::reply);
    const Report report = s.end();
    EXPECT_EQ(report.connections.at(0).gaps, missing ? 1U : 0U);
    EXPECT_EQ(found(report, RuleId::capture_gap).size(), missing ? 1U : 0U);
  }
}

enum class Doubted { by_a_gap_of_the_client, by_a_gap_of_the_server, by_the_beginning };
constexpr Doubted doubts[] = {Doubted::by_a_gap_of_the_client, Doubted::by_a_gap_of_the_server,
                              Doubted::by_the_beginning};

/// A Call that waits, behind it a doubt, and enough behind that.
void begin(Story& s, Doubted doubted, std::uint32_t count = many) {
  if (doubted == Doubted::by_the_beginning) {
    s.adopt();
  } else {
    s.connect();
  }
  s.call(slow, to_write(buffer));
  if (doubted != Doubted::by_the_beginning) {
    s.gap(doubted == Doubted::by_a_gap_of_the_client ? Side::active : Side::passive);
  }
  exchanges(s, count);
}

TEST(OpenAtADoubt, AnAnswerThatComesAtLastIsNoStranger) {
  for (const Doubted doubted : doubts) {
    SCOPED_TRACE(static_cast<int>(doubted));
    Story s;
    begin(s, doubted);
    s.write(Side::passive, buffer, 0x10000, 3000).reply(slow, to_write(buffer));
    exchanges(s, 3, 9000);
    s.close(Side::active);
    const Report report = s.end();
    EXPECT_EQ(above_note(report), 0U);
    EXPECT_FALSE(unchecked(report, RuleId::reply_without_call));
  }
}

TEST(OpenAtADoubt, ACallHangsWhereItsAnswerCannotBeMissing) {
  for (const Doubted doubted : doubts) {
    SCOPED_TRACE(static_cast<int>(doubted));
    Story s;
    begin(s, doubted);
    s.wait(10'000'000'000).acknowledge(Side::passive);
    const Report report = s.end();
    const bool may_be_missing = doubted == Doubted::by_a_gap_of_the_server;
    EXPECT_EQ(found(report, RuleId::call_hangs).size(), may_be_missing ? 0U : 1U);
    ASSERT_EQ(report.mounts.size(), 1U);
    EXPECT_EQ(report.mounts[0].state, may_be_missing ? MountFacts::State::unknown : MountFacts::State::waiting);
  }
}

// What it exposed may have been taken back: who offers the same memory again is not accused, and what is written there
// belongs to the newer Call.
TEST(OpenAtADoubt, ItsMemoryMayBeOfferedAnew) {
  for (const bool gap : {false, true}) {
    Story s;
    s.connect().call(slow, to_write(buffer));
    if (gap) s.gap(Side::passive);
    exchanges(s, many);
    s.call(8, to_write(buffer)).write(Side::passive, buffer, 0x10000, 3000).reply(8, to_write(buffer)).call(9).reply(9);
    s.close(Side::active);
    const Report report = s.end();
    EXPECT_EQ(found(report, RuleId::handle_reused_live).size(), gap ? 0U : 1U);
    EXPECT_EQ(found(report, RuleId::write_bytes_missing).size(), 0U);
  }
}

// A broken Call takes no credit, and one of before the doubt is not known to.
TEST(OpenAtADoubt, CreditsAreCountedFromThereOn) {
  Story s;
  s.connect();
  for (const std::uint32_t xid : {1U, 2U, 3U}) s.call(xid, {}, 4).reply(xid, {}, 4);
  s.call(slow, {}, 4).gap(Side::passive);
  for (const std::uint32_t xid : {4U, 5U, 6U}) s.call(xid, {}, 4).reply(xid, {}, 4);
  s.send(Side::active, words({8, 1, 32, 0, 0, 2, 0, 0}));
  for (std::uint32_t xid = 1000; xid < 1000 + many; ++xid) s.call(xid, {}, 4).reply(xid, {}, 4);
  s.send(Side::passive, words({8, 1, 4, 4, 2}));
  for (const std::uint32_t xid : {7U, 9U}) s.call(xid, {}, 4).reply(xid, {}, 4);
  for (const std::uint32_t xid : {11U, 12U, 13U, 14U}) s.call(xid, {}, 4);
  for (const std::uint32_t xid : {11U, 12U, 13U, 14U}) s.reply(xid, {}, 4);
  EXPECT_EQ(found(s.end(), RuleId::credit_limit_exceeded).size(), 0U);
}

// Of those whose answers may be missing the newest are known; of the others nobody is accused.
TEST(OpenAtADoubt, OnlySoManyAreKept) {
  for (const std::uint32_t lost : {200U, 400U}) {
    Story s;
    s.connect().call(1).reply(1, {}, 500);
    for (std::uint32_t xid = 2000; xid < 2000 + lost; ++xid) s.call(xid, {}, 500);
    s.gap(Side::passive);
    for (std::uint32_t xid = 5000; xid < 7000; ++xid) s.call(xid, {}, 500).reply(xid, {}, 500);
    s.reply(2000, {}, 500).call(9000, {}, 500).reply(9000, {}, 500).close(Side::active);
    const Report report = s.end();
    EXPECT_EQ(above_note(report), 0U);
    EXPECT_EQ(unchecked(report, RuleId::reply_without_call), lost > 256);
  }
}

// What is asked of open Calls does not depend on how many were answered in front of them.
TEST(BehindManyCalls, ARefusedWriteIsKnownToBeMeantForTheOpenOne) {
  for (const std::uint32_t count : {3U, many}) {
    Story s;
    s.connect();
    exchanges(s, count);
    s.call(0xFFFF'FFFF, to_write(buffer)).write(Side::passive, buffer + 1, 0x10000, 3000);
    s.refuse(Side::active, trace::Refusal::Kind::remote_access, trace::Refusal::Refused::write, s.op)
        .close(Side::active);
    const std::vector<Finding> said = found(s.end(), RuleId::rdma_unknown_handle);
    ASSERT_EQ(said.size(), 1U) << count;
    EXPECT_EQ(said.front().severity, Severity::error) << count;
  }
}

TEST(BehindManyCalls, WhatIsRememberedIsWhatIsSaid) {
  for (const std::uint32_t count : {3U, many}) {
    Story s;
    s.connect().call(slow, to_write(buffer)).write(Side::passive, buffer, 0x10000, 3000).reply(slow, to_write(buffer));
    exchanges(s, count);
    s.write(Side::passive, buffer, 0x10000, 100);
    exchanges(s, 3, 9000).close(Side::active);
    const Report report = s.end();
    EXPECT_EQ(found(report, RuleId::rdma_write_after_reply).size(), count == many ? 0U : 1U);
    const std::vector<Finding> unknown = found(report, RuleId::rdma_unknown_handle);
    EXPECT_EQ(unknown.size(), count == many ? 1U : 0U);
    for (const Finding& each : unknown) EXPECT_EQ(each.message.find("ever named"), std::string::npos) << each.message;
  }
}

// Of very many findings of a rule the first are told one by one; the cause is about the one that was refused.
TEST(BehindManyFindings, TheCauseIsNotAnotherOperation) {
  for (const std::uint32_t count : {10U, 250U}) {
    Story s;
    s.connect().call(1).reply(1).call(slow, to_write(buffer)).reply(slow, to_write(buffer));
    for (std::uint32_t i = 0; i < count; ++i) {
      s.write(Side::passive, buffer, 0x10000, 1000 + i);
      exchanges(s, 1, 100 + i);
    }
    s.write(Side::passive, buffer, 0x10000, 2999);
    const std::uint64_t last = s.frame;
    s.refuse(Side::active, trace::Refusal::Kind::remote_access, trace::Refusal::Refused::write, s.op)
        .close(Side::active);
    const Report report = s.end();
    ASSERT_EQ(report.connections.size(), 1U);
    const std::optional<Closed> closed = report.connections.at(0).closed;
    ASSERT_TRUE(closed && closed->cause) << count;
    EXPECT_EQ(closed->cause->message.find(" 1,"), std::string::npos) << closed->cause->message;
    EXPECT_EQ(closed->cause->frames.front(), last) << closed->cause->message;
  }
}

TEST(ManyWrites, MoreThanAreKeptApartLeaveItUnchecked) {
  for (const std::uint32_t pieces : {250U, 300U}) {
    Story s;
    s.connect().call(1).reply(1).call(slow, to_write(buffer));
    for (std::uint32_t i = 0; i < pieces; ++i) s.write(Side::passive, buffer, 0x10000 + i * 10, 5);
    s.reply(slow, to_write(buffer));
    exchanges(s, 3).close(Side::active);
    const Report report = s.end();
    EXPECT_EQ(found(report, RuleId::write_bytes_missing).size(), pieces == 250 ? 1U : 0U);
    EXPECT_EQ(unchecked(report, RuleId::write_bytes_missing), pieces != 250);
  }
}

// Each time that a Call was sent it is owed an answer: an error ends one of them.
TEST(ACallSentTwice, ItsMemoryIsLentUntilBothAreAnswered) {
  const Octets refusal = words({slow, 1, 32, 4, 2});
  Story s;
  s.connect().call(1).reply(1).call(slow, to_write(buffer)).call(slow, to_write(buffer));
  s.send(Side::passive, refusal).write(Side::passive, buffer, 0x10000, 3000).reply(slow, to_write(buffer));
  exchanges(s, 3).close(Side::active);
  const Report report = s.end();
  EXPECT_EQ(found(report, RuleId::rdma_write_after_reply).size(), 0U);
  EXPECT_EQ(found(report, RuleId::rdma_unknown_handle).size(), 0U);
}

TEST(ACallSentTwice, TheMemoryOfEitherIsTakenBack) {
  for (const std::uint32_t handle : {buffer, buffer + 1}) {
    Story s;
    s.connect().call(1).reply(1).call(slow, to_write(buffer)).call(slow, to_write(buffer + 1));
    s.reply(slow).reply(slow).call(2).reply(2).write(Side::passive, handle, 0x10000, 100);
    exchanges(s, 3).close(Side::active);
    EXPECT_EQ(found(s.end(), RuleId::rdma_write_after_reply).size(), 1U) << handle;
  }
}

// A message of the client that was cut before it says what it is may be a Call, and nobody has answered it.
TEST(LastWords, ThatWereCutMayBeACallThatWaits) {
  using State = MountFacts::State;
  struct LastWordsCase {
    const char* what;
    std::size_t kept;     ///< of the client's last message
    std::size_t length;   ///< of it
    bool replied_behind;  ///< the server has sent something since
    trace::TimeNs quiet;
    bool closed;
    State state;
  };
  constexpr trace::TimeNs second = 1'000'000'000;
  const LastWordsCase cases[] = {
      {"it has waited", 8, 120, false, 6 * second, false, State::unknown},
      {"it is whole", 120, 120, false, 6 * second, false, State::waiting},
      {"it is young", 8, 120, false, 4 * second, false, State::working},
      {"the server has sent something since", 8, 120, true, 6 * second, false, State::working},
      {"it is too short for a Call", 8, 16, false, 6 * second, false, State::working},
      {"the connection was closed behind it", 8, 120, false, 0, true, State::unknown},
      {"the connection was closed behind an answer", 8, 120, true, 0, true, State::closed},
  };
  for (const LastWordsCase& c : cases) {
    SCOPED_TRACE(c.what);
    Story s;
    s.connect().call(1).reply(1).call(2).reply(2);
    Octets last = header(3, 32, 0, {});
    const Octets rpc = rpc_call(3);
    last.insert(last.end(), rpc.begin(), rpc.end());
    last.resize(c.length);
    s.cut(Side::active, last, c.kept).acknowledge(Side::passive);
    if (c.replied_behind) s.reply(3);
    if (c.closed) s.close(Side::active);
    s.wait(c.quiet);
    const Report report = s.end();
    ASSERT_EQ(report.mounts.size(), 1U);
    EXPECT_EQ(report.mounts.at(0).state, c.state) << report.mounts.at(0).sentence;
  }
}

constexpr trace::TimeNs a_minute = 61'000'000'000;

// A Call that the capture lacks: what is answered meanwhile proves nothing of it, but that it would take very long.
TEST(UnseenCall, MayBeSlowerThanAllOthers) {
  for (const Doubted doubted : doubts) {
    for (const bool much_later : {false, true}) {
      SCOPED_TRACE(testing::Message() << static_cast<int>(doubted) << (much_later ? ", much later" : ""));
      Story s;
      begin(s, doubted);
      s.reply(slow, to_write(buffer));
      if (much_later) s.wait(a_minute);
      s.write(Side::passive, buffer + 1, 0x10000, 3000).reply(slow + 1, to_write(buffer + 1));
      exchanges(s, 3, 9000);
      s.close(Side::active);
      const Report report = s.end();
      for (const RuleId rule : {RuleId::rdma_unknown_handle, RuleId::reply_without_call}) {
        EXPECT_EQ(found(report, rule).size(), much_later ? 1U : 0U);
        EXPECT_TRUE(unchecked(report, rule) || much_later);
      }
    }
  }
}

TEST(CallSentAgain, KeepsItsMemoryUntilItsLastAnswer) {
  for (const std::uint32_t sent : {1U, 2U}) {
    Story s;
    s.connect().call(1).reply(1).call(slow, to_write(buffer));
    if (sent > 1) s.call(slow, to_write(buffer + 1));
    s.write(Side::passive, buffer, 0x10000, 3000).reply(slow, to_write(buffer));
    exchanges(s, many);
    s.write(Side::passive, buffer + 1, 0x10000, 3000).reply(slow, to_write(buffer + 1));
    exchanges(s, 3, 9000);
    s.close(Side::active);
    const Report report = s.end();
    EXPECT_EQ(above_note(report), sent > 1 ? 0U : 2U) << "its answer comes to nothing that is known";
  }
}

TEST(CallSentAgain, IsForgottenBehindEnoughOfItsKind) {
  Story s;
  s.connect();
  for (std::uint32_t xid = 1; xid <= many; ++xid) s.call(xid).call(xid).reply(xid);
  s.reply(1).reply(many);
  exchanges(s, 3, 9000);
  s.close(Side::active);
  EXPECT_EQ(found(s.end(), RuleId::reply_without_call).size(), 1U);
}

// What stood in front of it is missing, and not for ever.
TEST(OneDirectionAtFirst, IsJudgedFromWhereTheOtherOneComes) {
  for (const bool comes : {false, true}) {
    Story s;
    trace::Adopted half;
    half.connection = 1;
    half.frame = {++s.frame, s.now};
    half.client = {"192.0.2.2", std::nullopt, 17, 0, {}};
    half.server = {"192.0.2.1", std::nullopt, 18, 0, {}};
    half.roles_from = trace::RolesFrom::traffic;
    half.one_way = true;
    s.referee.on(half);
    s.reply(1).reply(2).reply(3);
    if (comes) s.call(4).reply(4).reply(5);
    if (comes) exchanges(s, many).wait(a_minute);
    s.reply(6);
    if (comes) exchanges(s, 3, 9000);
    const Report report = s.end();
    EXPECT_EQ(found(report, RuleId::capture_one_way).size(), comes ? 0U : 1U);
    EXPECT_EQ(found(report, RuleId::reply_without_call).size(), comes ? 1U : 0U);
    EXPECT_EQ(report.connections.size(), 1U);
  }
}

// Long behind the doubt that the cut itself is.
TEST(CutLists, ExcuseTheUseOfAnyMemoryWhileTheirCallIsOpen) {
  for (const bool answered : {false, true}) {
    Story s;
    Octets cut = header(slow, 32, 0, to_write(buffer));
    const Octets rpc = rpc_call(slow);
    cut.insert(cut.end(), rpc.begin(), rpc.end());
    s.connect().cut(Side::active, cut, 36).call(slow + 1).reply(slow + 1);
    if (answered) s.reply(slow);
    exchanges(s, many);
    s.wait(a_minute);
    s.write(Side::passive, buffer, 0x10000, 3000);
    if (!answered) s.reply(slow, to_write(buffer));
    exchanges(s, 3, 9000);
    s.close(Side::active);
    const Report report = s.end();
    EXPECT_EQ(found(report, RuleId::rdma_unknown_handle).size(), answered ? 1U : 0U);
    EXPECT_TRUE(unchecked(report, RuleId::rdma_unknown_handle) || answered);
  }
}

}  // namespace
}  // namespace rpcrdma::referee::story
