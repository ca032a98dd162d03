// SPDX-License-Identifier: GPL-2.0-or-later
// What is known of each direction when an iWARP connection, or the capture, ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "streams.hpp"

namespace rpcrdma::iwarp_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

constexpr trace::TimeNs retransmission_timeout = 1'000'000'000;

/// Frames 1 to 3: SYN, SYN and ACK, ACK. 4: MPA Request. 5: Reply. 6: a Call. 7: its Reply.
class IwarpLiveness : public testing::Test {
 protected:
  IwarpLiveness() {
    story_ = {{true, client_.raw(mpa_frame(true, 0, 1, {}))},
              {false, server_.raw(mpa_frame(false, 0, 1, {}))},
              {true, client_.fpdu(send_ulpdu(1, 0, true, rpc_call(1)))},
              {false, server_.fpdu(send_ulpdu(1, 0, true, rpc_reply(1)))}};
  }
  [[nodiscard]] std::vector<Segment> segments() const { return segments_of(story_); }
  /// With four more Calls and their Replies.
  [[nodiscard]] std::vector<Segment> longer() {
    for (std::uint32_t i = 2; i < 6; ++i) {
      story_.push_back({true, client_.fpdu(send_ulpdu(i, 0, true, rpc_call(i)))});
      story_.push_back({false, server_.fpdu(send_ulpdu(i, 0, true, rpc_reply(i)))});
    }
    return segments();
  }
  [[nodiscard]] std::vector<Segment> until(std::size_t frame) const {
    auto s = segments();
    s.resize(frame);
    return s;
  }
  [[nodiscard]] std::string client_seen() const { return " seen " + std::to_string(client_.length()); }
  [[nodiscard]] std::string server_seen() const { return " seen " + std::to_string(server_.length()); }

  Direction client_;
  Direction server_;
  Story story_;
};

Segment again(const Segment& before, trace::TimeNs step = retransmission_timeout) {
  Segment s = before;
  s.step = step;
  return s;
}
Segment bare(const Segment& answered, std::uint8_t flags = 0x10) {
  Segment s;
  s.client = !answered.client;
  s.flags = flags;
  s.sequence = answered.acknowledgement;
  s.acknowledgement = answered.sequence + answered.wire_length;
  return s;
}

TEST_F(IwarpLiveness, AllAcknowledged) {
  auto s = segments();
  s.push_back(bare(s.back()));
  const Recorder got = run(s);
  EXPECT_THAT(got.liveness, ElementsAre("C heard #8" + client_seen(), "S heard #7" + server_seen()));
  EXPECT_EQ(got.told_before.front(), got.lines.size());
}

TEST_F(IwarpLiveness, NotAcknowledged) {
  EXPECT_THAT(run(segments()).liveness,
              ElementsAre("C heard #6" + client_seen(), "S heard #7 unacknowledged #7" + server_seen()));
  // The oldest of several.
  auto s = until(6);
  for (std::uint32_t i = 2; i < 6; ++i) {
    story_.push_back({true, client_.fpdu(send_ulpdu(i, 0, true, rpc_call(i)))});
  }
  const auto all = segments();
  s.insert(s.end(), all.begin() + 7, all.end());
  EXPECT_THAT(run(s).liveness, ElementsAre(StartsWith("C heard #10 unacknowledged #6 "), StartsWith("S heard #5 ")));
}

TEST_F(IwarpLiveness, SentAgainWithoutAnswer) {
  auto s = until(6);
  for (int i = 0; i < 3; ++i) s.push_back(again(s[5]));
  const Recorder got = run(s);
  ASSERT_EQ(got.liveness.size(), 2U);
  EXPECT_EQ(got.liveness[0], "C heard #9 unacknowledged #6 copies 3 #6-#9" + client_seen());
  EXPECT_THAT(got.liveness[1], StartsWith("S heard #5 "));
}

TEST_F(IwarpLiveness, TheFirstOfWhatIsSentAgainCounts) {
  // As TCP does: first a probe with the newest segment, then the oldest, perhaps with another length.
  story_.insert(story_.begin() + 3, {true, client_.fpdu(send_ulpdu(2, 0, true, rpc_call(2)))});
  auto s = until(7);
  s.push_back(again(s[6]));
  s.push_back(again(s[5]));
  Segment joined = again(s[5]);
  joined.octets = concat({s[5].octets, s[6].octets});
  joined.wire_length = static_cast<std::uint32_t>(joined.octets.size());
  s.push_back(joined);
  EXPECT_EQ(run(s).liveness.at(0), "C heard #10 unacknowledged #6 copies 2 #6-#10" + client_seen());
}

TEST_F(IwarpLiveness, ASegmentThatBeginsInFrontOfWhatIsOpenRepeatsThat) {
  story_.push_back({true, client_.fpdu(send_ulpdu(2, 0, true, rpc_call(2)))});
  auto s = segments();
  Segment joined = again(s[7]);
  joined.sequence = s[5].sequence;
  joined.octets = concat({s[5].octets, s[7].octets});
  joined.wire_length = static_cast<std::uint32_t>(joined.octets.size());
  s.push_back(joined);  // the Call in front was answered
  s.push_back(again(s[7]));
  s.push_back(joined);
  EXPECT_EQ(run(s).liveness.at(0), "C heard #11 unacknowledged #8 copies 3 #8-#11" + client_seen());
}

TEST_F(IwarpLiveness, AnAcknowledgementEndsTheRun) {
  auto s = until(6);
  for (int i = 0; i < 3; ++i) s.push_back(again(s[5]));
  s.push_back(bare(s[5]));
  EXPECT_EQ(run(s).liveness.at(0), "C heard #9" + client_seen());
  EXPECT_THAT(run(s).liveness.at(1), StartsWith("S heard #10 "));
}

TEST_F(IwarpLiveness, ASegmentThatIsPartlyNewRepeatsTheRest) {
  auto s = until(6);
  const auto two = cut_at({s[5]}, 0, 30);
  s[5] = two[0];
  s.push_back(again(until(6)[5]));
  EXPECT_EQ(run(s).liveness.at(0), "C heard #7 unacknowledged #6 copies 1 #6-#7" + client_seen());
}

TEST_F(IwarpLiveness, CapturedTwiceIsNotSentAgain) {
  auto s = until(6);
  s.push_back(again(s[5], 1000));
  EXPECT_EQ(run(s).liveness.at(0), "C heard #6 unacknowledged #6" + client_seen());
}

// A mirror that is late: what the server said before the Call stands once more behind it.
TEST_F(IwarpLiveness, WhatIsInTheCaptureTwiceWasSaidOnce) {
  auto s = segments();
  s.push_back(bare(s[5]));  // 8, acknowledges the Call once more
  story_.push_back({true, client_.fpdu(send_ulpdu(2, 0, true, rpc_call(2)))});
  s.push_back(segments().back());  // 9
  for (Segment& segment : s) segment.step = 10'000;
  for (const std::size_t copied : {1U, 6U, 7U}) s.push_back(again(s[copied], 10'000));
  auto got = run(s);
  EXPECT_THAT(got.liveness.at(1), StartsWith("S heard #8 "));
  s.back().step = 2'000'000;
  got = run(s);
  EXPECT_THAT(got.liveness.at(1), StartsWith("S heard #12 ")) << "it was said again";
}

TEST_F(IwarpLiveness, AnMpaRequestThatNobodyAnswers) {
  auto s = until(4);
  s.push_back(again(s[3]));
  s.push_back(again(s[3]));
  EXPECT_THAT(run(s).liveness, ElementsAre("C heard #6 unacknowledged #4 copies 2 #4-#6 seen 20", "S heard #2 seen 0"));
}

TEST_F(IwarpLiveness, AnMpaRequestThatIsSentAgainInTwoSegmentsIsSentAgainOnce) {
  auto s = until(4);
  const auto pieces = cut_at({again(s[3])}, 0, 8);
  s.insert(s.end(), pieces.begin(), pieces.end());
  const Recorder got = run(s);
  EXPECT_THAT(got.only({"Repeated"}),
              ElementsAre("Repeated C retransmission", "Repeated C retransmission of the rest"));
  EXPECT_THAT(got.liveness, ElementsAre("C heard #6 unacknowledged #4 copies 1 #4-#5 seen 20", "S heard #2 seen 0"));
}

TEST_F(IwarpLiveness, AnMpaRequestThatAMirrorShowsLaterIsNotSentAgain) {
  auto s = until(4);
  s.push_back(again(s[3], 300'000));
  s.push_back(again(s[3]));
  s.push_back(again(s[3], 300'000));
  EXPECT_THAT(run(s).liveness, ElementsAre("C heard #6 unacknowledged #4 copies 1 #4-#6 seen 20", "S heard #2 seen 0"));
}

TEST_F(IwarpLiveness, OneDirectionOnly) {
  std::vector<Segment> s;
  for (const Segment& each : segments()) {
    if (each.client) s.push_back(each);
  }
  EXPECT_THAT(run(s).liveness,
              ElementsAre("C heard #4 unacknowledged #3" + client_seen(), "S heard #0 seen 0 missing 20 in 1"));
}

TEST_F(IwarpLiveness, KeepAlivesThatNobodyAnswersAreCountedLikeRepeats) {
  auto s = segments();
  s.push_back(bare(s.back()));
  for (int i = 0; i < 3; ++i) {
    Segment probe = again(s[7], 75 * retransmission_timeout);
    --probe.sequence;
    probe.wire_length = i == 0 ? 0 : 1;  // some send one octet of garbage
    probe.octets.assign(probe.wire_length, 0);
    s.push_back(probe);
  }
  EXPECT_THAT(run(s).liveness,
              ElementsAre("C heard #11 copies 2 #9-#11" + client_seen(), "S heard #7" + server_seen()));
}

TEST_F(IwarpLiveness, KeepAlivesWithAnswersRepeatNothing) {
  auto s = segments();
  s.push_back(bare(s.back()));
  const Segment answer = bare(s.back());
  for (int i = 0; i < 3; ++i) {
    Segment probe = again(s[7], 75 * retransmission_timeout);
    --probe.sequence;
    probe.wire_length = 0;
    probe.octets.clear();
    s.push_back(probe);
    s.push_back(again(answer));
  }
  EXPECT_EQ(run(s).liveness.at(0).find("copies"), std::string::npos);
}

TEST_F(IwarpLiveness, AClosedWindow) {
  auto s = until(6);
  s.push_back(bare(s[5]));
  s.back().window = 0;
  // The client asks with one octet of what is to come next, and is told again that there is no room.
  Segment probe = bare(s.back());
  probe.sequence = s[6].acknowledgement;
  probe.acknowledgement = s[6].sequence;
  probe.octets = {0};
  probe.wire_length = 1;
  for (int i = 0; i < 3; ++i) {
    s.push_back(again(probe));
    s.push_back(again(s[6]));
  }
  auto got = run(s).liveness;
  EXPECT_EQ(got.at(0), "C heard #12 unacknowledged #8 seen " + std::to_string(client_.length() + 1));
  EXPECT_THAT(got.at(1), testing::AllOf(StartsWith("S heard #13 "), testing::EndsWith(" closed #7")));
  // With the window open the same octet, again and again, is data that nobody acknowledges.
  for (Segment& each : s) each.window = 500;
  got = run(s).liveness;
  EXPECT_THAT(got.at(0), StartsWith("C heard #12 unacknowledged #8 copies 2 #8-#12 "));
  EXPECT_THAT(got.at(1), testing::Not(testing::EndsWith(" closed #7")));
}

TEST_F(IwarpLiveness, ToldBeforeTheFirstClose) {
  auto s = segments();
  Segment fin = bare(s.back(), 0x11);
  s.push_back(fin);  // 8
  Segment answer = bare(fin, 0x11);
  ++answer.acknowledgement;
  s.push_back(answer);  // 9
  const Recorder got = run(s);
  EXPECT_THAT(got.liveness, ElementsAre("C heard #8" + client_seen(), "S heard #7" + server_seen()));
  EXPECT_EQ(got.lines[got.told_before.at(0)], "Disconnect C fin");

  s.resize(7);
  s.push_back(bare(s.back(), 0x14));
  s.back().window = 0;  // as a reset has it: that says nothing
  const Recorder reset = run(s);
  EXPECT_THAT(reset.liveness, ElementsAre("C heard #8" + client_seen(), "S heard #7" + server_seen()));
  EXPECT_EQ(reset.lines[reset.told_before.at(0)], "Disconnect C reset");
}

TEST_F(IwarpLiveness, ToldAgainBehindAFinThatFollowsRepeatsInVain) {
  auto s = until(6);
  s.push_back(again(s.back()));  // 7
  s.push_back(again(s.back()));  // 8
  Segment fin = again(s.back());
  fin.sequence += fin.wire_length;
  fin.octets.clear();
  fin.wire_length = 0;
  fin.flags = 0x11;
  s.push_back(fin);  // 9
  EXPECT_EQ(run(s).liveness.size(), 4U);
  // What was acknowledged since is no reason to tell it again.
  s.insert(s.end() - 1, bare(s[7]));
  EXPECT_EQ(run(s).liveness.size(), 2U);
}

TEST_F(IwarpLiveness, ToldBeforeANewEpoch) {
  auto s = until(6);
  s.push_back(again(s[5]));
  TcpOptions later;
  later.client_isn = 77'000'000;
  later.server_isn = 99'000'000;
  const auto second_epoch = segments_of(story_, later);
  s.insert(s.end(), second_epoch.begin(), second_epoch.end());
  const Recorder got = run(s);
  ASSERT_EQ(got.liveness.size(), 4U);
  EXPECT_EQ(got.liveness[0], "C heard #7 unacknowledged #6 copies 1 #6-#7" + client_seen());
  EXPECT_THAT(got.liveness[1], StartsWith("S heard #5 "));
  EXPECT_EQ(got.lines[got.told_before.at(0)], "Disconnect C superseded");
  EXPECT_EQ(got.liveness[2], "C heard #13" + client_seen());
}

TEST_F(IwarpLiveness, ToldBeforeAReject) {
  const Recorder got = run(Story{{true, mpa_frame(true, 0, 1, {})}, {false, mpa_frame(false, 0x20, 1, {})}});
  EXPECT_THAT(got.liveness, ElementsAre("C heard #4 seen 20", "S heard #5 unacknowledged #5 seen 20"));
  EXPECT_THAT(got.lines.at(got.told_before.at(0)), StartsWith("Reject"));
}

TEST_F(IwarpLiveness, WhatIsMissingAndInHowManyPlaces) {
  std::size_t missing = 0;
  for (std::uint32_t i = 2; i < 12; ++i) {
    story_.push_back({true, client_.fpdu(send_ulpdu(i, 0, true, rpc_call(i)))});
    story_.push_back({false, server_.fpdu(send_ulpdu(i, 0, true, rpc_reply(i)))});
  }
  // Two Calls that follow each other are one place, a third one is another.
  std::vector<Segment> s;
  for (const Segment& each : segments()) {
    const bool gone = each.client && (each.chunk == 6 || each.chunk == 8 || each.chunk == 12);
    if (gone) missing += each.wire_length;
    if (!gone) s.push_back(each);
  }
  const Recorder got = run(s);
  EXPECT_THAT(got.liveness.at(0), testing::EndsWith(" seen " + std::to_string(client_.length() - missing) +
                                                    " missing " + std::to_string(missing) + " in 2"));
  EXPECT_EQ(got.gap_octets, missing);
  EXPECT_THAT(got.liveness.at(1), testing::EndsWith(server_seen()));
}

// A hole that is given up in two steps, because the acknowledgements came in two, is one hole.
TEST_F(IwarpLiveness, AHoleIsOnePlaceHoweverItIsAcknowledged) {
  for (std::uint32_t i = 2; i < 5; ++i) {
    story_.push_back({true, client_.fpdu(send_ulpdu(i, 0, true, rpc_call(i)))});
  }
  auto s = segments();
  const auto first = s[7];
  const auto last = s[9];
  s.erase(s.begin() + 7, s.begin() + 9);
  s.push_back(bare(first));
  s.push_back(bare(last));
  const Recorder got = run(s);
  const auto missing = 2 * std::uint64_t{first.wire_length};
  EXPECT_EQ(got.count("Gap"), 2U);
  EXPECT_THAT(got.liveness.at(0), testing::EndsWith(" seen " + std::to_string(client_.length() - missing) +
                                                    " missing " + std::to_string(missing) + " in 1"));
}

TEST_F(IwarpLiveness, NotForWhatIsNoIwarp) {
  EXPECT_THAT(run(Story{{true, pattern(3000, 1)}, {false, pattern(3000, 2)}}).liveness, IsEmpty());
}

// Of two taps the client's is late: the Reply stands in front of the capture, what acknowledges it behind its Call.
TEST_F(IwarpLiveness, AcknowledgedAndInFrontOfTheCapture) {
  const auto all = longer();
  std::vector<Segment> s(all.begin() + 5, all.end());
  s[1] = bare(all[6]);
  EXPECT_THAT(run(s).liveness.at(1), HasSubstr(" before #2"));
  s.erase(s.begin() + 1);  // the next Call acknowledges it
  EXPECT_THAT(run(s).liveness.at(1), HasSubstr(" before #2"));
  s.erase(s.begin());  // and where it comes first, it tells nothing
  EXPECT_THAT(run(s).liveness.at(1), Not(HasSubstr(" before ")));
}

TEST_F(IwarpLiveness, WhatIsAcknowledgedComesBehindThat) {
  const auto all = longer();
  std::vector<Segment> s(all.begin() + 5, all.end());
  s.insert(s.begin() + 1, bare(all[6]));
  EXPECT_THAT(run(s).liveness.at(1), Not(HasSubstr(" before ")));
}

}  // namespace
}  // namespace rpcrdma::iwarp_test
