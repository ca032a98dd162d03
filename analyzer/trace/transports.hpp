// SPDX-License-Identifier: GPL-2.0-or-later
// Inside trace: both transports of a trace, or of a part of its connections. Packets in, RDMA events out.
#pragma once

#include <vector>

#include "trace/ib_transport.hpp"
#include "trace/iwarp_transport.hpp"
#include "trace/opener.hpp"
#include "trace/packet.hpp"
#include "trace/trace.hpp"

namespace rpcrdma::trace {

class Transports {
 public:
  /// Both outlive it.
  Transports(const Options& options, EventSink& sink)
      : sink_(sink), infiniband_(options, numbers_, sink), iwarp_(options, numbers_, sink) {}

  /// What is said of the capture as a whole.
  void of_capture(Quality::Kind kind, FrameRef frame) {
    numbers_.at({Moment::Step::frame, frame.number});
    quality(kind, frame);
  }
  /// This frame's time has come, and not yet what it holds.
  void time_passed(FrameRef frame) { infiniband_.time_passed(frame); }
  void take(const IbPacket& packet, Opener::Task task) {
    numbers_.at({Moment::Step::frame, packet.ref.number});
    if (task == Opener::Task::copy) {
      infiniband_.copy(packet);
      return;
    }
    infiniband_.packet(packet);
    if (packet.octets.size() < packet.wire_length) quality(Quality::Kind::frame_truncated, packet.ref);
  }
  /// True: it belongs to a stream taken for iWARP.
  bool take(const TcpSegment& segment, Opener::Task task) {
    numbers_.at({Moment::Step::frame, segment.ref.number});
    if (task == Opener::Task::copy) return iwarp_.copy(segment);
    if (!iwarp_.segment(segment)) return false;
    if (segment.payload.size() < segment.wire_length) quality(Quality::Kind::frame_truncated, segment.ref);
    return true;
  }
  void take(const Undelivered& undelivered) {
    numbers_.at({Moment::Step::frame, undelivered.ref.number});
    if (undelivered.what == Undelivered::What::request) {
      infiniband_.undelivered(undelivered);
    } else {
      iwarp_.undelivered(undelivered);
    }
  }

  // The end, in this order
  void finish_infiniband(FrameRef last) { infiniband_.finish(last); }
  void finish_iwarp(FrameRef last) { iwarp_.finish(last); }

  // For those who have a part of the connections
  /// What is said now.
  [[nodiscard]] const Moment& now() const noexcept { return numbers_.now(); }
  /// From now on it is remembered when each connection got its number.
  void remember_numbers() noexcept { numbers_.remember(); }
  /// By number, from 1.
  [[nodiscard]] const std::vector<Moment>& numbered() const noexcept { return numbers_.numbered(); }
  /// These addresses and ports speak MPA.
  [[nodiscard]] std::vector<Service> services() const { return iwarp_.services(); }
  /// So does this one, as another part has seen.
  void serves(const Service& service, FrameRef frame) {
    numbers_.at({Moment::Step::frame, frame.number});
    iwarp_.serves(service);
  }

 private:
  void quality(Quality::Kind kind, FrameRef frame) {
    Quality event;
    event.frame = frame;
    event.kind = kind;
    sink_.on(event);
  }

  EventSink& sink_;
  ConnectionNumbers numbers_;
  IbTransport infiniband_;
  IwarpTransport iwarp_;
};

}  // namespace rpcrdma::trace
