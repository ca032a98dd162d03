// SPDX-License-Identifier: GPL-2.0-or-later
// How a connection comes about.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "story.hpp"

namespace rpcrdma::referee {
namespace {

using story::found;
using story::Story;
using trace::Side;

// Of what the capture cut, only what the server itself said here may have been its answer.
TEST(Handshake, WhoEndsTcpBehindWhatIsCutMayHaveAnswered) {
  using Kind = trace::Quality::Kind;
  struct Case {
    const char* says;
    std::uint32_t connection;
    Kind kind;
    bool refused;
  };
  const std::vector<Case> cases = {
      {"nothing is cut", 1, Kind::reordered, true},
      {"a frame is cut, whatever it is of", 0, Kind::frame_truncated, true},
      {"what another server said is cut", 2, Kind::mpa_cut, true},
      {"what this one said is cut", 1, Kind::mpa_cut, false},
  };
  for (const Case& each : cases) {
    Story s;
    s.request();
    trace::Quality cut;
    cut.connection = each.connection;
    cut.side = Side::passive;
    cut.frame = {++s.frame, s.now += 10'000};
    cut.kind = each.kind;
    s.referee.on(cut);
    const Report report = s.close(Side::passive, trace::Disconnect::How::fin).end();
    EXPECT_EQ(found(report, RuleId::cm_rejected).size(), each.refused ? 1U : 0U) << each.says;
  }
}

}  // namespace
}  // namespace rpcrdma::referee
