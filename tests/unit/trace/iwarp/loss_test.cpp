// SPDX-License-Identifier: GPL-2.0-or-later
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "streams.hpp"

namespace rpcrdma::iwarp_test {
namespace {

using testing::Contains;

TEST(IwarpLoss, AcknowledgedByTheReceiverIsProven) {
  auto segments = segments_of(full_story({}));
  const std::size_t lost = segments[5].octets.size();
  segments.erase(segments.begin() + 5);  // the first Call; the reply acknowledges it
  const Recorder got = run(segments);
  EXPECT_THAT(got.lines, Contains("Gap C " + std::to_string(lost) + " proven")) << got.text();
}

/// The kinds of the lines: "Send C", "Gap S".
std::vector<std::string> kinds(const Recorder& got) {
  std::vector<std::string> out;
  for (const std::string& line : got.only({"Send", "Gap"})) out.push_back(line.substr(0, line.find(' ') + 2));
  return out;
}

TEST(IwarpLoss, BeforeTheOpeningAHoleIsToldWhereItStands) {
  Direction client;
  Direction server;
  Story story;
  for (std::uint32_t i = 1; i <= 4; ++i) story.push_back({true, client.fpdu(send_ulpdu(i, 0, true, rpc_call(i)))});
  for (std::uint32_t i = 1; i <= 4; ++i) story.push_back({false, server.fpdu(send_ulpdu(i, 0, true, rpc_reply(i)))});
  TcpOptions tcp;
  tcp.syn = false;
  auto segments = segments_of(story, tcp);
  segments.erase(segments.begin() + 2);  // while the stream waits for the server to show
  const Recorder got = run(segments);
  EXPECT_EQ(kinds(got),
            (std::vector<std::string>{"Send C", "Send C", "Gap C", "Send C", "Send S", "Send S", "Send S", "Send S"}))
      << got.text();
  EXPECT_EQ(got.count("Gap C " + std::to_string(got.gap_octets) + " proven"), 1U) << got.text();
}

TEST(IwarpLoss, BeforeTheOpeningAHoleIsToldBeforeWhatAnswersIt) {
  // Nothing tells the roles: all of it waits.
  Direction client;
  Direction server;
  Story story;
  for (std::uint32_t i = 1; i <= 4; ++i) {
    story.push_back({true, client.fpdu(send_ulpdu(i, 0, true, pattern(100, i)))});
    story.push_back({false, server.fpdu(send_ulpdu(i, 0, true, pattern(200, i)))});
  }
  TcpOptions tcp;
  tcp.syn = false;
  RunOptions options;
  options.server_port = 40'000;
  auto segments = segments_of(story, tcp);
  segments.erase(segments.begin() + 4);
  const Recorder got = run(segments, options);
  EXPECT_EQ(kinds(got),
            (std::vector<std::string>{"Send C", "Send S", "Send C", "Send S", "Gap C", "Send S", "Send C", "Send S"}))
      << got.text();
}

// The server has said, without data, where it is: its Reply that is missing from there on is missed. Not so behind a
// keep-alive, which names the octet before.
TEST(IwarpLoss, BehindASegmentWithoutDataInTheMiddle) {
  for (const bool keep_alive : {false, true}) {
    Direction client;
    Direction server;
    Story story;
    for (std::uint32_t i = 1; i <= 4; ++i) {
      story.push_back({true, client.fpdu(send_ulpdu(i, 0, true, rpc_call(i)))});
      story.push_back({false, server.fpdu(send_ulpdu(i, 0, true, rpc_reply(i)))});
    }
    TcpOptions tcp;
    tcp.syn = false;
    auto segments = segments_of(story, tcp);
    const std::size_t lost = segments[1].octets.size();
    Segment bare = segments[1];
    bare.octets.clear();
    bare.wire_length = 0;
    bare.flags = 0x10;
    if (keep_alive) {
      --bare.sequence;
      segments.insert(segments.begin() + 1, bare);
    } else {
      segments[1] = bare;
    }
    const Recorder got = run(segments);
    EXPECT_EQ(got.gap_octets, keep_alive ? 0 : lost) << got.text();
    EXPECT_EQ(got.count("Gap S " + std::to_string(lost) + " proven"), keep_alive ? 0U : 1U) << got.text();
  }
}

// The FPDU that ends a Call is cut off whole, and the next one in front of its queue and number: whose that is cannot
// be told, and the two are not made one message.
TEST(IwarpLoss, TwoSendsAreNotJoinedAcrossWhatWasCut) {
  Direction client;
  Direction server;
  const Octets call = concat({rpc_call(2), pattern(2500, 2)});
  Story story;
  story.push_back({true, client.fpdu(send_ulpdu(1, 0, true, rpc_call(1)))});
  story.push_back({false, server.fpdu(send_ulpdu(1, 0, true, rpc_reply(1)))});
  story.push_back({true, client.fpdu(send_ulpdu(2, 0, false, Octets(call.begin(), call.begin() + 1400)))});
  story.push_back({true, client.fpdu(send_ulpdu(2, 1400, true, Octets(call.begin() + 1400, call.end())))});
  story.push_back({false, server.fpdu(send_ulpdu(2, 0, true, rpc_reply(2)))});
  story.push_back({true, client.fpdu(send_ulpdu(3, 0, true, concat({rpc_call(3), pattern(1200, 3)})))});
  story.push_back({false, server.fpdu(send_ulpdu(3, 0, true, rpc_reply(3)))});
  auto segments = segments_of(story);
  const auto last_piece = std::find_if(segments.begin(), segments.end(), [](const Segment& s) { return s.chunk == 3; });
  const auto next = std::find_if(segments.begin(), segments.end(), [](const Segment& s) { return s.chunk == 5; });
  ASSERT_NE(next, segments.end());
  last_piece->octets.clear();
  next->octets.resize(6);
  const Recorder got = run(segments);
  for (const SeenSend& send : got.sends) EXPECT_LT(send.wire_length, 1500U) << got.text();
}

TEST(IwarpLoss, ACutLengthWordIsSaidAtOnce) {
  // Two FPDUs in a segment, and the capture ends where the second begins: nothing tells that it is there.
  Direction client;
  Direction server;
  Story story{{true, client.raw(mpa_frame(true, 0x40, 1, {}))}, {false, server.raw(mpa_frame(false, 0x40, 1, {}))}};
  const Octets first = client.fpdu(send_ulpdu(1, 0, true, rpc_call(1)));
  story.push_back({true, concat({first, client.fpdu(send_ulpdu(2, 0, true, rpc_call(2)))})});
  auto segments = segments_of(story);
  segments.back().octets.resize(first.size());
  const Recorder got = run(segments);
  EXPECT_EQ(got.count("Send C"), 1U) << got.text();
  EXPECT_EQ(got.count("Quality C mpa_cut"), 1U) << got.text();
  EXPECT_EQ(got.count("Quality C mpa_bad"), 0U);
}

// One MPA frame is cut inside its key, and nothing else: what its side says behind it is read.
TEST(IwarpLoss, BehindACutKeyItsSideIsRead) {
  for (const bool request : {true, false}) {
    for (const std::size_t kept : {2U, 6U, 15U}) {
      Direction client;
      Direction server;
      Story story;
      story.push_back({true, client.raw(mpa_frame(true, 0x40, 1, pattern(8, 1)))});
      story.push_back({false, server.raw(mpa_frame(false, 0x40, 1, pattern(8, 2)))});
      for (std::uint32_t i = 1; i <= 5; ++i) {
        story.push_back({true, client.fpdu(send_ulpdu(i, 0, true, rpc_call(i)))});
        story.push_back({false, server.fpdu(send_ulpdu(i, 0, true, rpc_reply(i)))});
      }
      auto segments = segments_of(story);
      const auto frame = std::find_if(segments.begin(), segments.end(),
                                      [&](const Segment& s) { return s.client == request && !s.octets.empty(); });
      ASSERT_NE(frame, segments.end());
      frame->octets.resize(kept);
      EXPECT_EQ(run(segments).sends.size(), 10U) << request << ' ' << kept;
    }
  }
}

TEST(IwarpLoss, ACutKeyIsSaidInWhateverOrder) {
  // What the server says before it ends TCP is cut inside the key, or before it: it may have been the Reply.
  for (const std::size_t kept : {std::size_t{0}, std::size_t{5}}) {
    for (const bool server_first : {false, true}) {
      Direction client;
      Direction server;
      const Story story{{true, client.raw(mpa_frame(true, 0x40, 1, {}))},
                        {false, server.raw(mpa_frame(false, 0x40, 1, {}))},
                        {false, {}, 0x11}};
      auto segments = segments_of(story);
      Segment& reply = segments[segments.size() - 2];
      reply.octets.resize(kept);
      if (server_first) std::swap(reply, segments[segments.size() - 3]);
      const Recorder got = run(segments);
      EXPECT_EQ(got.count("Request"), 1U) << got.text();
      EXPECT_EQ(got.count("Disconnect S"), 1U) << got.text();
      // In front of all that shows what the stream is, a frame without octets is as one that is missing.
      const char* const told = server_first && kept == 0 ? "Gap S" : "Quality S mpa_cut";
      EXPECT_EQ(got.count(told), 1U) << kept << server_first << got.text();
    }
  }
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
    story.push_back({true, client.fpdu(tagged_ulpdu(0, 5, std::uint64_t{1400} * i, true, data))});
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

// A ring file that is missing holds any number of them.
TEST(IwarpLoss, BehindMoreSendsThanOneSegmentWouldPassOver) {
  for (const std::uint32_t missing : {100U, 70'000U}) {
    Direction c;
    Direction s;
    Story story{{true, c.raw(mpa_frame(true, 0, 1, {}))},
                {false, s.raw(mpa_frame(false, 0, 1, {}))},
                {true, c.fpdu(send_ulpdu(1, 0, true, rpc_call(1)))},
                {false, s.fpdu(send_ulpdu(1, 0, true, rpc_reply(1)))}};
    Octets lost;
    for (std::uint32_t i = 0; i < missing; ++i) {
      const Octets one = s.fpdu(send_ulpdu(2 + i, 0, true, rpc_reply(2 + i)));
      lost.insert(lost.end(), one.begin(), one.end());
    }
    const std::size_t at = story.size();
    story.push_back({false, lost});
    constexpr std::uint32_t behind = 20;
    for (std::uint32_t i = 0; i < behind; ++i) {
      story.push_back({true, c.fpdu(send_ulpdu(2 + i, 0, true, rpc_call(2 + missing + i)))});
      story.push_back({false, s.fpdu(send_ulpdu(2 + missing + i, 0, true, rpc_reply(2 + missing + i)))});
    }
    std::vector<Segment> segments = segments_of(story);
    std::erase_if(segments, [&](const Segment& segment) { return segment.chunk == at; });
    const Recorder got = run(segments);
    EXPECT_EQ(got.count("Send S"), 1 + behind) << missing;
    EXPECT_EQ(got.count("Gap S"), 1U) << missing;
  }
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

/// Far more of it is under way when the refusal comes than is kept FPDU by FPDU.
TEST(IwarpRefusal, OfAPartOfALongWrite) {
  constexpr std::uint64_t each = 1000;
  for (const std::uint64_t refused : {0U, 5U, 150U, 199U}) {
    Direction c;
    Direction s;
    Story story{{true, c.raw(mpa_frame(true, 0, 1, {}))}, {false, s.raw(mpa_frame(false, 0, 1, {}))}};
    story.push_back({false, s.fpdu(tagged_ulpdu(0, 8, 0, true, pattern(each, 1)))});
    for (std::uint64_t i = 0; i < 200; ++i) {
      story.push_back({false, s.fpdu(tagged_ulpdu(0, 9, i * each, i == 199, pattern(each, 1)))});
    }
    const Octets header = tagged_ulpdu(0, 9, refused * each, false, {});
    const Octets control = {0x11, 0x01, 0xC0, 0x00, 0x03, 0xF6};
    story.push_back({true, c.fpdu(terminate_ulpdu(concat({control, header})))});
    const Recorder got = run(story);
    ASSERT_EQ(got.refusals.size(), 1U);
    EXPECT_EQ(got.refusals[0].refused, trace::Refusal::Refused::write) << refused;
    EXPECT_EQ(got.refusals[0].refused_op, 2U) << refused;
  }
}

/// Neither what came last nor what the kind of the error fits need be it.
TEST(IwarpRefusal, WithoutACopiedHeaderNamesNothing) {
  for (const Octets& payload : {Octets{0x12, 2, 0, 0}, Octets{0x21, 2, 0, 0}, Octets{0x11, 1, 0, 0},
                                Octets{0x01, 1, 0, 0}, Octets{0x10, 1, 0, 0}, Octets{0x20, 2, 0, 0}}) {
    Direction c;
    Direction s;
    const Story story{{true, c.raw(mpa_frame(true, 0, 1, {}))},
                      {false, s.raw(mpa_frame(false, 0, 1, {}))},
                      {false, s.fpdu(tagged_ulpdu(0, 9, 0, true, pattern(10, 1)))},
                      {false, s.fpdu(send_ulpdu(1, 0, true, rpc_reply(1)))},
                      {false, s.fpdu(read_request_ulpdu(1, 1, 2, 3, 4, 5))},
                      {true, c.fpdu(terminate_ulpdu(payload))}};
    const Recorder got = run(story);
    ASSERT_EQ(got.refusals.size(), 1U);
    EXPECT_EQ(got.refusals[0].refused, trace::Refusal::Refused::unknown);
    EXPECT_EQ(got.refusals[0].refused_op, 0U);
    EXPECT_EQ(got.refusals[0].refused_frame.number, 0U);
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

}  // namespace
}  // namespace rpcrdma::iwarp_test
