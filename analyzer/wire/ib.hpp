// SPDX-License-Identifier: GPL-2.0-or-later
// InfiniBand transport headers: BTH and what follows it (InfiniBand Architecture volume 1, chapter 9), as on RoCEv1,
// RoCEv2 and native links. All fields big-endian on the wire.
#pragma once

#include <cstdint>

#include "wire/bytes.hpp"

namespace rpcrdma::wire {

inline constexpr std::size_t bth_octets = 12;
inline constexpr std::size_t icrc_octets = 4;
inline constexpr std::uint32_t psn_mask = 0xFFFFFFU;

/// Transport service, from the opcode's upper bits.
enum class IbService : std::uint8_t { rc, uc, rd, ud, congestion, xrc, unknown };

/// What an RC packet does. Only `other` for every service but RC, except UD Sends.
enum class IbKind : std::uint8_t {
  send,
  write,
  read_request,
  read_response,
  acknowledge,  ///< ACK, NAK or RNR NAK: see the syndrome
  atomic_acknowledge,
  atomic_request,
  other,  ///< reserved opcode, or a service that is not decoded here
};

/// Place of a packet in its message.
enum class IbPart : std::uint8_t { only, first, middle, last };
[[nodiscard]] constexpr bool begins(IbPart p) noexcept { return p == IbPart::only || p == IbPart::first; }
[[nodiscard]] constexpr bool ends(IbPart p) noexcept { return p == IbPart::only || p == IbPart::last; }

/// What the eight bits of an opcode say.
struct IbOpcode {
  IbService service = IbService::unknown;
  IbKind kind = IbKind::other;
  IbPart part = IbPart::only;
  std::uint8_t extended = 0;  ///< octets of extended headers after the BTH
  bool immediate = false;
  bool invalidate = false;
};
[[nodiscard]] const IbOpcode& ib_opcode(std::uint8_t opcode) noexcept;

/// One decoded packet. A field is only meaningful when the opcode carries the header it comes from.
struct IbHeader {
  IbOpcode op;
  std::uint8_t opcode = 0;
  std::uint8_t pad = 0;  ///< PadCnt, 0..3 octets
  bool ack_request = false;
  std::uint16_t partition = 0;
  std::uint32_t destination_qp = 0;  ///< 24 bits
  std::uint32_t psn = 0;             ///< 24 bits
  std::uint8_t syndrome = 0;         ///< AETH
  std::uint32_t msn = 0;             ///< AETH, 24 bits
  std::uint64_t address = 0;         ///< RETH, AtomicETH: virtual address
  std::uint32_t key = 0;             ///< RETH, AtomicETH: R_Key
  std::uint32_t dma_length = 0;      ///< RETH: octets of the whole message
  std::uint32_t immediate = 0;       ///< ImmDt
  std::uint32_t invalidated = 0;     ///< IETH: R_Key
  std::uint32_t queue_key = 0;       ///< DETH
  std::uint32_t source_qp = 0;       ///< DETH, 24 bits
  Bytes payload;                     ///< as captured, without pad and ICRC
  std::uint32_t payload_length = 0;  ///< octets on the wire, without pad and ICRC
};

/// The opcode of what goes to a CM queue pair.
inline constexpr std::uint8_t ud_send_only = 0x64;
/// BTH opcode of a CNP (RoCEv2): who received packets of this queue pair tells its sender that they met congestion.
inline constexpr std::uint8_t congestion_notification = 0x81;

/// Decodes one packet from its BTH on; `wire_length` reaches to the end of the ICRC.
/// Fault::invalid: shorter on the wire than its headers, pad and ICRC. Fault::truncated: the capture ends inside the
/// headers (a cut payload is no fault). Fault::unsupported: a transport version other than 0.
/// Of services other than RC and UD Send, only the BTH is decoded (kind `other`, no payload).
[[nodiscard]] Decoded<IbHeader> decode_ib(Bytes octets, std::size_t wire_length) noexcept;

/// The upper bits of an AETH syndrome.
enum class AethType : std::uint8_t { ack, rnr_nak, reserved, nak };
[[nodiscard]] constexpr AethType aeth_type(std::uint8_t syndrome) noexcept {
  return static_cast<AethType>((syndrome >> 5U) & 3U);
}
/// The lower five bits: credit code of an ACK, timer code of an RNR NAK, error code of a NAK.
[[nodiscard]] constexpr std::uint8_t aeth_value(std::uint8_t syndrome) noexcept { return syndrome & 0x1FU; }

/// Nanoseconds that a requester has to wait behind an RNR NAK with this timer code before it sends again.
[[nodiscard]] std::uint64_t rnr_wait(std::uint8_t timer) noexcept;

inline constexpr std::uint8_t nak_psn_sequence = 0;
inline constexpr std::uint8_t nak_invalid_request = 1;
inline constexpr std::uint8_t nak_remote_access = 2;
inline constexpr std::uint8_t nak_remote_operational = 3;

/// Path MTU code of CM messages: 1 = 256 ... 5 = 4096 octets; 0 for any other code.
[[nodiscard]] constexpr std::uint32_t mtu_octets(std::uint8_t code) noexcept {
  return code >= 1 && code <= 5 ? 128U << code : 0;
}
/// Is this a payload that First and Middle packets may have?
[[nodiscard]] constexpr bool is_mtu(std::uint32_t octets) noexcept {
  return octets == 256 || octets == 512 || octets == 1024 || octets == 2048 || octets == 4096;
}

}  // namespace rpcrdma::wire
