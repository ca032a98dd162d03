// SPDX-License-Identifier: GPL-2.0-or-later
// Errors, versions and the reverse direction on events alone: above all what must not be said when it cannot be known.
#include <gtest/gtest.h>

#include "referee/referee.hpp"
#include "story.hpp"

namespace rpcrdma::referee::story {
namespace {

constexpr trace::TimeNs second = 1'000'000'000;

Octets err_chunk(std::uint32_t xid, std::uint32_t version = 1) { return words({xid, version, 32, 4, 2}); }
Octets err_vers(std::uint32_t xid, std::uint32_t version, std::uint32_t low, std::uint32_t high) {
  return words({xid, version, 32, 4, 1, low, high});
}
/// A Call whose Read list begins with a word that is neither 0 nor 1.
Octets broken(std::uint32_t xid) { return words({xid, 1, 32, 0, 7, 0, 0, xid, 0, 2}); }
Octets probe(std::uint32_t xid, std::uint32_t version) { return words({xid, version, 32, 0, 0, 0, 0, xid, 0, 2}); }

Story& begin(Story& s) { return s.connect().call(1).reply(1).acknowledge(Side::active); }

TEST(ErrorMissing, OnlyWhenTheResponderGoesOn) {
  struct Case {
    const char* what;
    bool acknowledged;
    bool gap;
    trace::TimeNs wait;
    bool answers_others;
    bool said;
  };
  for (const Case& c : {Case{"a second of silence", true, false, second, true, true},
                        Case{"less than a second", true, false, second / 2, true, false},
                        Case{"not proven to have arrived", false, false, second, true, false},
                        Case{"packets of the responder are missing", true, true, second, true, false},
                        Case{"the responder says nothing at all any more", true, false, second, false, false}}) {
    SCOPED_TRACE(c.what);
    Story s;
    begin(s).send(Side::active, broken(2));
    if (c.acknowledged) s.acknowledge(Side::passive);
    if (c.gap) s.gap(Side::passive);
    s.wait(c.wait);
    if (c.answers_others) s.call(3).reply(3);
    s.close(Side::active);
    const Report report = s.end();
    EXPECT_EQ(found(report, RuleId::error_missing).size(), c.said ? 1U : 0U);
    EXPECT_EQ(unchecked(report, RuleId::error_missing), !c.said);
  }
}

TEST(ErrorMissing, ANoteAtTheEndOfTheCapture) {
  Story s;
  begin(s).send(Side::active, broken(2)).acknowledge(Side::passive).wait(second).call(3).reply(3);
  const auto hits = found(s.end(), RuleId::error_missing);
  ASSERT_EQ(hits.size(), 1U);
  EXPECT_EQ(hits.front().severity, Severity::note);
}

TEST(ErrorMissing, ABrokenReplyIsDroppedSilently) {
  Story s;
  begin(s).call(2).send(Side::passive, broken(2)).acknowledge(Side::active).wait(2 * second).call(3).reply(3);
  s.close(Side::active);
  EXPECT_TRUE(found(s.end(), RuleId::error_missing).empty());
}

TEST(ErrorToReply, OfABrokenReplyAsWell) {
  Story s;
  begin(s).call(2).send(Side::passive, broken(2)).send(Side::active, err_chunk(2)).call(3).reply(3);
  s.close(Side::active);
  const Report report = s.end();
  const auto hits = found(report, RuleId::error_to_reply);
  ASSERT_EQ(hits.size(), 1U);
  EXPECT_EQ(hits.front().violator, Party::client);
  EXPECT_TRUE(found(report, RuleId::error_from_requester).empty());
}

TEST(ErrorToReply, NotAcrossAGap) {
  Story s;
  begin(s).gap(Side::passive).send(Side::active, err_chunk(1)).call(3).reply(3).close(Side::active);
  const Report report = s.end();
  EXPECT_TRUE(found(report, RuleId::error_to_reply).empty());
  EXPECT_TRUE(unchecked(report, RuleId::error_to_reply));
}

TEST(ErrorToError, FromEitherSide) {
  Story s;
  begin(s).call(2).send(Side::passive, err_chunk(2)).send(Side::active, err_chunk(2));
  s.call(3).reply(3).close(Side::active);
  const Report report = s.end();
  ASSERT_EQ(found(report, RuleId::error_to_error).size(), 1U);
  EXPECT_EQ(found(report, RuleId::error_to_error).front().violator, Party::client);
  EXPECT_TRUE(found(report, RuleId::error_to_reply).empty());
}

TEST(ErrVers, Ranges) {
  struct Case {
    std::uint32_t refused, low, high;
    bool invalid, unwarranted;
  };
  for (const Case& c : {Case{2, 1, 1, false, false}, Case{3, 1, 2, false, false}, Case{3, 1, 3, true, false},
                        Case{3, 2, 1, true, false}, Case{3, 4, 9, false, false}}) {
    SCOPED_TRACE(c.high);
    Story s;
    s.connect().send(Side::active, probe(1, c.refused)).send(Side::passive, err_vers(1, c.refused, c.low, c.high));
    const Report report = s.end();
    EXPECT_EQ(!found(report, RuleId::err_vers_range_invalid).empty(), c.invalid);
    EXPECT_EQ(!found(report, RuleId::err_vers_unwarranted).empty(), c.unwarranted);
  }
  Story s;
  s.connect().call(1).send(Side::passive, err_vers(1, 1, 1, 1));
  const Report report = s.end();
  EXPECT_EQ(found(report, RuleId::err_vers_range_invalid).size(), 1U);
  EXPECT_EQ(found(report, RuleId::err_vers_unwarranted).size(), 1U);
}

TEST(ErrVers, WithoutItsCallOnlyTheOrderOfTheNumbers) {
  Story s;
  s.adopt().call(1).reply(1).send(Side::passive, err_vers(9, 3, 1, 2)).send(Side::passive, err_vers(10, 3, 2, 1));
  const Report report = s.end();
  EXPECT_EQ(found(report, RuleId::err_vers_range_invalid).size(), 1U);
  EXPECT_TRUE(unchecked(report, RuleId::err_vers_range_invalid));
}

TEST(VersionAfterRefusal, OnlyOnceTheRefusalIsAcknowledged) {
  for (const bool acknowledged : {true, false}) {
    Story s;
    s.connect().send(Side::active, probe(1, 3)).send(Side::passive, err_vers(1, 3, 1, 1));
    if (acknowledged) s.acknowledge(Side::active);
    s.send(Side::active, probe(2, 3));
    EXPECT_EQ(found(s.end(), RuleId::version_after_refusal).size(), acknowledged ? 1U : 0U);
  }
}

// An acknowledgement of the client that changed places with its requests does not tell which of them it sent before.
TEST(VersionAfterRefusal, NotWhereAcknowledgementsChangedPlaces) {
  using Kind = trace::Quality::Kind;
  for (const auto& [kind, known] : {std::pair{Kind::reordered, true}, {Kind::late, true}, {Kind::shuffled, false}}) {
    SCOPED_TRACE(static_cast<int>(kind));
    Story s;
    s.connect().send(Side::active, probe(1, 3)).send(Side::passive, err_vers(1, 3, 1, 1)).acknowledge(Side::active);
    s.disorder(Side::active, kind).send(Side::active, probe(2, 3));
    const Report report = s.end();
    EXPECT_EQ(found(report, RuleId::version_after_refusal).size(), known ? 1U : 0U);
    EXPECT_EQ(unchecked(report, RuleId::version_after_refusal), !known);
    Story t;
    t.connect().call(1).reply(1).acknowledge(Side::active);
    t.disorder(Side::active, kind).send(Side::active, probe(2, 2));
    EXPECT_EQ(found(t.end(), RuleId::version_changed).size(), known ? 1U : 0U);
  }
}

TEST(VersionAfterRefusal, ARefusalThatContradictsItselfRefusesNothing) {
  Story s;
  s.connect().send(Side::active, probe(1, 3)).send(Side::passive, err_vers(1, 3, 1, 3)).acknowledge(Side::active);
  s.send(Side::active, probe(2, 3));
  EXPECT_TRUE(found(s.end(), RuleId::version_after_refusal).empty());
}

TEST(VersionChanged, OnlyBehindAReplyThatHasArrived) {
  for (const bool acknowledged : {true, false}) {
    Story s;
    s.connect().call(1).reply(1);
    if (acknowledged) s.acknowledge(Side::active);
    s.send(Side::active, probe(2, 2));
    const Report report = s.end();
    EXPECT_EQ(found(report, RuleId::version_changed).size(), acknowledged ? 1U : 0U);
    EXPECT_EQ(unchecked(report, RuleId::version_changed), !acknowledged);
  }
}

TEST(ErrorFields, OfABrokenErrorItIsNotJudged) {
  Story s;
  begin(s).call(2).send(Side::passive, words({2, 1, 32, 4, 1, 1}));  // ERR_VERS cut off by its sender
  const Report report = s.end();
  EXPECT_TRUE(found(report, RuleId::error_fields).empty());
  EXPECT_TRUE(found(report, RuleId::error_code_unknown).empty());
  EXPECT_EQ(above_note(report), 1U);
}

Octets callback(std::uint32_t xid) {
  Octets o = words({xid, 1, 2, 0, 0, 0, 0, xid, 0, 2, 0x40000000, 1, 0, 0, 0, 0, 0});
  return o;
}
/// COMPOUND with CREATE_SESSION, of its arguments the client, the sequence and the flags; 2: CONN_BACK_CHAN.
Octets create_session(std::uint32_t xid, std::uint32_t flags = 2) {
  return words({xid, 1, 32, 0, 0, 0, 0, xid, 0, 2, 100003, 4, 1, 0, 0, 0, 0, 0, 1, 1, 43, 0, 9, 1, flags});
}

TEST(ReverseBeforeReady, IsHeldBackUntilTheClientHasSpoken) {
  Story s;
  begin(s).send(Side::passive, callback(7)).call(2).reply(2).close(Side::active);
  const auto hits = found(s.end(), RuleId::reverse_before_ready);
  ASSERT_EQ(hits.size(), 1U);
  EXPECT_EQ(hits.front().severity, Severity::error);
  EXPECT_EQ(hits.front().violator, Party::server);
}

TEST(ReverseBeforeReady, AConsentThatWasDeliveredLateCounts) {
  Story s;
  begin(s);
  const std::uint64_t earlier = ++s.frame;
  s.send(Side::passive, callback(7)).send(Side::active, create_session(2), std::nullopt, earlier).call(3).reply(3);
  EXPECT_TRUE(found(s.end(), RuleId::reverse_before_ready).empty());
}

TEST(ReverseBeforeReady, ASessionWithoutABackChannelIsNoConsent) {
  for (const std::uint32_t flags : {0U, 1U, 2U, 4U, 7U}) {
    Story s;
    begin(s).send(Side::active, create_session(2, flags)).reply(2).send(Side::passive, callback(7)).call(3).reply(3);
    EXPECT_EQ(found(s.end(), RuleId::reverse_before_ready).empty(), (flags & 2U) != 0) << flags;
  }
}

TEST(ReverseBeforeReady, NotDecided) {
  {
    Story s;  // a capture that begins in the middle
    s.adopt().call(1).reply(1).send(Side::passive, callback(7)).call(2).reply(2);
    const Report report = s.end();
    EXPECT_TRUE(found(report, RuleId::reverse_before_ready).empty());
    EXPECT_TRUE(unchecked(report, RuleId::reverse_before_ready));
  }
  {
    Story s;  // a Long Call that nobody has read yet
    Chunks chunks;
    chunks.reads = {{0, {0x10, 200, 0}}};
    begin(s).message(Side::active, 2, 32, chunks, {}).send(Side::passive, callback(7)).call(3).reply(3);
    const Report report = s.end();
    EXPECT_TRUE(found(report, RuleId::reverse_before_ready).empty());
    EXPECT_TRUE(unchecked(report, RuleId::reverse_before_ready));
  }
  {
    Story s;  // the consent at the same moment, behind it in the file
    begin(s).send(Side::passive, callback(7)).send(Side::active, create_session(2)).call(3).reply(3);
    const Report report = s.end();
    EXPECT_TRUE(found(report, RuleId::reverse_before_ready).empty());
    EXPECT_TRUE(unchecked(report, RuleId::reverse_before_ready));
  }
}

/// The table of the mount has every Call that came to an end; a wait for an answer ends with a Reply.
TEST(Refused, WasNoLongWaitForAnAnswer) {
  Story s;
  begin(s).call(2).wait(9 * second).send(Side::passive, err_chunk(2)).call(3).reply(3);
  const Report report = s.end();
  ASSERT_EQ(report.mounts.size(), 1U);
  const auto mounts = report.mounts.begin();
  const MountFacts& mount = *mounts;
  ASSERT_EQ(mount.operations.size(), 1U);
  EXPECT_EQ(mount.operations.front().calls, 3U);
  ASSERT_TRUE(mount.longest_wait);
  EXPECT_LT(mount.longest_wait->seconds, 1.0);
  EXPECT_NE(mount.sentence.find("3 calls, 2 answered, 1 refused"), std::string::npos) << mount.sentence;
  EXPECT_TRUE(found(report, RuleId::long_wait).empty());
}

}  // namespace
}  // namespace rpcrdma::referee::story
