// SPDX-License-Identifier: GPL-2.0-or-later
// Properties of version 2: those that come behind the last ones.
#include <algorithm>

#include <gtest/gtest.h>

#include "story.hpp"

namespace rpcrdma::referee {
namespace {

using story::found;
using story::Octets;
using story::Story;
using story::words;
using trace::Side;

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
  const bool unchecked = std::any_of(report.unchecked.begin(), report.unchecked.end(), [](const Unchecked& what) {
    return what.rule == RuleId::v2_connprop_after_final;
  });
  EXPECT_EQ(unchecked, !each.told) << each.says;
}

INSTANTIATE_TEST_SUITE_P(Refusals, PropertiesBehindTheLast,
                         testing::Values(Refusal{"a bad property, of either", 0, 0, 0, bad_propval, false},
                                         Refusal{"a failure, of either", 7, 7, 7, system_error, false},
                                         Refusal{"of the last ones", 7, 8, 7, bad_propval, false},
                                         Refusal{"of those behind them", 7, 8, 8, bad_propval, true},
                                         Refusal{"as what comes behind the last ones", 0, 0, 0, inval_cont, true}));

}  // namespace
}  // namespace rpcrdma::referee
