// SPDX-License-Identifier: GPL-2.0-or-later
// Who stands in front of another observer hands all on.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "referee/forwarding.hpp"
#include "report/tap_calls.hpp"
#include "trace/taps.hpp"

namespace rpcrdma::report {
namespace {

using referee::ConnectionFacts;

class Heard final : public referee::Observer {
 public:
  std::vector<std::string> all;

  void handshake(const ConnectionFacts&, trace::Side, trace::FrameRef) override { all.emplace_back("handshake"); }
  void message(const ConnectionFacts&, const referee::MessageSeen&) override { all.emplace_back("message"); }
  void operation(const ConnectionFacts&, const referee::OperationSeen&) override { all.emplace_back("operation"); }
  void heard(const trace::ConnectRequest&) override { all.emplace_back("request"); }
  void heard(const trace::ConnectReply&) override { all.emplace_back("reply"); }
  void heard(const trace::ConnectReject&) override { all.emplace_back("reject"); }
  void heard(const trace::ConnectReady&) override { all.emplace_back("ready"); }
  void heard(const trace::Disconnect&) override { all.emplace_back("disconnect"); }
  void heard(const trace::Refusal&) override { all.emplace_back("refusal"); }
  void heard(const trace::Gap&) override { all.emplace_back("gap"); }
  void heard(const trace::Repeated&) override { all.emplace_back("repeated"); }
};

void tell_everything(referee::Observer& observer) {
  const ConnectionFacts facts;
  observer.handshake(facts, trace::Side::active, {});
  observer.message(facts, {});
  observer.operation(facts, {});
  observer.heard(trace::ConnectRequest{});
  observer.heard(trace::ConnectReply{});
  observer.heard(trace::ConnectReject{});
  observer.heard(trace::ConnectReady{});
  observer.heard(trace::Disconnect{});
  observer.heard(trace::Refusal{});
  observer.heard(trace::Gap{});
  observer.heard(trace::Repeated{});
}

TEST(Forwarding, HandsOnEverything) {
  Heard directly;
  tell_everything(directly);
  ASSERT_EQ(directly.all.size(), 11U);
  {
    Heard behind;
    referee::Forwarding forwarding(&behind);
    tell_everything(forwarding);
    EXPECT_EQ(behind.all, directly.all);
  }
  {
    Heard behind;
    trace::TapTally tally{trace::TapClocks()};
    TapCalls calls(tally, &behind);
    tell_everything(calls);
    EXPECT_EQ(behind.all, directly.all);
  }
  referee::Forwarding to_nobody;
  tell_everything(to_nobody);
}

}  // namespace
}  // namespace rpcrdma::report
