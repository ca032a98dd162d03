// SPDX-License-Identifier: GPL-2.0-or-later
// SYNs to services and what they get, up to the connection that comes of one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../../wire/packets.hpp"
#include "streams.hpp"
#include "trace/trace.hpp"

namespace rpcrdma::iwarp_test {
namespace {

using testing::ElementsAre;
using test::operator+;  // of octets
using testing::IsEmpty;

constexpr trace::TimeNs until_it_tries_again = 1'000'000'000;
constexpr std::uint8_t flags_syn = 0x02, flags_syn_ack = 0x12, flags_rst_ack = 0x14;

Segment bare_segment(bool client, std::uint8_t flags, std::uint32_t sequence, std::uint32_t acknowledgement = 0,
                     trace::TimeNs step = until_it_tries_again) {
  Segment s;
  s.client = client;
  s.flags = flags;
  s.sequence = sequence;
  s.acknowledgement = acknowledgement;
  s.step = step;
  return s;
}

Segment asks(std::uint32_t isn = 1000, trace::TimeNs step = until_it_tries_again) {
  return bare_segment(true, flags_syn, isn, 0, step);
}
Segment accepts(std::uint32_t isn = 1000) { return bare_segment(false, flags_syn_ack, 500'000, isn + 1); }
Segment refuses(std::uint32_t isn = 1000) { return bare_segment(false, flags_rst_ack, 0, isn + 1); }

const std::string there = " 192.0.2.2:50000 > 192.0.2.1:20049 ";

TEST(TcpAttempts, EachStep) {
  EXPECT_THAT(run({asks()}).attempts, ElementsAre("#1 C request" + there + "of #1"));
  EXPECT_THAT(run({asks(), asks(), asks(), accepts()}).attempts,
              ElementsAre("#1 C request" + there + "of #1", "#2 C repeated" + there + "of #1",
                          "#3 C repeated" + there + "of #1", "#4 S accepted" + there + "of #1"));
  EXPECT_THAT(run({asks(), refuses()}).attempts,
              ElementsAre("#1 C request" + there + "of #1", "#2 S refused" + there + "of #1"));
}

// Behind its answer the SYN comes again, or the answer does: one of the two does not come through.
TEST(TcpAttempts, WhatIsNotConfirmedIsUnheard) {
  const Segment again =
      bare_segment(false, flags_syn_ack, 500'000, 1001, 1'000'000);  // one millisecond: captured twice
  const Segment confirms = bare_segment(true, 0x10, 1001, 500'001);
  EXPECT_THAT(
      run({asks(), accepts(), accepts(), asks(), again}).attempts,
      ElementsAre("#1 C request" + there + "of #1", "#2 S accepted" + there + "of #1", "#3 S unheard" + there + "of #1",
                  "#4 C unheard" + there + "of #1", "#5 S unheard" + there + "of #1"));
  EXPECT_THAT(run({asks(), accepts(), again}).attempts,
              ElementsAre("#1 C request" + there + "of #1", "#2 S accepted" + there + "of #1"));
  EXPECT_THAT(run({asks(), accepts(), accepts(), confirms, accepts(), asks()}).attempts,
              ElementsAre("#1 C request" + there + "of #1", "#2 S accepted" + there + "of #1",
                          "#3 S unheard" + there + "of #1", "#4 S accepted" + there + "of #1"));
  EXPECT_THAT(run({asks(), accepts(), confirms, accepts()}).attempts,
              ElementsAre("#1 C request" + there + "of #1", "#2 S accepted" + there + "of #1"));
}

TEST(TcpAttempts, ASynThatIsCapturedTwiceIsOne) {
  EXPECT_EQ(run({asks(), asks(1000, 4'000'000), accepts()}).attempts,
            (std::vector<std::string>{"#1 C request" + there + "of #1", "#3 S accepted" + there + "of #1"}));
  EXPECT_EQ(run({asks(), asks(1000, 6'000'000)}).attempts.back(), "#2 C repeated" + there + "of #1");
}

TEST(TcpAttempts, PortsUsedAgain) {
  EXPECT_THAT(run({asks(), asks(2000), refuses(1000), refuses(2000)}).attempts,
              ElementsAre("#1 C request" + there + "of #1", "#2 C request" + there + "of #2",
                          "#4 S refused" + there + "of #2"));
}

// With the snap length that cuts all payload off: that the server says something is seen, not what.
TEST(TcpAttempts, WhatIsCutIsNoSilence) {
  const auto says = [](bool client, std::uint32_t octets) {
    Segment s = bare_segment(client, 0x18, client ? 1001 : 500'001, client ? 500'001 : 1001 + 32);
    s.wire_length = octets;
    return s;
  };
  EXPECT_THAT(run({asks(), accepts(), says(true, 32), says(false, 32), says(false, 76)}).attempts,
              ElementsAre("#1 C request" + there + "of #1", "#2 S accepted" + there + "of #1",
                          "#4 S unreadable" + there + "of #1"));
  EXPECT_THAT(run({asks(), says(true, 32), says(false, 32)}).attempts,
              ElementsAre("#1 C request" + there + "of #1", "#2 S accepted" + there + "of #1",
                          "#3 S unreadable" + there + "of #1"));
  EXPECT_THAT(run({asks(), accepts(), says(true, 32)}).attempts,
              ElementsAre("#1 C request" + there + "of #1", "#2 S accepted" + there + "of #1"));
}

// The capture lacks all that the server says: what the client says behind its SYN acknowledges it.
TEST(TcpAttempts, WhatTheClientAcknowledgesWasSaid) {
  const auto acknowledges = [](std::uint32_t sequence, std::uint32_t number) {
    return bare_segment(true, 0x10, sequence, number);
  };
  const std::string request = "#1 C request" + there + "of #1";
  const std::string accepted = "#2 S accepted" + there + "of #1";
  EXPECT_THAT(
      run({asks(), acknowledges(1001, 500'001), acknowledges(1033, 500'033), acknowledges(1033, 500'065)}).attempts,
      ElementsAre(request, accepted, "#3 S unreadable" + there + "of #1"));
  // One octet may be the server's FIN, and another sequence number is of another attempt.
  EXPECT_THAT(run({asks(), acknowledges(1001, 500'001), acknowledges(1001, 500'002)}).attempts,
              ElementsAre(request, accepted));
  EXPECT_THAT(run({asks(), acknowledges(900, 500'001)}).attempts, ElementsAre(request));
}

// So does what either side says without octets, to its last word, wherever the capture begins to lack them; unless it
// has them, and others find out what they are.
TEST(TcpAttempts, WhatTheNumbersSayWasSaid) {
  constexpr std::uint8_t ack = 0x10, fin_ack = 0x11;
  const auto client = [](std::uint8_t flags, std::uint32_t number) { return bare_segment(true, flags, 1033, number); };
  const auto server = [](std::uint8_t flags, std::uint32_t sequence) {
    return bare_segment(false, flags, sequence, 1033);
  };
  Segment plain = server(ack, 500'001);
  plain.octets = Octets(32, 0x55);
  plain.wire_length = 32;
  struct Case {
    const char* what;
    std::vector<Segment> segments;
    const char* unreadable;
  };
  const Case cases[] = {
      {"the client acknowledges them", {client(ack, 500'033)}, "#3 S"},
      {"with its FIN", {client(fin_ack, 500'033)}, "#3 S"},
      {"with its RST", {client(flags_rst_ack, 500'033)}, "#3 S"},
      {"one may be a FIN", {client(fin_ack, 500'002)}, nullptr},
      {"the server stands behind them", {server(ack, 500'033)}, "#3 S"},
      {"with its FIN", {server(fin_ack, 500'033)}, "#3 S"},
      {"it has said nothing", {server(fin_ack, 500'001), server(ack, 500'002)}, nullptr},
      {"an RST of something else", {server(flags_rst_ack, 0)}, nullptr},
      {"they are there", {plain, client(ack, 500'033), client(fin_ack, 500'033)}, nullptr},
  };
  for (const Case& c : cases) {
    std::vector<Segment> all{asks(), accepts()};
    all.insert(all.end(), c.segments.begin(), c.segments.end());
    const auto attempts = run(all).attempts;
    const std::string last = c.unreadable != nullptr ? c.unreadable + (" unreadable" + there) : "#2 S accepted" + there;
    EXPECT_EQ(attempts.back(), last + "of #1") << c.what;
  }
}

// A load balancer looks whether the port is open. Whoever has sent something has a higher number by then.
TEST(TcpAttempts, WhoClosesAndSaidNothingAskedForNothing) {
  constexpr std::uint8_t flags_fin_ack = 0x11, flags_rst = 0x04;
  const std::string withdrawn = "#3 C withdrawn" + there + "of #1";
  for (const std::uint8_t flags : {flags_fin_ack, flags_rst, flags_rst_ack}) {
    const auto closes = [&](std::uint32_t sequence) { return bare_segment(true, flags, sequence, 500'001); };
    EXPECT_EQ(run({asks(), accepts(), closes(1001)}).attempts.back(), withdrawn);
    EXPECT_EQ(run({asks(), accepts(), closes(1001), closes(1001), asks()}).attempts.back(), withdrawn);
    EXPECT_EQ(run({asks(UINT32_MAX), accepts(UINT32_MAX), closes(0)}).attempts.back(), withdrawn);
    EXPECT_EQ(run({asks(), accepts(), closes(1033)}).attempts.size(), 2U) << "its request is not in the capture";
    EXPECT_EQ(run({asks(), closes(1001)}).attempts.size(), 1U) << "it gave up";
    EXPECT_EQ(run({asks(), refuses(), closes(1001)}).attempts.size(), 2U);
  }
  EXPECT_EQ(run({asks(), accepts(), bare_segment(false, flags_fin_ack, 500'001, 1001)}).attempts.size(), 2U)
      << "the server waited in vain";
}

TEST(TcpAttempts, AfterARefusalTheSameSynIsANewAttempt) {
  EXPECT_THAT(run({asks(), refuses(), asks(), refuses()}).attempts,
              ElementsAre("#1 C request" + there + "of #1", "#2 S refused" + there + "of #1",
                          "#3 C request" + there + "of #3", "#4 S refused" + there + "of #3"));
}

TEST(TcpAttempts, OnceAnsweredNothingMoreIsToBeSaid) {
  EXPECT_EQ(run({asks(), accepts(), refuses()}).attempts.size(), 2U);
  EXPECT_EQ(run({asks(), refuses(), refuses()}).attempts.size(), 2U);
}

TEST(TcpAttempts, TheAnswerAlone) {
  EXPECT_THAT(run({accepts()}).attempts, ElementsAre("#1 S accepted" + there + "of #0"));
  EXPECT_THAT(run({refuses()}).attempts, IsEmpty());
  // Two queues of one capture: the answer stands before what it answers.
  EXPECT_THAT(run({accepts(), asks()}).attempts,
              ElementsAre("#1 S accepted" + there + "of #0", "#2 C request" + there + "of #2"));
}

TEST(TcpAttempts, WhatAnswersNoSyn) {
  EXPECT_EQ(run({asks(), refuses(999)}).attempts.size(), 1U);                     // acknowledges something else
  EXPECT_EQ(run({asks(), bare_segment(false, 0x04, 77)}).attempts.size(), 1U);    // acknowledges nothing
  EXPECT_EQ(run({asks(), bare_segment(true, 0x04, 1001)}).attempts.size(), 1U);   // the client gives up
  EXPECT_EQ(run({asks(), bare_segment(false, 0x10, 5, 7)}).attempts.size(), 1U);  // of an older epoch
}

TEST(TcpAttempts, ASynWithDataMayBeAnsweredWithOrWithoutIt) {
  for (const std::uint32_t taken : {0U, 20U}) {
    Segment s = asks();
    s.octets = pattern(20, 1);
    s.wire_length = 20;
    EXPECT_EQ(run({s, accepts(1000 + taken)}).attempts.back(), "#2 S accepted" + there + "of #1");
  }
}

TEST(TcpAttempts, AResetOfAnEstablishedConnectionIsNone) {
  auto segments = segments_of(full_story({}));
  segments.resize(segments.size() - 3);
  segments.push_back(bare_segment(false, flags_rst_ack, segments.back().sequence, segments.back().acknowledgement));
  const Recorder got = run(segments);
  EXPECT_THAT(got.attempts, ElementsAre("#1 C request" + there + "of #1", "#2 S accepted" + there + "of #1"));
  EXPECT_EQ(got.lines.back(), "Disconnect S reset");
}

TEST(TcpAttempts, OtherPortsAreNobodysBusiness) {
  RunOptions options;
  options.server_port = 80;
  EXPECT_THAT(run({asks(), asks(), accepts()}, options).attempts, IsEmpty());
  EXPECT_THAT(run({asks(), refuses()}, options).attempts, IsEmpty());
  options.service_ports = {80};
  EXPECT_EQ(run({asks(), refuses()}, options).attempts.size(), 2U);
}

// What went to the port before anything spoke MPA there is told when something does.
TEST(TcpAttempts, MpaOnAnotherPortTellsWhatCameBefore) {
  RunOptions options;
  options.server_port = 33'333;
  const std::string here = " 192.0.2.2:50000 > 192.0.2.1:33333 ";
  std::vector<Segment> segments{asks(77), asks(77), refuses(77)};
  const auto story = segments_of(full_story({}));
  segments.insert(segments.end(), story.begin(), story.end());
  segments.push_back(asks(99'000'000));
  const Recorder got = run(segments, options);
  EXPECT_THAT(got.attempts, ElementsAre("#1 C request" + here + "of #1", "#2 C repeated" + here + "of #1",
                                        "#3 S refused" + here + "of #1", "#4 C request" + here + "of #4",
                                        "#5 S accepted" + here + "of #4",
                                        "#" + std::to_string(segments.size()) + " C request" + here + "of #" +
                                            std::to_string(segments.size())));
  EXPECT_THAT(got.opened, ElementsAre(4U));
}

TEST(TcpAttempts, TheConnectionNamesItsFirstSyn) {
  for (const std::uint16_t port : std::vector<std::uint16_t>{20'049, 33'333}) {
    RunOptions options;
    options.server_port = port;
    auto segments = segments_of(full_story({}));
    segments.insert(segments.begin() + 1, {asks(), asks()});
    const Recorder got = run(segments, options);
    EXPECT_THAT(got.opened, ElementsAre(1U)) << port;
    EXPECT_EQ(got.attempts.size(), 4U);
    // Refused before: the SYN that was accepted.
    segments = segments_of(full_story({}));
    segments.insert(segments.begin(), {asks(), refuses()});
    EXPECT_THAT(run(segments, options).opened, ElementsAre(3U)) << port;
  }
}

TEST(TcpAttempts, ASynBehindItsAnswerInTheFile) {
  auto segments = segments_of(full_story({}));
  const Recorder whole = run(segments);
  std::swap(segments[0], segments[1]);
  const Recorder got = run(segments);
  EXPECT_EQ(got.without({"Repeated"}), whole.without({"Repeated"})) << got.text();
}

TEST(TcpAttempts, BoundedHoweverManyThereAre) {
  Recorder recorder;
  trace::Options options;
  trace::ConnectionNumbers numbers;
  trace::IwarpTransport transport(options, numbers, recorder);
  trace::TcpSegment s;
  s.source.kind = s.destination.kind = trace::Address::Kind::ipv4;
  s.flags = flags_syn;
  s.destination_port = 20'049;
  const auto ask = [&](std::uint32_t n) {
    ++s.ref.number;
    s.ref.time += until_it_tries_again;
    s.source_port = static_cast<std::uint16_t>(n);
    s.sequence = n;
    (void)transport.segment(s);
  };
  for (std::uint32_t n = 1; n <= 10'000; ++n) ask(n);
  EXPECT_EQ(recorder.attempts.size(), 10'000U);
  ask(10'000 - 1023);  // still known
  EXPECT_THAT(recorder.attempts.back(), testing::HasSubstr("repeated"));
  ask(10'000 - 1024);  // forgotten
  EXPECT_THAT(recorder.attempts.back(), testing::HasSubstr("request"));
}

/// Whole frames: IP and ICMP as well.
class Frames : public testing::Test {
 protected:
  void feed(std::uint16_t type, const test::Octets& packet) {
    const test::Octets octets = test::ethernet(type, packet);
    trace::Frame f;
    f.ref = {++number_, 1'700'000'000'000'000'000 + static_cast<trace::TimeNs>(number_) * until_it_tries_again};
    f.octets = octets;
    f.wire_length = static_cast<std::uint32_t>(octets.size());
    trace_.frame(f);
  }
  /// From port 49154 to 20049, sequence 0x01020304.
  static test::Octets syn_segment() {
    test::Octets t = test::tcp({});
    t[13] = flags_syn;
    return t;
  }
  static test::Octets first_octets(const test::Octets& packet, std::size_t n) {
    return {packet.begin(), packet.begin() + static_cast<std::ptrdiff_t>(n)};
  }

  Recorder recorder_;
  trace::Trace trace_{trace::Options{}, recorder_};
  std::uint64_t number_ = 0;
};

TEST_F(Frames, IcmpSaysUnreachable) {
  const test::Octets packet = test::ipv4(6, syn_segment());
  feed(0x0800, packet);
  feed(0x0800, test::ipv4(1, test::hex("0301 0000 00000000") + first_octets(packet, 28)));
  feed(0x0800, packet);
  feed(0x0800, test::ipv4(1, test::hex("0303 0000 00000000") + packet));
  const std::string here = " 192.168.77.2:49154 > 192.168.77.1:20049 of #1";
  EXPECT_THAT(recorder_.attempts, ElementsAre("#1 C request" + here, "#2 S unreachable" + here, "#3 C repeated" + here,
                                              "#4 S unreachable" + here));
}

TEST_F(Frames, IcmpVersion6SaysUnreachable) {
  const test::Octets packet = test::ipv6(6, syn_segment());
  feed(0x86DD, packet);
  feed(0x86DD, test::ipv6(58, test::hex("0103 0000 00000000") + first_octets(packet, 48)));
  const std::string here = " fd77::2:49154 > fd77::1:20049 of #1";
  EXPECT_THAT(recorder_.attempts, ElementsAre("#1 C request" + here, "#2 S unreachable" + here));
}

TEST_F(Frames, IcmpAboutSomethingElse) {
  const test::Octets packet = test::ipv4(6, syn_segment());
  test::Octets other = packet;
  other[20 + 7] ^= 1U;                                                    // another sequence number: not this SYN
  feed(0x0800, test::ipv4(1, test::hex("0301 0000 00000000") + packet));  // before any SYN
  feed(0x0800, packet);
  feed(0x0800, test::ipv4(1, test::hex("0301 0000 00000000") + other));
  feed(0x0800, test::ipv4(1, test::hex("0b00 0000 00000000") + packet));
  EXPECT_EQ(recorder_.attempts.size(), 1U);
}

}  // namespace
}  // namespace rpcrdma::iwarp_test
