// SPDX-License-Identifier: GPL-2.0-or-later
// What the sinks say of mounts: every state with everybody who may owe, several mounts, and none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "report/fold.hpp"
#include "report/tally.hpp"
#include "sample_run.hpp"

namespace rpcrdma::report {
namespace {

using MountJson = nlohmann::ordered_json;
using referee::MountFacts;
using referee::Owes;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using State = MountFacts::State;

// The words of the contract.
const std::vector<std::pair<State, std::string>> states{{State::unknown, "unknown"}, {State::never_up, "never-up"},
                                                        {State::down, "down"},       {State::closed, "closed"},
                                                        {State::waiting, "waiting"}, {State::working, "working"}};
const std::vector<std::pair<Owes, std::string>> debtors{{Owes::nobody, "nobody"},
                                                        {Owes::server, "server"},
                                                        {Owes::client, "client"},
                                                        {Owes::server_unreachable, "server-unreachable"},
                                                        {Owes::client_unreachable, "client-unreachable"},
                                                        {Owes::unknown, "unknown"}};

MountFacts mount_in(State state, Owes owes) {
  MountFacts mount;
  mount.id = 1;
  mount.client = "192.168.77.2";
  mount.server = "192.168.77.1";
  mount.connections = {1, 2};
  mount.attempts = {8, 1, 0, 7};
  mount.state = state;
  mount.since = trace::FrameRef{3155, 1'764'900'001'000'000'000};
  mount.owes = owes;
  mount.waiting = MountFacts::Waiting{2, {3155, 1'764'900'001'000'000'000}, 0xa45ce68a, "WRITE", 10.2};
  mount.longest_wait = MountFacts::LongestWait{{477, 0}, {}, {480, 0}, "READ", 0.0263};
  mount.nfs_over_tcp = MountFacts::NfsOverTcp{12, {99, 0}};
  mount.sentence = "The mount is as it is.";
  mount.next = "ping the server.";
  return mount;
}

report::Run run_with(std::vector<MountFacts> mounts) {
  report::Run run = sample_run();
  if (!mounts.empty()) run.report.verdict = {mounts.front().state, mounts.front().id, "The sentence stands on top."};
  run.report.mounts = std::move(mounts);
  return run;
}

std::string on_one_line(const std::string& text) {
  std::istringstream words(text);
  std::string out;
  for (std::string word; words >> word;) out += (out.empty() ? "" : " ") + word;
  return out;
}

std::vector<std::string> keys_of(const MountJson& object) {
  std::vector<std::string> out;
  for (const auto& [key, value] : object.items()) out.push_back(key);
  return out;
}

TEST(Mounts, JsonHasTheWordsOfTheContract) {
  for (const auto& [state, state_word] : states) {
    for (const auto& [owes, owes_word] : debtors) {
      const MountJson doc = MountJson::parse(report::json(run_with({mount_in(state, owes)})));
      EXPECT_EQ(doc["verdict"],
                (MountJson{{"state", state_word}, {"mount", 1}, {"sentence", "The sentence stands on top."}}));
      const MountJson& mount = doc["mounts"][0];
      EXPECT_THAT(keys_of(mount), testing::ElementsAre("id", "client", "server", "roles", "connections", "attempts",
                                                       "state", "since", "owes", "waiting", "longest_wait",
                                                       "operations", "nfs_over_tcp", "sentence", "next"));
      EXPECT_EQ(mount["state"], state_word);
      EXPECT_EQ(mount["owes"], owes_word);
    }
  }
}

TEST(Mounts, JsonSaysNullForWhatIsNotThere) {
  MountFacts mount;
  mount.id = 1;
  const MountJson doc = MountJson::parse(report::json(run_with({mount})))["mounts"][0];
  for (const char* key : {"since", "waiting", "longest_wait", "nfs_over_tcp", "next"})
    EXPECT_TRUE(doc[key].is_null()) << key;
  const MountJson none = MountJson::parse(report::json(sample_run()));
  EXPECT_EQ(none["mounts"], MountJson::array());
  EXPECT_EQ(keys_of(none["verdict"]), (std::vector<std::string>{"state", "mount", "sentence"}));
  EXPECT_TRUE(none["verdict"]["mount"].is_null());
  EXPECT_TRUE(none["verdict"]["sentence"].is_null());
}

TEST(Mounts, JsonCountsWhatWentNoFurtherThanTcpBesideTheUnanswered) {
  MountFacts mount = mount_in(State::down, Owes::server);
  mount.attempts.only_tcp = 3;
  const MountJson doc = MountJson::parse(report::json(run_with({mount})))["mounts"][0];
  EXPECT_EQ(doc["attempts"],
            (MountJson{{"made", 8}, {"established", 1}, {"refused", 0}, {"unanswered", 7}, {"only_tcp", 3}}));
}

TEST(Mounts, OnlySymptomsOwe) {
  report::Run run = sample_run();
  run.report.findings.keep({0});
  const MountJson violation = MountJson::parse(report::json(run))["findings"][0];
  EXPECT_TRUE(violation["owes"].is_null());
  EXPECT_EQ(violation["times"], 21);
  EXPECT_EQ(violation["connections"], MountJson::array({1}));
  edited(run.report.findings)->rule = referee::RuleId::call_hangs;
  edited(run.report.findings)->owes = Owes::server_unreachable;
  edited(run.report.findings)->connections = {1, 2};
  const MountJson symptom = MountJson::parse(report::json(run))["findings"][0];
  EXPECT_EQ(symptom["kind"], "symptom");
  EXPECT_EQ(symptom["owes"], "server-unreachable");
  EXPECT_EQ(symptom["connections"], MountJson::array({1, 2}));
}

TEST(Mounts, TextBeginsWithTheSentence) {
  for (const auto& [state, state_word] : states) {
    for (const auto& [owes, owes_word] : debtors) {
      const std::string out = text(run_with({mount_in(state, owes)}), {});
      EXPECT_THAT(out, StartsWith("The sentence stands on top.\n")) << state_word << ' ' << owes_word;
      const std::string flowing = on_one_line(out);
      EXPECT_THAT(flowing, HasSubstr("Mount 1: client 192.168.77.2, server 192.168.77.1 state"));
      EXPECT_THAT(flowing, HasSubstr("since frame 3155"));
      EXPECT_THAT(flowing, HasSubstr("attempts 8 to connect: 1 established, 7 not answered"));
      EXPECT_THAT(flowing, HasSubstr("waiting 2 calls, the oldest for 10.20 s: WRITE 0xa45ce68a (frame 3155"));
      EXPECT_THAT(flowing, HasSubstr("next ping the server."));
      EXPECT_EQ(flowing.find(" owes ") == std::string::npos, owes == Owes::nobody) << owes_word;
      EXPECT_LT(out.find("Mount 1"), out.find("ERROR"));
      EXPECT_LT(out.find("ERROR"), out.find("Connection 1"));
    }
  }
}

struct Came {
  MountFacts::Attempts made;
  std::string text;
  std::string junit;
};

/// What the server's machine took is not called unanswered; JSON counts all that got no MPA Reply as before.
TEST(Mounts, AttemptsThatWentNoFurtherThanTcp) {
  for (const Came& each :
       {Came{{5, 0, 0, 5, 5},
             "attempts 5 to connect: 5 went no further than TCP",
             "attempts to connect: 5; 0 established, 0 refused, 0 not answered, 5 went no further than TCP"},
        Came{{7, 1, 1, 5, 3},
             "attempts 7 to connect: 1 established, 1 refused, 2 not answered, 3 went no further than TCP",
             "attempts to connect: 7; 1 established, 1 refused, 2 not answered, 3 went no further than TCP"},
        Came{{5, 0, 0, 5, 0},
             "attempts 5 to connect: 5 not answered ",
             "attempts to connect: 5; 0 established, 0 refused, 5 not answered&#10;"}}) {
    MountFacts mount = mount_in(State::never_up, Owes::unknown);
    mount.attempts = each.made;
    const report::Run run = run_with({mount});
    EXPECT_THAT(on_one_line(text(run, {})), HasSubstr(each.text));
    EXPECT_THAT(junit(run, {}), HasSubstr(each.junit));
    const MountJson shown = MountJson::parse(report::json(run))["mounts"][0]["attempts"];
    EXPECT_EQ(shown.size(), 5U);
    EXPECT_EQ(shown["unanswered"], 5);
    EXPECT_EQ(shown["only_tcp"], each.made.only_tcp);
  }
}

TEST(Mounts, NoViolationsIsNotSaidOverAMount) {
  for (const auto& [state, word] : states) {
    report::Run run = run_with({mount_in(state, Owes::server)});
    run.report.findings.clear();
    EXPECT_THAT(text(run, {}), Not(HasSubstr("No violations"))) << word;
  }
}

TEST(Mounts, OfSeveralThoseThatWorkAreALine) {
  MountFacts works = mount_in(State::working, Owes::nobody);
  works.id = 2;
  works.sentence = "The mount works: 28 calls, all answered.";
  const std::string out = on_one_line(text(run_with({mount_in(State::down, Owes::server), works}), {}));
  EXPECT_THAT(out, HasSubstr("Mount 1: client 192.168.77.2, server 192.168.77.1 state down"));
  EXPECT_THAT(out, HasSubstr("Mount 2: client 192.168.77.2, server 192.168.77.1. The mount works: 28 calls"));
}

TEST(Mounts, ASeriesOfFailedAttemptsIsOneLine) {
  report::Run run = run_with({mount_in(State::down, Owes::server_unreachable)});
  const std::int64_t begin = *run.inputs[0].first_time;
  run.report.connections.clear();
  run.report.unchecked.clear();
  run.report.findings.clear();
  for (std::uint32_t id = 1; id <= 200; ++id) {
    referee::ConnectionFacts c;
    c.id = id;
    c.client.address = "192.168.77.2";
    c.server.address = "192.168.77.1";
    c.opened = {10 * id, begin + std::int64_t{id} * 1'500'000'000};
    c.handshake_seen = true;
    c.closed.emplace().how = id <= 150 ? referee::Closed::How::refused : referee::Closed::How::unanswered;
    run.report.connections.push_back(c);
    referee::Finding finding;
    finding.rule = referee::RuleId::cm_rejected;
    finding.severity = referee::Severity::warning;
    finding.connection = id;
    finding.frames = {10 * id};
    finding.message = "attempt in frame " + std::to_string(10 * id) + " was refused";
    run.report.findings.push_back(finding);
  }
  const std::string out = text(run, {});
  EXPECT_LE(std::count(out.begin(), out.end(), '\n'), 60);
  EXPECT_THAT(on_one_line(out), HasSubstr("200 attempts to connect, 150 refused, 50 not answered, from frame 10"));
  EXPECT_THAT(on_one_line(out), HasSubstr("one every 1.50 s"));
  EXPECT_THAT(on_one_line(out), HasSubstr("199 more of the same kind, in all on connections 1 to 200"));
  TextStyle verbose;
  verbose.verbose = true;
  EXPECT_THAT(text(run, verbose), HasSubstr("Connection 173:"));
}

TEST(Mounts, JunitFailsAMountOnlyWhereTheRunFails) {
  for (const auto& [state, word] : states) {
    const report::Run run = run_with({mount_in(state, Owes::server)});
    const std::string failing = "<failure message=\"The mount is as it is.\" type=\"" + word + "\">";
    const std::string red = junit(run, {referee::Severity::warning, {}});
    EXPECT_EQ(red.find(failing) != std::string::npos, suffers(state)) << word;
    EXPECT_THAT(junit(run, {std::nullopt, {}}), Not(HasSubstr(failing))) << word;
  }
}

struct WidthCase {
  std::size_t columns;
  bool octets;  ///< there is room for this column
};

/// Numbers that fit their columns: then no line is wider than the page, however long the name of an operation is.
TEST(Mounts, TimesFitThePage) {
  for (const WidthCase& page :
       {WidthCase{80, false}, WidthCase{99, false}, WidthCase{100, true}, WidthCase{200, true}}) {
    MountFacts mount = mount_in(State::working, Owes::nobody);
    for (const char* name : {"WRITE", "program 536890961 version 1 procedure 1"}) {
      referee::OperationTimes times;
      times.name = name;
      times.calls = 12'345;
      times.octets = 123'456'789;
      times.latency.count = 1;
      times.latency.p50 = times.latency.p99 = times.latency.max = 66'900;
      times.pull_p50 = times.server_p50 = times.push_p50 = 47'600;
      mount.operations.push_back(times);
    }
    TextStyle style;
    style.width = page.columns;
    const std::string out = text(run_with({mount}), style);
    std::istringstream lines(out.substr(out.find("  time "), out.find("  over ") - out.find("  time ")));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), page.columns) << line;
    EXPECT_EQ(out.find("octets  median") != std::string::npos, page.octets) << page.columns;
    EXPECT_THAT(out, HasSubstr("program 536890961 version 1 procedure 1"));
  }
}

TEST(Fold, PatternsLeaveOutWhatDiffers) {
  EXPECT_EQ(pattern_of("a Reply of 20,100 octets in frame 7"), pattern_of("a Reply of 1 octet in frame 4096"));
  EXPECT_EQ(pattern_of("frames 3, 4 and 17 took 1.5 ms"), pattern_of("frames 9 took 2.10 s"));
  EXPECT_EQ(pattern_of("handle 0x1ab00002"), pattern_of("handle 0xffff"));
  EXPECT_NE(pattern_of("NFSv3 READ"), pattern_of("NFSv4 READ"));
  EXPECT_NE(pattern_of("the client sent 3"), pattern_of("the server sent 3"));
}

TEST(Fold, OneTextOnSeveralConnectionsIsOneFinding) {
  std::vector<referee::Finding> findings(3);
  for (std::uint32_t i = 0; i < 3; ++i) {
    findings[i].connection = 1 + i;
    findings[i].message = i < 2 ? "waited " + std::to_string(7 + i) + " s" : "something else";
  }
  const std::vector<const referee::Finding*> all{&findings[0], &findings[1], &findings[2]};
  const std::vector<Fold> folds = folded(all, false);
  ASSERT_EQ(folds.size(), 2U);
  EXPECT_EQ(folds[0].connections(), (std::vector<trace::ConnectionId>{1, 2}));
  EXPECT_EQ(folds[0].times(), 2U);
  EXPECT_EQ(folded(all, true).size(), 3U);
}

TEST(Statistics, WorstFirst) {
  report::Run run = sample_run();
  EXPECT_THAT(statistics(run, false), StartsWith("error    inline-threshold-exceeded"));
  EXPECT_THAT(statistics(run, false), HasSubstr("error    mount.pcap  1 error, 1 warning, 2 notes in 846 frames"));
}

}  // namespace
}  // namespace rpcrdma::report
