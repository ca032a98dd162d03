// SPDX-License-Identifier: GPL-2.0-or-later
// What is kept of promises where there are more than room, and which of them go first.
#include "referee/state/promises.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "wire/nfs_status.hpp"

namespace rpcrdma::referee {
namespace {

wire::StateId state(std::uint32_t number) {
  wire::StateId made;
  for (std::size_t i = 0; i < 4; ++i) made.other[i] = static_cast<std::uint8_t>(number >> (8 * i));
  return made;
}

FrameRef frame(std::uint64_t number) { return {number, static_cast<trace::TimeNs>(number) * 1'000'000}; }

AsyncCopy copy(std::uint32_t number) {
  AsyncCopy made;
  made.state = state(number);
  made.call = frame(2 * std::uint64_t{number});
  made.reply = frame(2 * std::uint64_t{number} + 1);
  return made;
}

Recall recall(std::uint32_t number, Recall::Of of = Recall::Of::delegation) {
  Recall made;
  made.of = of;
  made.state = state(number);
  made.callback = frame(number);
  return made;
}

std::size_t awaited(const Promises& promises) {
  return static_cast<std::size_t>(std::count_if(promises.recalls.begin(), promises.recalls.end(),
                                                [](const Recall& each) { return each.ended.number == 0; }));
}

constexpr auto full = static_cast<std::uint32_t>(Promises::most_copies);
static_assert(Promises::most_recalls == full);

TEST(Promises, ACopyFindsRoomWhereAnotherIsOver) {
  Promises promises;
  for (std::uint32_t i = 1; i <= full; ++i) promises.begin_copy(copy(i));
  promises.begin_copy(copy(full + 1));
  ASSERT_EQ(promises.copies.size(), full);
  EXPECT_EQ(promises.copies.back().state, state(full)) << "all are awaited: the new one finds no room";
  EXPECT_EQ(promises.copy_not_kept.number, copy(full + 1).reply.number);
  promises.end_copy(state(7), {frame(5000)});
  promises.begin_copy(copy(full + 2));
  ASSERT_EQ(promises.copies.size(), full);
  EXPECT_EQ(promises.copies.back().state, state(full + 2));
  EXPECT_TRUE(std::none_of(promises.copies.begin(), promises.copies.end(),
                           [](const AsyncCopy& each) { return each.state == state(7); }));
}

TEST(Promises, ACopyThatIsDoneBeforeItsReply) {
  struct Case {
    std::uint64_t done;  ///< frame
    bool over;
  };
  // The Call is frame 20, the Reply frame 21. What was done in front of the Call was another copy with that name.
  for (const Case& each : {Case{19, false}, Case{20, false}, Case{21, true}}) {
    Promises promises;
    promises.end_copy(state(10), {frame(each.done)});
    promises.begin_copy(copy(10));
    EXPECT_EQ(promises.copies.back().ended.number != 0, each.over) << each.done;
  }
}

TEST(Promises, OfRecallsThatAreOverTheLongestWaitStays) {
  Promises promises;
  for (std::uint32_t i = 1; i <= full; ++i) {
    promises.begin_recall(recall(i));
    // The third waits longest.
    promises.give_back_delegation(state(i), {frame(i + (i == 3 ? 100'000U : i))});
  }
  promises.begin_recall(recall(full + 1));
  promises.begin_recall(recall(full + 2));
  ASSERT_EQ(promises.recalls.size(), full);
  EXPECT_TRUE(std::any_of(promises.recalls.begin(), promises.recalls.end(),
                          [](const Recall& each) { return each.state == state(3); }));
  EXPECT_TRUE(std::none_of(promises.recalls.begin(), promises.recalls.end(),
                           [](const Recall& each) { return each.state == state(1) || each.state == state(2); }));
  EXPECT_EQ(awaited(promises), 2U);
}

TEST(Promises, ARecallFindsNoRoomWhereAllAreAwaited) {
  Promises promises;
  for (std::uint32_t i = 1; i <= full + 1; ++i) promises.begin_recall(recall(i));
  EXPECT_EQ(promises.recalls.size(), full);
  EXPECT_EQ(promises.recalls.back().state, state(full));
  EXPECT_EQ(promises.recall_not_kept.number, full + 1);
}

TEST(Promises, ARecallThatCrossesItsReturn) {
  Promises delegations;
  delegations.give_back_delegation(state(5), {frame(1)});
  delegations.begin_recall(recall(5));
  delegations.begin_recall(recall(6));
  EXPECT_EQ(awaited(delegations), 1U);

  // Of a layout a part may have been given back; only a return that is under way is meant.
  for (const bool answered : {false, true}) {
    Promises layouts;
    layouts.give_back_layouts({wire::Layouts::Of::file, state(5)}, {frame(1)});
    if (answered) layouts.layouts_answered(frame(1));
    layouts.begin_recall(recall(5, Recall::Of::layout));
    EXPECT_EQ(awaited(layouts), answered ? 1U : 0U) << answered;
  }
}

/// Of all promises: how many one end has forgotten, surely or perhaps.
struct Gone {
  std::size_t surely = 0;
  std::size_t perhaps = 0;
  friend bool operator==(const Gone&, const Gone&) = default;
};
template <class Each>
Gone gone(const std::vector<Each>& promises) {
  Gone gone;
  for (const Each& promise : promises) {
    gone.surely += promise.forgotten.sign.number != 0 ? 1 : 0;
    gone.perhaps += promise.forgotten.perhaps.number != 0 ? 1 : 0;
  }
  return gone;
}

TEST(Promises, BehindAConnectionOfAServerThatHasForgotten) {
  Promises promises;
  promises.begin_recall(recall(10));
  promises.begin_copy(copy(10));
  promises.begin_recall(recall(30));
  ConnectionFacts on;
  on.id = 2;
  on.opened = frame(25);
  promises.forget(on, frame(40), {}, std::nullopt);  // whether it is a new one is not known
  EXPECT_EQ(gone(promises.recalls), (Gone{0, 1}));
  EXPECT_EQ(gone(promises.copies), (Gone{0, 1}));
  on.handshake_seen = true;
  promises.forget(on, frame(40), {}, std::nullopt);
  EXPECT_EQ(gone(promises.recalls), (Gone{1, 1}));
  EXPECT_EQ(promises.recalls.front().forgotten.sign.number, 40U);
  EXPECT_EQ(gone(promises.copies), (Gone{1, 1}));
  promises.begin_recall(recall(24));  // read late, behind a hole
  EXPECT_EQ(gone(promises.recalls), (Gone{2, 2}));
}

TEST(Promises, WhatOneClientForgetsIsNotAnothers) {
  constexpr std::uint64_t here = 1;
  constexpr std::uint64_t beside = 2;
  wire::SessionId session;
  session.octets[0] = 7;
  NfsClients clients;
  EXPECT_TRUE(clients.begins_anew(wire::ClientBegun{0, here}, {100, 0}));
  clients.makes(session, 100, {frame(1), frame(2)});
  Recall asked = recall(10);
  asked.session = session;
  Promises promises;
  promises.begin_recall(asked);
  ConnectionFacts on;
  on.id = 2;
  on.opened = frame(25);
  on.handshake_seen = true;
  EXPECT_FALSE(clients.begins_anew(wire::ClientBegun{0, here}, {100, 0})) << "the name that it had";
  EXPECT_FALSE(clients.begins_anew(wire::ClientBegun{0, beside}, {200, wire::ClientNamed::confirmed}))
      << "whom the server knows";
  EXPECT_TRUE(clients.begins_anew(wire::ClientBegun{0, beside}, {201, 0}));
  promises.forget(on, frame(40), clients, beside);
  EXPECT_EQ(gone(promises.recalls), (Gone{0, 0}));
  EXPECT_TRUE(clients.begins_anew(wire::ClientBegun{0, here}, {101, 0}));
  promises.forget(on, frame(41), clients, here);
  EXPECT_EQ(gone(promises.recalls), (Gone{1, 0}));
  // A server that serves the session has forgotten nothing of it.
  EXPECT_FALSE(clients.served_since(session, frame(41)));
  clients.serves(session, frame(42));
  EXPECT_TRUE(clients.served_since(session, frame(41)));
}

TEST(Promises, WhatTheServerRevokesItDoesNotAwait) {
  using Revoked = Recall::Revoked;
  constexpr std::uint32_t recallable = wire::seq4_recallable_state_revoked;
  struct Case {
    const char* what;
    std::uint32_t flags;
    std::uint32_t recalls;
    std::uint64_t reply;
    Revoked revoked;
  };
  for (const Case& each : {Case{"the only one", recallable, 1, 50, Revoked::surely},
                           Case{"one of two", recallable, 2, 50, Revoked::perhaps},
                           Case{"all", wire::seq4_expired_all_state_revoked, 2, 50, Revoked::surely},
                           Case{"some", wire::seq4_expired_some_state_revoked, 1, 50, Revoked::perhaps},
                           Case{"by somebody", wire::seq4_admin_state_revoked, 1, 50, Revoked::perhaps},
                           Case{"nothing", 0, 1, 50, Revoked::no}, Case{"before", recallable, 1, 10, Revoked::no}}) {
    SCOPED_TRACE(each.what);
    Promises promises;
    for (std::uint32_t i = 0; i < each.recalls; ++i) {
      promises.begin_recall(recall(10 + i));
      promises.recalls.back().session = wire::SessionId{};
    }
    promises.begin_recall(recall(20));
    promises.recalls.back().session = wire::SessionId{{1}};
    promises.revoke(each.flags, frame(each.reply), {}, {});
    EXPECT_EQ(promises.recalls.front().revoked, each.revoked);
    EXPECT_EQ(promises.recalls.front().ended.number, each.revoked == Revoked::surely ? each.reply : 0U);
    EXPECT_EQ(promises.recalls.back().revoked, Revoked::no) << "of another session, and whose is not known";
  }
}

TEST(NfsClients, AVerifierThatIsConfirmedAgainBeginsNothing) {
  NfsClients clients;
  EXPECT_TRUE(clients.confirms_anew()) << "what was asked for is not known";
  clients.asks(wire::ClientBegun{5, 1});
  EXPECT_TRUE(clients.confirms_anew());
  clients.asks(wire::ClientBegun{9, 2});
  EXPECT_TRUE(clients.confirms_anew());
  clients.asks(wire::ClientBegun{5, 1});
  EXPECT_FALSE(clients.confirms_anew()) << "another owner has another verifier";
  clients.asks(wire::ClientBegun{6, 1});
  EXPECT_TRUE(clients.confirms_anew());
}

TEST(NfsClients, ASessionIsOverWithItsClientsName) {
  wire::SessionId old;
  wire::SessionId fresh;
  fresh.octets[0] = 1;
  constexpr wire::ClientBegun client{5, 1};
  struct Case {
    const char* what;
    wire::ClientBegun again;
    wire::ClientNamed named;
    bool session_made;
    bool over;
    bool user_gone;
  };
  for (const Case& each :
       {Case{"the lease ran out", client, {101, 0}, true, true, false},
        Case{"another verifier", {6, 1}, {101, 0}, true, true, true},
        Case{"without a session", {6, 1}, {101, 0}, false, false, false},
        Case{"the name that it had", client, {100, wire::ClientNamed::confirmed}, true, false, false},
        Case{"another owner", {6, 2}, {101, 0}, true, false, false}}) {
    SCOPED_TRACE(each.what);
    NfsClients clients;
    (void)clients.begins_anew(client, {100, 0});
    clients.makes(old, 100, {frame(1), frame(10)});
    (void)clients.begins_anew(each.again, each.named);
    if (each.session_made) clients.makes(fresh, each.named.client, {frame(20), frame(30)});
    EXPECT_EQ(clients.over_since(old, frame(29)), each.over);
    EXPECT_FALSE(clients.over_since(old, frame(30)));
    EXPECT_EQ(clients.user_gone(old).number, each.user_gone ? 20U : 0U);
    EXPECT_FALSE(clients.over_since(fresh, frame(29)));
    EXPECT_EQ(clients.user_gone(fresh).number, 0U);
    clients.serves(old, frame(31));
    EXPECT_FALSE(clients.over_since(old, frame(29))) << "the server serves it";
    EXPECT_EQ(clients.user_gone(old).number, 0U);
  }
}

TEST(Promises, WhatWasNotDoneIsAwaitedAsBefore) {
  struct Case {
    const char* what;
    Operation first;  ///< that was not done
    bool first_returned, second_returned;
  };
  // One Call, frame 2000, gives both back: with its third operation, and its fifth.
  for (const Case& each :
       {Case{"all was done", {frame(2000), 5}, true, true}, Case{"the second", {frame(2000), 4}, true, false},
        Case{"the first, and so what is behind it", {frame(2000), 2}, false, false},
        Case{"nothing of it", {frame(2000), 0}, false, false}, Case{"another Call", {frame(2001), 0}, true, true}}) {
    SCOPED_TRACE(each.what);
    for (const bool crossing : {false, true}) {
      Promises promises;
      const auto give_back = [&] {
        promises.give_back_delegation(state(1), {frame(2000), 2});
        promises.give_back_delegation(state(2), {frame(2000), 4});
      };
      if (crossing) give_back();
      promises.begin_recall(recall(1));
      promises.begin_recall(recall(2));
      if (!crossing) give_back();
      promises.not_done(each.first);
      EXPECT_EQ(promises.recalls[0].ended.number != 0, each.first_returned);
      EXPECT_EQ(promises.recalls[1].ended.number != 0, each.second_returned);
      promises.begin_recall(recall(2));
      EXPECT_EQ(promises.recalls[2].ended.number != 0, each.second_returned) << "recalled again";
      promises.give_back_delegation(state(1), {frame(2010), 2});
      EXPECT_NE(promises.recalls[0].ended.number, 0U) << "tried again";
    }
  }
}

TEST(Promises, ACopyThatWasNotCanceledIsAwaited) {
  for (const bool early : {false, true}) {
    Promises promises;
    if (!early) promises.begin_copy(copy(1));
    promises.end_copy(state(1), {frame(10), 2});
    if (early) promises.begin_copy(copy(1));
    ASSERT_NE(promises.copies[0].ended.number, 0U);
    promises.not_done({frame(10), 3});
    EXPECT_NE(promises.copies[0].ended.number, 0U) << "what was not done stands behind it";
    promises.not_done({frame(10), 2});
    EXPECT_EQ(promises.copies[0].ended.number, 0U);
    promises.end_copy(state(1), {frame(20)});
    promises.not_done({frame(10), 2});
    EXPECT_EQ(promises.copies[0].ended.number, 20U) << "it is done";
  }
}

TEST(Promises, ACallbackThatWasNotTakenEndsNoCopy) {
  Promises promises;
  promises.begin_copy(copy(1));
  promises.end_copy(state(1), {frame(10), 1});
  promises.refuse_callback(frame(11), frame(12));
  EXPECT_EQ(promises.copies[0].ended.number, 10U) << "another callback was refused";
  promises.refuse_callback(frame(10), frame(13));
  EXPECT_EQ(promises.copies[0].ended.number, 0U);
  EXPECT_EQ(promises.copies[0].put_off.number, 10U);
  promises.end_copy(state(1), {frame(20), 1});
  EXPECT_EQ(promises.copies[0].ended.number, 20U) << "the server has called again";
}

TEST(Promises, WhichOfTwoCallbacksInOneFrameWasNotTakenIsNotKnown) {
  Promises promises;
  for (const std::uint32_t i : {1U, 2U}) {
    promises.begin_copy(copy(i));
    promises.end_copy(state(i), {frame(10), 1});
  }
  promises.refuse_callback(frame(10), frame(13));
  EXPECT_NE(promises.copies[0].ended.number, 0U);
  EXPECT_NE(promises.copies[1].ended.number, 0U);
}

TEST(Promises, NothingIsLeftOfAClientThatIsGone) {
  wire::SessionId its_own;
  wire::SessionId of_another;
  of_another.octets[0] = 1;
  wire::SessionId unknown;
  unknown.octets[0] = 2;
  NfsClients clients;
  clients.makes(its_own, 7, {});
  clients.makes(of_another, 8, {});
  Promises promises;
  for (const auto& [number, session] : {std::pair(1U, its_own), std::pair(2U, of_another), std::pair(3U, unknown)}) {
    Recall made = recall(number);
    made.session = session;
    promises.begin_recall(made);
  }
  promises.client_gone(7, frame(50), clients);
  EXPECT_EQ(promises.recalls[0].ended.number, 50U);
  EXPECT_EQ(promises.recalls[1].ended.number, 0U);
  EXPECT_EQ(promises.recalls[1].forgotten.perhaps.number, 0U);
  EXPECT_EQ(promises.recalls[2].ended.number, 0U);
  EXPECT_EQ(promises.recalls[2].forgotten.perhaps.number, 50U);
}

TEST(NfsClients, ARequestIsKnownByItsSlotAndNumber) {
  NfsClients clients;
  const wire::SessionId session;
  const auto request = [](std::uint32_t sequence, std::uint32_t number) {
    return NfsClients::Request{sequence, 0x100 + number, frame(number), 1};
  };
  clients.makes(session, 7, {frame(1), frame(2)});
  EXPECT_EQ(clients.takes(session, 0, request(1, 10)).call.number, 0U);
  EXPECT_EQ(clients.takes(session, 1, request(1, 11)).call.number, 0U) << "another slot";
  EXPECT_EQ(clients.takes(session, 0, request(1, 12)).call.number, 10U);
  EXPECT_EQ(clients.takes(session, 0, request(1, 13)).call.number, 12U);
  EXPECT_EQ(clients.takes(session, 0, request(2, 14)).call.number, 0U) << "the next one";
  EXPECT_EQ(clients.takes(session, 0, request(4, 17)).call.number, 17U) << "the one before is not known";
  EXPECT_EQ(clients.takes(session, 2, request(2, 18)).call.number, 18U) << "nor what came in that slot";
  wire::SessionId other;
  other.octets[0] = 1;
  EXPECT_EQ(clients.takes(other, 0, request(1, 15)).call.number, 15U) << "whose beginning is not known";
  clients.makes(session, 7, {frame(1), frame(20)});
  EXPECT_EQ(clients.takes(session, 0, request(1, 21)).call.number, 0U) << "a new session of that name";
  for (std::uint32_t slot = 1; slot <= 2 * NfsClients::most_slots; ++slot) {
    (void)clients.takes(session, slot, request(1, 22));
  }
  EXPECT_EQ(clients.takes(session, 2 * NfsClients::most_slots, request(2, 23)).call.number, 23U) << "no room";
  EXPECT_EQ(clients.takes(session, 0, request(1, 24)).call.number, 21U);
}

TEST(NfsClients, OfASessionThatNobodyKnowsTheServerHasToSayThatItIsGone) {
  wire::SessionId fresh;
  fresh.octets[0] = 1;
  for (const bool denied : {false, true}) {
    for (const std::uint32_t flags : {0U, wire::ClientNamed::confirmed}) {
      NfsClients clients;
      clients.serves({}, frame(10));
      if (denied) clients.denies({}, frame(20));
      (void)clients.begins_anew(wire::ClientBegun{5, 1}, {101, flags});
      clients.makes(fresh, 101, {frame(25), frame(30)});
      EXPECT_EQ(clients.over_since(wire::SessionId{}, frame(15)), denied && flags == 0);
      EXPECT_EQ(clients.user_gone(wire::SessionId{}).number, 0U) << "whose it was is not known";
    }
  }
}

TEST(NfsClients, ForgetsTheSessionThatWasUsedLeast) {
  NfsClients clients;
  wire::SessionId session;
  for (std::size_t i = 0; i < NfsClients::most_sessions; ++i) {
    session.octets[0] = static_cast<std::uint8_t>(i);
    clients.uses(session);
  }
  clients.uses(wire::SessionId{});
  EXPECT_FALSE(clients.sessions_forgotten());
  session.octets[1] = 1;
  clients.uses(session);
  EXPECT_TRUE(clients.sessions_forgotten());
  EXPECT_EQ(clients.sessions().size(), NfsClients::most_sessions);
  EXPECT_TRUE(std::any_of(clients.sessions().begin(), clients.sessions().end(),
                          [](const NfsClients::Session& each) { return each.id == wire::SessionId{}; }));
}

}  // namespace
}  // namespace rpcrdma::referee
