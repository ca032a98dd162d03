// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/iwarp_transport.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <map>
#include <set>

#include "iwarp/streams.hpp"

namespace rpcrdma::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

std::vector<Segment> cut_at(const std::vector<Segment>& whole, std::size_t index, std::size_t at) {
  std::vector<Segment> out(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(index));
  Segment front = whole[index];
  Segment back = whole[index];
  front.octets.resize(at);
  front.wire_length = static_cast<std::uint32_t>(at);
  front.flags &= static_cast<std::uint8_t>(~1U);
  back.octets.erase(back.octets.begin(), back.octets.begin() + static_cast<std::ptrdiff_t>(at));
  back.wire_length -= front.wire_length;
  back.sequence += front.wire_length;
  out.push_back(front);
  out.push_back(back);
  out.insert(out.end(), whole.begin() + static_cast<std::ptrdiff_t>(index) + 1, whole.end());
  return out;
}

/// Every segment cut into pieces of at most `size` octets.
std::vector<Segment> cut_into(const std::vector<Segment>& whole, std::size_t size) {
  std::vector<Segment> out;
  for (const Segment& segment : whole) {
    Segment rest = segment;
    while (rest.octets.size() > size) {
      const auto two = cut_at({rest}, 0, size);
      out.push_back(two[0]);
      rest = two[1];
    }
    out.push_back(rest);
  }
  return out;
}

/// Neighbours of the same direction joined, as receive offload does.
std::vector<Segment> joined(const std::vector<Segment>& whole, std::size_t limit) {
  std::vector<Segment> out;
  for (const Segment& segment : whole) {
    if (!out.empty() && out.back().client == segment.client && out.back().flags == 0x10 && segment.flags == 0x10 &&
        !out.back().octets.empty() && out.back().octets.size() + segment.octets.size() <= limit &&
        out.back().sequence + out.back().wire_length == segment.sequence) {
      out.back().octets.insert(out.back().octets.end(), segment.octets.begin(), segment.octets.end());
      out.back().wire_length += segment.wire_length;
      continue;
    }
    out.push_back(segment);
  }
  return out;
}

std::vector<Segment> snapped(std::vector<Segment> segments, std::size_t snap) {
  for (Segment& segment : segments) segment.octets.resize(std::min(segment.octets.size(), snap));
  return segments;
}

const std::vector<std::string> capture_words{"Gap", "Quality", "Repeated", "Acknowledged", "Adopted", "Ready"};
const std::vector<std::string> operations{"Send", "Write", "Read ", "Response"};

/// "Send C #3 at 100 ..." without what depends on where the capture begins.
std::string without_numbers(const std::string& line) {
  std::string out;
  bool skip = false;
  std::size_t word = 0;
  for (std::size_t i = 0; i <= line.size();) {
    const std::size_t end = std::min(line.find(' ', i), line.size());
    const std::string w = line.substr(i, end - i);
    const bool number_follows = w == "op" || w == "at";
    if (!skip && !number_follows && w[0] != '#') out += w + " ";
    skip = number_follows;
    i = end + 1;
    ++word;
  }
  return out;
}

std::vector<std::string> operations_without_numbers(const Recorder& recorder) {
  std::vector<std::string> out;
  for (const std::string& line : recorder.only(operations)) out.push_back(without_numbers(line));
  return out;
}

TEST(IwarpStream, TheWholeStoryEventByEvent) {
  const Recorder got = run(full_story({}));
  const auto lines = got.without({"Acknowledged"});
  ASSERT_EQ(lines.size(), 23U) << got.text();
  EXPECT_THAT(lines[0],
              StartsWith("Request 192.0.2.2:50000 -> 192.0.2.1:20049 rev 2 flags 50 ird 16 ord 8 private 8/8!"));
  EXPECT_THAT(lines[1], StartsWith("Accept rev 2 flags 50 ird 16 ord 8 private 8/8!"));
  EXPECT_EQ(lines[2], "Ready C");
  EXPECT_THAT(lines[3], StartsWith("Send C #1 at 32 68 octets"));
  EXPECT_THAT(lines[4], StartsWith("Write S op 1 at 32 aaaa0001+10000 700 octets"));
  EXPECT_THAT(lines[4], HasSubstr(" first"));
  EXPECT_THAT(lines[5], StartsWith("Write S op 1 at 752 aaaa0001+102bc 333 octets"));
  EXPECT_THAT(lines[5], HasSubstr(" last"));
  EXPECT_THAT(lines[6], StartsWith("Send S #1 at 1108 52 octets"));
  EXPECT_THAT(lines[6], HasSubstr("invalidates aaaa0001"));
  EXPECT_THAT(lines[7], StartsWith("Send C #2 at 124 1268 octets"));
  EXPECT_THAT(lines[8], StartsWith("Read S op 2 at 1184 bbbb0002+20000 1501 octets"));
  EXPECT_THAT(lines[9], StartsWith("Read S op 3 at 1236 bbbb0003+30000 64 octets"));
  EXPECT_THAT(lines[10], StartsWith("Response C op 2 bbbb0002+20000 1000 octets"));
  EXPECT_THAT(lines[11], StartsWith("Response C op 2 bbbb0002+203e8 501 octets"));
  EXPECT_THAT(lines[11], HasSubstr(" last"));
  EXPECT_THAT(lines[12], StartsWith("Response C op 3 bbbb0003+30000 64 octets"));
  EXPECT_THAT(lines[13], StartsWith("Send S #2 "));
  EXPECT_THAT(lines[14], StartsWith("Send C #3 "));
  EXPECT_THAT(lines[15], StartsWith("Send C #4 "));
  EXPECT_THAT(lines[16], StartsWith("Write S op 4 "));
  EXPECT_THAT(lines[17], HasSubstr("invalidates aaaa0005"));
  EXPECT_THAT(lines[18], StartsWith("Send S #4 "));
  EXPECT_THAT(lines[19], StartsWith("Send C #5 "));
  EXPECT_THAT(lines[20], StartsWith("Send S #5 "));
  EXPECT_EQ(lines[lines.size() - 2], "Disconnect C fin");
  EXPECT_EQ(lines.back(), "Disconnect S fin");
  ASSERT_EQ(got.sends.size(), 10U);
  EXPECT_EQ(got.sends[2].octets, concat({rpc_call(0x1002), pattern(1200, 3)}));
  EXPECT_THAT(got.lines, Contains("Acknowledged S 1"));
  EXPECT_THAT(got.lines, Contains("Acknowledged C 5"));
}

TEST(IwarpStream, FramesOfAMessage) {
  const Recorder got = run(full_story({}));
  for (std::size_t i = 0; i < got.lines.size(); ++i) {
    if (got.lines[i].rfind("Request", 0) == 0) {
      EXPECT_EQ(got.frames[i], "4");
    }
    if (got.lines[i].rfind("Send C #2", 0) == 0) {
      EXPECT_EQ(got.frames[i], "10-12");
    }
    if (got.lines[i].rfind("Disconnect C", 0) == 0) {
      EXPECT_EQ(got.frames[i], "23");
    }
  }
}

struct Form {
  const char* name;
  StoryOptions options;
};
const Form forms[] = {
    {"plain", {false, false, false, 2, true}},        {"crc", {false, false, true, 2, true}},
    {"rev1", {false, false, true, 1, true}},          {"markers", {true, true, true, 2, true}},
    {"client_markers", {true, false, true, 2, true}}, {"server_markers", {false, true, false, 1, true}}};

class IwarpForms : public testing::TestWithParam<Form> {};

TEST_P(IwarpForms, OperationsAreTheSameInEveryForm) {
  const Recorder plain = run(full_story({}));
  const Recorder got = run(full_story(GetParam().options));
  EXPECT_EQ(operations_without_numbers(got), operations_without_numbers(plain));
  EXPECT_EQ(got.count("Quality"), 0U) << got.text();
}

TEST_P(IwarpForms, EverySplitGivesTheSame) {
  const auto whole = segments_of(full_story(GetParam().options));
  const auto expected = run(whole).lines;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (std::size_t at = 1; at < whole[i].octets.size(); ++at) {
      const Recorder got = run(cut_at(whole, i, at));
      ASSERT_EQ(got.without({"Acknowledged"}), run(whole).without({"Acknowledged"})) << "segment " << i << " at " << at;
    }
  }
  for (const std::size_t size : {1U, 2U, 3U, 5U, 7U, 16U, 100U, 137U, 511U, 512U, 700U}) {
    const Recorder got = run(cut_into(whole, size));
    EXPECT_EQ(got.without({"Acknowledged"}), run(whole).without({"Acknowledged"})) << "pieces of " << size;
  }
  for (const std::size_t size : {2000U, 5000U, 60'000U}) {
    EXPECT_EQ(run(joined(whole, size)).without({"Acknowledged"}), run(whole).without({"Acknowledged"})) << size;
  }
}

TEST_P(IwarpForms, SequenceNumbersWrapAnywhere) {
  const Story story = full_story(GetParam().options);
  const auto expected = run(story).lines;
  for (std::uint32_t before = 0; before < 9000; before += before < 70 ? 1 : 97) {
    TcpOptions tcp;
    tcp.client_isn = 0U - before;
    tcp.server_isn = 0U - before / 2;
    ASSERT_EQ(run(segments_of(story, tcp)).lines, expected) << before;
  }
}

TEST_P(IwarpForms, OneLostSegment) {
  const auto whole = segments_of(full_story(GetParam().options));
  const auto everything = run(whole);
  const auto all = operations_without_numbers(everything);
  for (std::size_t i = 3; i < whole.size(); ++i) {
    if (whole[i].octets.empty()) continue;
    auto some = whole;
    some.erase(some.begin() + static_cast<std::ptrdiff_t>(i));
    const Recorder got = run(some);
    SCOPED_TRACE("without segment " + std::to_string(i) + "\n" + got.text());
    if (i > 4) {
      EXPECT_GE(got.gap_octets, whole[i].octets.size());
    }
    for (const SeenSend& send : got.sends) {
      const bool whole_send = std::any_of(everything.sends.begin(), everything.sends.end(), [&](const SeenSend& s) {
        const bool prefix = send.octets.size() <= s.octets.size() &&
                            std::equal(send.octets.begin(), send.octets.end(), s.octets.begin());
        return s.side == send.side && prefix &&
               (send.holes ? send.wire_length <= s.wire_length : send.wire_length == s.wire_length);
      });
      EXPECT_TRUE(whole_send) << "a Send of " << send.wire_length << " that nobody sent";
    }
    for (const std::string& line : got.only({"Write", "Read ", "Response"})) {
      // first and last may be others around a gap; what was moved where may not.
      const std::string moved = without_numbers(line.substr(0, line.find(" first")).substr(0, line.find(" last")));
      EXPECT_TRUE(std::any_of(all.begin(), all.end(), [&](const std::string& l) { return l.rfind(moved, 0) == 0; }))
          << line;
    }
    // Nothing behind the FPDUs of the lost segment is lost with it.
    std::size_t fewer = 0;
    for (const std::string& line : all) {
      const auto lines = operations_without_numbers(got);
      fewer += std::find(lines.begin(), lines.end(), line) == lines.end() ? 1 : 0;
    }
    EXPECT_LE(fewer, 4U);
  }
}

TEST_P(IwarpForms, RepeatedSegmentsChangeNothing) {
  const auto whole = segments_of(full_story(GetParam().options));
  const Recorder expected = run(whole);
  for (const trace::TimeNs step : {trace::TimeNs{1000}, trace::TimeNs{300'000'000}}) {
    std::vector<Segment> twice;
    std::size_t repeated = 0;
    for (const Segment& segment : whole) {
      twice.push_back(segment);
      twice.push_back(segment);
      twice.back().step = step;
      repeated += segment.octets.empty() ? 0 : 1;
    }
    const Recorder got = run(twice);
    EXPECT_EQ(got.without({"Repeated"}), expected.lines);
    // The MPA Request repeats after the connection is known, too.
    EXPECT_EQ(got.count(step < 1'000'000 ? "Repeated C duplicate" : "Repeated C retransmission") +
                  got.count(step < 1'000'000 ? "Repeated S duplicate" : "Repeated S retransmission"),
              repeated);
  }
}

TEST_P(IwarpForms, SwappedNeighboursOfOneDirection) {
  const auto whole = cut_into(segments_of(full_story(GetParam().options)), 300);
  const auto expected = run(whole).without({"Acknowledged"});
  for (std::size_t i = 4; i + 1 < whole.size(); ++i) {
    if (whole[i].client != whole[i + 1].client || whole[i].octets.empty() || whole[i + 1].octets.empty()) continue;
    auto swapped = whole;
    std::swap(swapped[i], swapped[i + 1]);
    ASSERT_EQ(run(swapped).without({"Acknowledged"}), expected) << i;
  }
}

TEST_P(IwarpForms, StartInTheMiddle) {
  StoryOptions options = GetParam().options;
  const auto whole = segments_of(full_story(options));
  const auto all = operations_without_numbers(run(whole));
  for (std::size_t i = 5; i < whole.size(); ++i) {
    for (std::size_t at = 0; at < whole[i].octets.size(); at += at == 0 ? 1 : 61) {
      auto some = std::vector<Segment>(whole.begin() + static_cast<std::ptrdiff_t>(i), whole.end());
      if (at != 0) {
        some = cut_at(some, 0, at);
        some.erase(some.begin());
      }
      const Recorder got = run(some);
      SCOPED_TRACE("from segment " + std::to_string(i) + " octet " + std::to_string(at) + "\n" + got.text());
      const auto lines = operations_without_numbers(got);
      if (lines.empty()) continue;
      EXPECT_THAT(got.lines[0], StartsWith("Adopted 192.0.2.2:50000 -> 192.0.2.1:20049 by port"));
      EXPECT_EQ(got.count("Adopted"), 1U);
      for (const std::string& line : lines) {
        const std::string moved = line.substr(0, line.find(" first"));
        EXPECT_TRUE(std::any_of(all.begin(), all.end(), [&](const std::string& l) { return l.rfind(moved, 0) == 0; }))
            << line;
      }
      if (options.client_markers || options.server_markers) continue;
      // At an FPDU nothing is lost but answers to what was asked before.
      std::size_t expected = 0;
      const Recorder ideal = run(whole);
      for (std::size_t k = 0; k < ideal.lines.size(); ++k) {
        const std::string& line = ideal.lines[k];
        const bool counted = line.rfind("Send", 0) == 0 || line.rfind("Write", 0) == 0 || line.rfind("Read ", 0) == 0;
        expected += counted && std::stoul(ideal.frames[k]) > i + (at == 0 ? 0 : 1) ? 1 : 0;
      }
      EXPECT_GE(got.only({"Send", "Write", "Read "}).size(), expected);
    }
  }
}

TEST_P(IwarpForms, EverySnapLength) {
  const auto whole = segments_of(full_story(GetParam().options));
  const Recorder full = run(whole);
  const auto all = operations_without_numbers(full);
  for (std::size_t snap = 0; snap < 1300; snap += snap < 100 ? 1 : 13) {
    const Recorder got = run(snapped(whole, snap));
    SCOPED_TRACE("snap length " + std::to_string(snap) + "\n" + got.text());
    for (const SeenSend& send : got.sends) {
      EXPECT_TRUE(std::any_of(full.sends.begin(), full.sends.end(),
                              [&](const SeenSend& s) {
                                return s.side == send.side &&
                                       (send.holes ? send.wire_length <= s.wire_length
                                                   : send.wire_length == s.wire_length) &&
                                       send.octets.size() <= s.octets.size() &&
                                       std::equal(send.octets.begin(), send.octets.end(), s.octets.begin());
                              }))
          << "a Send of " << send.wire_length;
    }
    EXPECT_EQ(got.count("Quality C mpa_bad") + got.count("Quality S mpa_bad"), 0U);
    if (snap < 26) continue;  // length word, DDP header, a marker
    EXPECT_EQ(got.count("Request"), 1U);
    // One FPDU a segment: all are there, with their lengths. Behind the first of several nothing is known.
    EXPECT_GE(got.count("Send"), full.count("Send") - 3) << full.text();
    EXPECT_GE(got.count("Write"), full.count("Write"));
    if (snap >= 60) {
      EXPECT_EQ(got.count("Read "), full.count("Read "));
    }
    if (got.count("Send") < full.count("Send")) {
      EXPECT_GE(got.count("Gap"), 1U);
    }
  }
}

TEST_P(IwarpForms, OneWay) {
  const auto whole = segments_of(full_story(GetParam().options));
  const Recorder both = run(whole);
  for (const bool client : {true, false}) {
    auto half = whole;
    half.erase(std::remove_if(half.begin(), half.end(), [&](const Segment& s) { return s.client != client; }),
               half.end());
    const Recorder got = run(half);
    SCOPED_TRACE(got.text());
    if (client) {
      EXPECT_THAT(got.lines[0], StartsWith("Request"));
    } else {
      EXPECT_THAT(got.lines[0], testing::AllOf(StartsWith("Adopted"), HasSubstr("by handshake one way")));
      EXPECT_THAT(got.lines[1], StartsWith("Accept"));
    }
    const std::string side = client ? "C" : "S";
    for (const char* kind : {"Send ", "Write ", "Read "}) EXPECT_EQ(got.count(kind + side), both.count(kind + side));
    EXPECT_EQ(got.count("Acknowledged"), 0U);
    EXPECT_EQ(got.count("Disconnect " + side), 1U);

    half.erase(half.begin(), half.begin() + (client ? 3 : 2));  // without TCP handshake and MPA frame
    const Recorder later = run(half);
    EXPECT_THAT(later.lines[0], testing::AllOf(StartsWith("Adopted"), HasSubstr("by port one way"))) << later.text();
    if (!GetParam().options.client_markers && !GetParam().options.server_markers) {
      for (const char* kind : {"Send ", "Write ", "Read "}) {
        EXPECT_EQ(later.count(kind + side), both.count(kind + side)) << later.text();
      }
    }
  }
}

TEST_P(IwarpForms, RandomCutsOrderAndRepeats) {
  const auto whole = segments_of(full_story(GetParam().options));
  const auto expected = run(whole).without({"Acknowledged"});
  rc::check("any delivery of the same octets gives the same events", [&] {
    auto pieces = cut_into(whole, *rc::gen::inRange<std::size_t>(20, 1500));
    // Displace segments within one direction's burst: nothing of the other direction is overtaken.
    for (std::size_t i = 4; i + 1 < pieces.size(); ++i) {
      std::size_t end = i;
      while (end < pieces.size() && pieces[end].client == pieces[i].client && !pieces[end].octets.empty()) ++end;
      if (end > i + 1) {
        const auto with = *rc::gen::inRange<std::size_t>(i, end);
        std::swap(pieces[i], pieces[with]);
      }
    }
    const auto twice = *rc::gen::inRange<std::size_t>(3, pieces.size());
    const auto later = *rc::gen::inRange<std::size_t>(twice, pieces.size());
    Segment again = pieces[twice];
    again.step = 50'000'000;
    pieces.insert(pieces.begin() + static_cast<std::ptrdiff_t>(later) + 1, again);
    RC_ASSERT(run(pieces).without({"Acknowledged", "Repeated"}) == expected);
  });
}

INSTANTIATE_TEST_SUITE_P(Forms, IwarpForms, testing::ValuesIn(forms),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(IwarpStream, RetransmissionWithOtherBoundariesFillsAHole) {
  const auto whole = segments_of(full_story({}));
  const auto expected = run(whole).without({"Acknowledged"});
  // The client's three-segment Send: the second one comes last, joined with half of the third.
  std::vector<Segment> late;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    if (i == 10) {
      Segment again = whole[10];
      again.octets.insert(again.octets.end(), whole[11].octets.begin(), whole[11].octets.begin() + 100);
      again.wire_length += 100;
      again.sequence = whole[10].sequence;
      late.push_back(whole[11]);
      late.push_back(again);
      ++i;
      continue;
    }
    late.push_back(whole[i]);
  }
  EXPECT_EQ(run(late).without({"Acknowledged"}), expected);
}

TEST(IwarpStream, KeepAlivesAreNotRetransmissions) {
  auto segments = segments_of(full_story({}));
  Segment probe = segments[5];
  probe.sequence += probe.wire_length - 1;
  probe.octets = {0};
  probe.wire_length = 1;
  probe.step = 75'000'000'000;
  segments.insert(segments.begin() + 6, probe);
  EXPECT_EQ(run(segments).lines, run(full_story({})).lines);
}

TEST(IwarpStream, ABadCrcIsToldAndTheFpduKept) {
  auto segments = segments_of(full_story({}));
  segments[6].octets[100] ^= 1U;
  const Recorder got = run(segments);
  EXPECT_THAT(got.lines, Contains("Quality S checksum_bad"));
  EXPECT_EQ(got.count("Quality"), 1U);
  EXPECT_EQ(got.count("Write"), run(full_story({})).count("Write"));
}

TEST(IwarpStream, WithoutCrcNothingIsVerified) {
  StoryOptions options;
  options.crc = false;
  auto segments = segments_of(full_story(options));
  segments[6].octets[100] ^= 1U;
  EXPECT_EQ(run(segments).count("Quality"), 0U);
}

TEST(IwarpStream, CrcOfEveryFpduOnlyWhenAsked) {
  Direction client;
  Direction server;
  Story story{{true, client.raw(mpa_frame(true, 0x40, 1, {}))}, {false, server.raw(mpa_frame(false, 0x40, 1, {}))}};
  for (std::uint32_t msn = 1; msn <= 100; ++msn) {
    story.push_back({true, client.fpdu(send_ulpdu(msn, 0, true, rpc_call(msn)))});
  }
  story.back().octets[50] ^= 1U;
  RunOptions options;
  EXPECT_EQ(run(story, options).count("Quality"), 0U);
  options.check_crc = true;
  EXPECT_THAT(run(story, options).lines, Contains("Quality C checksum_bad"));
}

TEST(IwarpHandshake, Reject) {
  const Story story{{true, mpa_frame(true, 0x40, 1, pattern(8, 1))},
                    {false, mpa_frame(false, 0x20, 1, {1, 2, 3})},
                    {false, {}, 0x11},
                    {true, {}, 0x11}};
  const Recorder got = run(story);
  ASSERT_EQ(got.lines.size(), 2U) << got.text();
  EXPECT_THAT(got.lines[0], StartsWith("Request"));
  EXPECT_THAT(got.lines[0], HasSubstr("rev 1 flags 40 ird - ord -"));
  EXPECT_THAT(got.lines[1], StartsWith("Reject private 3/3!"));
}

TEST(IwarpHandshake, AReplyDirectlyFollowedByFpdus) {
  Direction client;
  Direction server;
  const Octets request = client.raw(mpa_frame(true, 0, 1, {}));
  const Octets reply = server.raw(mpa_frame(false, 0, 1, {9, 9}));
  const Octets first = server.fpdu(send_ulpdu(1, 0, true, rpc_reply(1)));
  const Recorder got = run(Story{{true, request}, {false, concat({reply, first})}});
  ASSERT_EQ(got.lines.size(), 3U) << got.text();
  EXPECT_THAT(got.lines[2], StartsWith("Send S #1 at 22 52"));
}

TEST(IwarpHandshake, TheReadyToReceiveOperationIsNoTraffic) {
  struct Row {
    const char* name;
    Octets ulpdu;
    Octets answer;
    std::uint32_t msn;
  };
  for (const Row& row :
       {Row{"write", tagged_ulpdu(0, 0, 0, true, {}), {}, 1}, Row{"send", send_ulpdu(1, 0, true, {}), {}, 2},
        Row{"read", read_request_ulpdu(1, 7, 0, 0, 0, 0), tagged_ulpdu(2, 7, 0, true, {}), 1}}) {
    Direction client;
    Direction server;
    Story story{{true, client.raw(mpa_frame(true, 0x10, 2, {0x80, 1, 0xC0, 1}))},
                {false, server.raw(mpa_frame(false, 0x10, 2, {0x80, 1, 0xC0, 1}))},
                {true, client.fpdu(row.ulpdu)}};
    if (!row.answer.empty()) story.push_back({false, server.fpdu(row.answer)});
    story.push_back({true, client.fpdu(send_ulpdu(row.msn, 0, true, rpc_call(5)))});
    const Recorder got = run(story);
    const auto lines = got.without({"Acknowledged"});
    ASSERT_EQ(lines.size(), 4U) << row.name << "\n" << got.text();
    EXPECT_EQ(lines[2], "Ready C") << row.name;
    EXPECT_THAT(lines[3], StartsWith("Send C #1 ")) << row.name;
    EXPECT_EQ(got.frames[2], "6") << row.name;
  }
}

TEST(IwarpHandshake, AZeroLengthSendLaterIsASend) {
  Direction client;
  Direction server;
  const Recorder got = run(Story{{true, client.raw(mpa_frame(true, 0, 1, {}))},
                                 {false, server.raw(mpa_frame(false, 0, 1, {}))},
                                 {true, client.fpdu(send_ulpdu(1, 0, true, rpc_call(5)))},
                                 {true, client.fpdu(send_ulpdu(2, 0, true, {}))},
                                 {true, client.fpdu(tagged_ulpdu(0, 3, 4, true, {}))}});
  EXPECT_EQ(got.count("Send C"), 2U);
  EXPECT_EQ(got.count("Write C"), 1U);
}

TEST(IwarpHandshake, OnAnyPort) {
  RunOptions options;
  options.server_port = 33'333;
  EXPECT_EQ(operations_without_numbers(run(full_story({}), options)), operations_without_numbers(run(full_story({}))));
  auto segments = segments_of(full_story({}));
  segments.erase(segments.begin(), segments.begin() + 3);  // no SYN: the MPA Request is the first that is captured
  const Recorder got = run(segments, options);
  EXPECT_THAT(got.lines[0], StartsWith("Request"));
  EXPECT_EQ(operations_without_numbers(got), operations_without_numbers(run(full_story({}))));
  for (std::size_t size = 1; size < 20; ++size) {
    EXPECT_EQ(run(cut_into(segments_of(full_story({})), size), options).only(operations),
              run(full_story({}), options).only(operations))
        << size;
  }
}

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

TEST(IwarpRoles, ACallbackIsNotTheClientsCall) {
  Direction client;
  Direction server;
  server.raw({});
  Story story;
  for (std::uint32_t i = 1; i < 10; ++i) {
    story.push_back({false, server.fpdu(send_ulpdu(i, 0, true, rpc_call(i, 0x40000000)))});
    story.push_back({true, client.fpdu(send_ulpdu(i, 0, true, rpc_reply(i)))});
  }
  TcpOptions tcp;
  tcp.syn = false;
  RunOptions options;
  options.server_port = 51'000;
  const Recorder got = run(segments_of(story, tcp), options);
  ASSERT_FALSE(got.lines.empty());
  EXPECT_EQ(got.lines[0], "Adopted 192.0.2.2:50000 -> 192.0.2.1:51000 by traffic");
  EXPECT_EQ(got.count("Send"), 18U);
}

TEST(IwarpRoles, WhoMovesDataIsMostLikelyTheServer) {
  Direction server;
  Story story;
  for (std::uint32_t i = 0; i < 20; ++i) {
    story.push_back({false, server.fpdu(tagged_ulpdu(0, 0x77, 1000 * i, true, pattern(1000, i)))});
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
    story.push_back({false, server.fpdu(tagged_ulpdu(0, 0x77, 1400 * i, i % 10 == 9, pattern(1400, i)))});
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

TEST(IwarpLoss, AcknowledgedByTheReceiverIsProven) {
  auto segments = segments_of(full_story({}));
  const std::size_t lost = segments[5].octets.size();
  segments.erase(segments.begin() + 5);  // the first Call; the reply acknowledges it
  const Recorder got = run(segments);
  EXPECT_THAT(got.lines, Contains("Gap C " + std::to_string(lost) + " proven")) << got.text();
}

TEST(IwarpLoss, WhatTheReceiverMissesTooIsWaitedFor) {
  const auto whole = segments_of(full_story({}));
  // The second segment of the three-segment Call is lost before the capture point; acknowledgements stop there, the
  // rest comes, and much later the retransmission.
  std::vector<Segment> segments(whole.begin(), whole.begin() + 13);
  const Segment lost = segments[10];
  segments.erase(segments.begin() + 10);
  for (std::size_t i = 0; i < 5; ++i) {
    Segment duplicate_ack;
    duplicate_ack.client = false;
    duplicate_ack.sequence = whole[12].sequence;
    duplicate_ack.acknowledgement = lost.sequence;
    segments.insert(segments.begin() + 11, duplicate_ack);
  }
  segments[segments.size() - 1].acknowledgement = lost.sequence;
  segments.push_back(lost);
  segments.back().step = 400'000'000;
  const Recorder got = run(segments);
  EXPECT_EQ(got.count("Gap"), 0U) << got.text();
  EXPECT_EQ(got.count("Repeated"), 0U);
  EXPECT_EQ(got.count("Send C"), 2U);
}

TEST(IwarpLoss, HeldOctetsAreBounded) {
  Direction client;
  Direction server;
  Story story{{true, client.raw(mpa_frame(true, 0, 1, {}))}, {false, server.raw(mpa_frame(false, 0, 1, {}))}};
  const Octets data = pattern(1400, 1);
  for (std::uint32_t i = 0; i < 9000; ++i) {
    story.push_back({true, client.fpdu(tagged_ulpdu(0, 5, 1400 * i, true, data))});
  }
  auto segments = segments_of(story);
  segments.erase(segments.begin() + 7);
  for (Segment& s : segments) s.step = 1000;
  Segment ack;
  ack.client = false;
  ack.sequence = segments.back().acknowledgement;
  ack.acknowledgement = segments[7].sequence - 1440;
  segments.insert(segments.begin() + 8, ack);
  const Recorder got = run(segments);
  EXPECT_THAT(got.lines, Contains("Quality C limit_reached"));
  EXPECT_EQ(got.count("Write C"), 8999U);
  EXPECT_EQ(got.count("Gap"), 1U);
}

TEST(IwarpRefusal, OfASend) {
  Direction client;
  Direction server;
  const Octets sent = send_ulpdu(2, 0, true, pattern(5000, 1));
  const Octets copied(sent.begin(), sent.begin() + 18);
  for (const Octets& control : {Octets{0x12, 0x05, 0xC0, 0x00}, Octets{0x21, 0x02, 0x03, 0x00}}) {
    Direction c;
    Direction s;
    const Story story{{true, c.raw(mpa_frame(true, 0, 1, {}))},
                      {false, s.raw(mpa_frame(false, 0, 1, {}))},
                      {true, c.fpdu(send_ulpdu(1, 0, true, rpc_call(1)))},
                      {true, c.fpdu(sent)},
                      {true, c.fpdu(send_ulpdu(3, 0, true, rpc_call(3)))},
                      {false, s.fpdu(terminate_ulpdu(concat({control, {0x13, 0x9A}, copied})))}};
    const Recorder got = run(story);
    ASSERT_EQ(got.refusals.size(), 1U);
    const trace::Refusal& refusal = got.refusals[0];
    EXPECT_EQ(refusal.side, trace::Side::passive);
    EXPECT_EQ(refusal.kind, trace::Refusal::Kind::terminate);
    EXPECT_EQ(refusal.layer, control[0] >> 4U);
    EXPECT_EQ(refusal.etype, control[0] & 15U);
    EXPECT_EQ(refusal.ecode, control[1]);
    EXPECT_EQ(refusal.refused, trace::Refusal::Refused::send);
    EXPECT_EQ(refusal.refused_op, 2U);
    EXPECT_EQ(refusal.refused_frame.number, 7U);
    EXPECT_EQ(refusal.refused_length, 5000U);
    EXPECT_FALSE(refusal.truncated);
  }
}

TEST(IwarpRefusal, WithoutACopiedHeaderTheMostPlausible) {
  struct Row {
    Octets payload;
    trace::Refusal::Refused refused;
    std::uint64_t op;
  };
  using Refused = trace::Refusal::Refused;
  for (const Row& row : {Row{{0x12, 2, 0, 0}, Refused::send, 1}, Row{{0x21, 2, 0, 0}, Refused::send, 1},
                         Row{{0x11, 1, 0, 0}, Refused::write, 1}, Row{{0x01, 1, 0, 0}, Refused::read, 2},
                         Row{{0x10, 1, 0, 0}, Refused::read, 2}, Row{{0x20, 2, 0, 0}, Refused::unknown, 0},
                         Row{{0x00, 0, 0, 0}, Refused::unknown, 0}}) {
    Direction c;
    Direction s;
    const Story story{{true, c.raw(mpa_frame(true, 0, 1, {}))},
                      {false, s.raw(mpa_frame(false, 0, 1, {}))},
                      {false, s.fpdu(tagged_ulpdu(0, 9, 0, true, pattern(10, 1)))},
                      {false, s.fpdu(send_ulpdu(1, 0, true, rpc_reply(1)))},
                      {false, s.fpdu(read_request_ulpdu(1, 1, 2, 3, 4, 5))},
                      {true, c.fpdu(terminate_ulpdu(row.payload))}};
    const Recorder got = run(story);
    ASSERT_EQ(got.refusals.size(), 1U);
    EXPECT_EQ(got.refusals[0].refused, row.refused);
    EXPECT_EQ(got.refusals[0].refused_op, row.op);
  }
}

TEST(IwarpRefusal, CutByTheSnapLength) {
  Direction c;
  Direction s;
  auto segments = segments_of({{true, c.raw(mpa_frame(true, 0, 1, {}))},
                               {false, s.raw(mpa_frame(false, 0, 1, {}))},
                               {true, c.fpdu(terminate_ulpdu({0x01, 1, 0, 0}))}});
  segments.back().octets.resize(22);
  const Recorder got = run(segments);
  ASSERT_EQ(got.refusals.size(), 1U);
  EXPECT_TRUE(got.refusals[0].truncated);
}

TEST(OrdinaryTcp, GivesNoEvents) {
  rc::check("octets that are something else", [] {
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
  });
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
}  // namespace rpcrdma::test
