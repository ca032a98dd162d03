// SPDX-License-Identifier: GPL-2.0-or-later
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

#include "streams.hpp"

namespace rpcrdma::iwarp_test {
namespace {

using testing::IsEmpty;

TEST(IwarpRoles, FromTrafficOnOtherPorts) {
  RunOptions options;
  options.server_port = 51'000;  // above the client's
  auto segments = segments_of(full_story({}));
  segments.erase(segments.begin(), segments.begin() + 5);
  const Recorder got = run(segments, options);
  ASSERT_FALSE(got.lines.empty());
  EXPECT_EQ(got.lines[0], "Adopted 192.0.2.2:50000 -> 192.0.2.1:51000 by traffic");
  EXPECT_EQ(operations_without_numbers(got), operations_without_numbers(run(full_story({}))));
}

/// Without its beginning, and between ports that tell nothing.
Recorder run_from_the_middle(const Story& story) {
  TcpOptions tcp;
  tcp.syn = false;
  RunOptions options;
  options.server_port = 51'000;
  return run(segments_of(story, tcp), options);
}

// Who is called, and who calls, is told by the program alone.
TEST(IwarpRoles, ACallOfTheServer) {
  const struct {
    std::uint32_t program;
    const char* told;
  } cases[] = {
      {0x40000000, "Adopted 192.0.2.2:50000 -> 192.0.2.1:51000 by traffic"},  // a callback program
      {0x20000001, "Adopted 192.0.2.1:51000 -> 192.0.2.2:50000 by unknown"},  // defined by the user
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.program);
    Direction client;
    Direction server;
    Story story;
    for (std::uint32_t i = 1; i < 10; ++i) {
      story.push_back({false, server.fpdu(send_ulpdu(i, 0, true, rpc_call(i, c.program)))});
      story.push_back({true, client.fpdu(send_ulpdu(i, 0, true, rpc_reply(i)))});
    }
    const Recorder got = run_from_the_middle(story);
    ASSERT_FALSE(got.lines.empty());
    EXPECT_EQ(got.lines[0], c.told);
    EXPECT_EQ(got.count("Send"), 18U);
  }
}

// What the server offers to be read may be Replies: then it is the client who reads.
TEST(IwarpRoles, WhatIsOfferedToBeReadTellsNothing) {
  Direction client;
  Direction server;
  Story story;
  for (std::uint32_t i = 1; i < 10; ++i) {
    story.push_back({false, server.fpdu(send_ulpdu(i, 0, true, rpc_offer(i, 0x77, 100)))});
    story.push_back({true, client.fpdu(read_request_ulpdu(i, 0x55, 0, 100, 0x77, 0))});
    story.push_back({false, server.fpdu(tagged_ulpdu(2, 0x55, 0, true, pattern(100, i)))});
  }
  const Recorder got = run_from_the_middle(story);
  ASSERT_FALSE(got.lines.empty());
  EXPECT_NE(got.lines[0].find("by unknown"), std::string::npos) << got.lines[0];
}

TEST(IwarpRoles, WhoMovesDataIsMostLikelyTheServer) {
  Direction server;
  Story story;
  for (std::uint32_t i = 0; i < 20; ++i) {
    story.push_back({false, server.fpdu(tagged_ulpdu(0, 0x77, std::uint64_t{1000} * i, true, pattern(1000, i)))});
  }
  TcpOptions tcp;
  tcp.syn = false;
  RunOptions options;
  options.server_port = 51'000;
  const Recorder got = run(segments_of(story, tcp), options);
  ASSERT_FALSE(got.lines.empty());
  EXPECT_EQ(got.lines[0], "Adopted 192.0.2.2:50000 -> 192.0.2.1:51000 by traffic one way");
  EXPECT_EQ(got.count("Write S"), 20U);
}

TEST(IwarpRoles, UnknownIsSaid) {
  Direction server;
  Story story;
  for (std::uint32_t i = 1; i <= 20; ++i) {
    story.push_back({false, server.fpdu(send_ulpdu(i, 0, true, pattern(100, i)))});
  }
  TcpOptions tcp;
  tcp.syn = false;
  RunOptions options;
  options.server_port = 40'000;
  const Recorder got = run(segments_of(story, tcp), options);
  ASSERT_FALSE(got.lines.empty());
  EXPECT_EQ(got.lines[0], "Adopted 192.0.2.2:50000 -> 192.0.2.1:40000 by unknown one way");
  EXPECT_EQ(got.count("Send S"), 20U);
}

TEST(IwarpRoles, MuchTrafficBeforeTheRolesAreKnownLosesNothing) {
  // More than a window holds before the first Send.
  Direction client;
  Direction server;
  Story story;
  for (std::uint32_t i = 0; i < 400; ++i) {
    story.push_back(
        {false, server.fpdu(tagged_ulpdu(0, 0x77, std::uint64_t{1400} * i, i % 10 == 9, pattern(1400, i)))});
    if (i % 2 == 1) story.push_back({true, {}});
  }
  story.push_back({true, client.fpdu(send_ulpdu(1, 0, true, rpc_call(1)))});
  TcpOptions tcp;
  tcp.syn = false;
  RunOptions options;
  options.server_port = 51'000;
  for (const std::size_t size : {1500U, 5000U, 60'000U}) {
    const Recorder got = run(joined(segments_of(story, tcp), size), options);
    EXPECT_EQ(got.count("Write S"), 400U) << size;
    EXPECT_EQ(got.count("Send C"), 1U);
    EXPECT_EQ(got.count("Quality"), 0U);
    EXPECT_EQ(got.count("Gap"), 0U);
  }
}

TEST(IwarpOpening, AKeyInTwoSegmentsAndACutBehindIt) {
  const auto whole = segments_of(full_story({}));
  const auto request = static_cast<std::size_t>(
      std::find_if(whole.begin(), whole.end(),
                   [](const Segment& segment) { return segment.client && !segment.octets.empty(); }) -
      whole.begin());
  const std::size_t sends = run(whole).count("Send");
  for (std::size_t at = 1; at < 19; ++at) {
    for (std::size_t known = std::max<std::size_t>(16, at); known < 20; ++known) {
      auto segments = cut_at(whole, request, at);
      segments[request + 1].octets.resize(known - at);
      const Recorder got = run(segments);
      SCOPED_TRACE(testing::Message() << at << " octets of " << known << "\n" << got.text());
      EXPECT_EQ(got.count("Request"), 1U);
      EXPECT_EQ(got.count("Accept"), 1U);
      EXPECT_EQ(got.count("Send"), sends);
      EXPECT_EQ(got.count("Quality"), 0U);
    }
  }
}

TEST(IwarpEnd, Reset) {
  auto segments = segments_of(full_story({}));
  segments.resize(segments.size() - 3);
  Segment reset = segments.back();
  reset.client = false;
  reset.octets.clear();
  reset.wire_length = 0;
  reset.flags = 0x14;
  segments.push_back(reset);
  const Recorder got = run(segments);
  EXPECT_EQ(got.lines.back(), "Disconnect S reset");
  EXPECT_EQ(got.count("Disconnect"), 1U);
}

// Its receiver passes over one that is not what it expects, and goes on. Where nothing shows that, it may be what it
// expects, unless it is far away.
TEST(IwarpEnd, AResetBesideWhatIsExpected) {
  for (const bool goes_on : {true, false}) {
    for (const std::uint32_t off : {0U, 1U, 1U << 20U, 0x3000'0000U, 0x9000'0000U}) {
      auto segments = segments_of(full_story({}));
      Segment reset = segments[9];
      reset.octets.clear();
      reset.wire_length = 0;
      reset.flags = 0x04;
      reset.sequence += off + segments[9].wire_length;
      segments.insert(segments.begin() + 10, reset);
      if (!goes_on) segments.resize(11);
      const Recorder got = run(segments);
      const bool ends = off == 0 || (!goes_on && off <= 1U << 20U);
      EXPECT_EQ(got.text().find(" reset") != std::string::npos, ends) << off << goes_on;
    }
  }
}

// Nothing comes behind a FIN: one in front of what its side has sent is of an earlier use of the ports.
TEST(IwarpEnd, AFinInFrontOfWhatWasSentIsNone) {
  const auto whole = segments_of(full_story({}));
  auto segments = whole;
  Segment fin = segments[9];
  fin.octets.clear();
  fin.wire_length = 0;
  fin.flags = 0x11;
  fin.sequence -= 300;
  segments.insert(segments.begin() + 10, fin);
  EXPECT_EQ(run(segments).text(), run(whole).text());
}

// The numbers of the next one begin in the midst of those of the last.
TEST(IwarpEnd, NewEpochWithinTheNumbersOfTheOneBefore) {
  const auto first = segments_of(full_story({}));
  for (const std::uint32_t off : {1U, 100U, 700U, 3000U}) {
    auto both = first;
    const auto second =
        segments_of(full_story({}), {.client_isn = first[0].sequence + off, .server_isn = first[1].sequence + off});
    both.insert(both.end(), second.begin(), second.end());
    const Recorder got = run(both);
    EXPECT_EQ(got.count("Request"), 2U) << off;
    EXPECT_EQ(got.count("Send"), 20U) << off;
    EXPECT_EQ(got.count("Gap"), 0U) << off;
  }
}

// After more than a minute octets count from elsewhere: the next one, whose beginning is missing, or this one.
TEST(IwarpEnd, WhetherItGoesOnIsNotKnown) {
  constexpr std::uint32_t mebibyte = 1U << 20U;
  for (const trace::TimeNs silence : {59'000'000'000, 61'000'000'000}) {
    for (const std::uint32_t ahead : {3 * mebibyte, 5 * mebibyte, 0U - 5 * mebibyte}) {
      auto segments = segments_of(full_story({}));
      segments.resize(segments.size() - 3);  // its close
      for (const Segment& again : {segments[segments.size() - 2], segments.back()}) {
        segments.push_back(again);
        segments.back().sequence += ahead;
        segments.back().acknowledgement += ahead;
      }
      segments[segments.size() - 2].step = silence;
      const Recorder got = run(segments);
      const bool told = silence > 60'000'000'000 && ahead != 3 * mebibyte;
      const std::string shown = std::to_string(ahead) + " after " + std::to_string(silence) + "\n" + got.text();
      EXPECT_EQ(got.count("Disconnect C unseen") + got.count("Disconnect S unseen"), told ? 1U : 0U) << shown;
      EXPECT_EQ(got.count("Disconnect C superseded") + got.count("Disconnect S superseded"), 0U) << shown;
    }
  }
}

TEST(IwarpEnd, NewEpochOfTheSamePorts) {
  auto first = segments_of(full_story({}));
  first.resize(first.size() - 3);
  TcpOptions tcp;
  tcp.client_isn = 77'000'000;
  tcp.server_isn = 99'000'000;
  const auto second = segments_of(full_story({}), tcp);
  auto both = first;
  both.insert(both.end(), second.begin(), second.end());
  const Recorder got = run(both);
  EXPECT_EQ(got.count("Request"), 2U);
  EXPECT_EQ(got.count("Disconnect C superseded"), 1U);
  EXPECT_EQ(got.count("Send"), 20U);

  // Closed in good order: nothing was superseded. Without SYN, the new MPA Request alone says it.
  auto closed = segments_of(full_story({}));
  closed.insert(closed.end(), second.begin() + 3, second.end());
  const Recorder quiet = run(closed);
  EXPECT_EQ(quiet.count("Request"), 2U) << quiet.text();
  EXPECT_EQ(quiet.count("Disconnect C superseded"), 0U);
  EXPECT_EQ(quiet.count("Send"), 20U);

  // The same SYN again is no new epoch.
  auto again = segments_of(full_story({}));
  again.insert(again.begin() + 7, again[0]);
  EXPECT_EQ(run(again).lines, run(full_story({})).lines);
}

// Who has an open connection passes over a SYN with another number, and says where the connection is.
TEST(IwarpEnd, ASynInAnOpenStreamIsNoNewEpochByItself) {
  const auto whole = segments_of(full_story({}));
  constexpr std::size_t amid = 9;
  Segment syn;
  syn.sequence = 77'000'000;
  syn.flags = 0x02;
  Segment where;  // the answer: a bare acknowledgement of what was there before
  where.client = false;
  where.sequence = whole[amid].client ? whole[amid].acknowledgement : whole[amid].sequence;
  where.acknowledgement = whole[amid].client ? whole[amid].sequence : whole[amid].acknowledgement;
  auto with = whole;
  with.insert(with.begin() + amid, {syn, where});
  EXPECT_EQ(run(with).lines, run(whole).lines);

  // The other side agrees, or it is not in the capture and the client goes on from there.
  TcpOptions tcp;
  tcp.client_isn = syn.sequence;
  tcp.server_isn = 99'000'000;
  const auto second = segments_of(full_story({}), tcp);
  for (const bool answered : {true, false}) {
    auto both = std::vector<Segment>(whole.begin(), whole.begin() + amid);
    for (const Segment& each : second) {
      if (answered || each.client) both.push_back(each);
    }
    const Recorder got = run(both);
    EXPECT_EQ(got.count("Request"), 2U) << got.text();
    EXPECT_EQ(got.count("Disconnect C superseded"), 1U);
  }
}

TEST(OrdinaryTcp, GivesNoEvents) {
  EXPECT_TRUE(rc::check("octets that are something else", [] {
    Story story;
    const auto chunks = *rc::gen::inRange(1, 40);
    for (int i = 0; i < chunks; ++i) {
      const auto length = *rc::gen::inRange<std::size_t>(0, 1400);
      story.push_back(
          {*rc::gen::arbitrary<bool>(), *rc::gen::container<Octets>(length, rc::gen::arbitrary<std::uint8_t>())});
    }
    TcpOptions tcp;
    tcp.syn = *rc::gen::arbitrary<bool>();
    RunOptions options;
    if (*rc::gen::arbitrary<bool>()) options.server_port = 443;
    RC_ASSERT(run(segments_of(story, tcp), options).lines.empty());
  }));
}

TEST(OrdinaryTcp, FileDataThatResemblesHeadersGivesNoEvents) {
  for (const Octets& unit : {Octets{0x41, 0x43, 0, 0}, Octets{0x81, 0x40}, Octets{0x41, 0x42, 0x43, 0x44}, Octets{0}}) {
    Octets data;
    while (data.size() < 1400) data.insert(data.end(), unit.begin(), unit.end());
    Story story;
    for (int i = 0; i < 400; ++i) story.push_back({i % 7 == 0, data});
    TcpOptions tcp;
    tcp.syn = false;
    RunOptions options;
    options.server_port = 2049;
    EXPECT_THAT(run(segments_of(story, tcp), options).lines, IsEmpty());
    EXPECT_THAT(run(segments_of(story, tcp)).lines, IsEmpty());
  }
}

TEST(OrdinaryTcp, AnMpaKeyThatBreaksOffIsNoMpa) {
  for (std::size_t n = 1; n < 16; ++n) {
    Octets octets = mpa_frame(true, 0, 1, {});
    octets[n] ^= 0x55U;
    EXPECT_THAT(run(cut_into(segments_of({{true, octets}, {false, pattern(100, 1)}}), n)).lines, IsEmpty()) << n;
  }
}

}  // namespace
}  // namespace rpcrdma::iwarp_test
