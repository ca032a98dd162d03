// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/ladder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../referee/story.hpp"

namespace rpcrdma::report {
namespace {

using Kind = LadderRow::Kind;
using referee::story::Chunks;
using referee::story::Story;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using trace::Side;

std::vector<Kind> kinds(const Ladder::Connection& connection) {
  std::vector<Kind> out;
  for (const LadderRow& row : connection.rows) out.push_back(row.kind);
  return out;
}

Chunks write_chunk(std::uint32_t handle, std::uint32_t length) {
  Chunks chunks;
  chunks.writes = {{{handle, length, 0x1000}}};
  return chunks;
}

trace::Write part(std::uint64_t frame, std::uint64_t op, std::uint64_t offset, std::uint32_t length) {
  trace::Write event;
  event.connection = 1;
  event.side = Side::passive;
  event.frame = {frame, static_cast<trace::TimeNs>(frame)};
  event.op = op;
  event.handle = 7;
  event.offset = offset;
  event.length = length;
  event.first = offset == 0x1000;
  return event;
}

TEST(Ladder, TellsAnExchangeInOrder) {
  Ladder ladder;
  Story story({}, &ladder);
  story.connect().call(5, write_chunk(7, 3000), 64);
  story.referee.on(part(5, 1, 0x1000, 1024));
  story.referee.on(part(6, 1, 0x1400, 1024));
  story.referee.on(part(7, 2, 0x1800, 952));
  story.frame = 7;
  story.reply(5, write_chunk(7, 3000), 16, 7U).close(Side::active);
  const auto report = story.end();
  ladder.finish(report.findings.all());

  const Ladder::Connection* connection = ladder.connection(1);
  ASSERT_NE(connection, nullptr);
  ASSERT_THAT(kinds(*connection), ElementsAre(Kind::connect_request, Kind::connect_reply, Kind::connect_ready,
                                              Kind::call, Kind::write, Kind::write, Kind::reply, Kind::close));
  EXPECT_EQ(connection->left_out, 0U);

  const LadderRow& request = connection->rows[0];
  EXPECT_EQ(request.length, 8U);
  EXPECT_THAT(request.octets, testing::ElementsAreArray(referee::story::private_data(3, 3, true)));

  const LadderRow& call = connection->rows[3];
  EXPECT_EQ(call.sender, Side::active);
  EXPECT_EQ(call.xid, 5U);
  EXPECT_EQ(call.credit, 64U);
  EXPECT_EQ(call.outstanding, 1U);
  EXPECT_EQ(call.granted, std::nullopt);
  EXPECT_EQ(call.threshold, 4096U);
  EXPECT_EQ(call.length, call.octets.size());
  EXPECT_EQ(type_name(call), "RDMA_MSG");
  EXPECT_EQ(ladder.text(call.procedure), "program 536890961 version 1 procedure 1");
  ASSERT_THAT(call.segments, SizeIs(1));
  EXPECT_EQ(call.segments[0].list, LadderSegment::List::write);
  EXPECT_EQ(call.segments[0].target, (wire::Segment{7, 3000, 0x1000}));

  const LadderRow& write = connection->rows[4];
  EXPECT_EQ(write.sender, Side::passive);
  EXPECT_EQ(write.first.number, 5U);
  EXPECT_EQ(write.last.number, 6U);
  EXPECT_EQ(write.packets, 2U);
  EXPECT_EQ(write.length, 2048U);
  EXPECT_EQ(write.offset, 0x1000U);
  EXPECT_EQ(write.exchange, call.exchange);
  EXPECT_EQ(write.xid, 5U);
  EXPECT_EQ(ladder.text(write.procedure), ladder.text(call.procedure));
  EXPECT_EQ(connection->rows[5].length, 952U) << "another Write, though its memory is adjacent";

  const LadderRow& reply = connection->rows[6];
  EXPECT_EQ(reply.exchange, call.exchange);
  EXPECT_EQ(reply.invalidated, 7U);
  EXPECT_EQ(reply.granted, 16U);
  EXPECT_EQ(reply.outstanding, 0U);
}

TEST(Ladder, JoinsAReadWithItsAnswer) {
  Ladder ladder;
  Story story({}, &ladder);
  Chunks chunks;
  chunks.reads = {{0, {9, 5000, 0x2000}}};
  story.connect().message(Side::active, 6, 32, chunks, {});
  story.read(Side::passive, 9, 0x2000, 5000, false);
  story.answer(Side::active, 1, 9, 0x2000, 3000).answer(Side::active, 1, 9, 0x2000 + 3000, 2000);
  story.reply(6);
  ladder.finish(story.end().findings.all());
  const auto& rows = ladder.connection(1)->rows;
  ASSERT_THAT(rows, SizeIs(7));
  EXPECT_EQ(rows[4].kind, Kind::read_request);
  EXPECT_EQ(rows[4].length, 5000U);
  EXPECT_EQ(rows[5].kind, Kind::read_response);
  EXPECT_EQ(rows[5].sender, Side::active);
  EXPECT_EQ(rows[5].packets, 2U);
  EXPECT_EQ(rows[5].length, 5000U);
  EXPECT_EQ(rows[5].op, rows[4].op);
}

TEST(Ladder, PutsFindingsWhereTheyBelong) {
  Ladder ladder;
  Story story({}, &ladder);
  story.connect().call(1).reply(1).reply(0x99);  // no Call has this XID
  story.call(2).reply(2).acknowledge(Side::active).close(Side::active);
  const auto report = story.end();
  ladder.finish(report.findings.all());
  std::size_t orphan = report.findings.size();
  for (std::size_t i = 0; i < report.findings.size(); ++i) {
    if (report.findings.at(i).rule == referee::RuleId::reply_without_call) orphan = i;
  }
  ASSERT_LT(orphan, report.findings.size());
  const auto& rows = ladder.connection(1)->rows;
  ASSERT_EQ(rows[5].xid, 0x99U);
  ASSERT_THAT(rows[5].marks, SizeIs(1));
  EXPECT_EQ(rows[5].marks[0].finding, orphan);
  EXPECT_TRUE(rows[5].marks[0].primary);
  EXPECT_THAT(rows[3].marks, IsEmpty());
}

TEST(Ladder, ShowsRefusalsAndGaps) {
  Ladder ladder;
  Story story({}, &ladder);
  story.connect().call(1).refuse(Side::passive, trace::Refusal::Kind::rnr, trace::Refusal::Refused::send, 1);
  story.gap(Side::active).reply(1);
  ladder.finish(story.end().findings.all());
  const auto& rows = ladder.connection(1)->rows;
  ASSERT_THAT(rows, SizeIs(7));
  EXPECT_EQ(rows[4].kind, Kind::refusal);
  EXPECT_EQ(rows[4].refusal, trace::Refusal::Kind::rnr);
  EXPECT_EQ(rows[4].sender, Side::passive);
  EXPECT_EQ(rows[5].kind, Kind::gap);
}

TEST(Ladder, FoldsWhatIsSentAgain) {
  Ladder ladder;
  Story story({}, &ladder);
  story.connect().call(5, {}, 64);
  using Repeated = trace::Repeated::Kind;
  const auto again = [&](Side side, Repeated kind) {
    trace::Repeated event;
    event.connection = 1;
    event.side = side;
    event.frame = {++story.frame, static_cast<trace::TimeNs>(story.frame)};
    event.kind = kind;
    story.referee.on(event);
  };
  const std::uint64_t first = story.frame + 1;
  again(Side::active, Repeated::retransmission);
  again(Side::active, Repeated::capture_duplicate);  // nobody sent that
  again(Side::active, Repeated::retransmission);
  again(Side::passive, Repeated::retransmission);
  ladder.finish(story.end().findings.all());
  const Ladder::Connection* connection = ladder.connection(1);
  ASSERT_NE(connection, nullptr);
  ASSERT_GE(connection->rows.size(), 2U);
  const LadderRow& mine = connection->rows[connection->rows.size() - 2];
  const LadderRow& theirs = connection->rows.back();
  EXPECT_EQ(mine.kind, Kind::repeat);
  EXPECT_EQ(mine.first.number, first);
  EXPECT_EQ(mine.last.number, first + 2);
  EXPECT_EQ(mine.packets, 2U);
  EXPECT_EQ(theirs.kind, Kind::repeat);
  EXPECT_EQ(theirs.sender, Side::passive);
}

TEST(Ladder, EachFindingHasItsPlace) {
  Ladder ladder;
  Story story({}, &ladder);
  story.connect().call(5, {}, 64).reply(5, {}, 16).close(Side::active);
  auto report = story.end();
  referee::Finding finding;
  finding.connection = 1;
  finding.frames = {story.frame + 7, 4};
  finding.time = 70;
  finding.severity = referee::Severity::warning;
  report.findings = {finding, finding};  // two of the same frame share a row
  ladder.finish(report.findings.all());
  const Ladder::Connection* connection = ladder.connection(1);
  ASSERT_NE(connection, nullptr);
  const LadderRow& place = connection->rows.back();
  EXPECT_EQ(place.kind, Kind::frame);
  EXPECT_EQ(place.first.number, story.frame + 7);
  EXPECT_EQ(place.first.time, 70);
  ASSERT_THAT(place.marks, SizeIs(2));
  EXPECT_TRUE(place.marks[0].primary && place.marks[1].primary);
}

TEST(Ladder, StaysBoundedAndKeepsWhatIsNearFindings) {
  Ladder::Limits limits;
  limits.rows = 20;
  limits.near_findings = 200;
  limits.window = 64;
  limits.octets_each = 16;
  Ladder ladder(limits);
  Story story({}, &ladder);
  story.connect();
  for (std::uint32_t xid = 1; xid <= 2000; ++xid) {
    story.call(xid).reply(xid);
    if (xid == 1000) story.reply(0x99).acknowledge(trace::Side::active);
    ladder.watch(story.referee);
  }
  const auto report = story.end();
  ladder.finish(report.findings.all());
  const Ladder::Connection& connection = *ladder.connection(1);
  std::uint64_t counted = 0;
  bool seen = false;
  for (const LadderRow& row : connection.rows) {
    counted += row.kind == Kind::left_out ? row.packets : 1;
    EXPECT_LE(row.octets.size(), 16U);
    if (row.has_xid && row.xid == 0x99) {
      seen = true;
      EXPECT_THAT(row.marks, testing::Not(IsEmpty()));
    }
  }
  EXPECT_EQ(counted, 3U + 4001U);
  EXPECT_TRUE(seen);
  EXPECT_LE(connection.rows.size(), 20U + 200U + 64U + 8U);
  EXPECT_EQ(connection.rows.back().xid, 2000U);
  EXPECT_EQ(connection.rows[10].kind, Kind::reply);
  EXPECT_GT(connection.left_out, 3000U);
}

TEST(Ladder, ForgetsConnectionsThatCarryNothingOfOurs) {
  Ladder::Limits limits;
  limits.connections = 4;
  Ladder ladder(limits);
  for (std::uint32_t id = 1; id <= 100; ++id) {
    trace::ConnectRequest request;
    request.connection = id;
    request.frame = {id, 0};
    ladder.heard(request);
  }
  EXPECT_EQ(ladder.connection(1), nullptr);
  EXPECT_NE(ladder.connection(100), nullptr);
}

TEST(Ladder, ReadsListsOfVersion2) {
  Ladder ladder;
  referee::ConnectionFacts facts;
  facts.id = 1;
  referee::story::Octets octets;
  // RDMA2_CALL_EXTERNAL: a Call chunk of one segment, no other list.
  for (const std::uint32_t word : {9U, 2U, 32U, 8U, 0U, 1U, 0U, 0xA1U, 200U, 0U, 0x3000U, 0U, 0U, 0U, 0U}) {
    referee::story::put32(octets, word);
  }
  trace::Send send;
  send.frame = send.last = {1, 0};
  send.octets = octets;
  send.wire_length = static_cast<std::uint32_t>(octets.size());
  referee::MessageSeen seen;
  seen.kind = referee::MessageSeen::Kind::call;
  seen.send = &send;
  for (std::size_t cut = octets.size() + 1; cut-- > 0;) {
    send.octets = wire::Bytes(octets).first(cut);
    wire::HeaderV2 header;
    seen.header2 = wire::decode_header_v2(send.octets, send.wire_length, header) ? &header : nullptr;
    ladder.message(facts, seen);
  }
  ladder.finish({});
  const LadderRow& whole = ladder.connection(1)->rows.front();
  EXPECT_EQ(type_name(whole), "RDMA2_CALL_EXTERNAL");
  ASSERT_THAT(whole.segments, SizeIs(1));
  EXPECT_EQ(whole.segments[0].list, LadderSegment::List::call);
  EXPECT_EQ(whole.segments[0].target, (wire::Segment{0xA1, 200, 0x3000}));
}

}  // namespace
}  // namespace rpcrdma::report
