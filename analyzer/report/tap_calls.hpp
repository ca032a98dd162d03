// SPDX-License-Identifier: GPL-2.0-or-later
// Where the time of Calls went that two taps saw: to the peer, there, and back.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <tuple>

#include "referee/forwarding.hpp"
#include "report/report.hpp"
#include "trace/taps/sample.hpp"

namespace rpcrdma::report {

class TapCalls final : public referee::Forwarding {
 public:
  TapCalls(const trace::TapTally& tally, referee::Observer* next) : Forwarding(next), tally_(tally) {}

  void message(const referee::ConnectionFacts& connection, const referee::MessageSeen& seen) override;

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

  void open(std::uint64_t key, const Call& call);
  void count(const Answered& answered);

  const trace::TapTally& tally_;
  std::map<std::uint64_t, Call> open_;  // by connection and exchange
  std::deque<std::uint64_t> order_;     // of them, and of some that are answered
  std::deque<Answered> answered_;       // whose Reply may still pass the other tap
  trace::taps::Sample whole_, there_, peer_, back_;
  std::optional<Taps::Calls::Slowest> slowest_;
};

}  // namespace rpcrdma::report
