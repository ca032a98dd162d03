// SPDX-License-Identifier: GPL-2.0-or-later
// The referee on events alone: each rule's verdict, its near miss, and what it must not say when it cannot know.
#include <gtest/gtest.h>

#include <algorithm>

#include "referee/referee.hpp"
#include "story.hpp"

namespace rpcrdma::referee {
namespace {

using story::Chunks;
using story::found;
using story::Story;
using trace::Side;

Chunks write_chunk(std::uint32_t handle, std::uint64_t offset, std::uint32_t length) {
  Chunks chunks;
  chunks.writes = {{{handle, length, offset}}};
  return chunks;
}
Chunks read_chunk(std::uint32_t position, std::uint32_t handle, std::uint64_t offset, std::uint32_t length) {
  Chunks chunks;
  chunks.reads = {{position, {handle, length, offset}}};
  return chunks;
}

TEST(Referee, HealthyStoryGivesFactsAndNothingAboveANote) {
  Story s;
  s.connect().call(1).reply(1).call(2, write_chunk(0x100, 0x1000, 4096));
  s.write(Side::passive, 0x100, 0x1000, 1000).reply(2, write_chunk(0x100, 0x1000, 1000)).close(Side::active);
  const Report report = s.end();
  ASSERT_EQ(report.connections.size(), 1U);
  const ConnectionFacts& facts = report.connections.at(0);
  EXPECT_EQ(story::above_note(report), 0U);
  EXPECT_EQ(facts.thresholds.client_to_server, 4096U);
  EXPECT_EQ(facts.thresholds.basis, Basis::negotiated);
  EXPECT_EQ(facts.messages.calls, 2U);
  EXPECT_EQ(facts.messages.replies, 2U);
  EXPECT_EQ(facts.operations.write_bytes, 1000U);
  EXPECT_EQ(facts.credits.outstanding_peak, 1U);
  EXPECT_EQ(facts.latency.count, 2U);
  ASSERT_TRUE(facts.closed);
  EXPECT_EQ(facts.closed->by, Party::client);
}

struct SizeCase {
  const char* what;
  bool with_private_data;
  Side side;
  std::size_t size;
  std::optional<RuleId> rule;
};

class InlineSize : public testing::TestWithParam<SizeCase> {};

TEST_P(InlineSize, IsJudgedToTheOctet) {
  const SizeCase& c = GetParam();
  Story s;
  if (c.with_private_data) {
    s.connect(story::private_data(3, 1, false), story::private_data(7, 3, false));  // c2s 4096, s2c 2048
  } else {
    s.connect(std::nullopt, std::nullopt);
  }
  const std::size_t payload = c.size - 28;
  s.message(Side::active, 1, 32, {}, story::rpc_call(1, c.side == Side::active ? payload : 40));
  s.message(Side::passive, 1, 32, {}, story::rpc_reply(1, c.side == Side::passive ? payload : 24));
  const Report report = s.end();
  for (const RuleId rule : {RuleId::inline_threshold_exceeded, RuleId::inline_default_exceeded}) {
    const auto hits = found(report, rule);
    EXPECT_EQ(hits.size(), c.rule == rule ? 1U : 0U) << c.what;
    if (!hits.empty()) {
      EXPECT_EQ(hits.front().violator, c.side == Side::active ? Party::client : Party::server);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Thresholds, InlineSize,
    testing::Values(SizeCase{"call at", true, Side::active, 4096, std::nullopt},
                    SizeCase{"call over", true, Side::active, 4097, RuleId::inline_threshold_exceeded},
                    SizeCase{"reply at", true, Side::passive, 2048, std::nullopt},
                    SizeCase{"reply over", true, Side::passive, 2049, RuleId::inline_threshold_exceeded},
                    SizeCase{"call at default", false, Side::active, 1024, std::nullopt},
                    SizeCase{"call over default", false, Side::active, 1025, RuleId::inline_default_exceeded},
                    SizeCase{"reply at default", false, Side::passive, 1024, std::nullopt},
                    SizeCase{"reply over default", false, Side::passive, 1025, RuleId::inline_default_exceeded}));

TEST(Referee, UnknownThresholdsAccuseNobody) {
  Story s;
  s.adopt().message(Side::active, 1, 32, {}, story::rpc_call(1, 9000));
  const Report report = s.end();
  EXPECT_EQ(story::above_note(report), 0U);
  EXPECT_FALSE(report.connections.at(0).thresholds.client_to_server);
  EXPECT_EQ(found(report, RuleId::send_larger_than_known).size(), 1U);
  EXPECT_EQ(found(report, RuleId::capture_start_missing).size(), 1U);
}

TEST(Referee, SecondCallBeforeTheFirstReply) {
  Story s;
  s.connect().call(1).call(2).reply(1).reply(2);
  const auto hits = found(s.end(), RuleId::credit_initial_exceeded);
  ASSERT_EQ(hits.size(), 1U);
  EXPECT_EQ(hits.front().frames.front(), 5U);
  EXPECT_EQ(hits.front().violator, Party::client);
}

TEST(Referee, AReplyThatComesLateOutOfItsDirectionClearsTheCall) {
  Story s;
  s.connect().call(1);
  s.frame = 9;
  s.call(2);                                                                  // frame 10
  s.message(Side::passive, 1, 32, {}, story::rpc_reply(1), std::nullopt, 7);  // held back, but earlier on the wire
  s.reply(2);
  EXPECT_TRUE(found(s.end(), RuleId::credit_initial_exceeded).empty());
}

TEST(Referee, AWithdrawnFindingIsNoCauseEither) {
  // A Reply invalidates what its Call did not name, and its receiver refuses it: the capture may lack the Call that
  // did.
  for (const bool missing : {false, true}) {
    Story s;
    s.connect().call(1).reply(1).call(2).reply(2, {}, 32, 0xBAD);
    const std::uint64_t reply = s.ordinals[1];
    if (missing) s.gap(Side::active);
    s.refuse(Side::active, trace::Refusal::Kind::remote_access, trace::Refusal::Refused::send, reply);
    s.close(Side::active);
    const Report report = s.end();
    EXPECT_EQ(found(report, RuleId::remote_invalidation_wrong_handle).empty(), missing);
    ASSERT_TRUE(report.connections.at(0).closed.has_value());
    const std::optional<Cause> cause = report.connections.at(0).closed->cause;
    EXPECT_EQ(cause && cause->rule == RuleId::remote_invalidation_wrong_handle, !missing);
  }
}

// What carried messages came through: a REJ behind them is about another attempt, or nothing.
TEST(Referee, ARejBehindMessagesRefusesNothing) {
  for (const bool closed : {false, true}) {
    Story s;
    s.connect().call(1).reply(1);
    if (closed) s.close(Side::active);
    const Report report = s.reject(8).end();
    EXPECT_TRUE(found(report, RuleId::cm_rejected).empty());
    ASSERT_EQ(report.mounts.size(), 1U);
    EXPECT_EQ(report.mounts.at(0).attempts.established, 1U);
    EXPECT_EQ(report.mounts.at(0).attempts.refused, 0U);
  }
  Story s;
  const Report report = s.connect().reject(8).end();
  EXPECT_EQ(found(report, RuleId::cm_rejected).size(), 1U);
  EXPECT_EQ(report.mounts.at(0).attempts.refused, 1U);
}

// The REJ of a client that waited in vain is no answer of the server, and one behind a REP is the client's own refusal,
// unless it says that it has waited in vain: then the REP did not come to it.
TEST(Referee, WhoSentTheRejRefused) {
  constexpr std::uint16_t timeout = 4;
  constexpr std::uint16_t consumer = 28;
  struct Case {
    bool answered;
    Side by;
    std::uint16_t reason;
    std::uint64_t refused;
    RuleId rule;
    Owes owes;
    const char* says;
  };
  const std::vector<Case> cases = {
      {false, Side::passive, consumer, 1, RuleId::cm_rejected, Owes::server, "the server refused the connection"},
      {false, Side::active, timeout, 0, RuleId::cm_unanswered, Owes::unknown, "1 attempt to connect was not answered"},
      {false, Side::active, consumer, 1, RuleId::cm_rejected, Owes::client, "the client refused the connection"},
      {true, Side::active, timeout, 1, RuleId::cm_rejected, Owes::unknown, "did not come through in time"},
      {false, Side::passive, 0, 1, RuleId::cm_rejected, Owes::server, "the server refused the connection, frame"},
      {true, Side::active, consumer, 1, RuleId::cm_rejected, Owes::client, "the client refused the connection"},
  };
  for (const Case& each : cases) {
    Story s;
    if (each.answered) {
      s.connect();
    } else {
      s.request();
    }
    const Report report = s.reject(each.reason, each.by).end();
    ASSERT_EQ(report.mounts.size(), 1U);
    const MountFacts& mount = report.mounts.at(0);
    EXPECT_EQ(mount.state, MountFacts::State::never_up) << each.says;
    EXPECT_EQ(mount.attempts.refused, each.refused) << each.says;
    EXPECT_EQ(found(report, each.rule).size(), 1U) << each.says;
    EXPECT_EQ(mount.owes, each.owes) << mount.sentence;
    EXPECT_NE(mount.sentence.find(each.says), std::string::npos) << mount.sentence;
  }
}

// iWARP: a server that ends TCP has answered. Where the client left first, or something is missing, it has not.
TEST(Referee, WhoEndsTcpInPlaceOfAnAnswerRefuses) {
  using How = trace::Disconnect::How;
  for (const How how : {How::fin, How::reset}) {
    for (const bool client_first : {false, true}) {
      for (const bool missing : {false, true}) {
        Story s;
        s.request();
        if (missing) s.gap(Side::passive);
        if (client_first) s.close(Side::active, how);
        const Report report = s.close(Side::passive, how).end();
        const bool refused = !client_first && !missing;
        EXPECT_EQ(found(report, RuleId::cm_rejected).size(), refused ? 1U : 0U);
        ASSERT_EQ(report.mounts.size(), 1U);
        EXPECT_EQ(report.mounts.at(0).owes, refused ? Owes::server : Owes::unknown);
      }
    }
  }
}

TEST(Referee, WhatWasCutIsACallOnceItIsAnswered) {
  for (const bool answered : {false, true}) {
    Story s;
    s.connect().call(1).reply(1, {}, 2);
    trace::Send cut;
    const story::Octets octets = story::header(2, 32, 0, {});  // an RDMA_MSG of which the capture keeps the header
    cut.connection = 1;
    cut.side = Side::active;
    cut.frame = cut.last = {++s.frame, s.now += 10'000};
    cut.octets = octets;
    cut.wire_length = static_cast<std::uint32_t>(octets.size() + 40);
    cut.ordinal = ++s.ordinals[0];
    s.referee.on(cut);
    if (answered) s.reply(2, {}, 2);
    s.call(3).call(4);
    if (answered) s.call(5);
    s.reply(3, {}, 2).reply(4, {}, 2);
    const Report report = s.end();
    EXPECT_EQ(found(report, RuleId::credit_limit_exceeded).empty(), !answered);
  }
}

TEST(Referee, GapSilencesWhatNeedsEverything) {
  Story s;
  s.connect().call(1).gap(Side::passive).call(2).reply(2).reply(77).write(Side::passive, 0x999, 0, 10);
  const Report report = s.end();
  EXPECT_EQ(story::above_note(report), 0U);
  EXPECT_EQ(found(report, RuleId::capture_gap).size(), 1U);
  EXPECT_FALSE(report.unchecked.empty());
}

TEST(Referee, WritesAreHeldAgainstTheChunk) {
  const Chunks chunk = write_chunk(0x100, 0x1000, 4096);
  {
    Story s;
    s.connect().call(1, chunk).write(Side::passive, 0x100, 0x1000, 4096).reply(1, chunk);
    EXPECT_EQ(story::above_note(s.end()), 0U);
  }
  {
    Story s;
    s.connect().call(1, chunk).write(Side::passive, 0x100, 0x1000, 4097).reply(1, chunk);
    s.call(2).reply(2);
    const auto hits = found(s.end(), RuleId::rdma_write_out_of_bounds);
    ASSERT_EQ(hits.size(), 1U);
    EXPECT_EQ(hits.front().violator, Party::server);
  }
  {
    Story s;
    s.connect().call(1, chunk).reply(1, write_chunk(0x100, 0x1000, 0)).write(Side::passive, 0x100, 0x1000, 10);
    s.call(2).reply(2);
    EXPECT_EQ(found(s.end(), RuleId::rdma_write_after_reply).size(), 1U);
  }
  {
    Story s;  // a Call that offers the memory again may be missing
    s.connect().call(1, chunk).reply(1, write_chunk(0x100, 0x1000, 0)).write(Side::passive, 0x100, 0x1000, 10);
    const Report report = s.end();
    EXPECT_TRUE(found(report, RuleId::rdma_write_after_reply).empty());
    const auto named = [](const Unchecked& each) { return each.rule == RuleId::rdma_write_after_reply; };
    EXPECT_TRUE(std::any_of(report.unchecked.begin(), report.unchecked.end(), named));
  }
  {
    Story s;
    s.connect().call(1, chunk).write(Side::passive, 0x100, 0x1000, 999).reply(1, write_chunk(0x100, 0x1000, 1000));
    EXPECT_EQ(found(s.end(), RuleId::write_bytes_missing).size(), 1U);
  }
  {
    Story s;
    s.connect().call(1, chunk).write(Side::passive, 0x101, 0x1000, 10);
    EXPECT_EQ(found(s.end(), RuleId::rdma_unknown_handle).size(), 1U);
  }
}

TEST(Referee, AHandleThatANewerCallNamesAgainIsInUse) {
  const Chunks chunk = write_chunk(0x100, 0x1000, 100);
  Story s;
  s.connect().call(1, chunk).reply(1, write_chunk(0x100, 0x1000, 0)).call(2, chunk);
  s.write(Side::passive, 0x100, 0x1000, 100).reply(2, chunk);
  EXPECT_EQ(story::above_note(s.end()), 0U);
}

TEST(Referee, EdgesOfMemory) {
  constexpr std::uint64_t last_page = 0xfffffffffffff000ULL;
  {
    Story s;  // no octet, no access
    s.connect().call(1, write_chunk(0x100, 0x1000, 100)).write(Side::passive, 0x100, 0x1000, 0);
    s.reply(1, write_chunk(0x100, 0x1000, 0)).write(Side::passive, 0x999, 0, 0);
    EXPECT_EQ(story::above_note(s.end()), 0U);
  }
  {
    Story s;  // a chunk may end with the address space
    s.connect().call(1, write_chunk(0x100, last_page, 4096)).write(Side::passive, 0x100, last_page, 4096);
    s.reply(1, write_chunk(0x100, last_page, 0));
    EXPECT_EQ(story::above_note(s.end()), 0U);
  }
  {
    Story s;  // exposed to be read, not to be written
    s.connect().call(1, read_chunk(44, 0x100, 0x1000, 100)).write(Side::passive, 0x100, 0x1000, 100).reply(1);
    s.call(2).reply(2);
    EXPECT_EQ(found(s.end(), RuleId::rdma_access_mode).size(), 1U);
  }
}

TEST(Referee, AGapBeforeTheFirstPacketOfASideClearsTheReply) {
  Story s;  // RTU, first Call and its ACK are missing: the Reply is heard before the hole is known
  s.connect();
  s.reply(1).gap(Side::active).call(2).reply(2);
  EXPECT_EQ(story::above_note(s.end()), 0U);
}

TEST(Referee, ACallRightBehindItsReplyInTheFileIsItsCall) {
  Story s;
  s.connect().reply(1).call(1).call(2).reply(2);
  EXPECT_TRUE(found(s.end(), RuleId::reply_without_call).empty());
}

TEST(Referee, InvalidationFollowsBothRBits) {
  const Chunks chunk = write_chunk(0x100, 0x1000, 100);
  const auto run = [&](bool client, bool server, std::uint32_t handle) {
    Story s;
    s.connect(story::private_data(3, 3, client), story::private_data(3, 3, server));
    s.call(1, chunk).reply(1, write_chunk(0x100, 0x1000, 0), 32, handle);
    return s.end();
  };
  EXPECT_EQ(story::above_note(run(true, true, 0x100)), 0U);
  EXPECT_EQ(found(run(false, true, 0x100), RuleId::remote_invalidation_not_allowed).size(), 1U);
  EXPECT_EQ(found(run(true, false, 0x100), RuleId::remote_invalidation_server_r_clear).size(), 1U);
  EXPECT_EQ(story::above_note(run(true, false, 0x100)), 0U);
  EXPECT_EQ(found(run(true, true, 0x200), RuleId::remote_invalidation_wrong_handle).size(), 1U);
}

TEST(Referee, RefusedAccessInsideTheChunkIsTheOwnersFault) {
  Story s;
  s.connect().call(1, write_chunk(0x100, 0x1000, 100)).write(Side::passive, 0x100, 0x1000, 100);
  s.refuse(Side::active, trace::Refusal::Kind::remote_access, trace::Refusal::Refused::write, s.op).close(Side::active);
  const Report report = s.end();
  const auto hits = found(report, RuleId::remote_access_error);
  ASSERT_EQ(hits.size(), 1U);
  EXPECT_EQ(hits.front().violator, Party::client);
  ASSERT_TRUE(report.connections.at(0).closed && report.connections.at(0).closed->cause);
  EXPECT_EQ(report.connections.at(0).closed->cause->rule, RuleId::remote_access_error);
}

TEST(Referee, RefusedUnknownHandleIsTheInitiatorsFault) {
  Story s;  // the octets of the open Call, under a handle that is not its own
  s.connect().call(1, write_chunk(0x100, 0x1000, 100)).write(Side::passive, 0x555, 0x1000, 100);
  s.refuse(Side::active, trace::Refusal::Kind::remote_access, trace::Refusal::Refused::write, s.op).close(Side::active);
  const Report report = s.end();
  const auto hits = found(report, RuleId::rdma_unknown_handle);
  ASSERT_EQ(hits.size(), 1U);
  EXPECT_EQ(hits.front().severity, Severity::error);
  EXPECT_EQ(hits.front().violator, Party::server);
  EXPECT_TRUE(found(report, RuleId::remote_access_error).empty());
  EXPECT_EQ(report.connections.at(0).closed->cause->rule, RuleId::rdma_unknown_handle);
}

TEST(Referee, RefusedUnknownHandleMayStandInACallThatIsMissing) {
  Story s;
  s.connect().call(1).write(Side::passive, 0x555, 0x1000, 100);
  s.refuse(Side::active, trace::Refusal::Kind::remote_access, trace::Refusal::Refused::write, s.op).close(Side::active);
  const Report report = s.end();
  const auto hits = found(report, RuleId::rdma_unknown_handle);
  ASSERT_EQ(hits.size(), 1U);
  EXPECT_EQ(hits.front().severity, Severity::note);
  const auto refused = found(report, RuleId::remote_access_error);
  ASSERT_EQ(refused.size(), 1U);
  EXPECT_EQ(refused.front().severity, Severity::warning);
  EXPECT_EQ(refused.front().violator, std::nullopt);
  ASSERT_TRUE(report.connections.at(0).closed && report.connections.at(0).closed->cause);
  EXPECT_EQ(report.connections.at(0).closed->cause->rule, RuleId::remote_access_error);
  EXPECT_FALSE(report.connections.at(0).closed->cause->proven);
}

// --- pull completion

TEST(PullCompletion, ReadThenDoneIsFine) {
  Story s;
  s.connect().call(1).message(Side::passive, 1, 32, read_chunk(0, 0x700, 0x5000, 5000), {});
  s.read(Side::active, 0x700, 0x5000, 5000).done(Side::active, 1).close(Side::active);
  const Report report = s.end();
  EXPECT_EQ(story::above_note(report), 0U);
  EXPECT_EQ(report.connections.at(0).pull_completion.offered, 1U);
  EXPECT_EQ(report.connections.at(0).pull_completion.completed, 1U);
}

struct MissingCase {
  const char* what;
  int how;  // 0 requester closes, 1 responder closes, 2 capture ends, 3 overdue, 4 requester calls, and closes,
            // 5 responder closes, and nothing is seen behind that
  Severity severity;
};
class PullMissing : public testing::TestWithParam<MissingCase> {};
TEST_P(PullMissing, SeverityFollowsTheEnding) {
  Story s;
  s.connect().call(1).message(Side::passive, 1, 32, read_chunk(0, 0x700, 0x5000, 5000), {});
  s.read(Side::active, 0x700, 0x5000, 5000);
  if (GetParam().how == 4) s.call(2).reply(2);
  if (GetParam().how == 0 || GetParam().how == 4) s.close(Side::active);
  if (GetParam().how == 1 || GetParam().how == 5) s.close(Side::passive);
  if (GetParam().how == 1) s.close(Side::active, trace::Disconnect::How::reply);
  // It counts only while the client is active.
  if (GetParam().how == 3) {
    for (std::uint32_t xid = 2; xid < 6; ++xid) s.wait(21'000'000'000).call(xid).reply(xid);
  }
  const auto hits = found(s.end(), RuleId::pull_completion_missing);
  ASSERT_EQ(hits.size(), 1U) << GetParam().what;
  EXPECT_EQ(hits.front().severity, GetParam().severity) << GetParam().what;
  EXPECT_EQ(hits.front().violator, Party::client);
}
INSTANTIATE_TEST_SUITE_P(Endings, PullMissing,
                         testing::Values(MissingCase{"requester closes", 0, Severity::note},
                                         MissingCase{"requester calls, and closes", 4, Severity::error},
                                         MissingCase{"responder closes", 1, Severity::warning},
                                         MissingCase{"nothing behind the responder's close", 5, Severity::note},
                                         MissingCase{"capture ends", 2, Severity::note},
                                         MissingCase{"overdue", 3, Severity::warning}));

TEST(PullCompletion, StatesAndTheirVerdicts) {
  {
    Story s;
    s.connect().call(1).message(Side::passive, 1, 32, read_chunk(0, 0x700, 0x5000, 5000), {});
    s.read(Side::active, 0x700, 0x5000, 5000, false).done(Side::active, 1).wait(2'000'000);
    s.answer(Side::passive, s.op, 0x700, 0x5000, 5000);
    EXPECT_EQ(found(s.end(), RuleId::done_with_reads_in_flight).size(), 1U);
  }
  {
    Story s;  // one answer just behind may have changed places with it on its way into the file
    s.connect().call(1).message(Side::passive, 1, 32, read_chunk(0, 0x700, 0x5000, 5000), {});
    s.read(Side::active, 0x700, 0x5000, 5000, false).done(Side::active, 1);
    s.answer(Side::passive, s.op, 0x700, 0x5000, 5000);
    EXPECT_TRUE(found(s.end(), RuleId::done_with_reads_in_flight).empty());
  }
  {
    Story s;  // an answer that never shows may only be missing from the capture
    s.connect().call(1).message(Side::passive, 1, 32, read_chunk(0, 0x700, 0x5000, 5000), {});
    s.read(Side::active, 0x700, 0x5000, 5000, false).done(Side::active, 1);
    EXPECT_TRUE(found(s.end(), RuleId::done_with_reads_in_flight).empty());
  }
  {
    Story s;
    s.connect().call(1).message(Side::passive, 1, 32, read_chunk(0, 0x700, 0x5000, 5000), {});
    s.read(Side::active, 0x700, 0x5000, 4999).done(Side::active, 1).done(Side::active, 1);
    const Report report = s.end();
    EXPECT_EQ(found(report, RuleId::done_before_complete_pull).size(), 1U);
    EXPECT_EQ(found(report, RuleId::done_duplicate).size(), 1U);
    EXPECT_EQ(story::above_note(report), 0U);
  }
  {
    Story s;
    s.connect().call(1).message(Side::passive, 1, 32, read_chunk(0, 0x700, 0x5000, 5000), {});
    s.read(Side::active, 0x700, 0x5000, 5000).done(Side::active, 1).read(Side::active, 0x700, 0x5000, 16);
    s.call(2).reply(2);
    EXPECT_EQ(found(s.end(), RuleId::read_after_done).size(), 1U);
  }
  {
    Story s;
    s.connect().call(1).message(Side::passive, 1, 32, read_chunk(0, 0x700, 0x5000, 5000), {});
    s.done(Side::passive, 1);
    EXPECT_EQ(found(s.end(), RuleId::done_wrong_sender).size(), 1U);
  }
}

TEST(PullCompletion, ProfilesDecideWhatAnOfferIs) {
  for (const Profile profile : {Profile::automatic, Profile::rfc8166, Profile::reliable_reply}) {
    Options options;
    options.profile = profile;
    Story s(options);
    s.connect().call(1).message(Side::passive, 1, 32, read_chunk(0, 0x700, 0x5000, 5000), {});
    s.read(Side::active, 0x700, 0x5000, 5000).done(Side::active, 1);
    const Report report = s.end();
    EXPECT_EQ(found(report, RuleId::read_list_in_reply).size(), profile == Profile::rfc8166 ? 1U : 0U);
    EXPECT_EQ(found(report, RuleId::rdma_done_sent).size(), profile == Profile::rfc8166 ? 1U : 0U);
  }
}

TEST(PullCompletion, WhatMayBeACallbackIsJudgedWhenDoneTellsThatItIsNone) {
  for (const bool ended : {true, false}) {
    Options options;
    options.profile = Profile::rfc8166;
    Story s(options);
    s.connect()
        .message(Side::passive, 7, 32, {}, story::rpc_call(7))
        .message(Side::active, 7, 32, {}, story::rpc_reply(7));
    s.call(1).call(2).message(Side::passive, 1, 32, read_chunk(0, 0x700, 0x5000, 5000), {}).reply(2);
    s.read(Side::active, 0x700, 0x5000, 5000);
    if (ended) s.done(Side::active, 1);
    const Report report = s.end();
    EXPECT_EQ(found(report, RuleId::read_list_in_reply).size(), ended ? 1U : 0U);
    EXPECT_NE(story::unchecked(report, RuleId::read_list_in_reply), ended);
  }
}

TEST(PullCompletion, DoneWithoutAnyOfferIsAnErrorOfRfc8166) {
  Story s;
  s.connect().call(1).reply(1).done(Side::active, 9).call(2).reply(2);
  const auto hits = found(s.end(), RuleId::rdma_done_sent);
  ASSERT_EQ(hits.size(), 1U);
  EXPECT_EQ(hits.front().severity, Severity::error);
}

// --- transactions

TEST(Transactions, RepliesWithoutAndAfterTheirCall) {
  Story s;
  s.connect().call(1).reply(1).reply(1).reply(5).call(2).reply(2);
  const Report report = s.end();
  EXPECT_EQ(found(report, RuleId::duplicate_reply).size(), 1U);
  EXPECT_EQ(found(report, RuleId::reply_without_call).size(), 1U);
}

TEST(Transactions, SameXidInBothDirectionsIsFine) {
  Story s;
  s.connect().call(1).reply(1).call(7);
  s.message(Side::passive, 7, 2, {}, story::rpc_call(7)).message(Side::active, 7, 2, {}, story::rpc_reply(7)).reply(7);
  const Report report = s.end();
  EXPECT_EQ(story::above_note(report), 0U);
  EXPECT_EQ(report.connections.at(0).messages.reverse_calls, 1U);
  EXPECT_EQ(report.connections.at(0).messages.reverse_replies, 1U);
}

TEST(Transactions, XidReuseAfterTheReplyIsANewGeneration) {
  Story s;
  s.connect().call(1).reply(1).call(1).reply(1);
  EXPECT_EQ(story::above_note(s.end()), 0U);
}

TEST(Transactions, IdenticalCallAgainIsARetransmission) {
  Story s;
  s.connect().call(1).reply(1).call(2).call(2).reply(2).reply(2);
  const Report report = s.end();
  EXPECT_EQ(found(report, RuleId::call_retransmitted).size(), 1U);
  EXPECT_TRUE(found(report, RuleId::duplicate_reply).empty());
  EXPECT_EQ(story::above_note(report), 0U);
}

TEST(Transactions, WithGssAgainHasAnotherSequenceNumber) {
  const auto call = [](std::uint32_t sequence, std::uint32_t procedure, std::uint32_t flavor) {
    story::Octets rpc;
    for (const std::uint32_t word :
         {2U, 0U, 2U, 100003U, 3U, procedure, flavor, 20U, 1U, 0U, sequence, 1U, 0U, 6U, 0U}) {
      story::put32(rpc, word);
    }
    return rpc;
  };
  const auto again = [&](std::uint32_t procedure, std::uint32_t flavor) {
    Story s;
    s.connect().call(1).reply(1);
    s.message(Side::active, 2, 2, {}, call(7, 1, flavor)).message(Side::active, 2, 2, {}, call(8, procedure, flavor));
    return s.reply(2).reply(2).end();
  };
  constexpr std::uint32_t gss = 6;
  constexpr std::uint32_t sys = 1;
  EXPECT_EQ(found(again(1, gss), RuleId::call_retransmitted).size(), 1U);
  EXPECT_EQ(found(again(2, gss), RuleId::xid_duplicate_outstanding).size(), 1U) << "another procedure";
  EXPECT_EQ(found(again(1, sys), RuleId::xid_duplicate_outstanding).size(), 1U) << "another request";
}

TEST(Transactions, StateIsBoundedByWhatIsOutstanding) {
  Story s;
  s.connect();
  for (std::uint32_t xid = 1; xid <= 5000; ++xid) {
    const Chunks chunk = write_chunk(0x1000 + xid, 0x1000, 100);
    s.call(xid, chunk).write(Side::passive, 0x1000 + xid, 0x1000, 100).reply(xid, chunk);
  }
  const Report report = s.end();
  EXPECT_EQ(story::above_note(report), 0U);
  EXPECT_EQ(report.connections.at(0).messages.calls, 5000U);
}

}  // namespace
}  // namespace rpcrdma::referee
