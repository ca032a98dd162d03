// SPDX-License-Identifier: GPL-2.0-or-later
// CSV, JUnit XML and lines of JSON: what their reader could trip over.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "report/encoding.hpp"
#include "sample_run.hpp"

namespace rpcrdma::report {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

struct EncodingCase {
  const char* name;
  std::string_view text;
  std::string_view utf8;
  std::string_view xml;
};

class Encoding : public testing::TestWithParam<EncodingCase> {};

TEST_P(Encoding, IsValid) {
  EXPECT_EQ(valid_utf8(GetParam().text), GetParam().utf8);
  EXPECT_EQ(xml(GetParam().text), GetParam().xml);
}

constexpr std::string_view kFffd = "\xef\xbf\xbd";
constexpr std::string_view kFffdTwice = "\xef\xbf\xbd\xef\xbf\xbd";

INSTANTIATE_TEST_SUITE_P(
    All, Encoding,
    testing::Values(EncodingCase{"plain", "a/b.pcap", "a/b.pcap", "a/b.pcap"},
                    EncodingCase{"markup", "<a href=\"x\">&", "<a href=\"x\">&", "&lt;a href=&quot;x&quot;&gt;&amp;"},
                    EncodingCase{"white", "a\tb\nc\r", "a\tb\nc\r", "a&#9;b&#10;c&#13;"},
                    EncodingCase{"control", "\x1b[", "\x1b[", "\xef\xbf\xbd["},
                    EncodingCase{"two", "\xc3\xa4", "\xc3\xa4", "\xc3\xa4"},
                    EncodingCase{"four", "\xf0\x9f\x90\xa7", "\xf0\x9f\x90\xa7", "\xf0\x9f\x90\xa7"},
                    EncodingCase{"lone", "\x80", kFffd, kFffd}, EncodingCase{"cut", "\xe2\x82", kFffdTwice, kFffdTwice},
                    EncodingCase{"overlong", "\xc0\xaf", kFffdTwice, kFffdTwice},
                    EncodingCase{"surrogate", "\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd",
                                 "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
                    EncodingCase{"beyond", "\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd",
                                 "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
                    EncodingCase{"no_character", "\xef\xbf\xbe", "\xef\xbf\xbe", kFffd}),
    [](const auto& each) { return each.param.name; });

[[nodiscard]] report::Run with_message(std::string message) {
  report::Run run = sample_run();
  run.report.findings.keep({0});
  edited(run.report.findings)->message = std::move(message);
  return run;
}

TEST(Csv, CellsThatASpreadsheetWouldComputeAreText) {
  EXPECT_THAT(csv(with_message("=1+1")), HasSubstr(",\"'=1+1\","));
  EXPECT_THAT(csv(with_message("+1")), HasSubstr(",\"'+1\","));
  EXPECT_THAT(csv(with_message("-cmd")), HasSubstr(",\"'-cmd\","));
  EXPECT_THAT(csv(with_message("@x")), HasSubstr(",\"'@x\","));
  EXPECT_THAT(csv(with_message("\tx")), HasSubstr(",\"'\tx\","));
  EXPECT_THAT(csv(with_message("'x")), HasSubstr(",\"''x\","));
  EXPECT_THAT(csv(with_message("-1.5")), HasSubstr(",-1.5,"));
  EXPECT_THAT(csv(with_message("a=b")), HasSubstr(",a=b,"));
}

TEST(Csv, QuotesAndLineEnds) {
  EXPECT_THAT(csv(with_message("a \"b\", c")), HasSubstr(",\"a \"\"b\"\", c\","));
  EXPECT_THAT(csv(with_message("a\nb")), HasSubstr(",\"a\nb\","));
  EXPECT_THAT(csv(with_message("a\xff")), HasSubstr(",a\xef\xbf\xbd,"));
  EXPECT_THAT(csv(sample_run()), testing::EndsWith("\r\n"));
}

TEST(Csv, WithoutFindingsThereIsTheHeader) {
  report::Run run = sample_run();
  run.report.findings.clear();
  const std::string table = csv(run);
  EXPECT_THAT(table, StartsWith("rule,severity,connection,"));
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 1);
}

[[nodiscard]] std::vector<referee::RuleId> every_rule() {
  std::vector<referee::RuleId> out;
  for (const referee::Rule& rule : referee::all_rules()) out.push_back(rule.id);
  return out;
}

TEST(Junit, FailOnDecides) {
  const report::Run run = sample_run();
  EXPECT_THAT(junit(run, {referee::Severity::warning, every_rule()}), HasSubstr("<failure "));
  EXPECT_THAT(junit(run, {std::nullopt, every_rule()}), Not(HasSubstr("<failure ")));
  EXPECT_THAT(junit(run, {std::nullopt, every_rule()}), HasSubstr("<system-out>"));
}

TEST(Junit, HoldsNoMarkupOfTheCapture) {
  const std::string text = junit(with_message("</failure><x a=\"\" \x01"), {referee::Severity::note, every_rule()});
  EXPECT_THAT(text, HasSubstr("&lt;/failure&gt;&lt;x a=&quot;&quot; \xef\xbf\xbd"));
  EXPECT_THAT(text, Not(HasSubstr("<x")));
}

TEST(Junit, WhatIsDamagedOrNotJudgedIsNoSuccess) {
  report::Run run = sample_run();
  run.inputs[0].damaged = Input::Damaged{40, "cut short"};
  run.report.any_rpcrdma = false;
  const std::string text = junit(run, {referee::Severity::warning, every_rule()});
  EXPECT_THAT(text, HasSubstr("<error message=\"at octet 40: cut short\" type=\"damaged\"/>"));
  EXPECT_THAT(text, HasSubstr("<skipped message=\"no RPC-over-RDMA in it\"/>"));
}

TEST(Ndjson, EachLineIsOneObjectWithItsType) {
  std::istringstream lines(ndjson::all(sample_run()));
  std::vector<std::string> types;
  for (std::string line; std::getline(lines, line);) {
    const auto object = nlohmann::ordered_json::parse(line);
    EXPECT_EQ(object.begin().key(), "type");
    types.push_back(object["type"]);
  }
  EXPECT_EQ(types.front(), "report");
  EXPECT_EQ(types.back(), "totals");
  EXPECT_THAT(types, testing::IsSupersetOf({"finding", "connection", "unchecked", "input"}));
}

}  // namespace
}  // namespace rpcrdma::report
