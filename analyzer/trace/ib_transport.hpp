// SPDX-License-Identifier: GPL-2.0-or-later
// InfiniBand transport (RoCEv1, RoCEv2, native): CM, RC flows, PSN order, reassembly.
#pragma once

#include <memory>

#include "trace/packet.hpp"
#include "trace/trace.hpp"

namespace rpcrdma::trace {

class IbTransport {
 public:
  IbTransport(const Options& options, ConnectionNumbers& numbers, EventSink& sink);
  ~IbTransport();
  IbTransport(const IbTransport&) = delete;
  IbTransport& operator=(const IbTransport&) = delete;

  void packet(const IbPacket& packet);
  /// The same packet again, by another way to the capture.
  void copy(const IbPacket& packet);
  /// A REQ that nobody took.
  void undelivered(const Undelivered& request);
  /// What the frame holds comes after this.
  void time_passed(FrameRef frame);
  void finish(FrameRef last);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace rpcrdma::trace
