// SPDX-License-Identifier: GPL-2.0-or-later
// A share of a capture's connections: what goes between some pairs of addresses, with a trace and a referee of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "referee/referee.hpp"
#include "referee/shares.hpp"
#include "trace/transports.hpp"

namespace rpcrdma::cli {

/// What another share has shown.
struct Serves {
  trace::Service service;
  trace::FrameRef frame;
};

class Share {
 public:
  /// Both with `share`. `tracing` outlives it.
  Share(const trace::Options& tracing, const referee::Options& judging);
  Share(const Share&) = delete;
  Share& operator=(const Share&) = delete;

  // In the order of the capture
  void time_passed(trace::FrameRef frame) { transports_->time_passed(frame); }
  void take(const trace::IbPacket& packet, trace::Opener::Task task) { transports_->take(packet, task); }
  void take(const trace::TcpSegment& segment, trace::Opener::Task task) {
    if (transports_->take(segment, task)) ++rdma_segments_;
  }
  void take(const trace::Undelivered& segment) { transports_->take(segment); }
  void take(const Serves& serves) { transports_->serves(serves.service, serves.frame); }
  /// The time of this frame lies before its predecessor's.
  void of_capture(trace::Quality::Kind kind, trace::FrameRef frame) { transports_->of_capture(kind, frame); }

  /// TCP segments that carried RDMA.
  [[nodiscard]] std::uint64_t rdma_segments() const noexcept { return rdma_segments_; }
  [[nodiscard]] std::vector<trace::Service> services() const { return transports_->services(); }
  /// First this, of each share; then the other, with what all of them said.
  [[nodiscard]] referee::AcrossMounts finish_connections(trace::FrameRef last_frame, trace::FrameRef last);
  [[nodiscard]] referee::Share finish(trace::FrameRef last, trace::FrameRef first, const referee::AcrossMounts& across);

 private:
  referee::Referee judge_;
  std::optional<trace::Transports> transports_;  ///< until they are finished
  std::vector<trace::Moment> numbered_;          ///< behind that
  std::uint64_t rdma_segments_ = 0;
};

}  // namespace rpcrdma::cli
