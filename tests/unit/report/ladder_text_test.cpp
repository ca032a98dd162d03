// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/ladder_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <random>
#include <regex>
#include <sstream>

#include "../referee/story.hpp"
#include "report/layout.hpp"

namespace rpcrdma::report {
namespace {

using referee::story::Chunks;
using referee::story::Story;
using testing::HasSubstr;
using testing::Not;
using trace::Side;

/// A story and its drawing.
struct Drawn {
  Ladder ladder;
  Story story{{}, &ladder};
  report::Run run;

  Drawn& end() {
    Input input;
    input.first_time = 0;
    run.inputs.push_back(input);
    run.report = story.end();
    ladder.finish(run.report.findings.all());
    return *this;
  }
  std::string again(const LadderStyle& style) { return ladder_text(run, ladder, style); }
  std::string with(const LadderStyle& style) { return end().again(style); }
};

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

/// The first line that has this in it, or nothing.
std::string line_with(const std::string& text, const std::string& part) {
  for (const std::string& line : lines(text)) {
    if (line.find(part) != std::string::npos) return line;
  }
  return {};
}

Chunks chunk(std::uint32_t length) {
  Chunks chunks;
  chunks.writes = {{{0xA100, length, 0x10000}}};
  return chunks;
}

TEST(LadderText, ShowsWhoSentWhat) {
  Drawn drawn;
  drawn.story.connect()
      .call(5, chunk(4096), 16)
      .write(Side::passive, 0xA100, 0x10000, 3000)
      .reply(5, chunk(3000), 8, 0xA100U)
      .close(Side::active);
  const std::string text = drawn.with({});
  EXPECT_THAT(line_with(text, "CM REQ"), testing::EndsWith("─▶│"));
  EXPECT_THAT(line_with(text, "CM REP"), HasSubstr("│◀─"));
  EXPECT_THAT(text, HasSubstr("supports remote invalidation (private data version 1)"));
  EXPECT_THAT(line_with(text, "Call 0x00000005"), HasSubstr("│── Call 0x00000005"));
  EXPECT_THAT(text, HasSubstr("asks for 16 credits"));
  EXPECT_THAT(text, HasSubstr("Write chunk: 4,096 octets, handle 0x0000a100, offset 0x10000"));
  EXPECT_THAT(line_with(text, "RDMA Write: 3,000 octets"), HasSubstr("│◀══"));
  EXPECT_THAT(line_with(text, "Reply 0x00000005"), HasSubstr("│◀─"));
  EXPECT_THAT(text, HasSubstr("grants 8 credits"));
  EXPECT_THAT(text, HasSubstr("invalidates handle 0x0000a100"));
  EXPECT_THAT(text, HasSubstr("Write chunk: 3,000 octets"));
  EXPECT_THAT(text, HasSubstr("after its Call, frame 4"));
  EXPECT_THAT(line_with(text, "disconnect request"), HasSubstr("│── disconnect"));
}

TEST(LadderText, ShowsReadsAndDone) {
  Drawn drawn;
  Chunks offer;
  offer.reads = {{0, {0xB100, 24, 0x20000}}};
  drawn.story.connect()
      .call(5)
      .message(Side::passive, 5, 8, offer, {})
      .read(Side::active, 0xB100, 0x20000, 24)
      .done(Side::active, 5);
  const std::string text = drawn.with({});
  EXPECT_THAT(line_with(text, "RDMA Read request: 24 octets"), HasSubstr("│╌╌ RDMA Read request: 24 octets ╌"));
  EXPECT_THAT(line_with(text, "RDMA Read response: 24 octets"), HasSubstr("│◀═"));
  EXPECT_THAT(text, HasSubstr("Position-Zero Read chunk: 24 octets"));
  EXPECT_THAT(line_with(text, "RDMA_DONE"), HasSubstr("│── RDMA_DONE 0x00000005 "));
}

TEST(LadderText, PutsFindingsWhereTheyBelong) {
  Drawn drawn;
  drawn.story.connect()
      .call(5)
      .message(Side::passive, 5, 8, {}, referee::story::rpc_reply(5, 4097))
      .close(Side::active);
  const std::vector<std::string> all = lines(drawn.with({}));
  const auto at = [&](const std::string& part) {
    return std::find_if(all.begin(), all.end(), [&](const auto& line) { return line.find(part) != std::string::npos; });
  };
  ASSERT_NE(at("✖ ERROR inline-threshold-exceeded (server): "), all.end());
  EXPECT_LT(at("Reply 0x00000005"), at("✖ ERROR inline-threshold-exceeded"));
  EXPECT_LT(at("✖ ERROR inline-threshold-exceeded"), at("disconnect request"));
  EXPECT_NE(at("the threshold of this direction is 4,096 octets"), all.end());
  EXPECT_LT(at("· evidence of inline-threshold-exceeded, frame 5"), at("Call 0x00000005"));
}

TEST(LadderText, TellsOfSilenceAndGaps) {
  Drawn drawn;
  drawn.story.connect().call(5).wait(7'000'000'000).reply(5).gap(Side::active).call(6);
  drawn.story.refuse(Side::passive, trace::Refusal::Kind::rnr, trace::Refusal::Refused::send, 2);
  const std::string text = drawn.with({});
  EXPECT_THAT(text, HasSubstr("⋮ 7.00 s "));
  EXPECT_THAT(text, HasSubstr("⋮ missing in the capture here: 1 packet of the client"));
  EXPECT_THAT(line_with(text, "RNR NAK"), HasSubstr("│◀─"));
}

TEST(LadderText, KeepsItsWidthAndItsLetters) {
  Drawn drawn;
  Chunks many = chunk(4096);
  for (std::uint32_t i = 0; i < 40; ++i) many.writes.push_back({{i, UINT32_MAX, UINT64_MAX - i}});
  drawn.story.connect().call(UINT32_MAX, many, UINT32_MAX).reply(5).send(Side::passive, {1, 2, 3});
  const std::string text = drawn.with({});
  for (const std::string& line : lines(text)) {
    EXPECT_LE(width(line), page_width) << line;
    if (line.find("│") != std::string::npos) {
      EXPECT_EQ(width(line), page_width) << line;
    }
  }
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));

  LadderStyle style;
  style.color = true;
  EXPECT_EQ(std::regex_replace(drawn.again(style), std::regex("\x1b\\[[0-9;]*m"), ""), text);

  style = {};
  style.ascii = true;
  const std::string ascii = drawn.again(style);
  EXPECT_EQ(ascii, in_ascii(text));
  EXPECT_TRUE(std::all_of(ascii.begin(), ascii.end(), [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); }));
  EXPECT_THAT(ascii, HasSubstr("|-- Call 0xffffffff"));
}

TEST(LadderText, LeavesOutTheMiddleAndSaysSo) {
  Drawn drawn;
  drawn.story.connect();
  constexpr std::uint32_t calls = 500;
  for (std::uint32_t i = 1; i <= calls; ++i) {
    drawn.story.call(i);
    if (i == 250) {
      drawn.story.message(Side::passive, i, 32, {}, referee::story::rpc_reply(i, 5000));
    } else {
      drawn.story.reply(i);
    }
  }
  LadderStyle style;
  style.rows = 40;
  const std::string text = drawn.with(style);
  std::size_t arrows = 0;
  std::size_t left_out = 0;
  const std::regex hole("⋮ ([0-9,]+) steps? left out");
  for (const std::string& line : lines(text)) {
    if (line.find("▶│") != std::string::npos || line.find("│◀") != std::string::npos) ++arrows;
    std::smatch match;
    if (std::regex_search(line, match, hole))
      left_out += std::stoul(std::regex_replace(match[1].str(), std::regex(","), ""));
  }
  EXPECT_EQ(arrows, style.rows);
  EXPECT_EQ(arrows + left_out, 3 + 2 * calls);
  EXPECT_THAT(text, HasSubstr("✖ ERROR inline-threshold-exceeded"));
  EXPECT_THAT(text, HasSubstr("Reply 0x000001f4"));  // the last one
  EXPECT_THAT(text, Not(HasSubstr("Call 0x00000064")));

  Drawn nothing;
  EXPECT_EQ(nothing.with({}), "");
}

TEST(LadderText, DrawsWhatSendersMakeUp) {
  Drawn drawn;
  drawn.story.connect().call(1).reply(1);
  std::mt19937 random(8166);
  const auto word = [&](std::initializer_list<std::uint32_t> likely) {
    const std::size_t pick = random() % (likely.size() + 1);
    return pick < likely.size() ? *(likely.begin() + pick) : static_cast<std::uint32_t>(random());
  };
  for (int i = 0; i < 3000; ++i) {
    referee::story::Octets octets;
    for (const std::uint32_t each : {word({0, 1}), word({1, 2}), word({0, 32}), word({0, 1, 3, 4, 5, 7, 10})}) {
      referee::story::put32(octets, each);
    }
    for (auto words = random() % 40; words != 0; --words) referee::story::put32(octets, word({0, 0, 1, 1, 2, 4}));
    octets.resize(octets.size() - random() % 4);
    drawn.story.send(i % 2 == 0 ? Side::active : Side::passive, octets);
  }
  LadderStyle style;
  style.rows = 5000;
  const std::vector<std::string> all = lines(drawn.with(style));
  EXPECT_GT(all.size(), 3000U);
  for (const std::string& line : all) {
    EXPECT_LE(width(line), page_width) << line;
    EXPECT_EQ(printable(line), line);
  }
}

TEST(LadderText, SaysWhatItCannotDraw) {
  Ladder::Limits limits;
  limits.connections = 0;
  Ladder none(limits);
  Drawn drawn;
  drawn.story.connect().call(5);
  drawn.end();
  EXPECT_EQ(ladder_text(drawn.run, none, {}), "\n1 connection not drawn: nothing was kept of what happened there\n");
}

TEST(LadderText, NamesWhatItDoesNotKnow) {
  Drawn drawn;
  drawn.story.connect().call(5).send(Side::passive, referee::story::header(5, 1, 9, {}));
  EXPECT_THAT(drawn.with({}), HasSubstr("28 octets; version 1, type 9"));
}

}  // namespace
}  // namespace rpcrdma::report
