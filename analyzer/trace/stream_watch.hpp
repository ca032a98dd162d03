// SPDX-License-Identifier: GPL-2.0-or-later
// For those who want to know which octets of a TCP stream are what: told as the trace understands them, before the
// events that come of it.
#pragma once

#include <cstdint>

#include "trace/frame.hpp"
#include "wire/bytes.hpp"
#include "wire/mpa.hpp"

namespace rpcrdma::trace {

/// Something in one direction of a stream. Positions have the TCP sequence number as their lower 32 bits.
struct StreamPart {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  FrameRef first;            ///< frame of the first octet
  FrameRef last;             ///< an FPDU: frame of the last octet
  wire::Markers markers;     ///< where they stand in this direction
  wire::Bytes octets;        ///< as captured, without markers; valid only during the call
  std::uint32_t length = 0;  ///< of these on the wire
  wire::Bytes pad;           ///< an FPDU: between these and its CRC, as captured
  std::uint64_t offset = 0;  ///< an FPDU: where it begins, as events count (Send::sequence)
};

class StreamWatch {
 public:
  StreamWatch(const StreamWatch&) = delete;
  StreamWatch& operator=(const StreamWatch&) = delete;
  virtual ~StreamWatch() = default;
  /// An MPA Request or Reply; `octets` is all of it.
  virtual void handshake(const StreamPart& frame) = 0;
  /// The frame's segment begins as an MPA frame, where its stream begins, and waits for what it acknowledges:
  /// handshake() comes later, or never.
  virtual void waits(FrameRef /*frame*/) {}
  /// `octets` is the ULPDU: it stands behind the length word, at the third octet.
  virtual void fpdu(const StreamPart& fpdu) = 0;

 protected:
  StreamWatch() = default;
};

}  // namespace rpcrdma::trace
