// SPDX-License-Identifier: GPL-2.0-or-later
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

#include "streams.hpp"

namespace rpcrdma::iwarp_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

struct Form {
  const char* name;
  StoryOptions options;
  std::size_t
      split_every;  ///< octets: what lies where is no different from "plain" or "markers", which are split everywhere
};
const Form forms[] = {
    {"plain", {false, false, false, 2, true}, 1},        {"crc", {false, false, true, 2, true}, 5},
    {"rev1", {false, false, true, 1, true}, 5},          {"markers", {true, true, true, 2, true}, 1},
    {"client_markers", {true, false, true, 2, true}, 5}, {"server_markers", {false, true, false, 1, true}, 5}};

class IwarpForms : public testing::TestWithParam<Form> {};

TEST_P(IwarpForms, OperationsAreTheSameInEveryForm) {
  const Recorder plain = run(full_story({}));
  const Recorder got = run(full_story(GetParam().options));
  EXPECT_EQ(operations_without_numbers(got), operations_without_numbers(plain));
  EXPECT_EQ(got.count("Quality"), 0U) << got.text();
}

TEST_P(IwarpForms, EverySplitGivesTheSame) {
  const auto whole = segments_of(full_story(GetParam().options));
  const auto expected = run(whole).without({"Acknowledged"});
  for (std::size_t i = 0; i < whole.size(); ++i) {
    const std::size_t every = GetParam().split_every;
    for (std::size_t at = 1 + i % every; at < whole[i].octets.size(); at += every) {
      const Recorder got = run(cut_at(whole, i, at));
      ASSERT_EQ(got.without({"Acknowledged"}), expected) << "segment " << i << " at " << at;
    }
  }
  for (const std::size_t size : {1U, 2U, 3U, 5U, 7U, 16U, 100U, 137U, 511U, 512U, 700U}) {
    const Recorder got = run(cut_into(whole, size));
    EXPECT_EQ(got.without({"Acknowledged"}), expected) << "pieces of " << size;
  }
  for (const std::size_t size : {2000U, 5000U, 60'000U}) {
    EXPECT_EQ(run(joined(whole, size)).without({"Acknowledged"}), expected) << size;
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
  EXPECT_TRUE(rc::check("any delivery of the same octets gives the same events", [&] {
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
  }));
}

INSTANTIATE_TEST_SUITE_P(Forms, IwarpForms, testing::ValuesIn(forms),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace rpcrdma::iwarp_test
