// SPDX-License-Identifier: GPL-2.0-or-later
// The Extensible Record Format of Endace cards (LINKTYPE_ERF): a record header before each frame.
//
//   0  timestamp (8, little-endian)   8  type (0x80: extension headers follow)   9  flags
//   10 rlen: octets of the record with this header   12 lctr: losses, or colour   14 wlen: octets on the wire
//
// Extension headers are 8 octets each; 0x80 of the first octet says that another one follows. Multi-octet fields but
// the timestamp are big-endian.
#pragma once

#include <cstdint>

#include "wire/layer.hpp"

namespace rpcrdma::wire {

struct ErfRecord {
  enum class Kind : std::uint8_t {
    ethernet,
    infiniband,  ///< from the LRH on
    ipv4,
    ipv6,
    no_frame,    ///< IB link packets (flow control), metadata, counters, padding
    other_link,  ///< frames of links that carry no RDMA we know of (HDLC, ATM, ...)
  };
  Kind kind = Kind::no_frame;
  /// The frame, without the record's filling at its end. wire_length is the record's wlen: with the FCS on Ethernet,
  /// with the VCRC on InfiniBand. (wlen 0, as some converters write it: what the record holds.)
  Layer frame;
};

/// Extension headers that are passed over; cards write up to eight.
inline constexpr int max_erf_extensions = 16;

/// truncated: the capture ends inside the record's headers. invalid: rlen is shorter than them.
/// unsupported: more than max_erf_extensions extension headers.
[[nodiscard]] Decoded<ErfRecord> decode_erf(Layer record) noexcept;

}  // namespace rpcrdma::wire
