// SPDX-License-Identifier: GPL-2.0-or-later
// What goes into the trace: one captured frame.
#pragma once

#include <algorithm>
#include <cstdint>

#include "wire/bytes.hpp"

namespace rpcrdma::trace {

/// Nanoseconds since the Unix epoch.
using TimeNs = std::int64_t;

/// Seconds and nanoseconds as a file has them, which may be anything. What does not fit is held at the limit, 146 years
/// from 1970, so that the difference of any two times fits as well.
[[nodiscard]] constexpr TimeNs time_of(std::int64_t seconds, std::int64_t nanoseconds) noexcept {
  constexpr std::int64_t most_seconds = 4'600'000'000;
  constexpr std::int64_t most_nanoseconds = 10'000'000'000'000;
  return std::clamp(seconds, -most_seconds, most_seconds) * 1'000'000'000 +
         std::clamp(nanoseconds, std::int64_t{0}, most_nanoseconds);
}

/// Which frame, and when. Frame numbers are Wireshark's: from 1, counted over all files of one trace. 0 = none.
struct FrameRef {
  std::uint64_t number = 0;
  TimeNs time = 0;
};

/// Behind the other in the file.
[[nodiscard]] constexpr bool later(FrameRef a, FrameRef b) noexcept { return a.number > b.number; }
constexpr void keep_later(FrameRef& newest, FrameRef frame) noexcept {
  if (later(frame, newest)) newest = frame;
}
/// By time, as clocks are set back and files given in another order; a frame without one (0) where none has any.
constexpr void keep_earliest(FrameRef& first, FrameRef frame) noexcept {
  const bool earlier = frame.time != 0 && (first.time == 0 || frame.time < first.time);
  if (first.number == 0 || earlier) first = frame;
}

/// The link-layer header types (LINKTYPE_ values of pcap files) that the trace can open.
/// Readers translate to these numbers; any other number makes the frame count and go no further.
enum class LinkType : std::uint32_t {
  null_loopback = 0,
  ethernet = 1,
  raw_ip = 101,  // DLT_RAW as a LINKTYPE_
  loop = 108,
  linux_sll = 113,
  erf = 197,  // octets begin with the ERF record header (16 octets, then extension headers)
  ipv4 = 228,
  ipv6 = 229,
  infiniband = 247,  // octets begin with the LRH
  linux_sll2 = 276,
  dsa_brcm = 281,          // the port of a host to a switch inside it: a tag behind the addresses
  dsa_brcm_prepend = 282,  // likewise, before the addresses
  dsa = 284,
  edsa = 285,  // likewise, with an EtherType before the tag
};

struct Frame {
  FrameRef ref;
  LinkType link = LinkType::ethernet;
  wire::Bytes octets;             ///< as captured, from the link-layer header on; valid only during the call
  std::uint32_t wire_length = 0;  ///< original length; larger than octets.size() when the snap length cut the frame
  std::uint16_t input = 0;        ///< of several captures that were put together, which one holds it
  bool behind_a_loss = false;     ///< what was captured in front of it could not be read
  std::uint8_t fcs_length = 0;    ///< how many of wire_length are a frame check sequence, at its end; 0: not known
};

/// The length of a frame check sequence in octets. The pcapng specification wants bits, and many write octets: what is
/// less than one octet of bits is octets. Nothing, or less: not known.
[[nodiscard]] constexpr std::uint8_t fcs_octets(int bits_or_octets) noexcept {
  if (bits_or_octets <= 0) return 0;
  return static_cast<std::uint8_t>(bits_or_octets < 8 ? bits_or_octets : bits_or_octets / 8);
}

}  // namespace rpcrdma::trace
