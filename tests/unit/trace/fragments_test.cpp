// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/link/fragments.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "../wire/packets.hpp"

namespace rpcrdma::test {
namespace {

using trace::Fragments;
using Taken = trace::Fragments::Taken;

/// A piece of an IPv4 packet, as RFC 791 says it: offset in octets.
Octets piece(std::size_t offset, bool more, const Octets& octets, std::uint8_t number = 1) {
  Octets packet = ipv4(17, octets);
  packet[4] = 0;
  packet[5] = number;
  packet[6] = static_cast<std::uint8_t>((more ? 0x20U : 0U) | offset / 8 >> 8U);
  packet[7] = static_cast<std::uint8_t>(offset / 8);
  return packet;
}

Octets slice(const Octets& whole, std::size_t begin, std::size_t size) {
  const auto from = whole.begin() + static_cast<std::ptrdiff_t>(begin);
  return {from, from + static_cast<std::ptrdiff_t>(std::min(size, whole.size() - begin))};
}

class Joining {
 public:
  Fragments::Answer take(const Octets& packet, trace::TimeNs time = 1, std::uint64_t network = 0) {
    const auto fragment = wire::decode_ipv4_fragment({packet, packet.size()});
    EXPECT_TRUE(fragment);
    fragments.start({++frame_, time});
    return fragment ? fragments.take(*fragment, network) : Fragments::Answer{};
  }
  Fragments fragments;

 private:
  std::uint64_t frame_ = 0;
};

TEST(Fragments, AnyOrderGivesTheWhole) {
  const Octets payload = filled(100);
  const std::vector<Octets> pieces{piece(0, true, slice(payload, 0, 24)), piece(24, true, slice(payload, 24, 40)),
                                   piece(64, false, slice(payload, 64, 36))};
  for (const std::string order : {"012", "021", "102", "120", "201", "210", "0012", "1102", "22110"}) {
    Joining joining;
    Fragments::Answer answer;
    for (const char at : order) {
      EXPECT_NE(answer.taken, Taken::whole) << order;
      answer = joining.take(pieces[static_cast<std::size_t>(at - '0')]);
    }
    ASSERT_EQ(answer.taken, Taken::whole) << order;
    Octets whole = ipv4(17, payload);
    whole[4] = 0;
    whole[5] = 1;
    whole[6] = whole[7] = 0;
    EXPECT_EQ(Octets(answer.packet.begin(), answer.packet.end()), whole) << order;
    EXPECT_TRUE(joining.fragments.not_joined().empty()) << order;
  }
}

/// Two ports of a mirror, one after the other or mixed: as many packets as each piece came.
TEST(Fragments, ACopyIsAPacketAndLeavesNothing) {
  const Octets payload = filled(100);
  const std::vector<Octets> pieces{piece(0, true, slice(payload, 0, 24)), piece(24, true, slice(payload, 24, 40)),
                                   piece(64, false, slice(payload, 64, 36))};
  struct Case {
    std::string order;
    std::string whole;  ///< x: with this piece
  };
  for (const Case& c : {Case{"001122", "....xx"},
                        {"012012", "..x..x"},
                        {"012210", "..x..x"},
                        {"0120", "..x."},
                        {"01202", "..x.."},
                        {"000111222", "......xxx"}}) {
    Joining joining;
    std::string whole;
    for (const char at : c.order) {
      const auto answer = joining.take(pieces[static_cast<std::size_t>(at - '0')]);
      whole += answer.taken == Taken::whole ? 'x' : '.';
      if (answer.taken == Taken::whole) {
        EXPECT_EQ(answer.packet.size(), 20U + 100U) << c.order;
      }
    }
    EXPECT_EQ(whole, c.whole) << c.order;
    EXPECT_TRUE(joining.fragments.not_joined().empty()) << c.order;
  }
}

/// The number comes again: sooner than any copy would, or with other octets.
TEST(Fragments, BehindAWholeOneTheNumberIsFree) {
  Joining joining;
  joining.take(piece(0, true, filled(32)));
  EXPECT_EQ(joining.take(piece(32, false, filled(8))).taken, Taken::whole);
  EXPECT_EQ(joining.take(piece(0, true, filled(32, 7))).taken, Taken::held);
  EXPECT_EQ(joining.take(piece(32, false, filled(16))).taken, Taken::whole);
  EXPECT_EQ(joining.take(piece(0, true, filled(32, 7)), 2'000'000'000).taken, Taken::held);
  EXPECT_EQ(joining.take(piece(32, false, filled(24)), 2'000'000'000).taken, Taken::whole);
  EXPECT_TRUE(joining.fragments.not_joined().empty());
}

TEST(Fragments, WholeOnesTakeNoRoomFromThoseThatWait) {
  Joining joining;
  Octets first = piece(0, true, filled(32));
  first[4] = 1;
  EXPECT_EQ(joining.take(first).taken, Taken::held);
  for (unsigned i = 0; i < 200; ++i) {
    joining.take(piece(0, true, filled(32), static_cast<std::uint8_t>(i)));
    joining.take(piece(32, false, filled(8), static_cast<std::uint8_t>(i)));
  }
  Octets last = piece(32, false, filled(8));
  last[4] = 1;
  EXPECT_EQ(joining.take(last).taken, Taken::whole);
}

TEST(Fragments, WhatContradictsBeginsAnew) {
  const Octets payload = filled(64);
  struct Case {
    const char* name;
    std::vector<Octets> before;
    std::uint64_t given_up;
  };
  const Case cases[] = {
      {"another first one", {piece(0, true, filled(32, 9))}, 1},
      {"a shorter first one", {piece(0, true, filled(24))}, 1},
      {"over its end", {piece(0, true, filled(40))}, 1},
      {"a last one that ends earlier", {piece(40, false, filled(8))}, 1},
      {"a last one that ends later", {piece(40, false, filled(40))}, 1},
  };
  for (const auto& c : cases) {
    Joining joining;
    for (const Octets& packet : c.before) EXPECT_EQ(joining.take(packet).taken, Taken::held) << c.name;
    EXPECT_EQ(joining.take(piece(0, true, slice(payload, 0, 32))).taken, Taken::held) << c.name;
    const auto answer = joining.take(piece(32, false, slice(payload, 32, 32)));
    const auto lost = joining.fragments.not_joined();
    if (answer.taken == Taken::whole) {
      EXPECT_EQ(answer.packet.size(), 20U + 64U) << c.name;
    }
    EXPECT_GE(lost.empty() ? 0 : lost.at(17), c.given_up) << c.name;
  }
}

TEST(Fragments, NumbersAddressesAndTimesKeepPacketsApart) {
  Joining joining;
  EXPECT_EQ(joining.take(piece(0, true, filled(32), 1)).taken, Taken::held);
  EXPECT_EQ(joining.take(piece(32, false, filled(8), 2)).taken, Taken::held);
  EXPECT_EQ(joining.take(piece(32, false, filled(8), 1), 2'000'000'000).taken, Taken::held) << "two seconds later";
  EXPECT_EQ(joining.fragments.not_joined().at(17), 3U);
}

TEST(Fragments, ExtremeTimes) {
  Joining joining;
  EXPECT_EQ(joining.take(piece(0, true, filled(32)), INT64_MIN).taken, Taken::held);
  joining.take(piece(32, false, filled(8)), INT64_MAX);
  joining.take(piece(0, true, filled(32)), INT64_MIN);
}

/// "udp port 4789" as a capture filter.
TEST(Fragments, WhereOnlyFirstOnesCome) {
  Joining joining;
  for (std::uint8_t i = 0; i < 32; ++i) EXPECT_EQ(joining.take(piece(0, true, filled(32), i)).taken, Taken::held);
  EXPECT_EQ(joining.take(piece(0, true, filled(32), 99)).taken, Taken::no);
  EXPECT_EQ(joining.take(piece(32, false, filled(8), 200)).taken, Taken::held) << "there are others";
  EXPECT_EQ(joining.take(piece(0, true, filled(32), 100)).taken, Taken::held);
}

/// Several queues, or several ways: the others of all of them come behind.
TEST(Fragments, ManyFirstOnesInARow) {
  Joining joining;
  constexpr std::uint8_t row = 30;
  for (std::uint8_t i = 0; i < row; ++i) EXPECT_EQ(joining.take(piece(0, true, filled(32), i)).taken, Taken::held);
  for (std::uint8_t i = 0; i < row; ++i) EXPECT_EQ(joining.take(piece(32, false, filled(8), i)).taken, Taken::whole);
  EXPECT_TRUE(joining.fragments.not_joined().empty());
}

/// Names from the Internet, in fragments: thousands of addresses once each.
TEST(Fragments, ManyAddresses) {
  Joining joining;
  const auto from = [](unsigned n, Octets packet) {
    packet[13] = static_cast<std::uint8_t>(n >> 8U);
    packet[14] = static_cast<std::uint8_t>(n);
    return packet;
  };
  for (unsigned n = 0; n < 5000; ++n) {
    EXPECT_EQ(joining.take(from(n, piece(0, true, filled(32)))).taken, Taken::held) << n;
    EXPECT_EQ(joining.take(from(n, piece(32, false, filled(8)))).taken, Taken::whole) << n;
  }
}

TEST(Fragments, NetworksWithTheSameAddressesAndNumbers) {
  Joining joining;
  EXPECT_EQ(joining.take(piece(0, true, filled(32, 5)), 1, 5).taken, Taken::held);
  EXPECT_EQ(joining.take(piece(0, true, filled(32, 6)), 1, 6).taken, Taken::held);
  const auto sixth = joining.take(piece(32, false, filled(8)), 1, 6);
  ASSERT_EQ(sixth.taken, Taken::whole);
  EXPECT_EQ(Octets(sixth.packet.begin() + 20, sixth.packet.begin() + 52), filled(32, 6));
  EXPECT_EQ(joining.take(piece(32, false, filled(8)), 1, 5).taken, Taken::whole);
  EXPECT_TRUE(joining.fragments.not_joined().empty());
}

TEST(Fragments, OneThatTheCaptureCutIsOpenedAsItIs) {
  Joining joining;
  const Octets packet = piece(0, true, filled(64));
  const auto fragment = wire::decode_ipv4_fragment({wire::Bytes(packet).first(60), packet.size()});
  ASSERT_TRUE(fragment);
  joining.fragments.start({1, 1});
  EXPECT_EQ(joining.fragments.take(*fragment).taken, Taken::no);
}

TEST(Fragments, NoMoreWaitThanFit) {
  Joining joining;
  for (std::size_t i = 0; i < 1000; ++i) {
    const auto number = static_cast<std::uint8_t>(i);
    joining.take(piece(8, true, filled(8), number), static_cast<trace::TimeNs>(i) * 10'000'000);
  }
  EXPECT_EQ(joining.fragments.not_joined().at(17), 1000U);
}

}  // namespace
}  // namespace rpcrdma::test
