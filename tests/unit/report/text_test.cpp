// SPDX-License-Identifier: GPL-2.0-or-later
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <sstream>

#include "report/layout.hpp"
#include "report/tally.hpp"
#include "sample_run.hpp"

namespace rpcrdma::report {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

std::string without_colors(const std::string& text) {
  return std::regex_replace(text, std::regex("\x1b\\[[0-9;]*m"), "");
}

/// Blanks and line ends are the layout's business.
std::string flowing(const std::string& text) { return std::regex_replace(text, std::regex("\\s+"), " "); }

struct Times {
  std::optional<std::int64_t> begin, end;
};

/// Over files of these times, called 0.pcap, 1.pcap, and so on.
report::Run run_over(const std::vector<Times>& times) {
  report::Run run = sample_run();
  run.taps.reset();
  const Input sample = run.inputs.at(0);
  run.inputs.assign(times.size(), sample);
  for (std::size_t i = 0; i < times.size(); ++i) {
    run.inputs[i].path = std::to_string(i) + ".pcap";
    run.inputs[i].first_time = times[i].begin;
    run.inputs[i].last_time = times[i].end;
  }
  return run;
}

/// One file for each direction, or from each tap.
TEST(TextReport, SaysThatFilesWereTakenAtTheSameTime) {
  constexpr std::string_view beside = " was taken at the same time as the file in front of it";
  struct BesideCase {
    std::vector<Times> times;
    std::string_view said;  ///< a name; empty: nothing
  };
  for (const BesideCase& each :
       {BesideCase{{{0, 100}, {0, 100}}, "1.pcap"}, BesideCase{{{0, 100}, {40, 60}}, "1.pcap"},
        BesideCase{{{50, 150}, {40, 140}}, "1.pcap"}, BesideCase{{{0, 100}, {100, 200}, {110, 190}}, "2.pcap"},
        BesideCase{{{0, 100}, {100, 200}}, ""}, BesideCase{{{0, 100}, {98, 200}}, ""},  // two processors wrote it
        BesideCase{{{0, 100}, {60, 160}}, ""}, BesideCase{{{50, 50}, {50, 50}}, ""}}) {
    report::Run run = run_over(each.times);
    const std::string out = flowing(text(run, {}));
    EXPECT_EQ(out.find("ORDER") != std::string::npos, !each.said.empty());
    if (!each.said.empty()) {
      EXPECT_THAT(out, HasSubstr("ORDER " + std::string(each.said) + std::string(beside) + ": files"));
      EXPECT_THAT(out, HasSubstr("--merge"));
    }
    run.taps = Taps{};
    EXPECT_THAT(text(run, {}), Not(HasSubstr("ORDER")));
  }
}

/// A shell sorts cap10 in front of cap2.
TEST(TextReport, SaysThatFilesStandInTheWrongOrder) {
  struct OrderCase {
    std::vector<Times> times;
    std::string_view said;  ///< empty: nothing
  };
  for (const OrderCase& each :
       {OrderCase{{{5, 5}, {10, 10}, {15, 15}}, ""}, OrderCase{{{5, 5}, {5, 5}, {}, {6, 6}}, ""},
        OrderCase{{{5, 5}}, ""},
        OrderCase{{{5, 5}, {50, 50}, {10, 10}, {15, 15}}, "ORDER 2.pcap begins before the file in front of it: files"},
        OrderCase{{{50, 50}, {10, 10}, {}, {5, 5}},
                  "ORDER 1.pcap begins before the file in front of it, and 1 more"}}) {
    report::Run run = run_over(each.times);
    const std::string out = flowing(text(run, {}));
    EXPECT_EQ(out.find("ORDER") != std::string::npos, !each.said.empty());
    EXPECT_THAT(out, HasSubstr(std::string(each.said)));
    run.taps = Taps{};
    EXPECT_THAT(text(run, {}), Not(HasSubstr("ORDER")));  // a merge goes by time
  }
}

TEST(TextReport, TellsTheWholeStory) {
  const std::string out = flowing(text(sample_run(), {}));
  const char* const pieces[] = {
      "mount.pcap capture pcap, EN10MB, 846 frames, 123,456 octets",
      "from 2025-12-05 02:00:00.123456 UTC, for 2.50 s",
      "cut 3 frames cut short by the snap length",
      "ERROR inline-threshold-exceeded: A message is larger than the peer can receive "
      "where connection 1, frame 812, +1.900000 s, XID 0x08ea8cef who the server, as responder "
      "what a Reply of 20,100 octets to a client that receives 4,096 evidence frames 812, 4, 3, 4",
      "Wireshark frame.number in {3, 4, 812} next Linux client: rpcrdma:xprtrdma_inline_thresh",
      "WARNING rnr-nak-seen",
      "who not decided",
      "remote-invalidation-server-r-clear: the server invalidates remotely though its own R bit is clear (frame 831, "
      "21 "
      "times)",
      "capture-time-backwards: the clock was set back once",
      "Connection 1: RoCEv2 peers client 192.168.77.2:43180 (QP 0x000011), server 192.168.77.1:20049 (QP 0x000012)",
      "opened frame 3, +0.001000 s; path MTU 1024",
      "client sends up to 4,096, receives up to 8,192 octets, supports remote invalidation (private data version 1, "
      "frame 3)",
      "server sends up to 4,096, receives up to 4,096 octets, does not offer remote invalidation (private data version "
      "1 at offset 2, reserved bits 0x40, frame 4)",
      "thresholds client to server 4,096 octets, server to client 4,096 octets (negotiated)",
      "credits 128 requested, 64 granted, at most 3 calls outstanding, 1 stall",
      "messages version 1: 37 calls, 36 replies; reverse direction 2 calls, 1 answered (50 RDMA_MSG, 21 RDMA_NOMSG, 3 "
      "RDMA_ERROR, 4 RDMA2_GRANT)",
      "operations 74 Sends (21 with invalidate), 5 Reads of 4,096 octets, 16 Writes of 65,536 octets; 1 NAK, 2 RNR "
      "NAKs, 7 retransmitted packets",
      "pulls 2 offered, 1 reported complete, 1 missing",
      "latency 36 calls: median 412 us, 90% 900 us, 99% 1.5 ms, worst 2.50 s",
      "procedures NFSv3 GETATTR 36, NFSv4 COMPOUND 1",
      "end ended by a refusal (NAK) by the client, frame 840, +2.400000 s",
      "cause the reply did not fit (inline-overrun-fatal, proven); frames 812, 840",
      "Connection 2: iWARP peers client fd77::2, server [fd77::1]:20049; which of them is the client is not known",
      "opened frame 500, +1.500000 s; its handshake is not in the capture",
      "thresholds client to server unknown, server to client unknown (the handshake is not in the capture)",
      "capture only one direction was captured; 1,460 octets missing",
      "end still open when the capture ends",
      "Not checked the handshake is not in the capture (connection 2): inline-threshold-exceeded, "
      "credit-limit-exceeded no checksums in this link type: icrc-bad",
  };
  std::size_t from = 0;
  for (const char* piece : pieces) {
    const auto at = out.find(piece, from);
    ASSERT_NE(at, std::string::npos) << "missing, or too early: " << piece << "\n" << text(sample_run(), {});
    from = at;
  }
  EXPECT_EQ(lines(text(sample_run(), {})).back(),
            "1 error and 1 warning found in 2 connections; 2 notes; 3 rules could not be checked everywhere.");
}

TEST(TextReport, FitsThePage) {
  for (const bool verbose : {false, true}) {
    TextStyle style;
    style.verbose = verbose;
    for (const auto& line : lines(text(sample_run(), style))) {
      EXPECT_LE(width(line), page_width) << line;
      EXPECT_TRUE(line.empty() || line.back() != ' ') << "[" << line << "]";
    }
  }
}

TEST(TextReport, HealthyIsShort) {
  const std::string out = text(healthy_run(), {});
  EXPECT_LE(lines(out).size(), 26U) << out;
  EXPECT_EQ(lines(out).back(), "No violations found in 1 connection; 1 note.");
}

TEST(TextReport, ManyOfAKindAreFolded) {
  report::Run run = sample_run();
  for (std::uint64_t i = 0; i < 500; ++i) {
    referee::Finding f = run.report.findings.at(1);
    f.frames = {1000 + i};
    run.report.findings.push_back(f);
    referee::Finding note = run.report.findings.at(0);
    note.frames = {2000 + i};
    run.report.findings.push_back(note);
  }
  const std::string out = text(run, {});
  EXPECT_LE(lines(out).size(), 90U);
  EXPECT_THAT(flowing(out), HasSubstr("also 500 more of the same kind, frames 1000, 1001, 1002"));
  EXPECT_THAT(flowing(out), HasSubstr("(frame 831, 10,521 times)"));
  EXPECT_THAT(out, HasSubstr("501 errors"));
  TextStyle verbose;
  verbose.verbose = true;
  const std::string all = text(run, verbose);
  EXPECT_THAT(all, HasSubstr("frame 1499"));
  EXPECT_THAT(all, HasSubstr("frame 2499"));
}

TEST(TextReport, WhatFollowsStandsUnderItsCause) {
  auto run = sample_run();
  referee::Finding cause = run.report.findings.at(0);
  cause.rule = referee::RuleId::inline_threshold_exceeded;
  cause.severity = referee::Severity::error;
  cause.frames = {812};
  cause.occurrences = 1;
  referee::Finding effect = cause;
  effect.rule = referee::RuleId::inline_overrun_fatal;
  effect.frames = {812, 815};
  effect.message = "the peer refused it.";
  effect.follows = referee::Finding::Follows{cause.rule, 812};
  run.report.findings = {cause, effect};
  const std::string out = flowing(text(run, {}));
  EXPECT_THAT(out, HasSubstr("followed by error inline-overrun-fatal: the peer refused it. Frames 812, 815. rule"));
  EXPECT_THAT(out, Not(HasSubstr("ERROR inline-overrun-fatal")));
  run.report.findings = {effect};  // without its cause, as when only this rule was asked for
  EXPECT_THAT(flowing(text(run, {})), HasSubstr("ERROR inline-overrun-fatal"));
}

TEST(TextReport, OtherViolatorIsAnotherKind) {
  report::Run run = sample_run();
  referee::Finding f = run.report.findings.at(1);
  f.violator = referee::Party::client;
  run.report.findings.push_back(f);
  EXPECT_THAT(text(run, {}), HasSubstr("the client, as responder"));
}

TEST(TextReport, VerboseShowsProceduresWithTheirTimes) {
  TextStyle style;
  style.verbose = true;
  const std::string out = flowing(text(sample_run(), style));
  EXPECT_THAT(out, HasSubstr("NFSv3 GETATTR: 36 calls, median 400 us, 99% 1.5 ms"));
  EXPECT_THAT(out, HasSubstr("NFSv4 COMPOUND: 1 call; operations PUTFH 1, READ 1"));
}

TEST(TextReport, SaysNothingAboutWhatThereWasNot) {
  report::Run run = healthy_run();
  edited(run.report.connections)->operations = {};
  edited(run.report.connections)->operations.sends = 1;
  edited(run.report.connections)->latency = {1, 500, 500, 500, 500, 500};
  const std::string out = flowing(text(run, {}));
  EXPECT_THAT(out, HasSubstr("operations 1 Send latency 1 call: 500 us procedures"));
}

TEST(TextReport, TheDialogueAboutTheVersionIsAStory) {
  report::Run run = healthy_run();
  const auto told = [&] { return flowing(text(run, {})); };
  EXPECT_THAT(told(), Not(HasSubstr("the client began with version 2")));
  referee::Negotiation story;
  const auto set = [&] { edited(run.report.connections)->negotiation = story; };
  story.probe = {4, 0};
  story.probe_type = "RDMA2_CONNPROP_FINAL";
  set();
  EXPECT_THAT(told(), HasSubstr("version the client began with version 2 (RDMA2_CONNPROP_FINAL, frame 4"));
  set();
  EXPECT_THAT(told(), HasSubstr("; no answer to it is in the capture"));
  story.answer = {6, 0};
  set();
  EXPECT_THAT(told(), HasSubstr("; the server took it up (frame 6"));
  story.refused = true;
  set();
  EXPECT_THAT(told(), HasSubstr("; the server refused it with ERR_VERS (frame 6"));
  EXPECT_THAT(told(), HasSubstr("; nothing in version 1 followed on this connection"));
  story.lowest = story.highest = 1;
  story.went_on = {8, 0};
  set();
  EXPECT_THAT(told(), HasSubstr("ERR_VERS, as it speaks version 1 only (frame 6"));
  EXPECT_THAT(told(), HasSubstr("; the connection went on with version 1 (frame 8"));
}

TEST(TextReport, OfAVersionWhoseBeginningIsMissingOnlyWhatWasSeenIsTold) {
  report::Run run = healthy_run();
  const auto told = [&](const referee::Negotiation& story) {
    edited(run.report.connections)->handshake_seen = false;
    edited(run.report.connections)->version = 2;
    edited(run.report.connections)->negotiation = story;
    return flowing(text(run, {}));
  };
  referee::Negotiation story;
  story.probe = {3, 0};
  story.probe_type = "RDMA2_CALL_INLINE";
  EXPECT_THAT(told(story), HasSubstr("version the client speaks version 2 (first seen in frame 3"));
  story.answer = {5, 0};
  const std::string both = told(story);
  EXPECT_THAT(both, HasSubstr("version the connection speaks version 2 (first seen in frame 3"));
  EXPECT_THAT(both, Not(HasSubstr("began with")));
  EXPECT_THAT(both, Not(HasSubstr("took it up")));
  story.probe = {9, 0};
  EXPECT_THAT(told(story), HasSubstr("the connection speaks version 2 (first seen in frame 5"));
  story.probe = {};
  EXPECT_THAT(told(story), HasSubstr("the connection speaks version 2 (first seen in frame 5"));
  story.probe = {3, 0};
  story.refused = true;
  EXPECT_THAT(told(story), HasSubstr("version the client sent version 2 (RDMA2_CALL_INLINE, frame 3"));
}

TEST(TextReport, ARefusedConnectionWasNeverOpen) {
  using How = referee::Closed::How;
  const std::pair<How, const char*> table[] = {{How::refused, "never opened: it was refused"},
                                               {How::unanswered, "never opened: nobody answered"}};
  for (const auto& [how, wanted] : table) {
    report::Run run = healthy_run();
    referee::ConnectionFacts c;
    c.id = 1;
    c.opened = {1, 0};
    c.handshake_seen = true;
    c.closed.emplace().how = how;
    run.report.connections = {c};
    for (const bool verbose : {false, true}) {
      TextStyle style;
      style.verbose = verbose;
      const std::string out = flowing(text(run, style));
      EXPECT_THAT(out, HasSubstr(wanted));
      for (const char* absent : {"still open", "thresholds", "0 calls", "0 Sends", "credits"}) {
        EXPECT_THAT(out, Not(HasSubstr(absent)));
      }
    }
  }
}

// Attempts in a row are a line for each network.
TEST(TextReport, NetworksWithTheSameAddressesAreToldApart) {
  report::Run run = healthy_run();
  run.report.connections.clear();
  const std::vector<std::string> names[] = {{"VLAN 10"}, {"VLAN 20", "VLAN 30"}, {}};
  for (trace::ConnectionId id = 1; id <= 9; ++id) {
    referee::ConnectionFacts c;
    c.id = id;
    c.client.address = "10.0.0.2";
    c.server.address = "10.0.0.1";
    c.opened = {id, 0};
    c.handshake_seen = true;
    c.networks = names[id % 3];
    if (id > 3) c.closed.emplace().how = referee::Closed::How::refused;
    if (id <= 3) c.version = 1;
    run.report.connections.push_back(c);
  }
  TextStyle style;
  const std::string brief = flowing(text(run, style));
  EXPECT_THAT(brief, HasSubstr("Connection 3: RoCEv2, client 10.0.0.2, server 10.0.0.1, in VLAN 10; frame 3"));
  EXPECT_THAT(brief, HasSubstr("Connection 2: RoCEv2, client 10.0.0.2, server 10.0.0.1; frame 2"));
  EXPECT_THAT(brief, HasSubstr("Connections 4, 7: RoCEv2, client 10.0.0.2, server 10.0.0.1, in VLAN 20 and VLAN 30; "
                               "2 attempts to connect, all refused"));
  EXPECT_THAT(brief, HasSubstr("Connections 5, 8: RoCEv2, client 10.0.0.2, server 10.0.0.1; 2 attempts"));
  style.verbose = true;
  const std::string full = flowing(text(run, style));
  EXPECT_THAT(full, HasSubstr("is not known network VLAN 20 and VLAN 30 opened frame 7"));
  EXPECT_THAT(full, HasSubstr("is not known opened frame 8"));
}

TEST(TextReport, QuietIsFindingsOnly) {
  TextStyle style;
  style.quiet = true;
  const std::string out = text(sample_run(), style);
  EXPECT_THAT(out, StartsWith("ERROR inline-threshold-exceeded"));
  EXPECT_THAT(out, HasSubstr("WARNING rnr-nak-seen"));
  EXPECT_THAT(out, Not(HasSubstr("Connection 1")));
  EXPECT_THAT(out, Not(HasSubstr("Not checked")));
  report::Run none = healthy_run();
  none.report.findings.clear();
  EXPECT_EQ(text(none, style), "");
}

TEST(TextReport, ColorsOnlyWhenAsked) {
  EXPECT_THAT(text(sample_run(), {}), Not(HasSubstr("\x1b")));
  TextStyle style;
  style.color = true;
  const std::string out = text(sample_run(), style);
  EXPECT_THAT(out, HasSubstr("\x1b[1;31mERROR inline-threshold-exceeded"));
  EXPECT_EQ(without_colors(out), text(sample_run(), {}));
}

TEST(TextReport, DamageIsShown) {
  report::Run run = healthy_run();
  run.inputs[0].damaged = Input::Damaged{1234567, "the last packet is cut off"};
  const std::string out = text(run, {});
  EXPECT_THAT(flowing(out), HasSubstr("DAMAGED at octet 1,234,567: the last packet is cut off."));
  EXPECT_EQ(lines(out).back(),
            "No violations found in 1 connection; 1 note; the input is damaged and was read only in part.");
}

TEST(TextReport, FramesThatHadNoRoomAreTold) {
  report::Run run = healthy_run();
  EXPECT_THAT(text(run, {}), Not(HasSubstr("DROPPED")));
  run.inputs[0].dropped = 1;
  EXPECT_THAT(flowing(text(run, {})),
              HasSubstr("DROPPED 1 frame or more had no room when they were captured, so the file says"));
  run.inputs[0].dropped = 1234;
  const std::string out = text(run, {});
  EXPECT_THAT(flowing(out), HasSubstr("DROPPED 1,234 frames or more had no room when they were captured"));
  EXPECT_EQ(
      lines(out).back(),
      "No violations found in 1 connection; 1 note; the input lacks frames that had no room when it was captured.");
}

TEST(TextReport, HostileTextCannotActOnATerminal) {
  const std::string hostile =
      "\x1b]0;title\a\x1b[2J\r\n\t\xff\xc2\x9b"
      "31m\xe2\x80\xae";
  report::Run run = sample_run();
  run.inputs[0].path = run.inputs[0].format = hostile;
  run.inputs[0].link_types = {hostile};
  run.inputs[0].damaged = Input::Damaged{1, hostile};
  referee::ConnectionFacts c = run.report.connections.at(0);
  c.client.address = c.procedures[0].name = c.closed->cause->message = hostile;
  c.messages.v2 = {{hostile, 1}};
  c.procedures[1].operations = {{hostile, 1}};
  run.report.connections.set(0, c);
  for (std::size_t i = 0; i < run.report.findings.size(); ++i) edited(run.report.findings, i)->message = hostile;
  for (auto& u : run.report.unchecked) u.reason = hostile;
  for (const bool verbose : {false, true}) {
    TextStyle style;
    style.verbose = verbose;
    const std::string out = text(run, style);
    for (const char ch : out) {
      const auto octet = static_cast<unsigned char>(ch);
      ASSERT_TRUE(ch == '\n' || (octet >= 0x20 && octet < 0x7F)) << "octet " << int{octet};
    }
    EXPECT_THAT(out, HasSubstr("\\x1b]0;title\\x07"));
  }
}

TEST(Printable, KeepsTextAndUnmasksTheRest) {
  const std::pair<std::string, std::string> table[] = {
      {"", ""},
      {"plain ~", "plain ~"},
      {"\xc3\xbc \xe2\x82\xac \xf0\x9f\x98\x80", "\xc3\xbc \xe2\x82\xac \xf0\x9f\x98\x80"},
      {std::string("\0", 1), "\\x00"},
      {"\x7f", "\\x7f"},
      {"\xc2\x85", "\\xc2\\x85"},
      {"\xc3", "\\xc3"},
      {"\xc0\x80", "\\xc0\\x80"},
      {"\xed\xa0\x80", "\\xed\\xa0\\x80"},
      {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},
      {"\xe2\x80\xaeX", "\\xe2\\x80\\xaeX"},
  };
  for (const auto& [raw, wanted] : table) EXPECT_EQ(printable(raw), wanted);
}

TEST(Verdict, OneSentence) {
  report::Run run;
  run.frames = 12;
  EXPECT_EQ(verdict(run), "No RPC-over-RDMA found in 12 frames.");
  run = healthy_run();
  run.report.findings.clear();
  EXPECT_EQ(verdict(run), "No violations found in 1 connection.");
  run.report.judged = false;
  EXPECT_EQ(verdict(run), "The capture is too incomplete to judge anything in 1 connection.");
  run = sample_run();
  run.report.findings = {run.report.findings.at(1), run.report.findings.at(1)};
  EXPECT_EQ(verdict(run), "2 errors found in 2 connections; 3 rules could not be checked everywhere.");
  run.report.unchecked.clear();
  EXPECT_EQ(verdict(run), "2 errors found in 2 connections.");
  run.report.findings = {sample_run().report.findings.at(2)};
  EXPECT_EQ(verdict(run), "1 warning found in 2 connections.");
}

TEST(TextReport, CallsThatWaitAreSaid) {
  report::Run run = healthy_run();
  const auto line = [&] {
    for (const auto& each : lines(text(run, {}))) {
      if (each.find("waiting") != std::string::npos) return each;
    }
    return std::string();
  };
  EXPECT_EQ(line(), "");
  edited(run.report.connections)->waiting = {2, {7, 1'000'000'000}, {9, 13'500'000'000}};
  EXPECT_NE(line().find("2 calls without a reply at the end of the capture; the longest for 12.5"), std::string::npos)
      << line();
  // Files in the wrong order: an end before the beginning.
  edited(run.report.connections)->waiting = {1, {7, 1'000'000'000}, {9, 0}};
  EXPECT_NE(line().find("the longest for 0"), std::string::npos) << line();
}

TEST(TextReport, CreditsOfVersion2AreNotUnknown) {
  report::Run run = healthy_run();
  edited(run.report.connections)->credits = {std::nullopt, std::nullopt, 3, 0};
  EXPECT_NE(text(run, {}).find("credits     at most 3 calls outstanding\n"), std::string::npos);
  edited(run.report.connections)->credits = {16, std::nullopt, 3, 0};
  EXPECT_NE(text(run, {}).find("credits     16 requested, no grant seen, at most 3 calls"), std::string::npos);
}

TEST(DisplayFilter, IsWhatStockWiresharkUnderstands) {
  const auto with = [](std::vector<std::uint64_t> frames) {
    referee::Finding f;
    f.frames = std::move(frames);
    return display_filter(f);
  };
  EXPECT_EQ(with({812}), "frame.number == 812");
  EXPECT_EQ(with({815, 812, 813, 812}), "frame.number in {812, 813, 815}");
  EXPECT_EQ(with({}), "");
  EXPECT_EQ(with({0}), "");
  EXPECT_EQ(with({5, 5'000'000'000}), "frame.number == 5") << "frame.number has 32 bits";
  EXPECT_EQ(with({4'294'967'295}), "frame.number == 4294967295");
}

TEST(ListRules, OneLineForEveryRule) {
  const auto table = lines(list_rules_text(false));
  ASSERT_EQ(table.size(), referee::all_rules().size() + 1);
  EXPECT_THAT(table[0], testing::MatchesRegex("NAME +SEVERITY +VERSIONS +SOURCE +TITLE"));
  for (std::size_t i = 0; i < referee::all_rules().size(); ++i) {
    const auto& rule = referee::all_rules()[i];
    EXPECT_THAT(table[i + 1], StartsWith(std::string(rule.name) + " "));
    EXPECT_THAT(table[i + 1], HasSubstr(std::string(referee::text(rule.severity))));
    EXPECT_THAT(table[i + 1], testing::EndsWith(std::string(rule.title)));
  }
  EXPECT_THAT(list_rules_text(false), HasSubstr("RFC 8166 3.3.2, 4.2.4; RFC 8797 4.2; v2 draft 4.2.2"));
  EXPECT_THAT(list_rules_text(false), Not(HasSubstr("\x1b")));
  EXPECT_EQ(without_colors(list_rules_text(true)), list_rules_text(false));
}

TEST(Explain, EveryRule) {
  for (const auto& rule : referee::all_rules()) {
    const auto page = explain(rule.name, false, false);
    ASSERT_TRUE(page);
    const auto text = flowing(*page);
    for (const auto part : {rule.name, rule.title, rule.explanation, rule.evidence, rule.next, rule.source}) {
      EXPECT_THAT(text, HasSubstr(std::string(part)));
    }
    for (const auto& line : lines(*page)) EXPECT_LE(width(line), page_width) << line;
    EXPECT_THAT(*page, Not(HasSubstr("\x1b")));
    EXPECT_EQ(without_colors(*explain(rule.name, true, false)), *page);
  }
  EXPECT_FALSE(explain("no-such-rule", false, false));
}

}  // namespace
}  // namespace rpcrdma::report
