// SPDX-License-Identifier: GPL-2.0-or-later
// What the report advises for a mount that does not work.
#include <optional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "referee/mount/advice.hpp"
#include "referee/mount/series.hpp"
#include "referee/rules/table.hpp"
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

struct ReasonCase {
  Attempt::Outcome outcome;
  std::optional<std::uint16_t> reason;  ///< of the REJ; MPA has none
  std::string advice;
};

/// A port list tells whether somebody listens. Who refused for another reason does.
TEST(NextStep, FitsTheReasonOfTheRefusal) {
  using Outcome = Attempt::Outcome;
  for (const ReasonCase& each :
       {ReasonCase{Outcome::refused, {}, "portlist"}, ReasonCase{Outcome::rejected, 8, "portlist"},
        ReasonCase{Outcome::rejected, 1, "queue pairs"}, ReasonCase{Outcome::rejected, 3, "queue pairs"},
        ReasonCase{Outcome::rejected, 10, "old connection"}, ReasonCase{Outcome::rejected, 28, "listens there"},
        ReasonCase{Outcome::rejected, 30, "old connection"},
        ReasonCase{Outcome::rejected, 12, "the path in the request"},
        ReasonCase{Outcome::rejected, 26, "the path in the request"}, ReasonCase{Outcome::rejected, 5, "adapters"},
        ReasonCase{Outcome::rejected, 29, "adapters"}, ReasonCase{Outcome::rejected, 24, "another port"},
        ReasonCase{Outcome::unheard, 4, "comes through"}, ReasonCase{Outcome::rejected, {}, "listens there"},
        ReasonCase{Outcome::open, {}, "portlist"}}) {
    AttemptSeries series;
    Attempt attempt;
    attempt.outcome = each.outcome;
    attempt.reason = each.reason;
    add_attempt(series, attempt);
    Assessment assessment;
    assessment.owes = each.outcome == Outcome::unheard ? Owes::unknown : Owes::server;
    assessment.failing = &series;
    EXPECT_THAT(next_step(assessment), HasSubstr(each.advice));
  }
}

/// One row for all reasons: each kind of them has its own advice, and the port list is that of the reason 8 alone.
TEST(NextStep, OfTheRuleAdvisesForEachReason) {
  const std::string_view advice = rule(RuleId::cm_rejected).next;
  EXPECT_THAT(advice, HasSubstr("Reason 8: on the server cat /proc/fs/nfsd/portlist"));
  EXPECT_THAT(advice, HasSubstr("28, or by MPA"));
  for (const char* each : {"queue pairs", "earlier connection", "GIDs", "another port", "comes through"}) {
    EXPECT_THAT(advice, HasSubstr(each));
  }
}

/// A reset connection on which nothing was called: who has to answer is not known, who ended it is.
TEST(NextStep, NamesWhoEndedTheConnection) {
  for (const Party by : {Party::server, Party::client}) {
    Life life;
    life.closed = Closed{Closed::How::reset, {7, 0}, by, {}};
    Assessment assessment;
    assessment.state = MountFacts::State::down;
    assessment.owes = Owes::unknown;
    assessment.lost = &life;
    EXPECT_EQ(next_step(assessment).empty(), by == Party::client);
  }
}

}  // namespace
}  // namespace rpcrdma::referee
