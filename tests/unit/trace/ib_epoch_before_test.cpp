// SPDX-License-Identifier: GPL-2.0-or-later
// The queue pairs are used again at once, and packets of the connection before stand behind the handshake of the next.
#include <gtest/gtest.h>

#include <functional>

#include "ib_peers.hpp"

namespace rpcrdma::test {
namespace {

constexpr std::uint32_t old_calls = Peers::client_psn;
constexpr std::uint32_t old_replies = Peers::server_psn;
constexpr std::uint32_t exchanged = 10;

/// One connection is over, and the next one uses its queue pairs.
struct ReusingPeers {
  Peers p;
  std::uint32_t calls_from;
  std::uint32_t replies_from;

  ReusingPeers(std::uint32_t calls, std::uint32_t replies) : calls_from(calls), replies_from(replies) {
    p.set_up_fields();
    p.step = 100'000;
    p.handshake();
    for (std::uint32_t n = 0; n < exchanged; ++n) exchange(old_calls + n, old_replies + n);
    p.client_dreq();
    p.server_drep();
    p.client_cm.local_id += 1;
    p.server_cm.remote_id += 1;
    p.server_cm.local_id += 1;
    p.server_cm.psn = calls;
    p.client_cm.psn = replies;
  }
  void exchange(std::uint32_t call, std::uint32_t reply) {
    p.call(call);
    p.server_acks(call);
    p.reply(reply);
    p.client_acks(reply);
  }
  void go_on(std::uint32_t from, std::uint32_t to) {
    for (std::uint32_t n = from; n < to; ++n) exchange(calls_from + n, replies_from + n);
  }
  /// What was told of the second connection, without frame numbers.
  [[nodiscard]] Lines told() const {
    Lines all;
    for (const std::string& line : p.sink.lines) {
      if (line.front() != '2') continue;
      const std::size_t what = line.find(' ', line.find('#'));
      all.push_back(line.substr(0, 2) + line.substr(what, line.rfind(" to #") - what));
    }
    return all;
  }
};

using Stray = std::function<void(Peers&)>;
enum class Place : std::uint8_t { behind_the_request, behind_the_handshake, behind_an_exchange };

Lines with(const Stray& stray, Place place, std::uint32_t calls, std::uint32_t replies) {
  ReusingPeers o(calls, replies);
  o.p.req();
  if (place == Place::behind_the_request) stray(o.p);
  o.p.rep();
  o.p.rtu();
  if (place == Place::behind_the_handshake) stray(o.p);
  o.go_on(0, 1);
  if (place == Place::behind_an_exchange) stray(o.p);
  o.go_on(1, 20);
  o.p.time += 6'000'000'000;  // longer than anything waits
  o.go_on(20, 22);
  o.p.finish();
  return o.told();
}

TEST(IbEpochBefore, WhatComesLateIsNoneOfTheNext) {
  const std::pair<const char*, Stray> strays[] = {
      {"nothing that is a request", [](Peers& p) { p.server_acks(old_calls + exchanged - 1); }},
      {"an acknowledgement", [](Peers& p) { p.client_acks(old_replies + exchanged - 1); }},
      {"the last Reply", [](Peers& p) { p.reply(old_replies + exchanged); }},
      {"a Reply again", [](Peers& p) { p.reply(old_replies + exchanged - 1); }},
      {"all that was said last",
       [](Peers& p) {
         for (std::uint32_t n = exchanged; n < 2 * exchanged; ++n) {
           p.server_acks(old_calls + n);
           p.reply(old_replies + n);
         }
       }},
      {"a Read", [](Peers& p) { p.server_reads(old_replies + exchanged, 8); }},
      {"a refusal", [](Peers& p) { p.server_acks(old_calls + exchanged, 0x62); }},
  };
  const std::pair<std::uint32_t, std::uint32_t> starts[] = {
      {0x400000, 0x500000}, {0xA00000, 0xB00000}, {0x20000, 0x30000}};
  for (const auto& [calls, replies] : starts) {
    const Lines undisturbed = with([](Peers&) {}, Place::behind_the_request, calls, replies);
    EXPECT_EQ(undisturbed.size(), 3U + 4 * 22);
    for (const auto& [name, stray] : strays) {
      for (const Place place : {Place::behind_the_request, Place::behind_the_handshake, Place::behind_an_exchange}) {
        SCOPED_TRACE(testing::Message() << name << " at " << static_cast<int>(place) << ", Calls from " << calls);
        EXPECT_EQ(with(stray, place, calls, replies), undisturbed);
      }
    }
  }
}

// The client's stand behind the REP, which tells where its requests begin.
TEST(IbEpochBefore, WhatTheClientSaidLast) {
  const Stray strays[] = {
      [](Peers& p) { p.call(old_calls + exchanged); },
      [](Peers& p) { p.call(old_calls + exchanged - 1); },
      [](Peers& p) { p.client_answers(op_response_only, old_replies + exchanged, 8); },
  };
  const Lines undisturbed = with([](Peers&) {}, Place::behind_the_request, 0xA00000, 0xB00000);
  for (const Stray& stray : strays)
    for (const Place place : {Place::behind_the_request, Place::behind_the_handshake, Place::behind_an_exchange})
      EXPECT_EQ(with(stray, place, 0xA00000, 0xB00000), undisturbed);
}

// The next connection begins where the one before ended: what may be its own is.
TEST(IbEpochBefore, WhatMayBeItsOwnIs) {
  ReusingPeers o(old_calls + exchanged, old_replies + exchanged);
  o.p.req();
  o.p.rep();
  o.p.rtu();
  o.go_on(0, 20);
  o.p.finish();
  std::size_t sends = 0;
  for (const std::string& line : o.told()) sends += line.find(" send ") != std::string::npos ? 1U : 0U;
  EXPECT_EQ(sends, 40U);
}

// So late nothing comes of it any more.
TEST(IbEpochBefore, NotForLong) {
  ReusingPeers o(0x20000, 0x30000);
  o.p.req();
  o.p.rep();
  o.p.rtu();
  o.go_on(0, 1);
  o.p.time += 200'000'000;
  o.p.reply(old_replies + exchanged - 1);
  EXPECT_EQ(o.told().back(), "2P repeated retransmission");
}

}  // namespace
}  // namespace rpcrdma::test
