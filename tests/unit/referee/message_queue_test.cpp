// SPDX-License-Identifier: GPL-2.0-or-later
// Messages that cannot be told yet: what tells them, in which order they are taken, and what they settle then.
#include "referee/message/queue.hpp"

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "referee/docket/cases.hpp"
#include "referee/docket/witness.hpp"
#include "referee/state/message_body.hpp"
#include "story.hpp"

namespace rpcrdma::referee::message_queue {
namespace {

using story::Octets;
using trace::Side;

constexpr std::uint32_t offered_handle = 0x200;
constexpr std::uint64_t offered_at = 0x1000;
constexpr std::uint32_t msg = 0, nomsg = 1, done = 3, error = 4;

/// RDMA_NOMSG whose message is to be pulled: a Long Call, or a Reply that is offered.
Octets to_be_pulled(std::uint32_t xid) {
  story::Chunks chunks;
  chunks.reads = {{0, {offered_handle, 300, offered_at}}};
  return story::header(xid, 32, nomsg, chunks);
}
Octets with(std::uint32_t xid, const Octets& rpc) {
  Octets octets = story::header(xid, 32, msg, {});
  octets.insert(octets.end(), rpc.begin(), rpc.end());
  return octets;
}
Octets call(std::uint32_t xid) { return with(xid, story::rpc_call(xid)); }
Octets reply(std::uint32_t xid) { return with(xid, story::rpc_reply(xid)); }
Octets refusal(std::uint32_t xid) { return story::words({xid, 1, 32, error, 2}); }  // ERR_CHUNK
Octets rdma_done(std::uint32_t xid) { return story::header(xid, 32, done, {}); }

std::string_view name_of(LongForm form) {
  constexpr std::string_view names[] = {"", " is a Call", " is a Reply", " is undecided"};
  return names[static_cast<std::size_t>(form)];
}

class Queue : public testing::Test {
 protected:
  Queue() {
    connection.kind = Connection::Kind::rpcrdma;
    connection.facts.transport = trace::Transport::iwarp;  // the order of what is delivered is that of the wire
    told.clear();
  }
  /// A Call of `side` that is open.
  void open(Side side, std::uint32_t xid) {
    Transaction fresh;
    fresh.xid = xid;
    fresh.requester = side;
    connection.transactions.enter(Transactions::key(side, xid), std::move(fresh));
  }
  bool send(Side side, const Octets& octets) {
    trace::Send event;
    event.side = side;
    event.octets = octets;
    event.wire_length = static_cast<std::uint32_t>(octets.size());
    event.frame = event.last = {++frame, 0};
    event.ordinal = frame;
    return queue.send(witness, event);
  }
  bool read(Side side, std::uint32_t handle = offered_handle) {
    trace::ReadRequest event;
    event.side = side;
    event.op = ++op;
    event.handle = handle;
    event.offset = offered_at;
    event.length = 300;
    return queue.read(witness, event);
  }
  /// Of the newest Read.
  void pulled(Side owner, const Octets& octets, std::uint64_t offset = offered_at) {
    trace::ReadResponse event;
    event.side = owner;
    event.op = op;
    event.handle = offered_handle;
    event.offset = offset;
    event.octets = octets;
    event.length = static_cast<std::uint32_t>(octets.size());
    queue.pulled(witness, event);
  }
  void accuse(Side accused, std::uint32_t xid, decltype(Case::about) about) {
    connection.cases.push_back({.rule = RuleId::reply_without_call,
                                .accused = accused,
                                .frame = {++frame, 0},
                                .xid = xid,
                                .about = std::move(about),
                                .settle = [](const Witness&, const Case& waited) {
                                  told.push_back(fmt::format("accused for {}", waited.xid));
                                }});
  }

  static inline std::vector<std::string> told;
  Options options;
  FindingBook book;
  BodyStore bodies;
  Context context{options, book, bodies};
  Connection connection;
  Witness witness{context, connection};
  std::uint64_t frame = 0;
  std::uint64_t op = 0;
  MessageQueue queue{
      [](const Witness&, const trace::Send& event, wire::HeaderV1&, LongForm form) {
        told.push_back(fmt::format("{}{}", wire::load_be32(event.octets.data()), name_of(form)));
      },
      [](const Witness&, const trace::ReadRequest& event) { told.push_back(fmt::format("read {}", event.op)); }};
};
using Told = std::vector<std::string>;

TEST_F(Queue, AReplyInFrontOfItsCallIsTakenBehindIt) {
  EXPECT_FALSE(send(Side::passive, to_be_pulled(5)));
  EXPECT_EQ(told, Told{});
  EXPECT_EQ(connection.of(Side::passive).untold, 1U);
  open(Side::active, 5);  // as its taker does
  EXPECT_TRUE(send(Side::active, call(5)));
  EXPECT_EQ(told, (Told{"5", "5"}));
  EXPECT_EQ(connection.of(Side::passive).untold, 0U);
}

TEST_F(Queue, WhereAnotherMessageFollowsItIsTakenBeforeThat) {
  EXPECT_FALSE(send(Side::passive, to_be_pulled(5)));
  EXPECT_TRUE(send(Side::active, call(6)));
  EXPECT_EQ(told, (Told{"5 is undecided", "6"}));
  EXPECT_EQ(connection.of(Side::passive).untold, 0U);
}

TEST_F(Queue, OfTwoThatCannotBeToldOneWaits) {
  open(Side::passive, 9);
  open(Side::passive, 10);
  EXPECT_FALSE(send(Side::active, to_be_pulled(9)));
  EXPECT_FALSE(send(Side::active, to_be_pulled(10)));
  EXPECT_EQ(told, Told{"9 is undecided"});
  EXPECT_EQ(connection.of(Side::active).untold, 1U);
  queue.release_all(witness);
  EXPECT_EQ(told, (Told{"9 is undecided", "10 is undecided"}));
  EXPECT_EQ(connection.of(Side::active).untold, 0U);
}

TEST_F(Queue, WhatIsPulledTellsAndTheReadsFollow) {
  struct {
    const char* what;
    Octets octets;
    std::uint64_t offset;
    const char* expected;
  } const cases[] = {
      {"an RPC Call", story::rpc_call(9), offered_at, "9 is a Call"},
      {"an RPC Reply", story::rpc_reply(9), offered_at, "9 is a Reply"},
      {"neither", story::words({9, 2, 0}), offered_at, "9 is undecided"},
      {"of another XID", story::rpc_call(8), offered_at, "9 is undecided"},
      {"cut before its type", story::words({9}), offered_at, "9 is undecided"},
      {"from the middle", story::rpc_call(9), offered_at + 4, "9 is undecided"},
  };
  open(Side::passive, 9);
  for (const auto& c : cases) {
    told.clear();
    op = 0;
    EXPECT_FALSE(send(Side::active, to_be_pulled(9))) << c.what;
    EXPECT_FALSE(read(Side::active)) << "its owner reads nothing of its own";
    EXPECT_FALSE(read(Side::passive, 0x999)) << "other memory, and nothing waits yet";
    EXPECT_TRUE(read(Side::passive)) << c.what;
    EXPECT_EQ(told, Told{}) << c.what;
    pulled(Side::active, c.octets, c.offset);
    EXPECT_EQ(told, (Told{c.expected, "read 3"})) << c.what;
  }
}

TEST_F(Queue, WhatFollowsMayTell) {
  struct {
    const char* what;
    Side side;
    Octets octets;
    const char* expected;
  } const cases[] = {
      {"RDMA_DONE is said about a Reply", Side::passive, rdma_done(9), "9 is a Reply"},
      {"RDMA_ERROR is said about a Call", Side::passive, refusal(9), "9 is a Call"},
      {"a Call gets one Reply", Side::active, reply(9), "9 is a Call"},
      {"another Call says nothing", Side::passive, call(10), "9 is undecided"},
      {"nor does an RDMA_DONE about another", Side::passive, rdma_done(10), "9 is undecided"},
  };
  open(Side::passive, 9);
  for (const auto& c : cases) {
    told.clear();
    EXPECT_FALSE(send(Side::active, to_be_pulled(9))) << c.what;
    send(c.side, c.octets);
    ASSERT_EQ(told.size(), 2U) << c.what;
    EXPECT_EQ(told.front(), c.expected) << c.what;
  }
}

TEST_F(Queue, WhatInvalidatesIsNoCall) {
  open(Side::passive, 9);
  const Octets octets = to_be_pulled(9);
  trace::Send event;
  event.octets = octets;
  event.wire_length = static_cast<std::uint32_t>(octets.size());
  event.invalidated = 0x300;
  EXPECT_FALSE(queue.send(witness, event));
  send(Side::passive, refusal(9));
  EXPECT_EQ(told, (Told{"9 is undecided", "9"}));
}

TEST_F(Queue, WhatWaitsSettlesNothingUntilItIsTaken) {
  accuse(Side::active, 70, Case::StrayError{});
  EXPECT_FALSE(send(Side::passive, to_be_pulled(5)));
  settle_cases(witness, Side::passive, {frame, 0});
  EXPECT_EQ(told, Told{});
  EXPECT_TRUE(send(Side::active, call(6)));
  EXPECT_EQ(told, (Told{"5 is undecided", "accused for 70", "6"}));
}

TEST_F(Queue, WhoseCallItMayBeIsNotAccusedOfAnsweringNone) {
  struct {
    const char* what;
    bool reply;  ///< what answers no Call holds a Reply
    Octets octets;
    bool accused;
  } const cases[] = {
      {"a Call", false, call(5), false},
      {"what may be a Call", false, story::words({5}), false},
      {"an RDMA_ERROR, to what is no Call", false, refusal(5), false},
      {"of another XID", false, call(6), true},
      {"RDMA_DONE", false, rdma_done(5), true},
      {"a Call, to a Reply", true, call(5), false},
      {"an RDMA_ERROR, to a Reply", true, refusal(5), true},
      {"a Reply, to a Reply", true, reply(5), true},
  };
  for (const auto& c : cases) {
    told.clear();
    if (c.reply) {
      accuse(Side::passive, 5, Case::HoldsReply{});
    } else {
      accuse(Side::passive, 5, Case::Answer{});
    }
    send(Side::active, c.octets);
    EXPECT_EQ(told.size() == 2 && told.back() == "accused for 5", c.accused) << c.what;
    EXPECT_TRUE(connection.cases.empty()) << c.what;
  }
}

}  // namespace
}  // namespace rpcrdma::referee::message_queue
