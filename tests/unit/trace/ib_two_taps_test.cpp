// SPDX-License-Identifier: GPL-2.0-or-later
// The two directions of one connection, by taps whose clocks are apart: one stands ahead of the other in the file. What
// each side did, and what it answered, is the same as in the order of the wire.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "ib_peers.hpp"

namespace rpcrdma::test {
namespace {

constexpr std::uint32_t calls_begin = Peers::client_psn;
constexpr std::uint32_t replies_begin = Peers::server_psn;

struct Step {
  bool by_client;
  std::function<void(Peers&)> what;
};

/// A mount of so many Calls, from REQ to DREP. Every fourth Reply goes with an RDMA Read of 8 octets.
std::vector<Step> mount(std::uint32_t calls) {
  std::vector<Step> steps{
      {true, [](Peers& p) { p.req(); }}, {false, [](Peers& p) { p.rep(); }}, {true, [](Peers& p) { p.rtu(); }}};
  std::uint32_t s = replies_begin;
  for (std::uint32_t i = 0; i < calls; ++i) {
    steps.push_back({true, [i](Peers& p) { p.call(calls_begin + i); }});
    steps.push_back({false, [i](Peers& p) { p.server_acks(calls_begin + i); }});
    if (i % 4 == 3) {
      steps.push_back({false, [s](Peers& p) { p.server_reads(s, 8); }});
      steps.push_back({true, [s](Peers& p) { p.client_answers(op_response_only, s, 8); }});
      ++s;
    }
    steps.push_back({false, [s](Peers& p) { p.reply(s); }});
    steps.push_back({true, [s](Peers& p) { p.client_acks(s); }});
    ++s;
  }
  steps.push_back({true, [](Peers& p) { p.client_dreq(); }});
  steps.push_back({false, [](Peers& p) { p.server_drep(); }});
  return steps;
}

/// One side's packets by so many of its own too late.
std::vector<Step> shifted(const std::vector<Step>& steps, bool client_late, std::size_t by) {
  std::vector<Step> early, late;
  for (const Step& step : steps) (step.by_client == client_late ? late : early).push_back(step);
  std::vector<Step> out;
  std::size_t taken = 0;
  for (std::size_t i = 0; i < early.size(); ++i) {
    out.push_back(early[i]);
    if (i >= by && taken < late.size()) out.push_back(late[taken++]);
  }
  out.insert(out.end(), late.begin() + static_cast<std::ptrdiff_t>(taken), late.end());
  return out;
}

Peers& play(Peers& p, const std::vector<Step>& steps) {
  p.set_up_fields();
  p.step = 100'000;
  for (const Step& step : steps) step.what(p);
  p.finish();
  return p;
}

Lines by_side(const Lines& facts) {
  Lines sorted = facts;
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.front() < b.front(); });
  return sorted;
}

std::size_t count(const Lines& lines, std::string_view what) {
  return static_cast<std::size_t>(
      std::count_if(lines.begin(), lines.end(), [what](const auto& l) { return l.find(what) != l.npos; }));
}

struct Case {
  bool client_late;
  std::size_t by;
};
class TwoTaps : public testing::TestWithParam<Case> {};

TEST_P(TwoTaps, SayTheSame) {
  constexpr std::uint32_t calls = 100;
  Peers whole, parts;
  const std::vector<Step> steps = mount(calls);
  play(whole, steps);
  play(parts, shifted(steps, GetParam().client_late, GetParam().by));
  EXPECT_EQ(by_side(parts.sink.facts), by_side(whole.sink.facts));
  for (const char* what : {"gap", "repeated", "adopted"}) EXPECT_EQ(count(parts.sink.lines, what), 0U) << what;
  for (const char* what : {"request 10", "reply 10", "disconnect request", "disconnect reply"}) {
    EXPECT_EQ(count(parts.sink.lines, what), 1U) << what;
  }
  EXPECT_EQ(count(parts.sink.lines, "acknowledges"), count(whole.sink.lines, "acknowledges"));
  // Nothing stands behind the end.
  const auto end = std::find_if(parts.sink.lines.begin(), parts.sink.lines.end(),
                                [](const auto& l) { return l.find("disconnect") != l.npos; });
  EXPECT_EQ(parts.sink.lines.end() - end, 2);
}

INSTANTIATE_TEST_SUITE_P(Shifts, TwoTaps,
                         testing::Values(Case{false, 1}, Case{false, 3}, Case{false, 40}, Case{false, 200},
                                         Case{true, 1}, Case{true, 3}, Case{true, 40}, Case{true, 200}));

class IbTwoTaps : public testing::Test {
 protected:
  IbTwoTaps() { p.set_up_fields(); }
  Peers p;
};
/// Up, and so far in order.
class IbTwoTapsOpen : public IbTwoTaps {
 protected:
  IbTwoTapsOpen() { p.handshake(); }
};

TEST_F(IbTwoTapsOpen, AnswerBeforeItsRequestInTheFile) {
  p.call(calls_begin);
  p.sink.news();
  p.server_acks(calls_begin + 1);
  p.server_acks(calls_begin + 2);
  EXPECT_TRUE(p.sink.news().empty());
  p.call(calls_begin + 1);
  EXPECT_EQ(p.sink.news(), (Lines{"1A #7 send 2 length 64 to #7", "1A #7 quality late", "1P #5 acknowledges 2"}));
  p.call(calls_begin + 2);
  EXPECT_EQ(p.sink.news(), (Lines{"1A #8 send 3 length 64 to #8", "1P #6 acknowledges 3"}));
}

TEST_F(IbTwoTapsOpen, WhatFollowsAnEarlyAnswerIsHeldBackWithIt) {
  p.call(calls_begin);
  p.sink.news();
  p.server_acks(calls_begin + 1);
  p.reply(replies_begin);
  EXPECT_TRUE(p.sink.news().empty());
  p.call(calls_begin + 1);
  EXPECT_EQ(p.sink.news(), (Lines{"1A #7 send 2 length 64 to #7", "1A #7 quality late", "1P #5 acknowledges 2",
                                  "1P #6 send 1 length 48 to #6"}));
}

// One acknowledgement for two packets that stand behind it: the first of them shows already that this side is late, and
// that the other one may come behind its peer's farewell.
TEST_F(IbTwoTapsOpen, FarewellAmongWhatOneAcknowledgementAnswers) {
  p.call(calls_begin);
  p.server_acks(calls_begin);
  p.client_acks(replies_begin + 1);
  p.sink.news();
  p.reply(replies_begin);
  EXPECT_EQ(p.sink.news(), (Lines{"1P #7 send 1 length 48 to #7", "1P #7 quality late"}));
  p.client_dreq();
  p.reply(replies_begin + 1);
  p.server_drep();
  EXPECT_EQ(p.sink.news(), (Lines{"1P #9 send 2 length 48 to #9", "1A #6 acknowledges 2", "1A #8 disconnect request",
                                  "1P #10 disconnect reply"}));
}

TEST_F(IbTwoTaps, RejectBeforeItsRequest) {
  CmFields f = p.server_cm;
  f.reason = 8;
  p.from_server(cm_packet(cm_rej(f)));
  EXPECT_EQ(p.sink.news(), Lines{});
  p.req();
  EXPECT_EQ(p.sink.news(), (Lines{"1A #2 request 10.0.0.2:40000/0x11 10.0.0.1:20049/-", "1P #1 reject 8"}));
}

// Before the REP a client does not know to which queue pair it sends.
TEST_F(IbTwoTaps, WhatTheClientSendsBeforeTheReply) {
  const auto late = [](const std::function<void(Peers&)>& tell) {
    Peers p;
    p.set_up_fields();
    tell(p);
    p.server_acks(calls_begin);
    p.reply(replies_begin);
    p.client_acks(replies_begin);
    p.finish();
    return count(p.sink.lines, "quality late") == 1;
  };
  EXPECT_FALSE(late([](Peers& p) { p.req(), p.rep(), p.rtu(), p.call(calls_begin); }));
  EXPECT_FALSE(late([](Peers& p) { p.req(), p.rep(), p.call(calls_begin), p.rtu(); }));
  EXPECT_TRUE(late([](Peers& p) { p.req(), p.rtu(), p.rep(), p.call(calls_begin); }));
  EXPECT_TRUE(late([](Peers& p) { p.req(), p.rtu(), p.call(calls_begin), p.rep(); }));
  EXPECT_TRUE(late([](Peers& p) { p.req(), p.call(calls_begin), p.rep(); }));
  EXPECT_TRUE(late([](Peers& p) { p.req(), p.call(calls_begin), p.rep(), p.rtu(); }));
}

// So much later that another attempt may have the same communication ID.
TEST_F(IbTwoTaps, RejectLongBeforeARequest) {
  p.from_server(cm_packet(cm_rej(p.server_cm)));
  p.time += 201'000'000;
  p.req();
  p.finish();
  EXPECT_EQ(p.sink.news(), (Lines{"1A #2 request 10.0.0.2:40000/0x11 10.0.0.1:20049/-"}));
}

// Of a peer whose packets the capture does not have at all, nothing is waited for twice.
TEST_F(IbTwoTapsOpen, OneDirectionOnly) {
  p.server_acks(calls_begin);
  p.reply(replies_begin);
  EXPECT_EQ(p.sink.news(), Lines{});
  p.time += 201'000'000;
  p.server_acks(calls_begin + 1);
  EXPECT_EQ(count(p.sink.news(), "send"), 1U);
  p.reply(replies_begin + 1);
  EXPECT_EQ(count(p.sink.news(), "send"), 1U);
}

// The client answered what the server said behind its answer: what that answers is not late, but missing.
// Who says farewell may be the last one to speak of it: what waits for nothing but time is told by the clock of all.
TEST_F(IbTwoTaps, WhatWaitsWhereNobodySpeaksAnyMore) {
  constexpr std::int64_t almost = 190'000'000;
  for (const bool farewell : {true, false}) {
    Peers q;
    q.set_up_fields();
    q.rep();  // its REQ is not in the capture, nor is the Call
    q.rtu();
    q.server_acks(calls_begin);
    q.reply(replies_begin);
    if (farewell) {
      CmFields f = q.server_cm;
      f.qpn = Peers::client_qpn;
      q.from_server(cm_packet(cm_dreq(f)));
    } else {
      q.server_drep();
    }
    q.transport.time_passed({q.frame + 1, q.time + almost});
    EXPECT_EQ(q.sink.news(), Lines{});
    q.transport.time_passed({q.frame + 1, q.time + almost + 12'000'000});
    EXPECT_EQ(q.sink.news().size(), 6U);
    EXPECT_EQ(q.sink.lines.back(), farewell ? "1P #5 disconnect request" : "1P #5 disconnect reply");
    q.finish();
    EXPECT_EQ(q.sink.news(), Lines{});
  }
}

TEST_F(IbTwoTapsOpen, AnsweredBeyondIt) {
  p.call(calls_begin);
  p.server_acks(calls_begin);
  p.server_acks(calls_begin + 1);
  p.reply(replies_begin);
  p.sink.news();
  p.client_acks(replies_begin);
  EXPECT_EQ(p.sink.news(), (Lines{"1A #6 gap 1 proven", "1P #7 send 1 length 48 to #7", "1A #8 acknowledges 1"}));
}

// A request that the capture lacks is given up, and both sides have much to say by then: in the order of the file. The
// answers to a READ do not stand behind the Reply that its data made possible.
TEST_F(IbTwoTapsOpen, BothDirectionsGoOnAsTheyStand) {
  p.step = 20'000;
  p.call(calls_begin);
  p.server_acks(calls_begin);
  p.server_acks(calls_begin + 1);  // of a Call that is missing
  p.call(calls_begin + 2);
  p.server_acks(calls_begin + 2);
  p.server_reads(replies_begin, 1500);
  p.client_answers(op_response_first, replies_begin, 1024);
  p.client_answers(op_response_last, replies_begin + 1, 476);
  p.reply(replies_begin + 2);
  p.sink.news();
  p.moment();
  EXPECT_EQ(p.sink.news(),
            (Lines{"1A #6 gap 1 proven", "1A #7 send 2 length 64 to #7", "1P #8 acknowledges 2",
                   "1P #9 read 1 0xbeef+0x10000 length 1500", "1A #10 response 1 0xbeef+0x10000 length 1024",
                   "1A #11 response 1 0xbeef+0x10400 length 476 last", "1P #12 send 1 length 48 to #12"}));
}

// What was sent again is in the capture twice, as everything is.
TEST_F(IbTwoTapsOpen, ARepetitionAndItsCopy) {
  p.call(calls_begin);
  p.time += 4'000'000;  // unanswered
  p.call(calls_begin);
  p.sink.news();
  p.step = 20'000;
  p.call(calls_begin);
  EXPECT_EQ(p.sink.news(), (Lines{"1A #6 repeated duplicate"}));
  p.step = 8'000'000;
  p.call(calls_begin);
  EXPECT_EQ(p.sink.news(), (Lines{"1A #7 repeated retransmission"}));
}

// What an RNR NAK refuses is not sent again before its time has passed.
TEST_F(IbTwoTapsOpen, RnrNakBehindTheCopyOfWhatItRefuses) {
  p.step = 10'000;
  p.call(calls_begin);
  p.sink.news();
  p.server_acks(calls_begin, 0x2C);
  p.call(calls_begin);
  p.server_acks(calls_begin, 0x2C);
  EXPECT_EQ(p.sink.news(), (Lines{"1P #5 refuses rnr: send 1 of #4 length 64", "1A #6 repeated duplicate",
                                  "1P #7 repeated duplicate"}));
  p.call(calls_begin + 1);
  p.call(calls_begin);
  p.server_acks(calls_begin, 0x21);  // 10 us
  p.call(calls_begin);
  EXPECT_EQ(p.sink.news(), (Lines{"1A #8 send 2 length 64 to #8", "1A #9 repeated duplicate",
                                  "1P #10 refuses rnr: send 1 of #4 length 64", "1A #11 repeated retransmission"}));
}

// The client's acknowledgement changed places with its Call: each side waits for what stands behind the other's answer.
TEST_F(IbTwoTapsOpen, AnAnswerInFrontOfARequestOfItsSide) {
  p.step = 100'000;
  p.client_acks(replies_begin);
  p.call(calls_begin);
  p.server_acks(calls_begin);
  EXPECT_EQ(p.sink.facts.size(), 0U);
  p.reply(replies_begin);
  EXPECT_EQ(p.sink.facts.size(), 2U);
  p.call(calls_begin + 1);
  p.server_acks(calls_begin + 1);
  p.finish();
  EXPECT_EQ(count(p.sink.lines, "gap"), 0U);
  EXPECT_EQ(count(p.sink.lines, "repeated"), 0U);
  EXPECT_EQ(count(p.sink.lines, "acknowledges"), 3U);
  EXPECT_EQ(count(p.sink.lines, "quality shuffled"), 1U);
}

// The Call is stored behind its acknowledgement, the Reply and the acknowledgement of that, all of which wait. As it is
// stamped it was sent before; where stamps tell nothing, which side's packets changed places is not known.
TEST_F(IbTwoTapsOpen, ARequestStoredLateAsItWasStamped) {
  struct StampCase {
    const char* what;
    trace::TimeNs stamped;  ///< after the packet in front of it
    const char* first;
  };
  for (const StampCase& c :
       {StampCase{"before them", -50'000, "A send 1"}, StampCase{"where it stands", 10'000, "P send 1"},
        StampCase{"at the same time as the Reply", -10'000, "P send 1"},
        StampCase{"by a clock that was set back", -5'000'000, "P send 1"}}) {
    Peers p;
    p.step = 10'000;
    p.set_up_fields();
    p.handshake();
    p.server_acks(calls_begin);
    p.reply(replies_begin);
    p.client_acks(replies_begin);
    p.step = c.stamped;
    p.call(calls_begin);
    ASSERT_EQ(p.sink.facts.size(), 2U) << c.what;
    EXPECT_TRUE(p.sink.facts.front().starts_with(c.first)) << c.what << ": " << p.sink.facts.front();
    EXPECT_EQ(count(p.sink.lines, "quality shuffled"), 1U) << c.what;
  }
}

// The acknowledgement of a Reply, which stands behind the one after it: that it waits itself shows when it has come.
TEST_F(IbTwoTapsOpen, ARequestStoredBehindALaterOneAndItsAnswerInFrontOfBoth) {
  p.step = 10'000;
  p.client_acks(replies_begin);
  p.call(calls_begin);
  p.call(calls_begin + 1);
  p.server_acks(calls_begin + 1);
  p.reply(replies_begin + 1);
  p.client_acks(replies_begin + 1);
  p.reply(replies_begin);
  EXPECT_EQ(p.sink.facts.size(), 4U);
  p.step = 1'000'000'000;
  p.call(calls_begin + 2);
  EXPECT_EQ(count(p.sink.lines, "gap"), 0U);
  EXPECT_EQ(count(p.sink.lines, "repeated"), 0U);
  EXPECT_EQ(count(p.sink.lines, "acknowledges 2"), 2U);
}

// Stored behind its acknowledgement and behind one of its own side, and stamped before that: the two changed places.
TEST_F(IbTwoTapsOpen, ARequestBehindAnAnswerOfItsSideThatWasSentLater) {
  for (const bool earlier : {true, false}) {
    Peers p;
    p.step = 10'000;
    p.set_up_fields();
    p.handshake();
    p.call(calls_begin);
    p.reply(replies_begin);
    p.client_acks(replies_begin);
    p.server_acks(calls_begin + 1);
    p.sink.news();
    p.step = earlier ? -25'000 : 10'000;
    p.call(calls_begin + 1);
    Lines expected{"1A #8 send 2 length 64 to #8", "1A #8 quality late", "1P #7 acknowledges 2"};
    if (earlier) expected.insert(expected.begin(), "1A #8 quality shuffled");
    EXPECT_EQ(p.sink.news(), expected);
  }
}

// One tap is behind the other, as long as only one side is. Of both sides it is true only where frames change places.
TEST_F(IbTwoTapsOpen, EachSideBehindTheOther) {
  for (const bool both : {false, true}) {
    Peers p;
    p.step = 10'000;
    p.set_up_fields();
    p.handshake();
    p.server_acks(calls_begin);
    p.call(calls_begin);
    if (both) {
      p.client_acks(replies_begin);
      p.reply(replies_begin);
    } else {
      p.reply(replies_begin);
      p.client_acks(replies_begin);
    }
    p.server_acks(calls_begin + 1);
    p.call(calls_begin + 1);
    EXPECT_EQ(count(p.sink.lines, "quality late"), both ? 2U : 1U);
    EXPECT_EQ(count(p.sink.lines, "quality shuffled"), both ? 1U : 0U);
  }
}

// More than is kept: why the rest is not put in order is told.
TEST_F(IbTwoTapsOpen, SoLateThatThereIsNoRoom) {
  p.call(calls_begin);
  p.step = 1'000;
  for (std::uint32_t n = 0; n < 2048; ++n) p.server_acks(calls_begin + 1 + n);
  EXPECT_EQ(count(p.sink.lines, "quality limit"), 0U);
  p.server_acks(calls_begin + 2049);
  EXPECT_EQ(count(p.sink.lines, "1P #2053 quality limit"), 1U);
}

}  // namespace
}  // namespace rpcrdma::test
