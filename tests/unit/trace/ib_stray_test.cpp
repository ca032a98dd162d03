// SPDX-License-Identifier: GPL-2.0-or-later
// Answers to what was never sent, as of an earlier use of the queue pair: adapters drop them, and so does who reads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ib_peers.hpp"

namespace rpcrdma::test {
namespace {

using testing::ElementsAre;

constexpr std::uint32_t calls_from = Peers::client_psn;
constexpr std::uint32_t replies_from = Peers::server_psn;

/// The handshake and one Call are over, frames 1 to 7.
struct StrayPeers {
  Peers p;

  StrayPeers() {
    p.set_up_fields();
    p.handshake();
    exchange(0);
  }
  /// A Call and its Reply, each acknowledged.
  void exchange(std::uint32_t n) {
    p.call(calls_from + n);
    p.server_acks(calls_from + n);
    p.reply(replies_from + n);
    p.client_acks(replies_from + n);
  }
  void exchange(std::uint32_t from, std::uint32_t to) {
    for (std::uint32_t n = from; n < to; ++n) exchange(n);
  }
  /// Whose Sends were told, in this order.
  [[nodiscard]] std::string sends() const {
    std::string all;
    for (const std::string& fact : p.sink.facts) all += fact.front();
    return all;
  }
  std::vector<std::string> alive() {
    p.finish();
    return p.sink.liveness;
  }
};

std::string calls_and_replies(unsigned count) {
  std::string all;
  while (count-- > 0) all += "AP";
  return all;
}

TEST(IbStray, WhileNothingIsUnderWay) {
  for (const std::uint32_t ahead : {5U, 1'000U, 60'000U, 1'000'000U, 8'000'000U}) {
    for (const trace::TimeNs idle : {0LL, 1'000'000'000LL}) {
      SCOPED_TRACE(testing::Message() << ahead << " ahead, then silence for " << idle);
      StrayPeers o;
      o.p.server_acks(calls_from + ahead);
      o.p.time += idle;
      o.exchange(1, 30);
      o.p.call(calls_from + 30);
      EXPECT_EQ(o.sends(), calls_and_replies(30) + "A");
      EXPECT_THAT(o.alive(), ElementsAre("C heard #125 unacknowledged #125 seen 31", "S heard #123 seen 30"));
    }
  }
}

TEST(IbStray, AtEveryPace) {
  for (const trace::TimeNs step : {1'000, 100'000, 10'000'000, 300'000'000}) {
    SCOPED_TRACE(step);
    StrayPeers o;
    o.p.step = step;
    o.p.server_acks(calls_from + 1000);
    o.exchange(1, 30);
    o.p.call(calls_from + 30);
    EXPECT_EQ(o.sends(), calls_and_replies(30) + "A");
  }
}

TEST(IbStray, AResponseToAnotherRead) {
  StrayPeers o;
  o.p.from_server(ib_packet(op_response_only, Peers::client_qpn, calls_from + 1000, aeth(0x1F), filled(64, 1)));
  o.exchange(1, 30);
  EXPECT_EQ(o.sends(), calls_and_replies(30));
}

TEST(IbStray, WhileARequestIsUnderWay) {
  for (const trace::TimeNs step : {1'000, 2'000'000}) {
    SCOPED_TRACE(step);
    StrayPeers o;
    o.p.step = step;
    o.p.call(calls_from + 1);
    o.p.server_acks(calls_from + 1000);
    o.p.server_acks(calls_from + 1);
    o.p.reply(replies_from + 1);
    o.p.client_acks(replies_from + 1);
    o.exchange(2, 30);
    o.p.finish();
    EXPECT_EQ(o.sends(), calls_and_replies(30));
  }
}

// Two acknowledgements of a capture that lacks a Call changed places.
TEST(IbStray, AnAnswerThatChangedPlacesContradictsNone) {
  StrayPeers o;
  o.p.step = 1'000;
  o.p.call(calls_from + 1);
  o.p.server_acks(calls_from + 2);
  o.p.server_acks(calls_from + 1);
  o.p.reply(replies_from + 2);
  o.p.reply(replies_from + 1);
  o.p.client_acks(replies_from + 2);
  o.p.time += 300'000'000;
  o.p.call(calls_from + 2);
  EXPECT_EQ(o.sends(), "APAPP");
}

// The capture lacks a Call, and its acknowledgement was lost behind the capture: what is sent again comes behind its
// Reply, and is told no more.
TEST(IbStray, WhatIsSentAgainIsNoStranger) {
  for (const std::uint32_t lost : {1U, 3U}) {
    StrayPeers o;
    o.p.server_acks(calls_from + lost);
    o.p.time += 300'000'000;
    for (std::uint32_t n = 1; n <= lost; ++n) o.p.reply(replies_from + n);
    o.p.client_acks(replies_from + lost);
    o.p.time += 300'000'000;
    for (std::uint32_t n = 1; n <= lost; ++n) {
      o.p.call(calls_from + n);
      o.p.server_acks(calls_from + lost);
    }
    for (std::uint32_t n = 1; n <= lost; ++n) {  // by an adapter that acknowledges each one
      o.p.call(calls_from + n);
      o.p.server_acks(calls_from + n);
    }
    o.exchange(lost + 1, 10);
    EXPECT_EQ(o.sends(), "AP" + std::string(lost, 'P') + calls_and_replies(9 - lost));
  }
}

}  // namespace
}  // namespace rpcrdma::test
