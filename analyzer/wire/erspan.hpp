// SPDX-License-Identifier: GPL-2.0-or-later
// What Cisco's and others' switches put between GRE and a mirrored frame (draft-foschiano-erspan). All fields
// big-endian.
//
//   type I    nothing: the frame follows GRE
//   type II   8 octets: version 1 (4 bits), VLAN (12), COS (3), encapsulation (2), truncated (1), session (10), index
//   type III  12 octets: version 2, ..., truncated in the same place, timestamp (4), SGT (2), P (1), frame type (5),
//             hardware (6), direction (1), granularity (2), O (1): 8 octets more
#pragma once

#include <cstdint>

#include "wire/ethernet.hpp"
#include "wire/gre.hpp"
#include "wire/layer.hpp"

namespace rpcrdma::wire {

struct ErspanHeader {
  EtherPayload inside;     ///< a frame (ether_type::bridged), or an IP packet: then raw_ip
  bool raw_ip = false;     ///< no link layer; the version tells which IP
  bool truncated = false;  ///< the switch says that it cut the frame
};

/// `in`: behind the GRE header whose type was erspan or erspan3.
/// invalid: the version does not belong to the type. unsupported: a frame type other than Ethernet and IP.
[[nodiscard]] inline Decoded<ErspanHeader> decode_erspan(std::uint16_t gre_type, bool sequenced, Layer in) noexcept {
  constexpr std::size_t second = 8;
  constexpr std::size_t third = 12;
  constexpr std::size_t platform = 8;
  if (gre_type == ether_type::erspan && !sequenced) return ErspanHeader{{ether_type::bridged, in}};
  if (in.octets.size() < second) return tl::make_unexpected(in.missing(second, "ERSPAN header"));
  const std::uint8_t* p = in.octets.data();
  const unsigned version = p[0] >> 4U;
  const bool truncated = (p[2] & 0x04U) != 0;
  if (gre_type == ether_type::erspan && version == 1) {
    return ErspanHeader{{ether_type::bridged, in.after(second)}, false, truncated};
  }
  if (version != 2) return tl::make_unexpected(DecodeError{Fault::invalid, "ERSPAN version", 0});
  if (in.octets.size() < third) return tl::make_unexpected(in.missing(third, "ERSPAN header"));
  const unsigned frame_type = (p[10] >> 2U) & 0x1FU;
  const std::size_t size = (p[11] & 0x01U) != 0 ? third + platform : third;
  if (in.octets.size() < size) return tl::make_unexpected(in.missing(size, "ERSPAN platform header"));
  if (frame_type != 0 && frame_type != 2) {
    return tl::make_unexpected(DecodeError{Fault::unsupported, "ERSPAN frame type", 10});
  }
  return ErspanHeader{{ether_type::bridged, in.after(size)}, frame_type == 2, truncated};
}

}  // namespace rpcrdma::wire
