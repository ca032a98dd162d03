// SPDX-License-Identifier: GPL-2.0-or-later
// What is made of what is known of a mount at the end.
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "referee/mount/assessment.hpp"
#include "referee/mount/words.hpp"
#include "referee/state/mount.hpp"

namespace rpcrdma::referee {
namespace {

using Doubt = Assessment::Doubt;

struct DoubtCase {
  const char* what;
  std::optional<Attempt::Outcome> attempt;  ///< of TCP alone
  std::uint64_t cut;                        ///< messages of a connection, none of which could be read
  Doubt doubt;
  std::string says;
};

TEST(MountInDoubt, IsToldWhatIsMissing) {
  const std::string tcp = "TCP is up, and no MPA Request could be read.";
  const std::string messages = "no RPC message could be read, the capture cut them all.";
  for (const DoubtCase& each :
       {DoubtCase{"taken a moment ago", Attempt::Outcome::accepted, 0, Doubt::only_tcp, tcp},
        DoubtCase{"what the server said was cut", Attempt::Outcome::unreadable, 0, Doubt::only_tcp, tcp},
        DoubtCase{"messages were cut", {}, 2, Doubt::nothing_readable, messages},
        DoubtCase{"both", Attempt::Outcome::unreadable, 2, Doubt::nothing_readable, messages}}) {
    SCOPED_TRACE(each.what);
    constexpr TimeNs wait = 5'000'000'000;
    Mount mount;
    if (each.attempt) {
      Attempt attempt;
      attempt.first = attempt.last = {1, 0};
      attempt.outcome = *each.attempt;
      mount.attempts.push_back(attempt);
    }
    if (each.cut != 0) {
      Life life;
      life.id = 1;
      life.opened = {2, 0};
      life.messages = life.cut = each.cut;
      mount.lives.push_back(life);
    }
    const Assessment assessment = assess(mount, {9, wait - 1}, wait);
    EXPECT_EQ(assessment.doubt, each.doubt);
    EXPECT_EQ(sentence_of(mount, assessment), "What happened to the mount cannot be told: " + each.says);
  }
}

struct CountedCase {
  Attempt::Outcome outcome;
  std::uint64_t refused;
  std::uint64_t unanswered;
  std::uint64_t only_tcp;
};

TEST(AttemptsOfAMount, TellHowFarTheyCame) {
  using Outcome = Attempt::Outcome;
  for (const CountedCase& each : {CountedCase{Outcome::open, 0, 1, 0}, CountedCase{Outcome::accepted, 0, 1, 1},
                                  CountedCase{Outcome::given_up, 0, 1, 0}, CountedCase{Outcome::refused, 1, 0, 0},
                                  CountedCase{Outcome::established, 0, 0, 0}}) {
    Attempt attempt;
    attempt.outcome = each.outcome;
    MountFacts::Attempts counts;
    count_attempt(counts, attempt);
    EXPECT_EQ(counts.made, 1U);
    EXPECT_EQ(counts.refused, each.refused);
    EXPECT_EQ(counts.unanswered, each.unanswered);
    EXPECT_EQ(counts.only_tcp, each.only_tcp);
  }
}

}  // namespace
}  // namespace rpcrdma::referee
