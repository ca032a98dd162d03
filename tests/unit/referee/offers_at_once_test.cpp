// SPDX-License-Identifier: GPL-2.0-or-later
// Replies that are offered to be read at the same time: one XID, one memory, one Call.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "story.hpp"

namespace rpcrdma::referee::story {
namespace {

constexpr std::uint32_t length = 5000;

Chunks chunk(std::uint32_t handle, std::uint64_t offset, std::uint32_t octets = length) {
  Chunks chunks;
  chunks.reads.push_back({0, {handle, octets, offset}});
  return chunks;
}
void offer(Story& s, std::uint32_t xid, std::uint32_t handle, std::uint64_t offset, std::uint32_t octets = length) {
  s.message(Side::passive, xid, 32, chunk(handle, offset, octets), {});
}
void larger_call(Story& s, std::uint32_t xid) { s.message(Side::active, xid, 32, {}, rpc_call(xid, 44)); }

/// What stands between the offer and what is judged, and what comes of it.
struct Told {
  const char* what;
  std::function<void(Story&)> story;
  std::size_t times;
  bool unchecked;
};

/// Two Calls, the Reply to the first one is offered, then comes that: the findings of the rule, as many as are
/// expected.
std::vector<Finding> told(RuleId rule, const Told& each) {
  Story s;
  s.connect().call(1).call(2);
  offer(s, 1, 0x700, 0x5000);
  each.story(s);
  const Report report = s.acknowledge(Side::active).call(3).reply(3).end();
  EXPECT_EQ(unchecked(report, rule), each.unchecked);
  EXPECT_TRUE(found(report, RuleId::xid_duplicate_outstanding).empty());
  std::vector<Finding> hits = found(report, rule);
  EXPECT_EQ(hits.size(), each.times);
  return hits;
}

// --- xid-reuse-before-done

TEST(XidReuse, IsToldOfANewCallOnly) {
  const std::vector<Told> cases = {
      {"another Call", [](Story& s) { larger_call(s, 1); }, 1, false},
      {"behind RDMA_DONE",
       [](Story& s) {
         s.done(Side::active, 1);
         larger_call(s, 1);
       },
       0, false},
      {"another XID", [](Story& s) { larger_call(s, 4); }, 0, false},
      {"the same Call, which was sent again", [](Story& s) { s.call(1); }, 0, false},
      {"the same Call, when all but an octet has been read",
       [](Story& s) { s.read(Side::active, 0x700, 0x5000, length - 1).call(1); }, 0, false},
      {"the same Call, when all has been read", [](Story& s) { s.read(Side::active, 0x700, 0x5000, length).call(1); },
       1, false},
      {"the server's own Call", [](Story& s) { s.message(Side::passive, 1, 32, {}, rpc_call(1, 44)); }, 0, false},
      {"RDMA_DONE may be missing",
       [](Story& s) {
         s.gap(Side::active);
         larger_call(s, 1);
       },
       0, true},
      {"a Call that the capture cut",
       [](Story& s) {
         Octets octets = header(1, 32, 0, {});
         for (const std::uint8_t octet : rpc_call(1, 44)) octets.push_back(octet);
         trace::Send event;
         event.connection = 1;
         event.frame = event.last = {++s.frame, s.now += 10'000};
         event.octets = wire::Bytes(octets).first(octets.size() - 4);
         event.wire_length = static_cast<std::uint32_t>(octets.size());
         event.ordinal = ++s.ordinals[0];
         s.referee.on(event);
       },
       0, true},
  };
  for (const Told& each : cases) {
    SCOPED_TRACE(each.what);
    for (const Finding& hit : told(RuleId::xid_reuse_before_done, each)) {
      EXPECT_EQ(hit.violator, Party::client);
      EXPECT_EQ(hit.severity, Severity::note);
    }
  }
}

TEST(XidReuse, IsNoneWhereRdmaDoneIsForbidden) {
  Options options;
  options.profile = Profile::rfc8166;
  Story s(options);
  s.connect().call(1);
  offer(s, 1, 0x700, 0x5000);
  larger_call(s, 1);
  EXPECT_TRUE(found(s.end(), RuleId::xid_reuse_before_done).empty());
}

TEST(XidReuse, OfAnUnansweredCallIsAnotherRule) {
  Story s;
  s.connect().call(1);
  larger_call(s, 1);
  offer(s, 1, 0x700, 0x5000);
  const Report report = s.call(3).end();
  EXPECT_TRUE(found(report, RuleId::xid_reuse_before_done).empty());
  EXPECT_EQ(found(report, RuleId::xid_duplicate_outstanding).size(), 1U);
}

TEST(XidReuse, IsToldOnceOfEachOffer) {
  Story s;
  s.connect().call(1);
  offer(s, 1, 0x700, 0x5000);
  larger_call(s, 1);
  s.reply(1).call(1).reply(1).call(3);
  EXPECT_EQ(found(s.end(), RuleId::xid_reuse_before_done).size(), 1U);
}

// --- handle-shared-between-offers

TEST(SharedOffers, AreTwoThatAreOpenAndMeet) {
  const auto second = [](std::uint32_t handle, std::uint64_t offset) {
    return [=](Story& s) { offer(s, 2, handle, offset); };
  };
  const std::vector<Told> cases = {
      {"the last octet", second(0x700, 0x5000 + length - 1), 1, false},
      {"right behind", second(0x700, 0x5000 + length), 0, false},
      {"the first octet", second(0x700, 0x5000 - length + 1), 1, false},
      {"right before", second(0x700, 0x5000 - length), 0, false},
      {"another handle", second(0x701, 0x5000), 0, false},
      {"no octets", [](Story& s) { offer(s, 2, 0x700, 0x5000, 0); }, 0, false},
      {"behind RDMA_DONE",
       [](Story& s) {
         s.done(Side::active, 1);
         offer(s, 2, 0x700, 0x5000);
       },
       0, false},
      {"behind RDMA_DONE, which is delivered late",
       [](Story& s) {
         s.frame += 2;
         offer(s, 2, 0x700, 0x5000);
         Octets done;
         for (const std::uint32_t word : {1U, 1U, 32U, 3U}) put32(done, word);
         s.send(Side::active, done, std::nullopt, s.frame - 2);
       },
       0, false},
      {"its handle was invalidated",
       [](Story& s) {
         s.message(Side::active, 4, 32, {}, rpc_call(4), 0x700);
         offer(s, 2, 0x700, 0x5000);
       },
       0, false},
      {"its handle was invalidated, and has been offered since, beside it",
       [](Story& s) {
         s.message(Side::active, 4, 32, {}, rpc_call(4), 0x700);
         offer(s, 4, 0x700, 0x9000000);
         offer(s, 2, 0x700, 0x5000);
       },
       0, false},
      {"RDMA_DONE may be missing",
       [](Story& s) {
         s.gap(Side::active);
         offer(s, 2, 0x700, 0x5000);
       },
       0, true},
      {"which of two offers with one XID is over",
       [](Story& s) {
         larger_call(s, 1);
         offer(s, 1, 0x800, 0x5000);
         s.done(Side::active, 1);
         offer(s, 2, 0x800, 0x5000);
       },
       0, true},
  };
  for (const Told& each : cases) {
    SCOPED_TRACE(each.what);
    for (const Finding& hit : told(RuleId::handle_shared_between_offers, each)) {
      EXPECT_EQ(hit.violator, Party::server);
      EXPECT_EQ(hit.severity, Severity::warning);
      EXPECT_THAT(hit.message, testing::HasSubstr("offers 1 octet"));
    }
  }
}

TEST(SharedOffers, AtTheEndOfTheAddresses) {
  constexpr std::uint64_t last = std::numeric_limits<std::uint64_t>::max();
  Story s;
  s.connect().call(1).call(2);
  offer(s, 1, 0x700, last - length);
  offer(s, 2, 0x700, last - 1);
  const auto hits = found(s.acknowledge(Side::active).call(3).reply(3).end(), RuleId::handle_shared_between_offers);
  ASSERT_EQ(hits.size(), 1U);
  EXPECT_THAT(hits.front().message, testing::HasSubstr("offers 1 octet"));
}

TEST(SharedOffers, MayHaveBeenTakenBackAfterTheTimeout) {
  for (const bool late : {false, true}) {
    Story s;
    s.connect().call(1);
    offer(s, 1, 0x700, 0x5000);
    s.call(2).wait(late ? 60'000'000'000 : 59'000'000'000);
    offer(s, 2, 0x700, 0x5000);
    const auto hits = found(s.acknowledge(Side::active).call(3).reply(3).end(), RuleId::handle_shared_between_offers);
    ASSERT_EQ(hits.size(), 1U);
    EXPECT_EQ(hits.front().severity, late ? Severity::note : Severity::warning);
  }
}

TEST(SharedOffers, AreNotProvenBeforeTheClientIsHeardAgain) {
  Story s;
  s.connect().call(1).call(2);
  offer(s, 1, 0x700, 0x5000);
  offer(s, 2, 0x700, 0x5000);
  const Report report = s.acknowledge(Side::active).end();
  EXPECT_TRUE(found(report, RuleId::handle_shared_between_offers).empty());
  EXPECT_TRUE(unchecked(report, RuleId::handle_shared_between_offers));
}

TEST(SharedOffers, SayNothingOfWhoseReadIsInFlight) {
  Story s;
  s.connect().call(1).call(2);
  offer(s, 1, 0x700, 0x5000);
  offer(s, 2, 0x700, 0x5000);
  s.read(Side::active, 0x700, 0x5000, length).read(Side::active, 0x700, 0x5000, length, false);
  s.done(Side::active, 1).wait(2'000'000).answer(Side::passive, s.op, 0x700, 0x5000, length);
  EXPECT_TRUE(found(s.end(), RuleId::done_with_reads_in_flight).empty());
}

TEST(SharedOffers, AreNoneWhereRdmaDoneIsForbidden) {
  Options options;
  options.profile = Profile::rfc8166;
  Story s(options);
  s.connect().call(1).call(2);
  offer(s, 1, 0x700, 0x5000);
  offer(s, 2, 0x700, 0x5000);
  EXPECT_TRUE(found(s.acknowledge(Side::active).call(3).end(), RuleId::handle_shared_between_offers).empty());
}

// --- duplicate-reply

/// The first octets of what is read: XID and message type.
void pull(Story& s, std::uint32_t handle, std::uint32_t xid, std::uint32_t type) {
  s.read(Side::active, handle, 0x5000, length, false);
  const Octets start = words({xid, type});
  trace::ReadResponse event;
  event.connection = 1;
  event.side = Side::passive;
  event.frame = {++s.frame, s.now += 10'000};
  event.op = s.op;
  event.handle = handle;
  event.offset = 0x5000;
  event.length = length;
  event.octets = start;
  event.last = true;
  s.referee.on(event);
}

struct Second {
  const char* what;
  std::uint32_t handle;
  std::optional<std::uint32_t> type;  ///< what is read of it; empty: nothing is
  std::size_t times;
};
TEST(SecondOffer, IsASecondReplyWhereItsOctetsSaySo) {
  for (const Second& each : {Second{"read: a Reply", 0x800, 1, 1}, Second{"read: a Call", 0x800, 0, 0},
                             Second{"not read", 0x800, {}, 0}, Second{"what the first one names", 0x700, {}, 1}}) {
    SCOPED_TRACE(each.what);
    Story s;
    s.connect().call(1);
    offer(s, 1, 0x700, 0x5000);
    pull(s, 0x700, 1, 1);
    offer(s, 1, each.handle, 0x5000);
    s.acknowledge(Side::active);
    if (each.type) pull(s, each.handle, 1, *each.type);
    s.done(Side::active, 1).call(3).reply(3);
    const Report report = s.end();
    const auto hits = found(report, RuleId::duplicate_reply);
    ASSERT_EQ(hits.size(), each.times);
    for (const Finding& hit : hits) {
      EXPECT_EQ(hit.severity, Severity::error);
      EXPECT_EQ(hit.violator, Party::server);
    }
    EXPECT_EQ(above_note(report), each.times);
    EXPECT_EQ(report.connections.at(0).pull_completion.offered, 1 + each.times);
    EXPECT_TRUE(found(report, RuleId::handle_shared_between_offers).empty());
  }
}

TEST(SecondOffer, BehindRdmaDoneIsOneAllTheSame) {
  Story s;
  s.connect().call(1);
  offer(s, 1, 0x700, 0x5000);
  pull(s, 0x700, 1, 1);
  s.done(Side::active, 1);
  offer(s, 1, 0x700, 0x5000);
  s.acknowledge(Side::active);
  pull(s, 0x700, 1, 1);
  s.done(Side::active, 1).call(3).reply(3);
  const Report report = s.end();
  EXPECT_EQ(found(report, RuleId::duplicate_reply).size(), 1U);
  EXPECT_TRUE(found(report, RuleId::done_answered).empty());
  EXPECT_EQ(above_note(report), 1U);  // not read-after-done: it is offered anew
}

TEST(SecondOffer, StaysReadableWhenTheFirstIsForgotten) {
  Story s;
  s.connect().call(1);
  offer(s, 1, 0x700, 0x5000);
  pull(s, 0x700, 1, 1);
  offer(s, 1, 0x700, 0x5000);
  s.acknowledge(Side::active).done(Side::active, 1);
  for (std::uint32_t xid = 2; xid < 100; ++xid) {
    s.call(xid);
    offer(s, xid, 0x1000 + xid, 0x5000);
    pull(s, 0x1000 + xid, xid, 1);
    s.done(Side::active, xid);
  }
  pull(s, 0x700, 1, 1);
  s.done(Side::active, 1).call(200).reply(200);
  const Report report = s.end();
  EXPECT_EQ(found(report, RuleId::duplicate_reply).size(), 1U);
  EXPECT_EQ(above_note(report), 1U);
}

}  // namespace
}  // namespace rpcrdma::referee::story
