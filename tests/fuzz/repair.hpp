// SPDX-License-Identifier: GPL-2.0-or-later
// Makes the lengths and checksums of damaged packets right again, so that what a mutation did to them is not turned
// away at the first header but reaches the decoders behind. Octets are changed in place and none is added; a packet may
// be anything, and where it is none that is known here it stays as it is.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trace/frame.hpp"
#include "trace/link/open_frame.hpp"

namespace rpcrdma::fuzz {

/// One captured frame, or one captured part of a stream.
struct Captured {
  std::span<std::uint8_t> octets;
  std::size_t missing = 0;  ///< octets behind them that were on the wire and are not in the capture
};

/// The layers of one frame, as the program sees them.
[[nodiscard]] trace::Opened open(trace::LinkType link, std::span<const std::uint8_t> octets,
                                 std::size_t missing) noexcept;

/// Of one frame: ERF record, LRH, GRH, IPv4 with its header checksum, IPv6, UDP, through VLAN tags and VXLAN.
void repair_lengths(trace::LinkType link, const Captured& frame) noexcept;
/// Of one frame whose lengths are right: the ICRC, where all that it covers was captured.
void repair_icrc(trace::LinkType link, const Captured& frame) noexcept;
/// One direction of a TCP stream, in pieces that follow each other: private data length of an MPA frame at its start,
/// lengths and CRCs of the FPDUs. An FPDU whose length leads nowhere is ended with the piece that it begins in.
void repair_fpdus(std::span<const Captured> pieces);
/// All of this for the frames of one capture, in order.
void repair_frames(trace::LinkType link, std::span<const Captured> frames);

}  // namespace rpcrdma::fuzz
