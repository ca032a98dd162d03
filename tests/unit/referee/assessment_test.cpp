// SPDX-License-Identifier: GPL-2.0-or-later
// What is made of what is known of a mount at the end.
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "referee/mount/assessment.hpp"
#include "referee/mount/series.hpp"
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

struct ReceiptCase {
  const char* what;
  std::vector<bool> acknowledged;  ///< by MRA, of each attempt
  Owes owes;
  std::string says;
};

// The server has what it acknowledged. Of a series in which it did not always do so it is said how often, and who owes
// the next step is told by the newest attempt.
TEST(AttemptsOfAMount, AcknowledgedAndNeverDecided) {
  const std::string has_it = " The server has the request and has not said yes or no.";
  for (const ReceiptCase& each :
       {ReceiptCase{"the only one",
                    {true},
                    Owes::server,
                    "1 attempt to connect was acknowledged by the server (MRA, frame 11) and never decided, frame 10." +
                        has_it},
        ReceiptCase{"all",
                    {true, true},
                    Owes::server,
                    "2 attempts to connect were acknowledged by the server (MRA, frame 21) and never decided, from "
                    "frame 10 to 20." +
                        has_it},
        ReceiptCase{"the newest",
                    {false, true},
                    Owes::server,
                    "2 attempts to connect were not answered, 1 of them acknowledged by the server (MRA) and never "
                    "decided, from frame 10 to 20." +
                        has_it},
        ReceiptCase{"not the newest",
                    {true, true, false},
                    Owes::unknown,
                    "3 attempts to connect were not answered, 2 of them acknowledged by the server (MRA) and never "
                    "decided, from frame 10 to 30."}}) {
    SCOPED_TRACE(each.what);
    constexpr TimeNs wait = 5'000'000'000;
    Mount mount;
    std::uint64_t frame = 0;
    for (const bool acknowledged : each.acknowledged) {
      frame += 10;
      Attempt attempt;
      attempt.first = attempt.last = {frame, trace::TimeNs(frame) * wait};
      if (acknowledged) attempt.receipt = {frame + 1, trace::TimeNs(frame + 1) * wait};
      mount.attempts.push_back(attempt);
    }
    const Assessment assessment = assess(mount, {99, 99 * wait}, wait);
    EXPECT_EQ(assessment.owes, each.owes);
    EXPECT_EQ(sentence_of(mount, assessment), "No mount: " + each.says);
  }
}

}  // namespace
}  // namespace rpcrdma::referee
