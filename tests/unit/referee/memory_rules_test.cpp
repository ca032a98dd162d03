// SPDX-License-Identifier: GPL-2.0-or-later
// Rules about memory that rest on the order of the two directions: what proves it, and what must not be said without.
#include <algorithm>
#include <cctype>
#include <string>

#include <gtest/gtest.h>

#include "referee/referee.hpp"
#include "story.hpp"

namespace rpcrdma::referee {
namespace {

using story::Chunks;
using story::found;
using story::Story;
using trace::Side;

constexpr std::uint32_t handle = 0x100;
constexpr std::uint64_t place = 0x1000;

Chunks to_write(std::uint32_t of = handle, std::uint64_t offset = place, std::uint32_t length = 300) {
  Chunks chunks;
  chunks.writes = {{{of, length, offset}}};
  return chunks;
}
Chunks to_read() {
  Chunks chunks;
  chunks.reads = {{44, {handle, 300, place}}};
  return chunks;
}

enum class Answers : std::uint8_t { after, before_the_last_request, last_only, gap_between, none };

struct DepthCase {
  const char* what;
  std::optional<std::uint32_t> accepted;
  std::uint64_t reads;
  Answers answers;
  std::size_t findings;
};

class ReadDepth : public testing::TestWithParam<DepthCase> {};

TEST_P(ReadDepth, CountsOnlyWhatIsCertain) {
  const DepthCase& c = GetParam();
  Story s;
  s.client_depths.responder_resources = c.accepted;
  s.connect().call(1, to_read());
  s.frame += 10;  // room for answers that are delivered late
  for (std::uint64_t i = 0; i < c.reads; ++i) s.read(Side::passive, handle, place + 100 * i, 100, false);
  if (c.answers == Answers::gap_between) s.gap(Side::active);
  for (std::uint64_t i = 0; i < c.reads && c.answers != Answers::none; ++i) {
    if (c.answers == Answers::last_only && i + 1 < c.reads) continue;
    const bool early = c.answers == Answers::before_the_last_request && i == 0;
    s.answer(Side::active, i + 1, handle, place + 100 * i, 100, early ? 6 : 0);
  }
  s.reply(1);
  EXPECT_EQ(found(s.end(), RuleId::read_depth_exceeded).size(), c.findings) << c.what;
}

INSTANTIATE_TEST_SUITE_P(Cases, ReadDepth,
                         testing::Values(DepthCase{"one too many", 2, 3, Answers::after, 1},
                                         DepthCase{"as many", 3, 3, Answers::after, 0},
                                         DepthCase{"delivered late", 2, 3, Answers::before_the_last_request, 0},
                                         DepthCase{"answers missing", 2, 3, Answers::last_only, 0},
                                         DepthCase{"a hole", 2, 3, Answers::gap_between, 0},
                                         DepthCase{"never answered", 2, 3, Answers::none, 0},
                                         DepthCase{"zero", 0, 3, Answers::after, 0},
                                         DepthCase{"no handshake value", std::nullopt, 3, Answers::after, 0}));

TEST(HeldBack, AWriteBehindItsReplyIsAnError) {
  Story s;
  s.connect().call(1, to_write()).reply(1, to_write(handle, place, 0)).write(Side::passive, handle, place, 300);
  s.call(2).reply(2);
  const auto hits = found(s.end(), RuleId::rdma_write_after_reply);
  ASSERT_EQ(hits.size(), 1U);
  EXPECT_EQ(hits.front().severity, Severity::error);
  EXPECT_EQ(hits.front().violator, Party::server);
}

TEST(HeldBack, ACallThatOffersTheMemoryAnewClearsIt) {
  Story s;
  s.connect().call(1, to_write()).reply(1, to_write(handle, place, 0), 32, handle);
  s.write(Side::passive, handle, place, 300).call(2, to_write()).reply(2, to_write());
  EXPECT_EQ(story::above_note(s.end()), 0U);
}

struct LateCall {
  const char* what;
  std::uint32_t names;
  std::optional<std::size_t> kept;  ///< octets of it in the capture
  trace::TimeNs later;
  std::size_t unknown, early;
};

class WrittenBeforeTheCall : public testing::TestWithParam<LateCall> {};

// A Call stands between the Write and the one that names the memory: the order is known.
TEST_P(WrittenBeforeTheCall, IsUnknownOnlyWhereNoCallMayNameIt) {
  const LateCall& c = GetParam();
  Story s;
  s.connect().call(1).reply(1).write(Side::passive, handle, place, 300).call(2);
  s.now += c.later;
  story::Octets late = story::header(3, 32, 0, to_write(c.names));
  const story::Octets rpc = story::rpc_call(3);
  late.insert(late.end(), rpc.begin(), rpc.end());
  s.cut(Side::active, late, c.kept.value_or(late.size()));
  s.reply(2).reply(3, c.names == handle ? to_write() : to_write(c.names, place, 0)).call(4).reply(4);
  const Report report = s.end();
  EXPECT_EQ(found(report, RuleId::rdma_unknown_handle).size(), c.unknown);
  EXPECT_EQ(found(report, RuleId::rdma_before_call).size(), c.early);
  const bool said = std::any_of(report.unchecked.begin(), report.unchecked.end(), [](const Unchecked& each) {
    return each.rule == RuleId::rdma_unknown_handle && each.reason.find("Call behind it") != std::string::npos;
  });
  EXPECT_EQ(said, c.unknown + c.early == 0);
}

constexpr std::size_t lists_end = 16 + 4 + 4 + 4 + 16 + 4 + 4;
INSTANTIATE_TEST_SUITE_P(
    Cases, WrittenBeforeTheCall,
    testing::Values(LateCall{"whole", handle, std::nullopt, 0, 0, 1},
                    LateCall{"whole, another handle", handle + 1, std::nullopt, 0, 1, 0},
                    LateCall{"cut before its direction", handle, lists_end, 0, 0, 0},
                    LateCall{"cut before its direction, much later", handle, lists_end, 5'000'000'000, 0, 0},
                    LateCall{"cut before its direction, another handle", handle + 1, lists_end, 0, 1, 0},
                    LateCall{"cut behind the handle", handle, 16 + 4 + 4 + 4 + 4, 5'000'000'000, 0, 0},
                    LateCall{"cut in front of it", handle, 16 + 4, 0, 0, 0},
                    LateCall{"cut in front of it, much later", handle, 16 + 4, 5'000'000'000, 1, 0}),
    [](const auto& info) {
      std::string name = info.param.what;
      std::erase_if(name, [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); });
      return name;
    });

TEST(HeldBack, AHoleBeforeItClearsIt) {
  Story s;
  s.connect().call(1, to_write()).reply(1, to_write(handle, place, 0)).write(Side::passive, handle, place, 300);
  s.gap(Side::active).call(3).reply(3);
  EXPECT_EQ(story::above_note(s.end()), 0U);
}

TEST(HeldBack, AnInvalidatedHandleIsNamedBesideTheReply) {
  Story s;
  s.connect().call(1, to_write()).reply(1, to_write(handle, place, 0), 32, handle);
  s.write(Side::passive, handle, place, 300).call(2).reply(2);
  const Report report = s.end();
  EXPECT_EQ(found(report, RuleId::rdma_after_invalidate).size(), 1U);
  EXPECT_EQ(found(report, RuleId::rdma_write_after_reply).size(), 1U);
}

// Two Calls name it: that the second had come when the Reply to the first invalidated it, an acknowledgement proves, or
// the order in the file, unless that is known to be another than the wire's.
TEST(HeldBack, AHandleMayHaveBeenRegisteredAnewBehindTheInvalidation) {
  for (const bool disorder : {false, true}) {
    for (const bool acknowledged : {false, true}) {
      SCOPED_TRACE(testing::Message() << "disorder " << disorder << ", acknowledged " << acknowledged);
      Story s;
      s.connect().call(9).reply(9);
      if (disorder) s.disorder(Side::passive, trace::Quality::Kind::late);
      s.call(1, to_write()).call(2, to_write());
      if (acknowledged) s.acknowledge(Side::passive);
      s.reply(1, to_write(handle, place, 0), 32, handle).write(Side::passive, handle, place, 300);
      s.reply(2, to_write()).acknowledge(Side::active).call(3).reply(3);
      EXPECT_EQ(found(s.end(), RuleId::rdma_after_invalidate).size(), disorder && !acknowledged ? 0U : 1U);
    }
  }
}

struct ReuseCase {
  const char* what;
  Chunks second;
  bool reply_delivered_late;
  std::size_t findings;
};

class HandleReuse : public testing::TestWithParam<ReuseCase> {};

TEST_P(HandleReuse, NeedsTwoOpenCallsAndOneOctet) {
  const ReuseCase& c = GetParam();
  Story s;
  s.connect().call(9).reply(9).call(1, to_write());
  const std::uint64_t between = ++s.frame;
  s.call(2, c.second);
  s.message(Side::passive, 1, 32, to_write(handle, place, 0), story::rpc_reply(1), std::nullopt,
            c.reply_delivered_late ? between : 0);
  s.message(Side::passive, 2, 32, {}, story::rpc_reply(2));
  EXPECT_EQ(found(s.end(), RuleId::handle_reused_live).size(), c.findings) << c.what;
}

INSTANTIATE_TEST_SUITE_P(Cases, HandleReuse,
                         testing::Values(ReuseCase{"same range", to_write(), false, 1},
                                         ReuseCase{"last octet", to_write(handle, place + 299), false, 1},
                                         ReuseCase{"next to it", to_write(handle, place + 300), false, 0},
                                         ReuseCase{"just before it", to_write(handle, place - 300), false, 0},
                                         ReuseCase{"other handle", to_write(handle + 1), false, 0},
                                         ReuseCase{"read meets write", to_read(), false, 1},
                                         ReuseCase{"the reply was there", to_write(), true, 0}));

TEST(WithoutARule, NothingOfItIsHandedOver) {
  Options options;
  options.without = RuleId::rdma_write_after_reply;
  Story s(options);
  s.connect().call(1, to_write()).reply(1, to_write(handle, place, 0)).write(Side::passive, handle, place, 300);
  s.call(2, {}, 0).reply(2);
  const Report report = s.end();
  EXPECT_TRUE(found(report, RuleId::rdma_write_after_reply).empty());
  EXPECT_EQ(found(report, RuleId::credit_request_zero).size(), 1U);
}

}  // namespace
}  // namespace rpcrdma::referee
