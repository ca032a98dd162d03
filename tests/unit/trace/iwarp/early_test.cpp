// SPDX-License-Identifier: GPL-2.0-or-later
// Two taps whose clocks differ: what acknowledges octets was sent after they had arrived (RFC 9293 section 3.4).
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "streams.hpp"

namespace rpcrdma::iwarp_test {
namespace {

constexpr trace::TimeNs millisecond = 1'000'000;

/// As a tap would have it whose clock for the client's direction is so far ahead.
std::vector<Segment> skewed(const std::vector<Segment>& whole, trace::TimeNs client_late) {
  std::vector<std::pair<trace::TimeNs, Segment>> timed;
  trace::TimeNs now = 0;
  for (const Segment& segment : whole) {
    now += segment.step;
    timed.emplace_back(now + (segment.client ? client_late : 0), segment);
  }
  std::stable_sort(timed.begin(), timed.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Segment> out;
  trace::TimeNs before = timed.front().first - whole.front().step;
  for (auto& [time, segment] : timed) {
    segment.step = time - before;
    before = time;
    out.push_back(std::move(segment));
  }
  return out;
}

std::vector<std::string> sends(const Recorder& got) { return got.only({"Send", "Request", "Accept", "Adopted"}); }

/// A handshake and so many Calls, each answered.
struct Exchanges {
  explicit Exchanges(std::uint32_t count) {
    story = {{true, client.raw(mpa_frame(true, 0x40, 1, {}))}, {false, server.raw(mpa_frame(false, 0x40, 1, {}))}};
    for (std::uint32_t i = 1; i <= count; ++i) {
      call(i);
      reply(i);
    }
  }
  void call(std::uint32_t i) { story.push_back({true, client.fpdu(send_ulpdu(i, 0, true, rpc_call(i)))}); }
  void reply(std::uint32_t i) { story.push_back({false, server.fpdu(send_ulpdu(i, 0, true, rpc_reply(i)))}); }

  Direction client;
  Direction server;
  Story story;
};

TEST(IwarpTwoTaps, EachMessageComesAfterWhatItAnswers) {
  // Each answer acknowledges its Call.
  const Exchanges told(50);
  const auto whole = segments_of(told.story);
  const Recorder expected = run(whole);
  ASSERT_EQ(expected.count("Send"), 100U);
  for (const trace::TimeNs late :
       {300'000L, -300'000L, 5 * millisecond, -5 * millisecond, 50 * millisecond, -50 * millisecond}) {
    const Recorder got = run(skewed(whole, late));
    EXPECT_EQ(sends(got), sends(expected)) << late << "\n" << got.text();
    EXPECT_EQ(got.count("Gap"), 0U);
  }
}

// More than is kept: why the rest is not put in order is told.
TEST(IwarpTwoTaps, SoLateThatThereIsNoRoom) {
  for (const std::uint32_t count : {3'000U, 5'000U}) {
    auto segments = segments_of(Exchanges(count).story);
    for (Segment& segment : segments) segment.step = 1'000;
    const auto opened = segments.begin() + 10;
    std::vector<Segment> told(segments.begin(), opened);
    for (Segment& late : skewed({opened, segments.end()}, 50 * millisecond)) told.push_back(std::move(late));
    EXPECT_EQ(run(told).count("Quality S limit_reached"), count > 4'096 ? 1U : 0U) << count;
  }
}

TEST(IwarpTwoTaps, AnMpaReplyWaitsForItsRequest) {
  // The SYN with ACK is not in the capture, so that nothing tells where the client's octets begin.
  const Exchanges told(4);
  auto segments = segments_of(told.story);
  const Recorder expected = run(segments);
  segments.erase(segments.begin() + 1);
  const Recorder got = run(skewed(segments, 300'000));
  EXPECT_EQ(sends(got), sends(expected)) << got.text();
}

TEST(IwarpTwoTaps, WhatNeverComesIsNotWaitedFor) {
  const Exchanges told(4);
  auto segments = segments_of(told.story);
  const Recorder whole = run(segments);
  const auto second_call =
      std::find_if(segments.begin(), segments.end(), [](const Segment& s) { return s.chunk == 4; });
  segments.erase(second_call);
  const Recorder got = run(segments);
  EXPECT_EQ(got.count("Send"), whole.count("Send") - 1) << got.text();
  EXPECT_EQ(got.count("Gap"), 1U);
  // The second Reply in front of the third Call, as it was sent.
  const auto lines = sends(got);
  ASSERT_EQ(lines.size(), sends(whole).size() - 1);
  auto without = sends(whole);
  without.erase(without.begin() + 4);
  for (std::size_t i = 0; i < lines.size(); ++i) EXPECT_EQ(lines[i].substr(0, 6), without[i].substr(0, 6)) << i;
}

TEST(IwarpTwoTaps, WhatIsMissingIsToldBeforeWhatAnswersIt) {
  const Exchanges told(4);
  auto segments = segments_of(told.story);
  // The second Reply. The third Call acknowledges it, and stands in the file before anything of the server behind it.
  segments.erase(std::find_if(segments.begin(), segments.end(), [](const Segment& s) { return s.chunk == 5; }));
  const Recorder got = run(skewed(segments, -5 * millisecond));
  const auto lines = got.only({"Send C", "Gap"});
  ASSERT_EQ(lines.size(), 5U) << got.text();
  EXPECT_TRUE(lines[0].starts_with("Send C") && lines[1].starts_with("Send C")) << got.text();
  EXPECT_TRUE(lines[2].starts_with("Gap S")) << got.text();
}

TEST(IwarpTwoTaps, WhatAcknowledgesTheMissingAcknowledgesTheRestToo) {
  Exchanges told(0);
  for (const std::uint32_t i : {1U, 2U}) told.call(i);
  for (const std::uint32_t i : {1U, 2U}) told.reply(i);
  told.call(3);
  told.reply(3);
  auto segments = segments_of(told.story);
  segments.erase(std::find_if(segments.begin(), segments.end(), [](const Segment& s) { return s.chunk == 5; }));
  const Recorder got = run(skewed(segments, -5 * millisecond));
  const auto lines = got.only({"Gap", "Acknowledged C", "Send C"});
  ASSERT_EQ(lines.size(), 5U) << got.text();
  EXPECT_TRUE(lines[2].starts_with("Gap S")) << got.text();
  EXPECT_EQ(lines[3], "Acknowledged C 1") << got.text();
  EXPECT_TRUE(lines[4].starts_with("Send C")) << got.text();
}

TEST(IwarpTwoTaps, WhatWaitsIsNotMissing) {
  // The second Reply is not in the capture. The third Call acknowledges it and waits; the server's acknowledgement of
  // that Call waits for it, and what the client sends next lies behind all of them.
  Exchanges told(2);
  for (const std::uint32_t i : {3U, 4U}) told.call(i);
  for (const std::uint32_t i : {3U, 4U}) told.reply(i);
  auto segments = segments_of(told.story);
  const auto of = [&](std::size_t chunk) {
    return std::find_if(segments.begin(), segments.end(), [chunk](const Segment& s) { return s.chunk == chunk; });
  };
  Segment bare = *of(8);  // the server's next one
  bare.octets.clear();
  bare.wire_length = 0;
  bare.acknowledgement = of(6)->sequence + of(6)->wire_length;
  segments.insert(of(6) + 1, bare);
  segments.erase(of(5));
  const Recorder got = run(segments);
  EXPECT_EQ(got.count("Send C"), 4U) << got.text();
  EXPECT_EQ(got.count("Send S"), 3U) << got.text();
  EXPECT_EQ(got.count("Gap C"), 0U) << got.text();
}

TEST(IwarpTwoTaps, WhatWasSentBeforeAnAcknowledgementIsToldBeforeIt) {
  Exchanges told(1);
  told.call(2);
  for (const bool exchanged : {false, true}) {
    auto segments = segments_of(told.story);
    Segment call = segments.back();
    segments.pop_back();
    Segment bare = call;
    bare.octets.clear();
    bare.wire_length = 0;
    bare.sequence = call.sequence + call.wire_length;
    call.acknowledgement = segments.back().sequence;  // sent before the Reply had arrived
    if (exchanged) {
      segments.insert(segments.end(), {bare, call});
    } else {
      segments.insert(segments.end(), {call, bare});
    }
    const auto lines = run(segments).only({"Send C", "Acknowledged C"});
    ASSERT_EQ(lines.size(), 3U);
    EXPECT_TRUE(lines[1].starts_with("Send C")) << exchanged;
    EXPECT_EQ(lines[2], "Acknowledged C 1") << exchanged;
  }
}

/// The close of a connection whose client goes first, and of which nothing but one acknowledgement tells that.
std::vector<Segment> closed(const Exchanges& told) {
  auto segments = segments_of(told.story);
  const auto end_of = [&](bool client) {
    const auto last = std::find_if(segments.rbegin(), segments.rend(),
                                   [client](const Segment& s) { return s.client == client && s.wire_length > 0; });
    return last->sequence + last->wire_length;
  };
  Segment first;
  first.flags = 0x11;
  first.sequence = end_of(true);
  first.acknowledgement = end_of(false);
  Segment second = first;
  second.client = false;
  second.sequence = first.acknowledgement;
  second.acknowledgement = first.sequence + 1;
  segments.insert(segments.end(), {first, second});
  return segments;
}

const std::vector<std::string> client_first{"Disconnect C fin", "Disconnect S fin"};

TEST(IwarpTwoTaps, WhoAcknowledgesAFinClosesSecond) {
  const auto whole = closed(Exchanges(2));
  ASSERT_EQ(run(whole).only({"Disconnect"}), client_first) << run(whole).text();
  for (const trace::TimeNs late : {1 * millisecond, -1 * millisecond, 5 * millisecond, -5 * millisecond}) {
    EXPECT_EQ(run(skewed(whole, late)).only({"Disconnect"}), client_first) << late;
  }
}

TEST(IwarpTwoTaps, BothFinsBehindHoles) {
  for (const bool first_is_low : {false, true}) {
    auto segments = closed(Exchanges(2));
    // The last Call and the last Reply.
    segments.erase(segments.end() - 4, segments.end() - 2);
    if (first_is_low) std::swap(*(segments.end() - 1), *(segments.end() - 2));
    EXPECT_EQ(run(segments).only({"Disconnect"}), client_first) << first_is_low;
  }
}

// An FPDU has no single octet: what the server's FIN acknowledges beyond the client's octets is a FIN, too.
TEST(IwarpTwoTaps, TheFirstFinIsMissing) {
  auto segments = closed(Exchanges(2));
  segments.erase(segments.end() - 2);
  EXPECT_EQ(run(segments).only({"Disconnect"}), client_first);
}

// And what the server said before its FIN is missing before either side has closed.
TEST(IwarpTwoTaps, TheLastReplyAndTheFirstFinAreMissing) {
  auto segments = closed(Exchanges(2));
  segments.erase(segments.end() - 3, segments.end() - 1);
  const Recorder got = run(segments);
  EXPECT_EQ(got.only({"Disconnect"}), client_first) << got.text();
  const std::vector<std::string> ends = got.only({"Gap", "Disconnect"});
  ASSERT_FALSE(ends.empty());
  EXPECT_EQ(ends.front().substr(0, 5), "Gap S") << got.text();
}

// A sampler left nothing of the server but its FIN. What the client acknowledged before is missing, not unsaid.
TEST(IwarpTwoTaps, OfOneSideOnlyTheFin) {
  auto segments = closed(Exchanges(2));
  std::erase_if(segments, [](const Segment& s) { return !s.client && (s.flags & 0x01) == 0; });
  std::erase_if(segments, [](const Segment& s) { return s.client && (s.flags & 0x01) != 0; });
  const Recorder got = run(segments);
  const std::vector<std::string> ends = got.only({"Gap", "Disconnect"});
  ASSERT_FALSE(ends.empty()) << got.text();
  EXPECT_EQ(ends.front().substr(0, 5), "Gap S") << got.text();
}

/// A second mirror that begins in the middle and is ahead of the first.
std::vector<Segment> with_mirror_ahead(const std::vector<Segment>& whole, std::size_t from, trace::TimeNs ahead) {
  std::vector<std::pair<trace::TimeNs, Segment>> timed;
  trace::TimeNs now = 0;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    now += whole[i].step;
    timed.emplace_back(now, whole[i]);
    if (i >= from) timed.emplace_back(now - ahead, whole[i]);
  }
  std::stable_sort(timed.begin(), timed.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Segment> out;
  trace::TimeNs before = 0;
  for (auto& [time, segment] : timed) {
    segment.step = time - before;
    before = time;
    out.push_back(std::move(segment));
  }
  return out;
}

TEST(IwarpTwoTaps, AMirrorAheadLeavesNoHoles) {
  auto whole = closed(Exchanges(10));
  for (Segment& segment : whole) segment.step = 10'000;
  const Recorder expected = run(whole);
  for (std::size_t from = 3; from < whole.size(); ++from) {
    const Recorder got = run(with_mirror_ahead(whole, from, 40'000));
    EXPECT_EQ(got.count("Gap"), 0U) << from << "\n" << got.text();
    EXPECT_EQ(got.only({"Send C"}), expected.only({"Send C"})) << from;
    EXPECT_EQ(got.only({"Send S"}), expected.only({"Send S"})) << from;
    EXPECT_EQ(got.only({"Disconnect"}), client_first) << from;
  }
}

// The ports are used again at once, and the old connection's frames are in the capture a second time, later.
TEST(IwarpTwoTaps, CopiesOfTheEpochBefore) {
  const auto first = segments_of(Exchanges(2).story);
  const auto second = segments_of(Exchanges(3).story, {.client_isn = 90'000'000, .server_isn = 70'000'000});
  std::vector<Segment> both = first;
  both.insert(both.end(), second.begin(), second.end());
  const Recorder expected = run(both);
  ASSERT_EQ(expected.count("Gap"), 0U);
  for (std::size_t behind = 1; behind <= first.size(); ++behind) {
    auto copies = first;
    std::vector<Segment> all = first;
    for (std::size_t i = 0; i < second.size(); ++i) {
      all.push_back(second[i]);
      if (i + 1 >= behind && i + 1 - behind < copies.size()) all.push_back(copies[i + 1 - behind]);
    }
    const Recorder got = run(all);
    EXPECT_EQ(sends(got), sends(expected)) << behind << "\n" << got.text();
    EXPECT_EQ(got.count("Gap"), 0U) << behind;
  }
}

}  // namespace
}  // namespace rpcrdma::iwarp_test
