// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/html.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "../referee/story.hpp"
#include "report/html/column.hpp"
#include "report/html/fields.hpp"
#include "sample_run.hpp"
#include "wire/rpcrdma.hpp"

namespace rpcrdma::report {
namespace {

using nlohmann::json;
using page::Field;
using page::Placed;
using referee::story::Octets;
using testing::ElementsAre;
using testing::HasSubstr;

/// What stands between the opening tag that has this id and the end of its element.
std::string element(const std::string& html, const std::string& id) {
  const auto at = html.find("id=\"" + id + "\">");
  if (at == std::string::npos) return {};
  const auto begin = html.find('>', at) + 1;
  return html.substr(begin, html.find("</script>", begin) - begin);
}

/// Printable ASCII that needs no escape in a string of JSON inside a page.
std::string letters() {
  std::string out;
  for (char c = ' '; c <= '~'; ++c) {
    if (std::string_view("\"\\<>&").find(c) == std::string_view::npos) out += c;
  }
  return out;
}

/// What a column says of so many rows.
std::vector<std::int64_t> values(const json& column, std::size_t rows) {
  if (column.is_number()) return std::vector<std::int64_t>(rows, column.get<std::int64_t>());
  std::vector<std::int64_t> out;
  if (column.at(0) == "letters") {
    for (const char c : column.at(1).get<std::string>()) {
      out.push_back(column.at(2 + letters().find(c)).get<std::int64_t>());
    }
  } else {
    out = column.get<std::vector<std::int64_t>>();
  }
  EXPECT_EQ(out.size(), rows);
  return out;
}

TEST(Html, EmbedsTheJsonItself) {
  const report::Run run = sample_run();
  PageRecorder recorder;
  const std::string html = report::html(run, recorder);
  const json document = json::parse(element(html, "report"));
  json expected = json::parse(report::json(run));
  EXPECT_EQ(document, expected);
  const json drawing = json::parse(element(html, "drawing"));
  EXPECT_EQ(drawing["verdict"],
            "1 error and 1 warning found in 2 connections; 2 notes; 3 rules could not be checked everywhere.");
  EXPECT_EQ(drawing["rules"].size(), 7U);
  EXPECT_EQ(drawing["fields"].size(), wire::field_count);
  EXPECT_LT(html.size(), 250'000U);
}

TEST(Html, NothingFromACaptureCanEndItsElement) {
  report::Run run = sample_run();
  const std::string evil = "</script><script>alert(1)</script><!--<script>{{script}}&lt;\x80\xff";
  run.inputs[0].path = evil;
  run.inputs[0].damaged = {7, evil};
  edited(run.report.findings)->message = evil;
  edited(run.report.connections)->client.address = evil;
  run.report.unchecked[0].reason = evil;
  PageRecorder recorder;
  const std::string html = report::html(run, recorder);
  EXPECT_EQ(html.find("alert(1)</script>"), std::string::npos);
  EXPECT_EQ(html.find("<!--<"), std::string::npos);
  const json document = json::parse(element(html, "report"));
  EXPECT_THAT(document["inputs"][0]["path"].get<std::string>(), HasSubstr("</script><script>alert(1)</script><!--"));
  std::size_t ends = 0;
  for (auto at = html.find("</script"); at != std::string::npos; at = html.find("</script", at + 1)) ++ends;
  EXPECT_EQ(ends, 3U);
}

TEST(Html, PolicyAllowsOnlyItsOwnScriptAndStyle) {
  PageRecorder recorder;
  const std::string html = report::html(sample_run(), recorder);
  const auto at = html.find("Content-Security-Policy");
  ASSERT_NE(at, std::string::npos);
  const std::string policy = html.substr(at, html.find("\n", at) - at);
  EXPECT_THAT(policy, testing::ContainsRegex("default-src 'none'; script-src 'sha256-[A-Za-z0-9+/]{43}='; style-src "
                                             "'sha256-[A-Za-z0-9+/]{43}='; base-uri 'none'; form-action 'none'"));
  EXPECT_EQ(html.find("unsafe-"), std::string::npos);
  EXPECT_EQ(html.find("{{"), std::string::npos) << "a place of the frame was not filled";
}

TEST(Html, SaysWhatItLeftOut) {
  report::Run run = sample_run();
  for (std::uint32_t id = 3; id <= 40; ++id) {
    referee::ConnectionFacts c;
    c.id = id;
    run.report.connections.push_back(c);
  }
  for (std::size_t i = 0; i < 60; ++i) {
    referee::Finding note = run.report.findings.at(0);
    note.frames = {900 + i};
    run.report.findings.push_back(note);
  }
  PageLimits limits;
  limits.connections = 5;
  limits.findings = 10;
  limits.unchecked = 1;
  PageRecorder recorder;
  const std::string html = report::html(run, recorder, limits);
  const json document = json::parse(element(html, "report"));
  const json drawing = json::parse(element(html, "drawing"));
  EXPECT_EQ(document["connections"].size(), 5U);
  EXPECT_EQ(document["connections"][0]["id"], 1) << "the one with the worst finding stays";
  EXPECT_EQ(document["findings"].size(), 10U);
  EXPECT_EQ(std::count_if(document["findings"].begin(), document["findings"].end(),
                          [](const json& f) { return f["severity"] != "note"; }),
            2);
  EXPECT_EQ(document["totals"]["connections"], 40);
  EXPECT_EQ(document["totals"]["notes"], 62);
  EXPECT_EQ(drawing["left_out"], (json{{"connections", 35}, {"findings", 54}, {"unchecked", 2}}));
}

TEST(Html, DrawsWhatTheLadderKnows) {
  PageRecorder recorder;
  referee::story::Story story({}, &recorder);
  referee::story::Chunks chunks;
  chunks.writes = {{{7, 3000, 0xffff888100000000ULL}}};
  story.connect().call(5, chunks).write(trace::Side::passive, 7, 0xffff888100000000ULL, 1000).reply(5, chunks);
  report::Run run;
  run.report = story.end();
  const json drawing = json::parse(element(report::html(run, recorder), "drawing"));
  const json& rows = drawing["connections"]["1"];
  ASSERT_EQ(rows["rows"], 6);
  EXPECT_EQ(rows["offset"], json::array({"ffff888100000000"})) << "64 bits, complete";
  const std::vector<std::int64_t> labels = values(rows["label"], 6);
  const auto says = [&](std::size_t row) { return drawing["labels"][static_cast<std::size_t>(labels.at(row))]; };
  EXPECT_EQ(says(0), (json{"connect request", "", 0}));
  EXPECT_EQ(says(3)[0], "Call");
  EXPECT_EQ(says(3)[2], 1) << "its XID stands behind";
  EXPECT_EQ(says(4), (json{"RDMA Write", "1,000 octets", 0}));
  EXPECT_EQ(says(5), (json{"Reply", says(3)[1], 1})) << "the procedure of its Call";
  EXPECT_EQ(drawing["lists"], (json{"Call chunk", "Read chunk", "Write chunk", "Reply chunk"}));
  EXPECT_EQ(rows["segments"]["3"], json::parse(R"([0,[2,0,0,7,3000,"ffff888100000000"]])"));
  ASSERT_TRUE(rows["octets"].contains("0")) << "the private data";
  const std::string layout = drawing["layouts"][rows["octets"]["0"][0].get<std::size_t>()];
  EXPECT_EQ(layout, fmt::format("{},0,4,{},4,1,{},5,1,{},6,1,{},7,1", static_cast<int>(Field::identifier),
                                static_cast<int>(Field::private_version), static_cast<int>(Field::private_flags),
                                static_cast<int>(Field::send_size), static_cast<int>(Field::receive_size)));
}

TEST(Html, LettersStandForFewValues) {
  EXPECT_EQ(page::column_json({}), "0");
  EXPECT_EQ(page::column_json({-1}), "-1");
  EXPECT_EQ(page::column_json({7, 7, 7}), "7") << "all the same";
  EXPECT_EQ(page::column_json({1, -2, 3}), "[1,-2,3]") << "the list is shorter";
  EXPECT_EQ(page::column_json({-1000, 0, -1000, -1000, 0, -1000, 20, -1000}), R"(["letters"," !  ! # ",-1000,0,20])");
}

TEST(Html, LettersStandWhereTheyAreShorter) {
  // Of n digits of two kinds: 2n + 1 signs as a list, n + 18 in letters.
  std::vector<std::int64_t> digits{4, 5};
  while (digits.size() < 17) digits.push_back(4);
  EXPECT_EQ(page::column_json(digits), "[4,5,4,4,4,4,4,4,4,4,4,4,4,4,4,4,4]");
  digits.push_back(5);
  EXPECT_EQ(page::column_json(digits), R"(["letters"," !               !",4,5])");
}

TEST(Html, NoMoreValuesThanLetters) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  std::vector<std::int64_t> many{least, most};
  while (many.size() < 90) many.push_back(4000 - 100 * static_cast<std::int64_t>(many.size()));
  for (std::size_t i = 0; i < 180; ++i) many.push_back(many[i * 7 % 90]);
  const json full = json::parse(page::column_json(many));
  ASSERT_EQ(full.at(0), "letters");
  EXPECT_EQ(full.at(1).get<std::string>().substr(0, 90), letters());
  EXPECT_EQ(full.size(), 92U);
  EXPECT_EQ(values(full, many.size()), many);
  many.push_back(1);
  const json list = json::parse(page::column_json(many));
  EXPECT_EQ(list.at(0), least) << "91 values: a plain list";
  EXPECT_EQ(values(list, many.size()), many);
}

std::vector<Field> fields(const Octets& octets) {
  std::vector<Placed> placed;
  page::place_message(octets, octets.size(), placed);
  std::vector<Field> out;
  for (const Placed& p : placed) out.push_back(p.field);
  return out;
}

Octets words(std::initializer_list<std::uint32_t> values) {
  Octets octets;
  for (const std::uint32_t value : values) referee::story::put32(octets, value);
  return octets;
}

TEST(Fields, NamesEveryWordOfAMessage) {
  const Octets call = words({5, 1,      32, 0, 1, 64, 0xA, 100,    0, 0x1000, 0, 1, 1, 0xB, 200,
                             0, 0x2000, 0,  0, 5, 0,  2,   100003, 3, 6,      0, 0, 0, 0,   77});
  EXPECT_THAT(fields(call),
              ElementsAre(Field::xid, Field::version, Field::credit, Field::proc, Field::read_item, Field::position,
                          Field::handle, Field::length, Field::offset, Field::read_end, Field::write_item,
                          Field::segment_count, Field::handle, Field::length, Field::offset, Field::write_end,
                          Field::reply_absent, Field::rpc_xid, Field::rpc_type, Field::rpc_version, Field::program,
                          Field::program_version, Field::procedure, Field::credential_flavor, Field::credential_length,
                          Field::verifier_flavor, Field::verifier_length, Field::arguments));
  EXPECT_THAT(fields(words({5, 1, 32, 4, 1, 1, 1})),
              ElementsAre(Field::xid, Field::version, Field::credit, Field::proc, Field::error_code, Field::version_low,
                          Field::version_high));
  EXPECT_THAT(fields(words({5, 1, 32, 3})), ElementsAre(Field::xid, Field::version, Field::credit, Field::proc));
  EXPECT_THAT(fields(words({5, 2, 32, 5})), ElementsAre(Field::xid, Field::version, Field::credit, Field::htype));
}

TEST(Fields, NeverOverlapAndNeverLeaveTheOctets) {
  const std::vector<Octets> messages = {
      words({5,      1,   32, 0, 1, 64, 0xA, 100, 0, 0x1000, 0, 1, 2, 0xB, 200, 0,
             0x2000, 0xB, 1,  0, 1, 0,  1,   0,   5, 1,      0, 0, 0, 0,   3}),
      words({5, 1, 32, 1, 0, 1, 0xFFFFFFFF, 1, 2, 3, 4}),
      words({5, 1, 32, 0, 0, 0, 0, 5, 0, 2, 1, 1, 1, 6, 0xFFFFFFFF, 1, 1}),
      words({5, 1, 32, 2, 1, 2, 0, 0, 0, 9, 9}),
      words({9, 2, 32, 8, 0, 1, 0, 0xA1, 200, 0, 0x3000, 0, 0, 0, 0}),
      words({9, 2, 32, 10, 0, 0, 0, 0, 9, 0, 2, 100003, 4, 1, 0, 0, 0, 0, 5}),
      words({9, 2, 32, 6, 2, 1, 4, 4096, 6, 5, 0x61626364, 0x65000000}),
      words({9, 2, 32, 4, 1, 1, 2}),
      words({9, 7, 1, 1, 1}),
  };
  for (const Octets& whole : messages) {
    for (std::size_t cut = 0; cut <= whole.size(); ++cut) {
      std::vector<Placed> placed;
      page::place_message(wire::Bytes(whole).first(cut), whole.size(), placed);
      std::size_t at = 0;
      for (const Placed& p : placed) {
        EXPECT_GE(p.offset, at) << cut;
        EXPECT_GT(p.length, 0U);
        at = p.offset + p.length;
        EXPECT_LE(at, cut);
      }
      page::place_private_data(wire::Bytes(whole).first(cut), whole.size(), placed);
      for (const Placed& p : placed) EXPECT_LE(p.offset + p.length, cut);
    }
  }
}

TEST(Fields, HaveTextsOnThePage) {
  PageRecorder recorder;
  const json fields = json::parse(element(report::html({}, recorder), "drawing"))["fields"];
  ASSERT_EQ(fields.size(), wire::field_count);
  const auto at = [&](Field field) { return fields[static_cast<std::size_t>(field)]; };
  EXPECT_EQ(at(Field::rpc_rest)[0], "not RPC");
  EXPECT_EQ(at(Field::property_pad)[1], "Zeros up to a multiple of four octets.");
  EXPECT_EQ(at(Field::receive_size)[3], static_cast<int>(page::Form::size));
  EXPECT_EQ(at(Field::htype)[4].size(), 10U);
}

}  // namespace
}  // namespace rpcrdma::report
