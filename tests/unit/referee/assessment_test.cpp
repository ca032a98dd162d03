// SPDX-License-Identifier: GPL-2.0-or-later
// What is made of what is known of a mount at the end.
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "referee/mount/account.hpp"
#include "referee/mount/assessment.hpp"
#include "referee/mount/series.hpp"
#include "referee/mount/trunks.hpp"
#include "referee/mount/words.hpp"
#include "referee/state/mount.hpp"

namespace rpcrdma::referee {
namespace {

using Doubt = Assessment::Doubt;

struct DoubtCase {
  const char* what;
  std::optional<Attempt::Outcome> attempt;  ///< of TCP alone
  std::uint64_t cut;                        ///< messages of a connection, none of which could be read
  bool refused;                             ///< another attempt, behind that one
  Doubt doubt;
  std::string says;
};

TEST(MountInDoubt, IsToldWhatIsMissing) {
  const std::string tcp = "TCP is up, and no MPA Request could be read.";
  const std::string messages = "no RPC message could be read, the capture cut them all.";
  for (const DoubtCase& each :
       {DoubtCase{"what the server said was cut", Attempt::Outcome::unreadable, 0, false, Doubt::only_tcp, tcp},
        DoubtCase{"and another was refused", Attempt::Outcome::unreadable, 0, true, Doubt::only_tcp, tcp},
        DoubtCase{"messages were cut", {}, 2, false, Doubt::nothing_readable, messages},
        DoubtCase{"both", Attempt::Outcome::unreadable, 2, false, Doubt::nothing_readable, messages}}) {
    SCOPED_TRACE(each.what);
    constexpr TimeNs wait = 5'000'000'000;
    Mount mount;
    if (each.attempt) {
      Attempt attempt;
      attempt.first = attempt.last = {1, 0};
      attempt.outcome = *each.attempt;
      mount.attempts.push_back(attempt);
    }
    if (each.refused) {
      Attempt attempt;
      attempt.first = attempt.last = {3, 0};
      attempt.answer = {4, 0};
      attempt.outcome = Attempt::Outcome::refused;
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

// As a moment before, when only the SYN was there, and a moment later, when the MPA Request is.
TEST(MountInDoubt, NotWhereTcpWasTakenAMomentAgo) {
  constexpr TimeNs wait = 5'000'000'000;
  for (const auto outcome : {Attempt::Outcome::open, Attempt::Outcome::accepted}) {
    Mount mount;
    Attempt attempt;
    attempt.first = attempt.last = {1, 0};
    attempt.outcome = outcome;
    mount.attempts.push_back(attempt);
    const Assessment assessment = assess(mount, {9, wait - 1}, wait);
    EXPECT_EQ(assessment.doubt, Doubt::none);
    EXPECT_EQ(assessment.state, MountFacts::State::never_up);
    EXPECT_EQ(sentence_of(mount, assessment),
              "No mount: the attempt to connect is still under way when the capture ends.");
  }
}

TEST(VerdictOfSeveral, BeginsWithTheWorst) {
  using State = MountFacts::State;
  std::vector<MountFacts> mounts;
  for (const State state : {State::waiting, State::working, State::waiting, State::waiting, State::waiting,
                            State::waiting, State::down, State::waiting}) {
    MountFacts facts;
    facts.id = static_cast<std::uint32_t>(mounts.size() + 1);
    facts.client = "10.0.0." + std::to_string(facts.id);
    facts.server = "10.0.1.1";
    facts.state = state;
    facts.sentence = state == State::down ? "Down." : "Hangs.";
    mounts.push_back(facts);
  }
  const Verdict verdict = verdict_of(mounts, {}, {}, {});
  EXPECT_EQ(verdict.mount, 7U);
  EXPECT_EQ(verdict.state, State::down);
  EXPECT_EQ(verdict.sentence.substr(0, verdict.sentence.find(" No rule")),
            "10.0.0.7 to 10.0.1.1: Down. 10.0.0.1 to 10.0.1.1: Hangs. 10.0.0.3 to 10.0.1.1: Hangs. "
            "10.0.0.4 to 10.0.1.1: Hangs. 10.0.0.5 to 10.0.1.1: Hangs. 3 mounts more, 2 of which do not work either.");
}

struct EndedCase {
  const char* what;
  std::size_t before;  ///< states that ended over the other mount of the session, ahead of what is awaited
  std::size_t behind;
  std::size_t here;  ///< behind it, over the mount itself
  bool told;         ///< that what is awaited was not among them
};

constexpr std::size_t kept = Promises::most_recalls;
static_assert(Promises::most_copies == kept);
constexpr EndedCase ended_cases[] = {{"as many as are kept, less one", 0, kept - 1, 0, true},
                                     {"many ahead, and few behind", 3 * kept, kept - 1, 0, true},
                                     {"more than are kept", 0, kept + 1, 0, false},
                                     {"more than are kept, and many ahead", 3 * kept, kept + 1, 0, false},
                                     {"more than are kept here, where it would have been seen", 0, 0, kept + 1, true},
                                     {"the same, and a few elsewhere", 0, kept - 1, kept + 1, true},
                                     {"the same, and many ahead elsewhere", 3 * kept, 0, kept + 1, true},
                                     {"more than are kept everywhere", 0, kept + 1, kept + 1, false}};

[[nodiscard]] wire::StateId state(std::uint8_t which) {
  wire::StateId id;
  id.other[0] = which;
  return id;
}

/// Two addresses of one session: over one something is awaited, over both so much of its kind ended.
struct Trunked {
  Mount mount;
  Mount elsewhere;
  FrameRef awaited;
  std::uint64_t frame = 10;

  Trunked() {
    wire::SessionId session;
    session.octets[0] = 7;
    for (Mount* each : {&mount, &elsewhere}) each->nfs.clients.uses(session);
    Life life;
    life.id = 1;
    life.opened = {1, 0};
    life.messages = life.readable = life.forward = 1;
    mount.lives.push_back(life);
  }
  template <class Kept>
  void end(const EndedCase& each, Kept Promises::*over) {
    for (std::size_t i = 0; i < each.before; ++i) (elsewhere.nfs.promises.*over).add({state(2), next()});
    awaited = next();
    for (std::size_t i = 0; i < each.behind; ++i) (elsewhere.nfs.promises.*over).add({state(2), next()});
    for (std::size_t i = 0; i < each.here; ++i) (mount.nfs.promises.*over).add({state(2), next()});
  }
  [[nodiscard]] FrameRef next() {
    ++frame;
    return {frame, static_cast<TimeNs>(frame)};
  }
  [[nodiscard]] Assessment assessed() {
    Trunks trunks;
    trunks.add(mount.nfs);
    trunks.add(elsewhere.nfs);
    trunks.tell(mount.nfs);
    constexpr TimeNs wait = 5'000'000'000;
    return assess(mount, {frame + 1, 2 * wait}, wait);
  }
};

constexpr const char* more_than_kept =
    "What happened to the mount cannot be told: more was returned, or completed, over other addresses of its session "
    "than the analyzer keeps, and what is awaited here may be among it.";

TEST(MountInDoubt, WhatIsAwaitedMayBeAmongMoreThanIsKept) {
  for (const EndedCase& each : ended_cases) {
    for (const Recall::Of of : {Recall::Of::delegation, Recall::Of::layout}) {
      SCOPED_TRACE(each.what);
      Trunked trunked;
      trunked.end(each, of == Recall::Of::layout ? &Promises::layouts_returned : &Promises::returned);
      Recall recall;
      recall.of = of;
      recall.state = state(1);
      recall.callback = recall.answer = trunked.awaited;
      trunked.mount.nfs.promises.recalls.push_back(recall);
      const Assessment assessment = trunked.assessed();
      EXPECT_EQ(assessment.recalls.size(), each.told ? 1U : 0U);
      EXPECT_EQ(sentence_of(trunked.mount, assessment) == more_than_kept, !each.told);
    }
    Trunked trunked;
    trunked.end(each, &Promises::copies_over);
    AsyncCopy copy;
    copy.state = state(1);
    copy.call = copy.reply = trunked.awaited;
    trunked.mount.nfs.promises.copies.push_back(copy);
    const Assessment assessment = trunked.assessed();
    EXPECT_EQ(assessment.copies.size(), each.told ? 1U : 0U);
    EXPECT_EQ(sentence_of(trunked.mount, assessment) == more_than_kept, !each.told);
  }
}

// A mount keeps so many sessions: whose state came back over an address that has had more is not known.
TEST(MountInDoubt, WhatIsAwaitedMayHaveEndedInASessionThatWasForgotten) {
  for (const bool here : {false, true}) {
    Trunked trunked;
    trunked.awaited = trunked.next();
    for (std::size_t i = 0; i < NfsClients::most_sessions; ++i) {
      wire::SessionId another;
      another.octets[1] = static_cast<std::uint8_t>(i + 1);
      (here ? trunked.mount : trunked.elsewhere).nfs.clients.uses(another);
    }
    Recall recall;
    recall.state = state(1);
    recall.callback = recall.answer = trunked.awaited;
    trunked.mount.nfs.promises.recalls.push_back(recall);
    EXPECT_EQ(sentence_of(trunked.mount, trunked.assessed()), more_than_kept) << here;
  }
}

TEST(MountInDoubt, WhatIsNotKeptMayBeAwaited) {
  constexpr TimeNs wait = 5'000'000'000;
  for (const bool long_ago : {false, true}) {
    Mount mount;
    Life life;
    life.id = 1;
    life.opened = {1, 0};
    life.messages = life.readable = life.forward = 1;
    life.answer = Life::Answer::taken;
    mount.lives.push_back(life);
    mount.nfs.promises.copy_not_kept = {8, long_ago ? 0 : wait};
    const Assessment assessment = assess(mount, {9, 2 * wait - 1}, wait);
    EXPECT_EQ(assessment.doubt, long_ago ? Doubt::not_kept : Doubt::none);
    EXPECT_EQ(assessment.state, long_ago ? MountFacts::State::unknown : MountFacts::State::working);
  }
}

// A router that says that nobody is there is not the server.
TEST(AttemptsOfAMount, ThatARouterAnswers) {
  constexpr TimeNs second = 1'000'000'000;
  for (const auto says : {trace::ReportBy::server, trace::ReportBy::another}) {
    Mount mount;
    for (std::uint64_t i = 1; i <= 3; ++i) {
      Attempt attempt;
      attempt.client_port = static_cast<std::uint16_t>(40000 + i);
      attempt.first = attempt.last = {2 * i, static_cast<TimeNs>(i) * second};
      attempt.answer = {2 * i + 1, static_cast<TimeNs>(i) * second};
      attempt.outcome = Attempt::Outcome::unreachable;
      attempt.says = says;
      mount.attempts.push_back(attempt);
    }
    const Assessment assessment = assess(mount, {9, 9 * second}, 5 * second);
    EXPECT_EQ(assessment.state, MountFacts::State::never_up);
    EXPECT_EQ(assessment.owes, says == trace::ReportBy::server ? Owes::server : Owes::server_unreachable);
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
