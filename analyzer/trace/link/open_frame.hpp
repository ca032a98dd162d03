// SPDX-License-Identifier: GPL-2.0-or-later
// Inside trace: from a frame to the one transport packet in it. No state but the fragments of IP packets.
#pragma once

#include <cstdint>

#include "trace/frame.hpp"
#include "trace/link/fragments.hpp"
#include "trace/not_opened.hpp"
#include "trace/packet.hpp"

namespace rpcrdma::trace {

enum class Content : std::uint8_t {
  nothing,       ///< no RDMA and no TCP, or not enough of it captured to tell
  infiniband,    ///< `ib` is filled
  tcp,           ///< `tcp` is filled
  undelivered,   ///< `undelivered` is filled: ICMP about a TCP segment
  tunnel,        ///< another packet inside a packet, which is not opened: `not_opened` says what
  unknown_link,  ///< a link type, or a link inside ERF, that is not opened
};

/// Packets inside packets that are opened in one frame: mirror and overlay headers, not VLAN tags.
inline constexpr int max_encapsulations = 8;

/// What a frame holds. Of `ib`, `tcp` and `undelivered` only the one that `content` names means anything; the others
/// may hold remains of earlier frames, so that one object can serve for all. Spans point into the frame, or into
/// `Fragments`.
struct Opened {
  Content content = Content::nothing;
  bool frame_cut = false;     ///< the capture holds fewer octets of the frame than were on the wire
  std::uint32_t network = 0;  ///< VLANs and keys of tunnels on the way, mixed; 0: none. A mirror's own do not count
  NotOpened not_opened;       ///< where the way through the frame ended, when RDMA may lie behind it
  IbPacket ib;
  TcpSegment tcp;
  UndeliveredSegment undelivered;
};

/// Opens link and network layers, mirror and overlay headers down to a BTH, a TCP header or what ICMP quotes of one;
/// anything else is passed by at the first field that tells. Never fails: a header that is cut off, broken or of an
/// unknown form makes the frame hold nothing.
/// `fragments`: of a packet in pieces the frame with the piece that lacked holds all of it, the others nothing.
/// Without, the first piece holds what there is.
void open_frame(const Frame& frame, Opened& out, Fragments* fragments = nullptr) noexcept;

}  // namespace rpcrdma::trace
