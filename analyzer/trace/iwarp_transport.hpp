// SPDX-License-Identifier: GPL-2.0-or-later
// iWARP: TCP streams, MPA, DDP, RDMAP.
#pragma once

#include <memory>
#include <vector>

#include "trace/packet.hpp"
#include "trace/trace.hpp"

namespace rpcrdma::trace {

class IwarpTransport {
 public:
  IwarpTransport(const Options& options, ConnectionNumbers& numbers, EventSink& sink);
  ~IwarpTransport();
  IwarpTransport(const IwarpTransport&) = delete;
  IwarpTransport& operator=(const IwarpTransport&) = delete;

  /// True when the segment belongs to a stream taken for iWARP. Ordinary TCP must cost next to nothing.
  bool segment(const TcpSegment& segment);
  /// The same segment again, by another way to the capture.
  bool copy(const TcpSegment& segment);
  /// ICMP says that a segment reached nobody: it may be an attempt to connect.
  void undelivered(const Undelivered& segment);
  /// Which addresses and ports speak MPA, as was seen here; and that another one does.
  [[nodiscard]] std::vector<Service> services() const;
  void serves(const Service& service);
  void finish(FrameRef last);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace rpcrdma::trace
