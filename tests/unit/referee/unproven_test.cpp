// SPDX-License-Identifier: GPL-2.0-or-later
// Accusations that would rest on what the capture does not show.
#include <gtest/gtest.h>

#include "story.hpp"

namespace rpcrdma::referee::story {
namespace {

using Kind = trace::Quality::Kind;

constexpr std::uint32_t lent = 0x100;

/// A message of which, with `hole`, a packet in the middle is missing.
void invalidating(Story& s, Side side, const Octets& octets, bool hole) {
  trace::Send event;
  event.connection = 1;
  event.side = side;
  event.frame = event.last = {++s.frame, s.now += 10'000};
  event.octets = octets;
  event.wire_length = static_cast<std::uint32_t>(octets.size());
  event.invalidated = lent;
  event.holes = hole;
  event.ordinal = ++s.ordinals[static_cast<std::size_t>(side)];
  s.referee.on(event);
}

// The last packet is the one that invalidates, and may be another message's.
TEST(Unproven, WhatAMessageWithAHoleInvalidates) {
  for (const bool hole : {false, true}) {
    Story one;
    one.connect().call(1).reply(1);
    Octets call = header(2, 32, 0, {});
    const Octets rpc = rpc_call(2);
    call.insert(call.end(), rpc.begin(), rpc.end());
    invalidating(one, Side::active, call, hole);
    const Report first = one.end();
    EXPECT_EQ(found(first, RuleId::remote_invalidation_not_reply).size(), hole ? 0U : 1U);
    EXPECT_EQ(unchecked(first, RuleId::remote_invalidation_not_reply), hole);

    const Octets grant = words({0, 2, 32, 5});
    Story two;
    two.connect().send(Side::active, grant).send(Side::passive, grant);
    invalidating(two, Side::active, grant, hole);
    const Report second = two.end();
    EXPECT_EQ(found(second, RuleId::v2_inv_on_control).size(), hole ? 0U : 1U);
    EXPECT_EQ(unchecked(second, RuleId::v2_inv_on_control), hole);
  }
}

// What was accused by the order of the file is withdrawn with it, all of an episode.
TEST(Unproven, CallsInFrontOfTheFirstReplyInTheFileOnly) {
  for (const bool skewed : {false, true}) {
    Story s;
    s.connect().call(1).call(2).call(3).call(4).reply(1);
    if (skewed) s.disorder(Side::active, Kind::late);
    s.reply(2).reply(3).reply(4).close(Side::active);
    const Report report = s.end();
    const std::vector<Finding> said = found(report, RuleId::credit_initial_exceeded);
    EXPECT_EQ(said.size(), skewed ? 0U : 1U);
    if (!skewed && !said.empty()) {
      EXPECT_EQ(said.front().occurrences, 3U);
    }
    EXPECT_EQ(unchecked(report, RuleId::credit_initial_exceeded), skewed);
  }
}

// What the server says last leaves no gap where the capture cut it: it may be the Reply that frees a credit.
TEST(Unproven, TheLastPacketOfThePeer) {
  for (const bool cut : {false, true}) {
    Story s;
    s.connect().call(1).reply(1, {}, 1).call(2);
    if (cut) s.disorder(Side::passive, Kind::unplaced);
    s.call(3).close(Side::active);
    const Report report = s.end();
    EXPECT_EQ(found(report, RuleId::credit_limit_exceeded).size(), cut ? 0U : 1U);
    EXPECT_EQ(unchecked(report, RuleId::credit_limit_exceeded), cut);
  }
}

// What was written while an error was all that there was of version 2 has not been counted.
TEST(Unproven, WritesBeforeVersion2IsSettled) {
  constexpr std::uint32_t chunk_length = 4096;
  for (const bool glimpsed : {false, true}) {
    Story s;
    s.connect();
    // Of what it refuses nothing is seen: RDMA2_ERR_BAD_XDR, which names nothing.
    if (glimpsed) s.send(Side::passive, words({0x77, 2, 32, 4, 2}));
    if (!glimpsed) s.send(Side::active, words({0, 2, 32, 5})).send(Side::passive, words({0, 2, 32, 5}));
    Octets call = words({1, 2, 32, 10, 0, 0, 1, 1, lent, chunk_length, 0, 0, 0, 0});
    const Octets asked = rpc_call(1);
    call.insert(call.end(), asked.begin(), asked.end());
    Octets reply = words({1, 2, 32, 13, 1, 1, lent, chunk_length, 0, 0, 0});
    const Octets answer = rpc_reply(1);
    reply.insert(reply.end(), answer.begin(), answer.end());
    s.send(Side::active, call).write(Side::passive, lent, 0, chunk_length / 2).send(Side::passive, reply);
    const Report report = s.end();
    EXPECT_EQ(found(report, RuleId::write_bytes_missing).size(), glimpsed ? 0U : 1U);
  }
}

// A Call is repeated into silence. The next connection proves a loss; what may be the same one, behind what the capture
// lacks, does not: the answer may be there.
TEST(Unproven, WhetherWhatFollowsIsTheSameConnection) {
  using How = trace::Disconnect::How;
  for (const How how : {How::superseded, How::unseen}) {
    Story s;
    s.connect().call(1).reply(1).call(2);
    trace::Repeated again;
    again.connection = 1;
    for (unsigned round = 0; round < 8; ++round) {
      again.frame = {++s.frame, s.now += 500'000'000};
      s.referee.on(again);
    }
    s.wait(61'000'000'000).close(Side::active, how);
    const Report report = s.end();
    const bool proven = how == How::superseded;
    EXPECT_EQ(found(report, RuleId::connection_lost).size(), proven ? 1U : 0U);
    EXPECT_EQ(found(report, RuleId::call_unanswered).size(), proven ? 1U : 0U);
    EXPECT_EQ(unchecked(report, RuleId::connection_lost), !proven);
    EXPECT_EQ(report.mounts.at(0).state, proven ? MountFacts::State::down : MountFacts::State::unknown);
    EXPECT_EQ(unchecked(report, RuleId::call_unanswered), !proven);
  }
}

TEST(Unproven, ThatAMountIsDownWhoseConnectionMayGoOn) {
  using How = trace::Disconnect::How;
  for (const How how : {How::superseded, How::unseen}) {
    Story s;
    s.connect().call(1).reply(1).wait(61'000'000'000).close(Side::active, how);
    const Report report = s.end();
    EXPECT_EQ(report.mounts.at(0).state, how == How::superseded ? MountFacts::State::down : MountFacts::State::unknown);
  }
}

}  // namespace
}  // namespace rpcrdma::referee::story
