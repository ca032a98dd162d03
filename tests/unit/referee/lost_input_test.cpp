// SPDX-License-Identifier: GPL-2.0-or-later
// A file of a ring that could not be read, where a mount has no connection that would tell of it.
#include <functional>

#include <gtest/gtest.h>

#include "story.hpp"

namespace rpcrdma::referee {
namespace {

using State = MountFacts::State;
using Step = trace::TcpAttempt::Step;
using story::Story;

constexpr trace::TimeNs a_minute = 60'000'000'000;

class RingStory {
 public:
  RingStory& tcp(Step step) {
    trace::TcpAttempt event;
    event.side = step == Step::request || step == Step::repeated ? trace::Side::active : trace::Side::passive;
    event.frame = {++it.frame, it.now += 10'000};
    event.step = step;
    event.client = {"192.0.2.2", 40000, std::nullopt, 0, {}};
    event.server = {"192.0.2.1", 20049, std::nullopt, 0, {}};
    it.referee.on(event);
    return *this;
  }
  RingStory& lost() {
    trace::Quality event;
    event.frame = {++it.frame, it.now += a_minute};
    event.kind = trace::Quality::Kind::input_lost;
    it.referee.on(event);
    return *this;
  }
  RingStory& seconds(int count) {
    it.wait(count * 1'000'000'000LL);
    return *this;
  }
  RingStory& reset_with_a_call() {
    it.connect().call(7).reply(7).call(8);
    it.close(trace::Side::passive, trace::Disconnect::How::reset);
    return *this;
  }
  RingStory& closed_in_order() {
    it.connect().call(7).reply(7);
    it.close(trace::Side::active);
    return *this;
  }

  Story it;
};

struct LossCase {
  const char* what;
  std::function<void(RingStory&)> happens;
  State state;
  bool unanswered;  ///< connect-unanswered is found
};

TEST(LostInput, HidesWhatBecameOfAMountThatHadNoConnection) {
  for (const LossCase& each : {
           LossCase{"a SYN, and the rest in what was lost", [](auto& s) { s.tcp(Step::request).lost(); },
                    State::unknown, false},
           LossCase{"nothing lost", [](auto& s) { s.tcp(Step::request); }, State::never_up, true},
           LossCase{"lost in front of it", [](auto& s) { s.lost().tcp(Step::request); }, State::never_up, true},
           LossCase{"taken by TCP", [](auto& s) { s.tcp(Step::request).tcp(Step::accepted).lost(); }, State::unknown,
                    false},
           LossCase{"repeated in vain in front of the loss",
                    [](auto& s) {
                      s.tcp(Step::request).seconds(1).tcp(Step::repeated).seconds(2).tcp(Step::repeated).lost();
                    },
                    State::unknown, true},
           LossCase{"repeated once", [](auto& s) { s.tcp(Step::request).seconds(1).tcp(Step::repeated).lost(); },
                    State::unknown, false},
           LossCase{"refused", [](auto& s) { s.tcp(Step::request).tcp(Step::refused).lost(); }, State::unknown, false},
           LossCase{"refused behind the loss", [](auto& s) { s.lost().tcp(Step::request).tcp(Step::refused); },
                    State::never_up, false},
           LossCase{"reset with a Call open", [](auto& s) { s.reset_with_a_call().lost(); }, State::unknown, false},
           LossCase{"reset, and nothing lost", [](auto& s) { s.reset_with_a_call(); }, State::down, false},
           LossCase{"reset behind the loss", [](auto& s) { s.lost().reset_with_a_call(); }, State::down, false},
           LossCase{"closed in good order, and refused behind the loss",
                    [](auto& s) { s.closed_in_order().lost().tcp(Step::request).tcp(Step::refused); }, State::down,
                    false},
           LossCase{"closed in good order", [](auto& s) { s.closed_in_order().lost(); }, State::closed, false},
       }) {
    SCOPED_TRACE(each.what);
    RingStory ring;
    each.happens(ring);
    ring.it.wait(a_minute);
    const Report report = ring.it.end();
    ASSERT_EQ(report.mounts.size(), 1U);
    EXPECT_EQ(report.mounts.front().state, each.state) << report.mounts.front().sentence;
    EXPECT_EQ(!story::found(report, RuleId::connect_unanswered).empty(), each.unanswered);
    if (each.state == State::unknown) {
      EXPECT_EQ(report.mounts.front().owes, Owes::unknown);
      EXPECT_FALSE(report.mounts.front().since);
      EXPECT_NE(report.mounts.front().sentence.find("input that could not be read"), std::string::npos)
          << report.mounts.front().sentence;
      EXPECT_NE(report.mounts.front().next.find("every file"), std::string::npos) << report.mounts.front().next;
    }
  }
}

}  // namespace
}  // namespace rpcrdma::referee
