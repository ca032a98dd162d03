// SPDX-License-Identifier: GPL-2.0-or-later
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>

#include "sample_run.hpp"

namespace rpcrdma::report {
namespace {

using Json = nlohmann::ordered_json;
using namespace std::string_literals;
using testing::ElementsAre;
using testing::IsSupersetOf;

std::vector<std::string> keys(const Json& object) {
  std::vector<std::string> out;
  for (const auto& [key, value] : object.items()) out.push_back(key);
  return out;
}

class JsonReport : public testing::Test {
 protected:
  const Json doc = Json::parse(json(sample_run()));
};

TEST_F(JsonReport, TopLevel) {
  EXPECT_THAT(keys(doc), ElementsAre("schema", "tool", "inputs", "connections", "verdict", "mounts", "findings",
                                     "unchecked", "totals"));
  EXPECT_EQ(doc["schema"], "rpcrdma-analyzer/1");
  EXPECT_EQ(doc["tool"]["name"], "rpcrdma-analyzer");
  EXPECT_TRUE(doc["tool"]["version"].is_string());
}

TEST_F(JsonReport, Inputs) {
  EXPECT_EQ(doc["inputs"], Json::parse(R"([{"path": "mount.pcap", "format": "pcap", "link_types": ["EN10MB"],
    "frames": 846, "bytes": 123456, "first_time": "1764900000.123456789", "last_time": "1764900002.623456789",
    "truncated_frames": 3, "damaged": null}])"));
}

TEST_F(JsonReport, DamagedInputAndUnknownTimes) {
  report::Run run = sample_run();
  run.inputs[0].damaged = Input::Damaged{40, "cut short"};
  run.inputs[0].first_time.reset();
  const Json input = Json::parse(json(run))["inputs"][0];
  EXPECT_EQ(input["damaged"], Json::parse(R"({"offset": 40, "reason": "cut short"})"));
  EXPECT_TRUE(input["first_time"].is_null());
}

TEST_F(JsonReport, KnownConnection) {
  const Json& c = doc["connections"][0];
  EXPECT_EQ(c["id"], 1);
  EXPECT_EQ(c["transport"], "rocev2");
  EXPECT_EQ(c["client"], Json::parse(R"({"address": "192.168.77.2", "port": 43180, "qpn": 17})"));
  EXPECT_EQ(c["server"], Json::parse(R"({"address": "192.168.77.1", "port": 20049, "qpn": 18})"));
  EXPECT_EQ(c["roles_from"], "handshake");
  EXPECT_EQ(c["opened"], Json::parse(R"({"frame": 3, "time": "1764900000.124456789", "seen": true})"));
  EXPECT_EQ(c["closed"], Json::parse(R"({"frame": 840, "time": "1764900002.523456789", "how": "nak", "by": "client",
    "cause": {"rule": "inline-overrun-fatal", "confidence": "proven", "frames": [812, 840],
              "message": "the reply did not fit."}})"));
  EXPECT_EQ(c["version"], 1);
  EXPECT_EQ(c["private_data"], Json::parse(R"({
    "client": {"frame": 3, "offset": 0, "version": 1, "remote_invalidation": true, "send_size": 4096,
               "receive_size": 8192, "reserved": 0},
    "server": {"frame": 4, "offset": 2, "version": 1, "remote_invalidation": false, "send_size": 4096,
               "receive_size": 4096, "reserved": 64}})"));
  EXPECT_EQ(c["thresholds"],
            Json::parse(R"({"client_to_server": 4096, "server_to_client": 4096, "basis": "negotiated"})"));
  EXPECT_EQ(c["credits"], Json::parse(R"({"requested": 128, "granted": 64, "outstanding_peak": 3, "stalls": 1})"));
  EXPECT_EQ(c["messages"], Json::parse(R"({"calls": 37, "replies": 36, "reverse_calls": 2, "reverse_replies": 1,
    "rdma_msg": 50, "rdma_nomsg": 21, "rdma_msgp": 0, "rdma_done": 0, "rdma_error": 3, "v2": {"RDMA2_GRANT": 4}})"));
  EXPECT_EQ(c["operations"], Json::parse(R"({"sends": 74, "sends_with_invalidate": 21, "reads": 5, "writes": 16,
    "read_bytes": 4096, "write_bytes": 65536, "naks": 1, "rnr_naks": 2, "retransmitted": 7})"));
  EXPECT_EQ(c["pull_completion"], Json::parse(R"({"offered": 2, "completed": 1, "missing": 1})"));
  EXPECT_EQ(c["latency_us"], Json::parse(R"({"count": 36, "min": 100.0, "p50": 412.5, "p90": 900.0, "p99": 1500.0,
    "max": 2500000.0})"));
  EXPECT_EQ(c["procedures"][0], Json::parse(R"({"program": 100003, "version": 3, "procedure": 1,
    "name": "NFSv3 GETATTR", "calls": 36, "p50_us": 400.0, "p99_us": 1500.0, "operations": {}})"));
  EXPECT_EQ(c["procedures"][1]["operations"], Json::parse(R"({"PUTFH": 1, "READ": 1})"));
  EXPECT_EQ(c["path_mtu"], 1024);
}

TEST_F(JsonReport, NetworksOnlyWhereTheyHaveNames) {
  for (const Json& c : doc["connections"]) EXPECT_FALSE(c.contains("networks"));
  referee::ConnectionFacts seen;
  seen.networks = {"VLAN 10, VXLAN 7", "VLAN 20"};
  const Json line = Json::parse(ndjson::line(seen));
  EXPECT_EQ(line["networks"], Json::parse(R"(["VLAN 10, VXLAN 7", "VLAN 20"])"));
}

TEST_F(JsonReport, WhatIsUnknownIsNull) {
  const Json& c = doc["connections"][1];
  EXPECT_EQ(c["transport"], "iwarp");
  EXPECT_THAT(keys(c), IsSupersetOf(keys(doc["connections"][0]))) << "every key is always there";
  EXPECT_EQ(c["client"], Json::parse(R"({"address": "fd77::2", "port": null, "qpn": null})"));
  EXPECT_TRUE(c["roles_from"].is_null());
  EXPECT_EQ(c["opened"]["seen"], false);
  EXPECT_TRUE(c["closed"].is_null());
  EXPECT_TRUE(c["version"].is_null());
  EXPECT_EQ(c["private_data"], Json::parse(R"({"client": null, "server": null})"));
  EXPECT_EQ(c["thresholds"],
            Json::parse(R"({"client_to_server": null, "server_to_client": null, "basis": "unknown"})"));
  EXPECT_EQ(c["credits"], Json::parse(R"({"requested": null, "granted": null, "outstanding_peak": 0, "stalls": 0})"));
  EXPECT_EQ(c["latency_us"],
            Json::parse(R"({"count": 0, "min": null, "p50": null, "p90": null, "p99": null, "max": null})"));
  EXPECT_EQ(c["procedures"], Json::array());
  EXPECT_EQ(c["messages"]["v2"], Json::object());
  EXPECT_TRUE(doc["connections"][0]["procedures"][1]["p50_us"].is_null()) << "a procedure without an answer";
}

TEST_F(JsonReport, CloseWithoutFrameSideOrCause) {
  report::Run run = sample_run();
  edited(run.report.connections)->closed = referee::Closed{};
  edited(run.report.connections)->closed->how = referee::Closed::How::timeout;
  EXPECT_EQ(Json::parse(json(run))["connections"][0]["closed"],
            Json::parse(R"({"frame": null, "time": null, "how": "timeout", "by": null, "cause": null})"));
}

TEST_F(JsonReport, FindingsByPrimaryFrame) {
  std::vector<std::string> rules;
  for (const auto& f : doc["findings"]) rules.push_back(f["rule"]);
  EXPECT_THAT(rules, ElementsAre("rnr-nak-seen", "inline-threshold-exceeded", "remote-invalidation-server-r-clear",
                                 "capture-time-backwards"));
}

TEST_F(JsonReport, Finding) {
  const Json& f = doc["findings"][1];
  EXPECT_EQ(f["severity"], "error");
  EXPECT_EQ(f["connection"], 1);
  EXPECT_EQ(f["frames"], Json::parse("[812, 4, 3, 4]")) << "offending frame first, not sorted";
  EXPECT_EQ(f["time"], "1764900002.023456789");
  EXPECT_EQ(f["xid"], "0x08ea8cef");
  EXPECT_EQ(f["violator"], "server");
  EXPECT_EQ(f["role"], "responder");
  EXPECT_EQ(f["message"], "a Reply of 20,100 octets to a client that receives 4,096");
  EXPECT_THAT(f["source"].get<std::string>(), testing::HasSubstr("RFC 8797 section 4.2"));
  EXPECT_EQ(f["filter"], "frame.number in {3, 4, 812}");
  EXPECT_EQ(f["occurrences"], 1);
  EXPECT_EQ(doc["findings"][2]["occurrences"], 21);
  EXPECT_EQ(doc["findings"][2]["xid"], "0x00000007");
}

TEST_F(JsonReport, FindingOfTheCaptureAsAWhole) {
  const Json& f = doc["findings"][3];
  for (const char* key : {"connection", "time", "xid", "violator", "role"}) EXPECT_TRUE(f[key].is_null()) << key;
  EXPECT_EQ(f["frames"], Json::array());
  EXPECT_EQ(f["filter"], "");
}

TEST_F(JsonReport, UncheckedAndTotals) {
  EXPECT_EQ(doc["unchecked"][0], Json::parse(R"({"rule": "inline-threshold-exceeded", "connection": 2,
    "reason": "the handshake is not in the capture"})"));
  EXPECT_TRUE(doc["unchecked"][2]["connection"].is_null());
  EXPECT_EQ(doc["totals"], Json::parse(R"({"connections": 2, "errors": 1, "warnings": 1, "notes": 2, "frames": 846,
    "rdma_messages": 74})"));
}

TEST_F(JsonReport, EmptyRun) {
  const Json empty = Json::parse(json(report::Run{}));
  EXPECT_THAT(keys(empty), testing::ElementsAreArray(keys(doc)));
  for (const char* key : {"inputs", "connections", "findings", "unchecked"}) EXPECT_EQ(empty[key], Json::array());
}

TEST(JsonNames, EveryEnumerator) {
  using How = referee::Closed::How;
  const std::pair<trace::Transport, const char*> transports[] = {{trace::Transport::rocev2, "rocev2"},
                                                                 {trace::Transport::rocev1, "rocev1"},
                                                                 {trace::Transport::infiniband, "infiniband"},
                                                                 {trace::Transport::iwarp, "iwarp"}};
  const std::pair<How, const char*> ways[] = {{How::disconnect, "disconnect"}, {How::reset, "reset"},
                                              {How::terminate, "terminate"},   {How::nak, "nak"},
                                              {How::timeout, "timeout"},       {How::superseded, "superseded"}};
  const std::pair<referee::Basis, const char*> bases[] = {{referee::Basis::negotiated, "negotiated"},
                                                          {referee::Basis::default_, "default"},
                                                          {referee::Basis::unknown, "unknown"}};
  const std::pair<trace::RolesFrom, Json> roles[] = {{trace::RolesFrom::handshake, "handshake"},
                                                     {trace::RolesFrom::port, "port"},
                                                     {trace::RolesFrom::traffic, "traffic"},
                                                     {trace::RolesFrom::unknown, nullptr}};
  report::Run run = healthy_run();
  const auto first = [&] { return Json::parse(json(run))["connections"][0]; };
  for (const auto& [value, word] : transports) {
    edited(run.report.connections)->transport = value;
    EXPECT_EQ(first()["transport"], word);
  }
  for (const auto& [value, word] : ways) {
    edited(run.report.connections)->closed = referee::Closed{};
    edited(run.report.connections)->closed->how = value;
    EXPECT_EQ(first()["closed"]["how"], word);
  }
  for (const auto& [value, word] : bases) {
    edited(run.report.connections)->thresholds.basis = value;
    EXPECT_EQ(first()["thresholds"]["basis"], word);
  }
  for (const auto& [value, word] : roles) {
    edited(run.report.connections)->roles_from = value;
    EXPECT_EQ(first()["roles_from"], word);
  }
}

TEST(JsonNames, VersionIsOneTwoOrUnknown) {
  report::Run run = healthy_run();
  for (const auto& [version, wanted] : std::vector<std::pair<std::optional<std::uint32_t>, Json>>{
           {1, 1}, {2, 2}, {9, nullptr}, {std::nullopt, nullptr}}) {
    edited(run.report.connections)->version = version;
    EXPECT_EQ(Json::parse(json(run))["connections"][0]["version"], wanted);
  }
}

TEST(JsonHostile, NothingThrowsAndTheDocumentParses) {
  const std::string hostile[] = {"nul \0 bell \a esc \x1b[31m"s, "\xff\xfe not UTF-8 \xc3",
                                 "overlong \xc0\x80, surrogate \xed\xa0\x80", "quote \" backslash \\ newline \n",
                                 std::string(70000, '\x80')};
  for (const std::string& raw : hostile) {
    report::Run run = sample_run();
    run.inputs[0].path = raw;
    run.inputs[0].damaged = Input::Damaged{std::numeric_limits<std::uint64_t>::max(), raw};
    edited(run.report.connections)->client.address = raw;
    edited(run.report.connections)->procedures[0].name = raw;
    edited(run.report.connections)->procedures[0].operations.push_back({raw, 1});
    edited(run.report.connections)->messages.v2[raw] = 1;
    edited(run.report.findings)->message = raw;
    run.report.unchecked[0].reason = raw;
    edited(run.report.connections)->latency.max = std::numeric_limits<double>::quiet_NaN();
    std::string out;
    ASSERT_NO_THROW(out = json(run));
    ASSERT_TRUE(Json::accept(out));
    for (const char c : out) ASSERT_TRUE(static_cast<unsigned char>(c) >= 0x20 || c == '\n');
    EXPECT_EQ(Json::parse(out)["inputs"][0]["damaged"]["offset"], std::numeric_limits<std::uint64_t>::max());
  }
  report::Run run = sample_run();
  run.inputs[0].path = "ok \xff end";
  EXPECT_EQ(Json::parse(json(run))["inputs"][0]["path"], "ok \xef\xbf\xbd end");
}

TEST(JsonNumbers, AreWrittenAsTheLibraryWritesThem) {
  std::vector<double> values = {
      0.0,        -0.0,        1.0,  -1.0,     0.1,  0.001, 1e-4,   9.9999e-5, 1e-9,   2.5,      123.0,
      123.456789, 1234567.001, 1e14, 1e15 - 1, 1e15, 1e16,  4.3e18, 1e300,     1e-300, 100000.0, 0.30000000000000004,
      5e-324,     -17.25};
  for (std::uint64_t nanoseconds = 1; nanoseconds < std::uint64_t{1} << 60U; nanoseconds = nanoseconds * 5 / 3 + 1) {
    values.push_back(static_cast<double>(nanoseconds) / 1000.0);
    values.push_back(static_cast<double>(nanoseconds) / 1e9);
  }
  report::Run run = sample_run();
  for (const double value : values) {
    edited(run.report.connections)->latency.max = value;
    EXPECT_NE(json(run).find("\"max\":" + Json(value).dump() + "}"), std::string::npos) << value;
  }
}

TEST(JsonPieces, MakeTheDocument) {
  report::Run run = sample_run();
  const referee::Finding finding = run.report.findings.at(0);
  run.report.findings.clear();
  for (int i = 0; i < 1000; ++i) run.report.findings.push_back(finding);
  std::string whole;
  std::size_t largest = 0;
  json(run, [&](std::string_view piece) {
    whole += piece;
    largest = std::max(largest, piece.size());
  });
  EXPECT_EQ(Json::parse(whole)["findings"].size(), 1000U);
  EXPECT_EQ(whole, json(run));
  EXPECT_LT(largest, whole.size() / 4);
}

TEST(JsonPieces, MadeInWhateverOrderStandInTheirs) {
  report::Run run = sample_run();
  referee::Finding finding = run.report.findings.at(0);
  for (const std::size_t count : {0U, 1U, 63U, 64U, 65U, 257U, 5000U}) {
    run.report.findings.clear();
    for (std::size_t i = 0; i < count; ++i) {
      finding.frames = {i + 1};
      run.report.findings.push_back(finding);
    }
    std::string whole;
    json(
        run, [&](std::string_view piece) { whole += piece; },
        [](std::size_t pieces, const auto& make, const Write& write) {
          std::vector<std::string> made(pieces);
          for (std::size_t i = pieces; i-- != 0;) make(i, made[i]);
          for (const std::string& piece : made) write(piece);
        });
    EXPECT_EQ(whole, json(run)) << count;
    EXPECT_EQ(Json::parse(whole)["findings"].size(), count);
  }
}

TEST(JsonRules, OneObjectForEveryRule) {
  const Json rules = Json::parse(list_rules_json());
  ASSERT_EQ(rules.size(), referee::all_rules().size());
  for (const Json& rule : rules) {
    EXPECT_THAT(keys(rule), IsSupersetOf({"name", "severity", "versions", "source", "who", "group", "title"}));
  }
  EXPECT_EQ(rules[0]["name"], "private-data-absent");
  EXPECT_EQ(rules[0]["group"], "A");
  EXPECT_EQ(rules[0]["severity"], "note");
  EXPECT_EQ(rules[0]["versions"], "1");
}

}  // namespace
}  // namespace rpcrdma::report
