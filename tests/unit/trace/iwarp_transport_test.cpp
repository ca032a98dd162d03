// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/iwarp_transport.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "iwarp/streams.hpp"

namespace rpcrdma::iwarp_test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::StartsWith;

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

}  // namespace
}  // namespace rpcrdma::iwarp_test
