// SPDX-License-Identifier: GPL-2.0-or-later
// What rests is what was counted, however often it is woken.
#include "referee/state/operation_clocks.hpp"

#include <limits>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rpcrdma::referee {
namespace {

using ::testing::ElementsAreArray;

constexpr const char* read_place = "READ";

CallTimes times(TimeNs whole, std::uint64_t octets) {
  CallTimes all;
  all.whole = all.server = whole;
  all.octets = octets;
  return all;
}

/// Everything that is known of each operation, in words.
std::vector<std::string> told(OperationClocks& clocks) {
  std::vector<std::string> all;
  const auto add = [](std::string& to, const LatencyHistogram& histogram) {
    const Latency facts = histogram.facts();
    to += " " + std::to_string(facts.count);
    for (const double value : {facts.min, facts.p50, facts.p90, facts.p99, facts.max})
      to += "," + std::to_string(value);
  };
  for (const auto& [name, clock] : clocks.all()) {
    std::string& line = all.emplace_back(name + " " + std::to_string(clock.octets));
    add(line, clock.plain);
    if (!clock.in_parts) continue;
    for (const auto* part :
         {&clock.in_parts->whole, &clock.in_parts->pull, &clock.in_parts->server, &clock.in_parts->push})
      add(line, *part);
  }
  return all;
}

void count(OperationClocks& clocks, int calls) {
  for (int i = 0; i < calls; ++i) {
    OperationClock* read = clocks.known(read_place);
    if (read == nullptr) read = clocks.named("READ", read_place);
    ASSERT_NE(read, nullptr);
    CallTimes parts = times(1'000'000 + i, std::numeric_limits<std::uint32_t>::max());
    parts.push = 127 + i;
    if (i % 2 == 0) parts.pull = 128;
    read->add(parts);
    read->add(times(i % 3 == 0 ? -5 : std::numeric_limits<TimeNs>::max() - i, 0));
    OperationClock* other = clocks.named("program 400000 procedure 3", nullptr);
    ASSERT_NE(other, nullptr);
    other->add(times(0, 1));
  }
}

TEST(OperationClocks, RestingChangesNothing) {
  for (const int calls : {1, 2, 40, 63, 64, 65, 300}) {
    OperationClocks awake;
    OperationClocks resting;
    for (int connection = 0; connection < 3; ++connection) {
      count(awake, calls);
      count(resting, calls);
      resting.rest();
      resting.rest();
    }
    EXPECT_THAT(told(resting), ElementsAreArray(told(awake))) << calls;
  }
}

TEST(OperationClocks, NothingRests) {
  OperationClocks clocks;
  clocks.rest();
  EXPECT_TRUE(clocks.all().empty());
  EXPECT_EQ(clocks.known(read_place), nullptr);
}

TEST(OperationClocks, NoMoreThanMostAreKeptAlsoAfterARest) {
  OperationClocks clocks;
  for (std::size_t i = 0; i < OperationClocks::most_operations; ++i) {
    clocks.named(std::to_string(i), nullptr)->add(times(1, 1));
  }
  clocks.rest();
  EXPECT_EQ(clocks.named("one more", nullptr), nullptr);
  EXPECT_NE(clocks.named("0", nullptr), nullptr);
}

}  // namespace
}  // namespace rpcrdma::referee
