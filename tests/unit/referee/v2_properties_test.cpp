// SPDX-License-Identifier: GPL-2.0-or-later
// Properties of version 2: those that come behind the last ones.
#include <gtest/gtest.h>

#include "story.hpp"

namespace rpcrdma::referee::story {
namespace {

constexpr std::uint32_t bad_propval = 3;
constexpr std::uint32_t inval_cont = 5;
constexpr std::uint32_t system_error = 100;

/// RDMA2_CONNPROP_FINAL with a Receive Buffer Size.
Octets last_properties(std::uint32_t xid) { return words({xid, 2, 32, 7, 1, 2, 4, 8192}); }
Octets error(std::uint32_t xid, std::uint32_t code) { return words({xid, 2, 32, 4, code}); }

struct Refusal {
  const char* says;
  std::uint32_t last;    ///< XID of the last properties
  std::uint32_t behind;  ///< ... of those behind them
  std::uint32_t refused;
  std::uint32_t code;
  bool told;
};

class PropertiesBehindTheLast : public testing::TestWithParam<Refusal> {};

// What is refused may be the last ones, and then what came behind them is their correction.
TEST_P(PropertiesBehindTheLast, AreWrongUnlessTheLastOnesMayBeRefused) {
  const Refusal& each = GetParam();
  Story s;
  s.connect().send(Side::active, last_properties(each.last)).send(Side::passive, last_properties(0));
  s.send(Side::active, last_properties(each.behind)).send(Side::passive, error(each.refused, each.code));
  const Report report = s.end();
  EXPECT_EQ(found(report, RuleId::v2_connprop_after_final).size(), each.told ? 1U : 0U) << each.says;
  EXPECT_EQ(unchecked(report, RuleId::v2_connprop_after_final), !each.told) << each.says;
}

INSTANTIATE_TEST_SUITE_P(Refusals, PropertiesBehindTheLast,
                         testing::Values(Refusal{"a bad property, of either", 0, 0, 0, bad_propval, false},
                                         Refusal{"a failure, of either", 7, 7, 7, system_error, false},
                                         Refusal{"of the last ones", 7, 8, 7, bad_propval, false},
                                         Refusal{"of those behind them", 7, 8, 8, bad_propval, true},
                                         Refusal{"as what comes behind the last ones", 0, 0, 0, inval_cont, true}));

TEST(PropertyOfVersion2, OneIsNotMany) {
  Story s;
  s.connect().send(Side::active, words({0, 2, 32, 7, 1, 2, 1, 0x20000000}));
  const std::vector<Finding> hits = found(s.end(), RuleId::v2_propval_bad);
  ASSERT_EQ(hits.size(), 1U);
  EXPECT_NE(hits.front().message.find("has 1 octet of data"), std::string::npos) << hits.front().message;
}

// How much the receiver takes was never announced: the NAK ends the connection, and nobody is to blame for it.
TEST(RefusedMessageOfVersion2, BlamesNobodyWhereItMayBeTooLarge) {
  using Kind = trace::Refusal::Kind;
  for (const bool own_failure : {false, true}) {
    Story s;
    s.connect().send(Side::active, last_properties(0)).send(Side::passive, words({0, 2, 32, 5}));
    Octets call = words({1, 2, 32, 10, 0, 0, 0, 0});
    const Octets rpc = rpc_call(1, 2000);
    call.insert(call.end(), rpc.begin(), rpc.end());
    s.send(Side::active, call)
        .refuse(Side::passive, own_failure ? Kind::remote_operational : Kind::invalid_request,
                trace::Refusal::Refused::send, 2);
    const Report report = s.end();
    const std::vector<Finding> hits = found(report, own_failure ? RuleId::nak_remote_op : RuleId::nak_invalid_request);
    ASSERT_EQ(hits.size(), 1U);
    EXPECT_EQ(hits.front().severity, Severity::warning);
    EXPECT_FALSE(hits.front().violator);
    ASSERT_TRUE(report.connections.at(0).closed);
    EXPECT_EQ(report.connections.at(0).closed->how, Closed::How::nak);
  }
}

}  // namespace
}  // namespace rpcrdma::referee::story
