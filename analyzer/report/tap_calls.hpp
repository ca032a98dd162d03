// SPDX-License-Identifier: GPL-2.0-or-later
// Where the time of Calls went that two taps saw: to the peer, there, and back.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <tuple>

#include "referee/observer.hpp"
#include "report/report.hpp"
#include "trace/taps/sample.hpp"

namespace rpcrdma::report {

/// Hands all on to `next`, where there is one.
class TapCalls final : public referee::Observer {
 public:
  TapCalls(const trace::TapTally& tally, referee::Observer* next) : tally_(tally), next_(next) {}

  void handshake(const referee::ConnectionFacts& connection, trace::Side sender, trace::FrameRef frame) override {
    if (next_ != nullptr) next_->handshake(connection, sender, frame);
  }
  void message(const referee::ConnectionFacts& connection, const referee::MessageSeen& seen) override;
  void operation(const referee::ConnectionFacts& connection, const referee::OperationSeen& seen) override {
    if (next_ != nullptr) next_->operation(connection, seen);
  }
  void heard(const trace::ConnectRequest& event) override { hand_on(event); }
  void heard(const trace::ConnectReply& event) override { hand_on(event); }
  void heard(const trace::ConnectReject& event) override { hand_on(event); }
  void heard(const trace::ConnectReady& event) override { hand_on(event); }
  void heard(const trace::Disconnect& event) override { hand_on(event); }
  void heard(const trace::Refusal& event) override { hand_on(event); }
  void heard(const trace::Gap& event) override { hand_on(event); }

  /// Once, at the end.
  [[nodiscard]] Taps::Calls finish();

 private:
  static constexpr std::size_t most_open = 65536;

  struct Call {
    trace::FrameRef first;
    trace::FrameRef last;
  };
  struct Answered {
    trace::FrameRef call;    ///< its first packet
    trace::TapWay call_way;  ///< that packet's
    trace::FrameRef reply;
    trace::TimeNs there = 0;
    std::string_view operation;  ///< of static storage
  };

  template <typename Event>
  void hand_on(const Event& event) {
    if (next_ != nullptr) next_->heard(event);
  }
  void count(const Answered& answered);

  const trace::TapTally& tally_;
  referee::Observer* next_;
  std::map<std::uint64_t, Call> open_;  // by connection and exchange
  std::deque<Answered> answered_;       // whose Reply may still pass the other tap
  trace::taps::Sample whole_, there_, peer_, back_;
  std::optional<Taps::Calls::Slowest> slowest_;
};

}  // namespace rpcrdma::report
