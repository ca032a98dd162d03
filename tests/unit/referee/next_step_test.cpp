// SPDX-License-Identifier: GPL-2.0-or-later
// What the report advises for a mount that does not work.
#include <optional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "referee/mount/advice.hpp"
#include "referee/mount/obstacle.hpp"
#include "referee/mount/series.hpp"
#include "referee/rules/table.hpp"
#include "referee/state/mount.hpp"

namespace rpcrdma::referee {
namespace {

using ::testing::HasSubstr;

constexpr TimeNs wait = 5'000'000'000;

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
      attempt.answer = {2, 0};
      add_attempt(series, attempt);
    }
    Assessment assessment;
    assessment.state = MountFacts::State::never_up;
    assessment.failing = &series;
    take_obstacle(assessment, {}, wait);
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
    Mount mount;
    Life& life = mount.lives.emplace_back();  // shows that the machine is there
    AttemptSeries series;
    Attempt attempt;
    attempt.outcome = each.outcome;
    attempt.reason = each.reason;
    (each.outcome == Outcome::open ? life.heard[index(trace::Side::passive)] : attempt.answer) = {2, 0};
    mount.attempts.push_back(attempt);
    add_attempt(series, attempt);
    Assessment assessment;
    assessment.state = MountFacts::State::never_up;
    assessment.failing = &series;
    take_obstacle(assessment, mount, wait);
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
    assessment.lost = &life;
    take_obstacle(assessment, {}, wait);
    EXPECT_THAT(next_step(assessment),
                HasSubstr(by == Party::client ? "On the client: its log" : "On the server: its log"));
  }
}

struct CauseCase {
  RuleId rule;
  bool proven;
  MountFacts::Roles roles;
  std::string_view advice;
};

/// The sentence about the mount names the cause, proven or not; its rule advises, where it is known who is the client.
TEST(NextStep, IsThatOfTheRuleThatTheSentenceNames) {
  const auto known = MountFacts::Roles::known;
  const std::string_view sizes = rule(RuleId::inline_threshold_exceeded).next;
  for (const CauseCase& each : {CauseCase{RuleId::inline_threshold_exceeded, true, known, sizes},
                                CauseCase{RuleId::inline_threshold_exceeded, false, known, sizes},
                                CauseCase{RuleId::inline_threshold_exceeded, true, MountFacts::Roles::guessed,
                                          "On the server: cat /proc/fs/nfsd/threads"},
                                CauseCase{RuleId::rnr_nak_seen, false, known, rule(RuleId::rnr_nak_seen).next}}) {
    Life life;
    life.closed = Closed{Closed::How::nak, {7, 0}, Party::client, {}};
    life.closed->cause = Cause{each.rule, each.proven, {}, {}};
    Assessment assessment;
    assessment.state = MountFacts::State::down;
    assessment.obstacle = Obstacle::lost_calls;
    assessment.owes = Owes::server;
    assessment.roles = each.roles;
    assessment.lost = &life;
    if (each.roles != known) life.closed->how = Closed::How::disconnect;
    EXPECT_THAT(next_step(assessment), HasSubstr(std::string(each.advice)));
  }
}

struct WrongCase {
  OpenCall::Wrong wrong;
  std::string_view advice;
};

/// Threads and disks of the server are no help against what was broken.
TEST(NextStep, LooksAtWhatIsBroken) {
  for (const WrongCase& each : {WrongCase{OpenCall::Wrong::nothing, "cat /proc/fs/nfsd/threads"},
                                WrongCase{OpenCall::Wrong::call, "On the client: what makes the broken call"},
                                WrongCase{OpenCall::Wrong::answer, "On the server: what makes its broken answer"}}) {
    Assessment assessment;
    assessment.state = MountFacts::State::waiting;
    OpenCall& call = assessment.hanging.emplace_back();
    call.wrong = each.wrong;
    call.delivered = true;
    take_obstacle(assessment, {}, wait);
    EXPECT_THAT(next_step(assessment), HasSubstr(std::string(each.advice)));
  }
}

/// Who cannot tell says what would.
TEST(NextStep, AsksForAnotherCaptureWhereThisOneDoesNotTell) {
  using Doubt = Assessment::Doubt;
  for (int each = 0; each <= static_cast<int>(Doubt::unconfirmed); ++each) {
    Assessment assessment;
    assessment.doubt = static_cast<Doubt>(each);
    EXPECT_THAT(next_step(assessment), HasSubstr("capture")) << each;
  }
}

}  // namespace
}  // namespace rpcrdma::referee
