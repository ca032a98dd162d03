// SPDX-License-Identifier: GPL-2.0-or-later
// The invariant CRC of InfiniBand transport packets (IBTA volume 1, section 7.8.1; annexes A16 and A17 for RoCE).
//
// It covers what no switch or router changes; the changeable fields count as all ones. The polynomial is Ethernet's
// and the four octets stand on the wire least significant first.
#pragma once

#include <cstdint>
#include <optional>

#include "wire/bytes.hpp"

namespace rpcrdma::wire {

/// What stands before the BTH, and so what is covered and what counts as ones.
enum class IcrcLayout : std::uint8_t {
  rocev2_ipv4,  ///< IPv4 header with its options, UDP header
  rocev2_ipv6,  ///< IPv6 header with its extension headers, UDP header
  grh,          ///< RoCEv1: the 40 octets of the GRH
  lrh,          ///< InfiniBand: the 8 octets of the LRH, and the GRH where the LRH announces one
};

/// Octets of the ICRC at the end of each packet.
inline constexpr std::size_t icrc_size = 4;

/// The ICRC as zlib's crc32 gives it. `network` is what stands before the BTH (IbPacket::network), complete;
/// `covered` runs from the BTH to the last octet before the ICRC, the pad included.
/// nullopt when either is too short for its layout: a truncated packet has no ICRC to speak of.
[[nodiscard]] std::optional<std::uint32_t> icrc(IcrcLayout layout, Bytes network, Bytes covered) noexcept;

/// Does the packet end in its ICRC? `packet` runs from the BTH to the last octet of the ICRC. False also when there are
/// too few octets; so ask only about packets captured whole. A mismatch proves little: a capture taken on the sending
/// host shows what the adapter had not filled in yet.
[[nodiscard]] bool icrc_matches(IcrcLayout layout, Bytes network, Bytes packet) noexcept;

}  // namespace rpcrdma::wire
