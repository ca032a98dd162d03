// SPDX-License-Identifier: GPL-2.0-or-later
// What is kept packed comes out as it went in.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "referee/docket/findings.hpp"
#include "referee/facts.hpp"
#include "referee/packed/fields.hpp"
#include "referee/packed/list.hpp"

namespace rpcrdma::referee {

struct Figures {
  std::vector<std::int64_t> times;
  std::vector<double> numbers;
};
void pack(PackedOctets& to, PackedWords& words, const Figures& figures) {
  Packing{to, words}(figures.times, figures.numbers);
}
void unpack(const std::uint8_t*& from, const PackedWords& words, Figures& into) {
  Unpacking{from, words}(into.times, into.numbers);
}

namespace {

template <class T>
[[nodiscard]] PackedOctets octets_of(const T& value) {
  PackedOctets octets;
  PackedWords words;
  pack(octets, words, value);
  return octets;
}

Finding every_field() {
  Finding finding;
  finding.rule = RuleId::call_hangs;
  finding.severity = Severity::error;
  finding.connection = 0xffffffff;
  finding.frames = {std::numeric_limits<std::uint64_t>::max(), 0, 127, 128};
  finding.time = std::numeric_limits<TimeNs>::min();
  finding.xid = 0;
  finding.violator = Party::server;
  finding.role = Role::responder;
  finding.message = std::string("nul \0 in it", 11);
  finding.occurrences = 1U << 31U;
  finding.follows = Finding::Follows{RuleId::credit_limit_exceeded, 17};
  finding.owes = Owes::server_unreachable;
  finding.connections = {1, 2, 70000};
  return finding;
}

TEST(Packed, AFindingComesOutAsItWentIn) {
  const Finding in = every_field();
  const PackedList<Finding> list{Finding(), in};
  EXPECT_EQ(octets_of(list.at(0)), octets_of(Finding()));
  const Finding out = list.at(1);
  EXPECT_EQ(out.rule, in.rule);
  EXPECT_EQ(out.severity, in.severity);
  EXPECT_EQ(out.connection, in.connection);
  EXPECT_EQ(out.frames, in.frames);
  EXPECT_EQ(out.time, in.time);
  EXPECT_EQ(out.xid, in.xid);
  EXPECT_EQ(out.violator, in.violator);
  EXPECT_EQ(out.role, in.role);
  EXPECT_EQ(out.message, in.message);
  EXPECT_EQ(out.occurrences, in.occurrences);
  ASSERT_TRUE(out.follows);
  EXPECT_EQ(out.follows->rule, in.follows->rule);
  EXPECT_EQ(out.follows->frame, 17U);
  EXPECT_EQ(out.owes, in.owes);
  EXPECT_EQ(out.connections, in.connections);
}

TEST(Packed, NothingOfTheOneBeforeIsLeft) {
  const PackedList<Finding> list{every_field(), Finding()};
  Finding read;
  list.read(0, read);
  list.read(1, read);
  EXPECT_EQ(octets_of(read), octets_of(Finding()));
  EXPECT_FALSE(read.xid || read.violator || read.role || read.follows || read.owes);
  EXPECT_TRUE(read.frames.empty() && read.message.empty() && read.connections.empty());
}

TEST(Packed, NumbersOfAnySize) {
  Figures in;
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  in.times = {0, 1, -1, 63, 64, -64, -65, most, -most, std::numeric_limits<std::int64_t>::min()};
  in.numbers = {0.0,       -0.0, 0.001,    0.0005, -1.5,   949.0, 72758.0,  1.0 / 3,
                0.1 + 0.2, 1e15, 1e15 + 1, 1e300,  5e-324, 72.5,  1234.567, std::numeric_limits<double>::infinity()};
  for (std::uint64_t ns = 1; ns < std::uint64_t{1} << 60U; ns = ns * 5 / 3 + 1) {
    in.numbers.push_back(static_cast<double>(ns) / 1000);
  }
  const Figures out = PackedList<Figures>{in}.at(0);
  EXPECT_EQ(out.times, in.times);
  ASSERT_EQ(out.numbers.size(), in.numbers.size());
  for (std::size_t i = 0; i < in.numbers.size(); ++i) {
    EXPECT_EQ(out.numbers[i], in.numbers[i]) << i;
    EXPECT_EQ(std::signbit(out.numbers[i]), std::signbit(in.numbers[i])) << i;
  }
  EXPECT_TRUE(std::isnan(PackedList<Figures>{Figures{{}, {std::nan("")}}}.at(0).numbers[0]));
}

TEST(Packed, AConnectionComesOutAsItWentIn) {
  ConnectionFacts in;
  in.id = 7;
  in.transport = trace::Transport::iwarp;
  in.client = {"192.0.2.1", 700, std::nullopt, 3, "lid 5"};
  in.networks = {"VLAN 10", "VLAN 11"};
  in.closed.emplace().cause = Cause{RuleId::connection_lost, true, {4, 5}, "why"};
  in.private_data_server = PrivateData{9, 1, 1, true, 4096, 8192, 2};
  in.messages.v2 = {{"RDMA2_MSG", 3}};
  in.procedures = {{100003, 4, 1, "NFSv4 COMPOUND", 45, {1, 2, 3, 4, 5, 6}, {{"READ", 3}, {"WRITE", 4}}}};
  in.negotiation.probe_type = "RDMA2_CONNPROP_FINAL";
  in.path_mtu = 1024;
  in.sends_unrecognised = 12;
  const ConnectionFacts out = PackedList<ConnectionFacts>{in}.at(0);
  // Every field of a struct is bound where they are listed: what is packed again has them all.
  EXPECT_EQ(octets_of(out), octets_of(in));
  EXPECT_EQ(out.client.address, "192.0.2.1");
  EXPECT_EQ(out.client.network, 3);
  EXPECT_EQ(out.networks, in.networks);
  EXPECT_EQ(out.closed->cause->message, "why");
  EXPECT_EQ(out.private_data_server->receive_size, 8192U);
  EXPECT_EQ(out.messages.v2.at("RDMA2_MSG"), 3U);
  EXPECT_EQ(out.procedures.at(0).operations.at(1).name, "WRITE");
  EXPECT_EQ(out.procedures.at(0).latency.p99, 5.0);
  EXPECT_EQ(out.path_mtu, 1024U);
  EXPECT_EQ(out.sends_unrecognised, 12U);
}

// Words that come again are kept once, those that differ each, and more of them than are kept come out as well.
TEST(Packed, WordsThatComeAgainTakeNoRoom) {
  Finding finding;
  finding.message = std::string(100, 'x');
  PackedWords words;
  std::vector<std::size_t> sizes;
  for (int i = 0; i < 4; ++i) {
    PackedOctets octets;
    pack(octets, words, finding);
    sizes.push_back(octets.size());
  }
  EXPECT_GT(sizes[0], 100U);
  EXPECT_LT(sizes[2], 40U);
  EXPECT_EQ(sizes[3], sizes[2]);
  PackedList<Finding> list;
  for (int again = 0; again < 3; ++again) {
    for (std::size_t i = 0; i < 5000; ++i) {
      finding.message = "message " + std::to_string(i);
      list.push_back(finding);
    }
  }
  std::size_t i = 0;
  for (const Finding& out : list) ASSERT_EQ(out.message, "message " + std::to_string(i++ % 5000));
  EXPECT_EQ(i, 15000U);
}

TEST(PackedLists, AreKeptInAnyOrderChangedAndCopied) {
  PackedList<Finding> list;
  Finding finding;
  for (std::uint64_t frame = 0; frame < 2000; ++frame) {
    finding.frames = {frame};
    finding.message = std::string(frame == 1000 ? 100'000 : frame % 90, 'm');  // one longer than a block
    list.push_back(finding);
  }
  list.keep({1999, 1000, 3});
  list.change(2, [](Finding& third) { third.xid = 9; });
  const PackedList<Finding> copy = list;
  list.clear();
  EXPECT_TRUE(list.empty());
  ASSERT_EQ(copy.size(), 3U);
  EXPECT_EQ(copy.at(0).frames.front(), 1999U);
  EXPECT_EQ(copy.at(1).message.size(), 100'000U);
  EXPECT_EQ(copy.at(2).xid, 9U);
  EXPECT_EQ(copy.at(2).frames.front(), 3U);
  PackedList<Finding> rest = copy;
  EXPECT_EQ(erase_if(rest, [](const Finding& each) { return !each.xid; }), 2U);
  EXPECT_EQ(rest.at(0).frames.front(), 3U);
}

TEST(Resting, IsInTheReportAsIfItHadNotRested) {
  const auto said = [](bool rests) {
    FindingBook book;
    trace::Moment now;
    book.follow(now);
    std::vector<HeldFinding> held;
    const auto add = [&](ConnectionId connection, std::uint64_t frame, const char* message) {
      now.place = frame;
      held.push_back(book.add(
          {.rule = RuleId::garbage_args, .connection = connection, .frames = {{frame, 1}}, .message = message}));
    };
    add(1, 30, "a");
    add(2, 10, "b");
    add(1, 20, "c");
    book.unchecked(RuleId::call_hangs, 1, "first");
    if (rests) book.rest(1);
    add(3, 5, "d");
    add(2, 20, "e");
    book.unchecked(RuleId::call_hangs, 1, "second");
    // Nobody should, but who still holds one finds it.
    EXPECT_TRUE(book.stands(held[0]));
    book.at(held[0]).message += " amended";
    book.withdraw(held[1]);
    std::string all;
    for (const Said<Finding>& each :
         book.take_findings([](const Finding& f) { return f.rule == RuleId::garbage_args; })) {
      all += std::to_string(each.what.frames.front()) + each.what.message + std::to_string(each.when.place) + ' ';
    }
    for (const Said<Unchecked>& each : book.take_unchecked()) all += each.what.reason;
    return all;
  };
  EXPECT_EQ(said(true), "5d5 20c20 20e20 30a amended30 first");
  EXPECT_EQ(said(true), said(false));
}

// What a mount tells as one at the end is found, also of connections that carried messages before.
TEST(Resting, AttemptsAreToldAsOneAllTheSame) {
  FindingBook book;
  for (const ConnectionId connection : {1U, 2U, 3U}) {
    (void)book.add({.rule = RuleId::cm_rejected,
                    .connection = connection,
                    .frames = {{std::uint64_t{10} * connection, 1}},
                    .message = "refused",
                    .severity = Severity::warning});
    (void)book.add({.rule = RuleId::garbage_args, .connection = connection, .frames = {{5, 1}}, .message = "another"});
    book.rest(connection);
  }
  std::vector<std::size_t> numbers;
  for (const ConnectionId connection : {1U, 2U, 3U}) {
    const std::vector<std::size_t> of = book.untold_attempts(connection);
    numbers.insert(numbers.end(), of.begin(), of.end());
  }
  ASSERT_EQ(numbers.size(), 3U);
  book.fold_together(numbers);
  const auto findings = book.take_findings([](const Finding& f) { return f.rule == RuleId::cm_rejected; });
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings.at(0).what.occurrences, 3U);
  EXPECT_EQ(findings.at(0).what.severity, Severity::note);
  EXPECT_EQ(findings.at(0).what.connections, (std::vector<ConnectionId>{1, 2, 3}));
}

}  // namespace
}  // namespace rpcrdma::referee
