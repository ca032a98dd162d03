// SPDX-License-Identifier: GPL-2.0-or-later
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "reader/capture.hpp"
#include "rpcrdma/rpcrdma.hpp"

namespace rpcrdma {
namespace {

struct Kept {
  std::int64_t time = 0;
  std::uint32_t link = 0, length = 0;
  std::vector<std::uint8_t> octets;

  [[nodiscard]] Frame frame() const { return {time, link, octets.data(), octets.size(), length}; }
};

std::vector<Kept> frames_of(const std::string& name) {
  auto capture = reader::Capture::open(RPCRDMA_SOURCE_DIR "/captures/" + name);
  std::vector<Kept> kept;
  if (!capture) return kept;
  while (const trace::Frame* frame = (*capture)->next()) {
    kept.push_back({frame->ref.time,
                    static_cast<std::uint32_t>(frame->link),
                    frame->wire_length,
                    {frame->octets.begin(), frame->octets.end()}});
  }
  return kept;
}

const char* const broken = "peers/rxe-kpeer-read-too-big-inline.pcap";

TEST(Library, TellsWhatHappened) {
  Options options;
  options.json = true;
  Judge judge(std::move(options));
  for (const Kept& kept : frames_of(broken)) ASSERT_EQ(judge.frame(kept.frame()), Status::ok);
  Report report;
  ASSERT_EQ(judge.finish(report), Status::ok);
  EXPECT_EQ(report.state, State::down);
  EXPECT_TRUE(report.any_rpcrdma);
  EXPECT_TRUE(report.judged);
  EXPECT_THAT(report.sentence, testing::StartsWith("The mount is down since frame 30"));
  ASSERT_EQ(report.mounts.size(), 1U);
  EXPECT_EQ(report.mounts[0].client, "192.168.77.2");
  ASSERT_EQ(report.connections.size(), 1U);
  EXPECT_EQ(report.connections[0].transport, "rocev2");
  EXPECT_EQ(report.connections[0].server_to_client, 4096U);
  EXPECT_FALSE(report.connections[0].open);
  std::vector<std::string> errors;
  for (const Finding& finding : report.findings) {
    if (finding.severity != Severity::error) continue;
    errors.push_back(finding.rule);
    EXPECT_EQ(finding.frames.front(), 10U);
    EXPECT_EQ(finding.violator, Party::server);
    EXPECT_EQ(finding.kind, Kind::violation);
    EXPECT_FALSE(finding.source.empty());
  }
  EXPECT_THAT(errors, testing::UnorderedElementsAre("inline-threshold-exceeded", "inline-overrun-fatal"));
  EXPECT_THAT(report.json, testing::StartsWith("{\"schema\""));
  EXPECT_THAT(report.json, testing::HasSubstr("rpcrdma-analyzer/1"));
}

TEST(Library, TellsAsItGoes) {
  std::vector<std::string> told;
  std::size_t connections = 0, before_the_end = 0;
  Options options;
  options.on_finding = [&](const Finding& finding) {
    if (finding.severity == Severity::error) told.push_back(finding.rule);
  };
  options.on_connection = [&](const Connection& connection) { connections += connection.calls == 2 ? 1 : 0; };
  Judge judge(std::move(options));
  for (const Kept& kept : frames_of(broken)) ASSERT_EQ(judge.frame(kept.frame()), Status::ok);
  before_the_end = connections;
  Report report;
  ASSERT_EQ(judge.finish(report), Status::ok);
  EXPECT_THAT(told, testing::UnorderedElementsAre("inline-threshold-exceeded", "inline-overrun-fatal"));
  EXPECT_LE(before_the_end, connections);
  EXPECT_EQ(connections, 1U);
  EXPECT_TRUE(report.findings.empty());
  EXPECT_TRUE(report.connections.empty());
  EXPECT_EQ(report.mounts.size(), 1U);
}

TEST(Library, LetsNoExceptionOut) {
  Options options;
  options.on_finding = [](const Finding&) { throw std::runtime_error("the caller's"); };
  Judge judge(std::move(options));
  Status worst = Status::ok;
  for (const Kept& kept : frames_of(broken)) {
    if (const Status status = judge.frame(kept.frame()); status != Status::ok) worst = status;
  }
  Report report;
  report.sentence = "untouched";
  EXPECT_EQ(judge.finish(report), Status::callback_failed);
  EXPECT_EQ(report.sentence, "untouched");
  EXPECT_TRUE(worst == Status::ok || worst == Status::callback_failed);
  EXPECT_EQ(judge.finish(report), Status::callback_failed);
}

TEST(Library, IsOverWhenItIsOver) {
  Judge judge;
  Report report;
  ASSERT_EQ(judge.finish(report), Status::ok);
  EXPECT_FALSE(report.any_rpcrdma);
  EXPECT_EQ(report.state, State::unknown);
  EXPECT_EQ(judge.frame({}), Status::finished);
  EXPECT_EQ(judge.finish(report), Status::finished);
  Judge other = std::move(judge);
  EXPECT_EQ(other.frame({}), Status::finished);
  EXPECT_EQ(judge.frame({}), Status::out_of_memory);  // NOLINT(bugprone-use-after-move): it says so
}

TEST(Library, TakesWhatNobodyWouldGive) {
  const std::vector<Kept> kept = frames_of(broken);
  ASSERT_FALSE(kept.empty());
  Options options;
  options.wait_seconds = std::numeric_limits<double>::quiet_NaN();
  options.pull_timeout_seconds = std::numeric_limits<double>::infinity();
  options.service_ports.clear();
  Judge judge(std::move(options));
  EXPECT_EQ(judge.frame({0, ethernet, nullptr, 1000, 1000}), Status::ok);  // no octets, whatever their number
  for (const std::int64_t time : {std::numeric_limits<std::int64_t>::min(), std::int64_t{-1}, std::int64_t{0},
                                  std::numeric_limits<std::int64_t>::max()}) {
    Frame frame = kept[0].frame();
    frame.time = time;
    frame.length = 0;
    EXPECT_EQ(judge.frame(frame), Status::ok);
    frame.link_type = std::numeric_limits<std::uint32_t>::max();
    EXPECT_EQ(judge.frame(frame), Status::ok);
  }
  Report report;
  EXPECT_EQ(judge.finish(report), Status::ok);
}

TEST(Library, KnowsTheRules) {
  std::size_t n = 0;
  while (const auto row = rule(n)) {
    EXPECT_FALSE(row->name.empty());
    EXPECT_FALSE(row->source.empty()) << row->name;
    ++n;
  }
  EXPECT_GT(n, 100U);
  EXPECT_EQ(rule(std::numeric_limits<std::size_t>::max()), std::nullopt);
  EXPECT_EQ(text(Status::out_of_memory), "out of memory");
  EXPECT_FALSE(version().empty());
}

}  // namespace
}  // namespace rpcrdma
