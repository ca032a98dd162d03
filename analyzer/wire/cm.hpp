// SPDX-License-Identifier: GPL-2.0-or-later
// InfiniBand Communication Manager messages (InfiniBand Architecture volume 1, chapter 12) in their management
// datagrams, and the RDMA IP CM header (annex A11) at the start of a REQ's private data. All fields big-endian.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "wire/bytes.hpp"

namespace rpcrdma::wire {

inline constexpr std::size_t mad_octets = 256;
inline constexpr std::size_t mad_header_octets = 24;
inline constexpr std::uint32_t cm_queue_pair = 1;  ///< CM messages go to QP1

/// Attribute IDs of the communication management class.
enum class CmKind : std::uint16_t {
  req = 0x0010,
  mra = 0x0011,
  rej = 0x0012,
  rep = 0x0013,
  rtu = 0x0014,
  dreq = 0x0015,
  drep = 0x0016,
  sidr_req = 0x0017,
  sidr_rep = 0x0018,
  lap = 0x0019,
  apr = 0x001A,
};
[[nodiscard]] std::string_view cm_name(CmKind kind) noexcept;  ///< "REQ", ..., "" if unknown

/// Service IDs of the RDMA IP CM service: octet 5 names the IP protocol, octets 6 and 7 the destination port.
[[nodiscard]] constexpr bool is_ip_cm_service(std::uint64_t service_id) noexcept {
  return (service_id & 0xFFFFFFFFFF000000ULL) == 0x0000000001000000ULL;
}
[[nodiscard]] constexpr std::uint16_t ip_cm_port(std::uint64_t service_id) noexcept {
  return static_cast<std::uint16_t>(service_id & 0xFFFFU);
}

/// First 36 octets of a REQ's private data when is_ip_cm_service.
struct IpCmHeader {
  static constexpr std::size_t octets = 36;
  std::uint8_t cma_version = 0;  ///< major in the upper, minor in the lower four bits
  std::uint8_t ip_version = 0;   ///< 4 or 6
  std::uint16_t source_port = 0;
  std::array<std::uint8_t, 16> source{};  ///< IPv4: in the last four octets
  std::array<std::uint8_t, 16> destination{};
};

/// Which message a REJ or MRA is about (2 bits on the wire).
enum class CmAbout : std::uint8_t { req, rep, other, reserved };

/// Why a REJ refuses: those reasons that something depends on.
namespace reject_reason {
inline constexpr std::uint16_t no_queue_pair = 1;
inline constexpr std::uint16_t no_resources = 3;
inline constexpr std::uint16_t timeout = 4;
inline constexpr std::uint16_t no_listener = 8;  ///< nobody has the service ID
inline constexpr std::uint16_t stale = 10;
}  // namespace reject_reason
/// As it is told to a person, any of them (IBA 12.6.7.2).
[[nodiscard]] std::string_view reject_reason_text(std::uint16_t reason) noexcept;
/// What a REJ finds fault with.
enum class RejectSubject : std::uint8_t {
  consumer,            ///< who listens there says no; or a reason that tells nothing
  no_listener,         ///< nobody listens there
  own_lack,            ///< who refuses lacks something of its own
  earlier_connection,  ///< of which one of the two still knows something
  path,                ///< addresses, MTU and the like of the way that the request describes
  parameters,          ///< whatever else the request asks for
  elsewhere            ///< the service is to be asked for at another port
};
[[nodiscard]] RejectSubject reject_subject(std::uint16_t reason) noexcept;

/// One CM message. What the message does not have, or the capture does not hold, is absent.
struct CmMessage {
  CmKind kind = CmKind::req;
  std::uint64_t transaction = 0;
  std::optional<std::uint32_t> local_id;            ///< communication ID of the sender
  std::optional<std::uint32_t> remote_id;           ///< communication ID of the receiver; absent in a REQ
  std::optional<std::uint64_t> service_id;          ///< REQ
  std::optional<std::uint32_t> local_qpn;           ///< REQ, REP: of the sender
  std::optional<std::uint32_t> remote_qpn;          ///< DREQ, LAP: of the receiver
  std::optional<std::uint32_t> starting_psn;        ///< REQ, REP: first PSN of what the *receiver* will send
  std::optional<std::uint8_t> responder_resources;  ///< REQ, REP
  std::optional<std::uint8_t> initiator_depth;      ///< REQ, REP
  std::optional<std::uint8_t> service_type;         ///< REQ: 0 RC, 1 UC, 2 RD, 3 extended
  std::optional<std::uint8_t> path_mtu;             ///< REQ: code, see mtu_octets
  std::optional<std::uint8_t> retry_count;          ///< REQ: 0..7
  std::optional<std::uint8_t> rnr_retry;            ///< REQ, REP: 0..7, 7 = for ever
  std::optional<std::uint16_t> reason;              ///< REJ
  std::optional<CmAbout> about;                     ///< REJ, MRA
  std::optional<IpCmHeader> ip;                     ///< REQ of the RDMA IP CM service
  Bytes consumer;                     ///< the consumer's private data as captured (after the IP CM header)
  std::uint32_t consumer_length = 0;  ///< octets on the wire; 0 for messages that are not decoded further
};

/// Decodes the payload of a UD Send to QP1. `wire_length`: of the datagram, without pad and ICRC.
/// Fault::unsupported for another management class, class version or method; Fault::invalid when the datagram is
/// shorter than 256 octets on the wire; Fault::truncated when the capture ends inside the common header or before the
/// first communication ID.
[[nodiscard]] Decoded<CmMessage> decode_cm(Bytes octets, std::size_t wire_length) noexcept;

}  // namespace rpcrdma::wire
