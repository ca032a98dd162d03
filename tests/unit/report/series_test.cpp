// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/series.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "../referee/story.hpp"

namespace rpcrdma::report {
namespace {

using referee::story::Story;
using trace::Side;

TEST(Series, CountsWhatWasMovedAndHowLongItTook) {
  Series series;
  Story story({}, &series);
  story.connect().call(1).reply(1).wait(1'000'000).call(2).write(Side::passive, 5, 0x1000, 700);
  story.read(Side::passive, 6, 0x2000, 900).wait(2'000'000).reply(2);
  const auto report = story.end();
  const Series::Connection* connection = series.connection(1);
  ASSERT_NE(connection, nullptr);
  std::uint64_t read = 0;
  std::uint64_t written = 0;
  std::uint64_t answered = 0;
  trace::TimeNs worst = 0;
  std::uint64_t outstanding = 0;
  for (const auto& [at, interval] : connection->intervals) {
    EXPECT_LT(at, Series::most_intervals);
    read += interval.read;
    written += interval.written;
    outstanding = std::max(outstanding, interval.outstanding);
    for (const Series::Answered& one : interval.answered) {
      answered += one.count;
      worst = std::max(worst, one.worst);
    }
  }
  EXPECT_EQ(read, 900U);
  EXPECT_EQ(written, 700U);
  EXPECT_EQ(answered, 2U);
  EXPECT_EQ(outstanding, 1U);
  EXPECT_DOUBLE_EQ(static_cast<double>(worst) / 1000, report.connections.at(0).latency.max);
  EXPECT_EQ(connection->operations.size(), 1U);
}

TEST(Series, AddsUpTimeAndOctetsByOperation) {
  Series series;
  referee::ConnectionFacts facts;
  facts.id = 1;
  trace::Send send;
  send.frame = send.last = {1, 1'000'000};
  send.side = Side::passive;
  referee::MessageSeen seen;
  seen.kind = referee::MessageSeen::Kind::reply;
  seen.send = &send;
  seen.exchange = {1, 1, Side::active};
  const auto answer = [&](std::string_view operation, const referee::CallTimes& times) {
    seen.operation = operation;
    seen.times = times;
    series.message(facts, seen);
  };
  answer("WRITE", {100, 60, 40, std::nullopt, 5000});
  answer("WRITE", {30, std::nullopt, 30, std::nullopt, 200});
  answer("READ", {90, std::nullopt, 20, 70, 9000});
  seen.exchange.requester = Side::passive;
  answer("CB_RECALL", {7, std::nullopt, 7, std::nullopt, 300});
  seen.exchange.requester = Side::active;
  seen.procedure = {100099, 1, 5};
  answer("", {1, std::nullopt, 1, std::nullopt, 100});
  seen.procedure.reset();
  answer("", {1, std::nullopt, 1, std::nullopt, 100});
  seen.times.reset();
  series.message(facts, seen);  // an answer to what is answered
  const Series::Connection& connection = *series.connection(1);
  const std::vector<std::string> names{"WRITE", "READ", "CB_RECALL (reverse)", "program 100099 version 1 procedure 5",
                                       "not read"};
  EXPECT_EQ(connection.operations, names);
  ASSERT_EQ(connection.intervals.size(), 1U);
  const std::vector<Series::Answered>& answered = connection.intervals.begin()->second.answered;
  ASSERT_EQ(answered.size(), 5U);
  EXPECT_EQ(answered[0].count, 2U);
  EXPECT_EQ(answered[0].whole, 130);
  EXPECT_EQ(answered[0].worst, 100);
  EXPECT_EQ(answered[0].pull, 60);
  EXPECT_EQ(answered[0].server, 70);
  EXPECT_EQ(answered[0].push, 0);
  EXPECT_EQ(answered[0].octets, 5200U);
  EXPECT_EQ(answered[1].push, 70);
}

TEST(Series, WhatComesBehindTheMostOperationsIsOneMore) {
  Series series;
  referee::ConnectionFacts facts;
  facts.id = 1;
  trace::Send send;
  send.frame = send.last = {1, 1'000'000};
  referee::MessageSeen seen;
  seen.send = &send;
  seen.exchange = {1, 1, Side::active};
  seen.times = referee::CallTimes{};
  for (std::uint32_t procedure = 0; procedure < 200; ++procedure) {
    seen.procedure = {100099, 1, procedure % 100};
    series.message(facts, seen);
  }
  const Series::Connection& connection = *series.connection(1);
  ASSERT_EQ(connection.operations.size(), Series::most_operations + 1);
  EXPECT_EQ(connection.operations.back(), "others");
  std::uint64_t all = 0;
  for (const Series::Answered& one : connection.intervals.begin()->second.answered) {
    all += one.count;
    EXPECT_EQ(one.count, one.operation < Series::most_operations ? 2U : 136U);
  }
  EXPECT_EQ(all, 200U);
}

TEST(Series, StaysBoundedAndLosesNothingHoweverLongItTakes) {
  Series series;
  Story story({}, &series);
  story.connect();
  std::uint64_t sent = 0;
  for (std::uint32_t xid = 1; xid <= 3000; ++xid) {
    story.call(xid).wait(xid % 100 == 0 ? 3'600'000'000'000 : 1000).reply(xid);
    sent += 28 + 40 + 28 + 24;
  }
  const Series::Connection& connection = *series.connection(1);
  EXPECT_LE(connection.intervals.size(), Series::most_intervals);
  std::uint64_t found = 0;
  std::uint64_t answered = 0;
  for (const auto& [at, interval] : connection.intervals) {
    found += interval.sent;
    for (const Series::Answered& one : interval.answered) answered += one.count;
  }
  EXPECT_EQ(found, sent);
  EXPECT_EQ(answered, 3000U);
}

TEST(Series, AClockThatWasSetBackHarmsNothing) {
  Series series;
  Story story({}, &series);
  story.connect().call(1).reply(1).wait(-5'000'000'000).call(2).reply(2);
  EXPECT_GE(series.connection(1)->intervals.size(), 1U);
  EXPECT_EQ(series.connection(1)->intervals.begin()->first, 0U);
}

}  // namespace
}  // namespace rpcrdma::report
