// SPDX-License-Identifier: GPL-2.0-or-later
// What the report advises for a mount that does not work.
#include <optional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "referee/mount/assessment.hpp"
#include "referee/mount/words.hpp"
#include "referee/state/mount.hpp"

namespace rpcrdma::referee {
namespace {

using ::testing::HasSubstr;

struct PortCase {
  std::optional<std::uint16_t> asked_for;
  std::string advice;
};

/// The service that has to be there is the one that was asked for.
TEST(NextStep, NamesThePortOfTheAttempts) {
  for (const PortCase& port :
       {PortCase{20049, "'rdma 20049'"}, PortCase{2050, "'rdma 2050'"}, PortCase{{}, "'rdma 20049'"}}) {
    AttemptSeries series;
    for (int i = 0; i < 3; ++i) {
      Attempt attempt;
      attempt.server_port = port.asked_for;
      attempt.outcome = Attempt::Outcome::refused;
      add_attempt(series, attempt);
    }
    Assessment assessment;
    assessment.owes = Owes::server;
    assessment.failing = &series;
    EXPECT_THAT(next_step(assessment), HasSubstr(port.advice));
  }
}

}  // namespace
}  // namespace rpcrdma::referee
