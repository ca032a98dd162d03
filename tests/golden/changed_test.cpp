// SPDX-License-Identifier: GPL-2.0-or-later
// Recorded captures, and changed copies of them, through trace and referee in one process: what a capture lacks,
// repeats or has in another order makes nobody guilty, and damage is survived.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "playback/mutants.hpp"
#include "playback/registered.hpp"
#include "playback/verdict.hpp"
#include "report/report.hpp"

namespace golden {
namespace {

using playback::Mutant;
using playback::Recording;
using playback::Take;
using rpcrdma::referee::Basis;
using rpcrdma::referee::ConnectionFacts;
using rpcrdma::referee::Finding;
using rpcrdma::referee::Report;
using rpcrdma::referee::RuleId;
using rpcrdma::referee::Severity;

const std::filesystem::path captures = RPCRDMA_SOURCE_DIR "/captures";
const std::vector<std::string> healthy{"rxe-nfs3-basic",    "rxe-nfs41-basic",     "rxe-nfs41-ipv6",
                                       "rxe-nfs3-big-rw",   "rxe-nfs41-cb-recall", "rxe-nfs3-dup-reorder",
                                       "siw-nfs40-basic",   "siw-nfs41-basic",     "siw-nfs41-big-rw",
                                       "siw-nfs41-mpa-crc", "siw-nfs3-ipv6",       "siw-nfs41-cb-recall"};
const std::vector<std::string> faulty{"rxe-upeer-done-twice",
                                      "rxe-upeer-write-after-reply",
                                      "rxe-kpeer-read-too-big-inline",
                                      "rxe-upeer-credit-overrun-breaks",
                                      "siw-upeer-inv-R01",
                                      "siw-upeer-over-client-threshold-survives",
                                      "siw-kpeer-inv-R1",
                                      "siw-upeer-interleaved-writes"};
constexpr std::uint32_t rounds = 10;
constexpr std::uintmax_t largest = 400'000;  // octets of a capture: a larger one costs more than it shows

std::string program;

std::string alone(const std::string& suite, const std::string& name) {
  return fmt::format("\nalone: {} --gtest_filter={}.{}", program, suite, name);
}

/// -> path by name, of all recorded captures
const std::map<std::string, std::filesystem::path>& recorded() {
  static const std::map<std::string, std::filesystem::path> all = [] {
    std::map<std::string, std::filesystem::path> found;
    for (const char* room : {"kernel", "peers"}) {
      for (const auto& entry : std::filesystem::directory_iterator(captures / room)) {
        const auto ending = entry.path().extension();
        if (ending == ".pcap" || ending == ".pcapng") found[entry.path().stem().string()] = entry.path();
      }
    }
    return found;
  }();
  return all;
}

/// Throws where there is no such capture, or it cannot be read.
Recording read(const std::string& name) { return playback::read(recorded().at(name).string()); }

std::vector<std::string> severe(const Report& report) {
  std::vector<std::string> lines;
  for (const Finding& finding : report.findings) {
    if (finding.severity != Severity::note) lines.push_back(playback::told(finding));
  }
  return lines;
}

/// Nobody is accused, of anything.
void expect_quiet(const Report& report, const std::string& what) {
  for (const std::string& line : severe(report)) ADD_FAILURE() << what << ": " << line;
}

// Variants that are made at random; a finding of the original may weaken to a warning that names nobody.
constexpr std::uint32_t seeds = 12;
std::size_t variants = 0;

void vary(const std::string& name) {
  const Recording recording = read(name);
  const Take& take = recording.frames;
  if (take.size() < 4) return;
  const playback::Accusations known = playback::accusations(playback::judge(take));
  const std::vector<playback::Carries> carries = playback::carried(take);
  for (std::uint32_t seed = 0; seed < seeds; ++seed) {
    const auto judge = [&](const Mutant& mutant) {
      ++variants;
      const std::string what = fmt::format("{}, seed {}, {}", name, seed, mutant.name);
      for (const Finding& finding : playback::judge(mutant.take).findings) {
        const bool weakened = !finding.violator && finding.severity == Severity::warning && !known.empty();
        // Cut off in the middle of a wait that had an end: it lasts to the end of this capture.
        const bool wait_cut_short = mutant.name.starts_with("up to frame") &&
                                    rpcrdma::referee::kind(finding.rule) == rpcrdma::referee::FindingKind::symptom;
        if (finding.severity == Severity::note || known.count({finding.rule, finding.violator}) != 0 || weakened ||
            wait_cut_short) {
          continue;
        }
        ADD_FAILURE() << what << ": " << playback::told(finding) << alone("Variants", name);
      }
    };
    playback::some_mutants(take, carries, playback::seed_of(fmt::format("{} {}", name, seed)), judge);
  }
}

/// In which frame the last private data of the servers stands, from the expectation beside the capture.
std::size_t last_handshake(const std::string& name) {
  const std::filesystem::path path = recorded().at(name).parent_path() / "expect" / (name + ".json");
  std::ifstream file(path);
  std::size_t last = 0;
  const nlohmann::json expectation = nlohmann::json::parse(file);
  for (const auto& connection : expectation.at("connections")) {
    last = std::max(last, connection.at("private_data").at("server").at("frame").get<std::size_t>());
  }
  return last;
}

/// Without the frames that set the connection up: thresholds unknown, nobody accused.
void without_handshake(const std::string& name) {
  const Recording recording = read(name);
  const std::size_t first = last_handshake(name);
  const Report report = playback::judge(playback::from(recording.frames, first));
  const std::string what = fmt::format("{} from frame {}", name, first + 1) + alone("Handshake", name);
  expect_quiet(report, what);
  EXPECT_FALSE(report.connections.empty()) << what;
  for (const ConnectionFacts& facts : report.connections) {
    EXPECT_EQ(facts.thresholds.client_to_server, std::nullopt) << what;
    EXPECT_EQ(facts.thresholds.server_to_client, std::nullopt) << what;
    EXPECT_EQ(facts.thresholds.basis, Basis::unknown) << what;
    EXPECT_FALSE(facts.private_data_client || facts.private_data_server) << what << ": private data out of nothing";
    EXPECT_FALSE(facts.handshake_seen) << what;
  }
}

/// Only the second half, or only the last tenth: nobody accused.
void from_the_middle(const std::string& name) {
  const Recording recording = read(name);
  for (const std::size_t part : {2U, 10U}) {
    const std::size_t first = recording.frames.size() - recording.frames.size() / part;
    expect_quiet(playback::judge(playback::from(recording.frames, first)),
                 fmt::format("{} from frame {}", name, first + 1) + alone("Middle", name));
  }
}

/// One frame in a hundred lost: no error that the whole capture lacks, and nothing at all over a healthy mount.
void with_loss(const std::string& name) {
  const Recording recording = read(name);
  const bool is_healthy = std::find(healthy.begin(), healthy.end(), name) != healthy.end();
  std::set<RuleId> whole;
  for (const Finding& finding : playback::judge(recording.frames).findings) {
    if (finding.severity == Severity::error) whole.insert(finding.rule);
  }
  for (std::uint32_t seed = 0; seed < rounds; ++seed) {
    std::mt19937 chance(playback::seed_of(fmt::format("{} loss {}", name, seed)));
    const std::set<std::size_t> gone = playback::one_in_a_hundred(recording.frames.size(), chance);
    const Report report = playback::judge(playback::without(recording.frames, gone));
    const std::string what = fmt::format("{}, seed {}", name, seed) + alone("Loss", name);
    if (is_healthy) expect_quiet(report, what);
    for (const Finding& finding : report.findings) {
      EXPECT_TRUE(finding.severity != Severity::error || whole.count(finding.rule) != 0)
          << what << ": " << playback::told(finding);
    }
  }
}

void expect_same_facts(const ConnectionFacts& a, const ConnectionFacts& b, const std::string& what) {
  const auto& m = a.messages;
  const auto& n = b.messages;
  EXPECT_EQ(std::tie(m.calls, m.replies, m.reverse_calls, m.reverse_replies, m.rdma_msg, m.rdma_nomsg, m.rdma_msgp,
                     m.rdma_done, m.rdma_error, m.v2),
            std::tie(n.calls, n.replies, n.reverse_calls, n.reverse_replies, n.rdma_msg, n.rdma_nomsg, n.rdma_msgp,
                     n.rdma_done, n.rdma_error, n.v2))
      << what;
  const auto& o = a.operations;
  const auto& p = b.operations;
  EXPECT_EQ(
      std::tie(o.sends, o.sends_with_invalidate, o.reads, o.writes, o.read_bytes, o.write_bytes, o.naks, o.rnr_naks),
      std::tie(p.sends, p.sends_with_invalidate, p.reads, p.writes, p.read_bytes, p.write_bytes, p.naks, p.rnr_naks))
      << what;
  EXPECT_EQ(std::tie(a.thresholds.client_to_server, a.thresholds.server_to_client, a.thresholds.basis),
            std::tie(b.thresholds.client_to_server, b.thresholds.server_to_client, b.thresholds.basis))
      << what;
  EXPECT_EQ(std::tie(a.credits.requested, a.credits.granted, a.credits.outstanding_peak, a.credits.stalls),
            std::tie(b.credits.requested, b.credits.granted, b.credits.outstanding_peak, b.credits.stalls))
      << what;
}

/// Every fourth frame twice, as a mirror port does: the same messages, nobody accused.
void with_repeats(const std::string& name) {
  const Recording recording = read(name);
  std::set<std::size_t> again;
  for (std::size_t i = 3; i < recording.frames.size(); i += 4) again.insert(i);
  const Report whole = playback::judge(recording.frames);
  const Report report = playback::judge(playback::twice(recording.frames, again));
  const std::string what = name + " with repeats" + alone("Repeats", name);
  expect_quiet(report, what);
  ASSERT_EQ(whole.connections.size(), report.connections.size()) << what;
  for (std::size_t i = 0; i < whole.connections.size(); ++i) {
    expect_same_facts(whole.connections.at(i), report.connections.at(i), what);
  }
}

/// Captured with short snap lengths: nobody accused.
void with_snap_length(const std::string& name) {
  const Recording recording = read(name);
  for (const std::uint32_t length : {64U, 96U, 128U, 200U, 500U}) {
    expect_quiet(playback::judge(playback::cut(recording.frames, length)),
                 fmt::format("{} at snap length {}", name, length) + alone("Snap", name));
  }
}

/// Octets changed at random: a report, and whole documents, whatever is in it.
void damaged(const std::string& name) {
  const Recording recording = read(name);
  for (std::uint32_t seed = 0; seed < rounds; ++seed) {
    std::mt19937 chance(playback::seed_of(fmt::format("{} damage {}", name, seed)));
    const Recording changed = playback::damaged(recording.frames, chance);
    rpcrdma::report::Run run;
    run.report = playback::judge(changed.frames);
    run.frames = changed.frames.size();
    const std::string what = fmt::format("{}, seed {}", name, seed) + alone("Damage", name);
    const nlohmann::json document = nlohmann::json::parse(rpcrdma::report::json(run), nullptr, false);
    ASSERT_FALSE(document.is_discarded()) << what;
    EXPECT_EQ(document.at("connections").size(), run.report.connections.size()) << what;
    EXPECT_EQ(document.at("findings").size(), run.report.findings.size()) << what;
    EXPECT_FALSE(rpcrdma::report::text(run, {}).empty()) << what;
  }
}

}  // namespace
}  // namespace golden

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  using namespace golden;
  program = argv[0];
  using playback::add_test;
  for (const auto& [name, path] : recorded()) {
    if (std::filesystem::file_size(path) <= largest) add_test("Variants", name, [&name = name] { vary(name); });
  }
  for (const std::string& name : healthy) {
    add_test("Handshake", name, [&name] { without_handshake(name); });
    add_test("Middle", name, [&name] { from_the_middle(name); });
    add_test("Repeats", name, [&name] { with_repeats(name); });
    add_test("Snap", name, [&name] { with_snap_length(name); });
    add_test("Loss", name, [&name] { with_loss(name); });
    add_test("Damage", name, [&name] { damaged(name); });
  }
  for (const std::string& name : faulty) {
    add_test("Loss", name, [&name] { with_loss(name); });
    add_test("Damage", name, [&name] { damaged(name); });
  }
  const int status = playback::run_chosen();
  std::cout << variants << " variants of recorded captures\n";
  return status;
}
