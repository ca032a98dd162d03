// SPDX-License-Identifier: GPL-2.0-or-later
// DDP and RDMAP headers inside an MPA ULPDU (RFC 5041 section 4, RFC 5040 section 4). All integers big-endian.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "wire/bytes.hpp"

namespace rpcrdma::wire {

enum class RdmapOpcode : std::uint8_t {
  write = 0,
  read_request = 1,
  read_response = 2,
  send = 3,
  send_invalidate = 4,
  send_solicited = 5,
  send_solicited_invalidate = 6,
  terminate = 7,
};

inline constexpr std::size_t ddp_tagged_length = 14;
inline constexpr std::size_t ddp_untagged_length = 18;
inline constexpr std::size_t read_request_length = 28;
inline constexpr std::uint32_t queue_send = 0;
inline constexpr std::uint32_t queue_read_request = 1;
inline constexpr std::uint32_t queue_terminate = 2;

/// The two control octets at the start of every DDP segment.
struct DdpControl {
  bool tagged = false;            ///< T
  bool last = false;              ///< L
  std::uint8_t ddp_reserved = 0;  ///< the 4 bits between L and DV
  std::uint8_t ddp_version = 0;
  std::uint8_t rdmap_version = 0;
  std::uint8_t rdmap_reserved = 0;
  std::uint8_t opcode = 0;  ///< 4 bits; see RdmapOpcode

  [[nodiscard]] RdmapOpcode rdmap() const noexcept { return static_cast<RdmapOpcode>(opcode); }
  [[nodiscard]] bool send() const noexcept { return opcode >= 3 && opcode <= 6; }
  [[nodiscard]] bool invalidates() const noexcept { return opcode == 4 || opcode == 6; }
  /// Versions 1, reserved bits 0, an opcode of RFC 5040 and the model (tagged or not) that it demands.
  [[nodiscard]] bool plausible() const noexcept {
    return ddp_version == 1 && rdmap_version == 1 && ddp_reserved == 0 && rdmap_reserved == 0 && opcode <= 7 &&
           tagged == (opcode == 0 || opcode == 2);
  }
  /// Octets of the whole header.
  [[nodiscard]] std::size_t header_length() const noexcept { return tagged ? ddp_tagged_length : ddp_untagged_length; }
};
/// Needs 2 octets, which the caller has checked.
[[nodiscard]] constexpr DdpControl ddp_control(const std::uint8_t* p) noexcept {
  DdpControl c;
  c.tagged = (p[0] & 0x80U) != 0;
  c.last = (p[0] & 0x40U) != 0;
  c.ddp_reserved = static_cast<std::uint8_t>((p[0] >> 2U) & 0x0FU);
  c.ddp_version = static_cast<std::uint8_t>(p[0] & 0x03U);
  c.rdmap_version = static_cast<std::uint8_t>(p[1] >> 6U);
  c.rdmap_reserved = static_cast<std::uint8_t>((p[1] >> 4U) & 0x03U);
  c.opcode = static_cast<std::uint8_t>(p[1] & 0x0FU);
  return c;
}

struct DdpHeader {
  DdpControl control;
  // tagged
  std::uint32_t stag = 0;
  std::uint64_t offset = 0;  ///< TO
  // untagged
  std::uint32_t invalidate = 0;  ///< STag that Send with Invalidate names; reserved otherwise
  std::uint32_t queue = 0;       ///< QN
  std::uint32_t msn = 0;
  std::uint32_t message_offset = 0;  ///< MO

  [[nodiscard]] std::size_t length() const noexcept { return control.header_length(); }
};
/// `octets` is the ULPDU as captured, `wire_length` its length on the wire. Versions, opcode and queue are not judged.
/// Asked of each FPDU: it stands here for speed.
[[nodiscard]] inline Decoded<DdpHeader> decode_ddp_header(Bytes octets, std::size_t wire_length) noexcept {
  Cursor cursor(octets, wire_length);
  const auto control = cursor.take(2, "DDP control");
  if (!control) return tl::make_unexpected(control.error());
  DdpHeader header;
  header.control = ddp_control(control->data());
  const auto rest = cursor.take(header.length() - 2, "DDP header");
  if (!rest) return tl::make_unexpected(rest.error());
  const std::uint8_t* p = rest->data();
  if (header.control.tagged) {
    header.stag = load_be32(p);
    header.offset = load_be64(p + 4);
  } else {
    header.invalidate = load_be32(p);
    header.queue = load_be32(p + 4);
    header.msn = load_be32(p + 8);
    header.message_offset = load_be32(p + 12);
  }
  return header;
}

/// Payload of an RDMA Read Request message.
struct ReadRequestHeader {
  std::uint32_t sink_stag = 0;  ///< memory of the requester
  std::uint64_t sink_offset = 0;
  std::uint32_t size = 0;         ///< octets
  std::uint32_t source_stag = 0;  ///< memory of the other side
  std::uint64_t source_offset = 0;
};
[[nodiscard]] Decoded<ReadRequestHeader> decode_read_request(Bytes octets, std::size_t wire_length) noexcept;

/// Payload of a Terminate message (RFC 5040 section 4.8). Layer, type and code are given as the RFC reads them.
/// Linux siw packs the octets of the control word from the other end: its layer stands where the type should, and its
/// M, D and R flags at the low end of the third octet. For the flags both places are understood here; `low_flags` says
/// that the low ones were set.
struct Terminate {
  std::uint8_t layer = 0;
  std::uint8_t etype = 0;
  std::uint8_t ecode = 0;
  bool low_flags = false;
  std::optional<std::uint16_t> segment_length;    ///< of the refused DDP segment (flag M)
  std::optional<DdpHeader> refused;               ///< its header (flag D)
  std::optional<ReadRequestHeader> refused_read;  ///< the Read Request it carried (flag R)
};
/// Needs the first 4 octets; copied headers that the capture cut are absent.
[[nodiscard]] Decoded<Terminate> decode_terminate(Bytes octets, std::size_t wire_length) noexcept;
/// What the code means, as the RFCs read it; empty where they name no such code.
[[nodiscard]] std::string_view terminate_words(std::uint8_t layer, std::uint8_t etype, std::uint8_t ecode) noexcept;

}  // namespace rpcrdma::wire
