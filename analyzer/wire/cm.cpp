// SPDX-License-Identifier: GPL-2.0-or-later
#include "wire/cm.hpp"

#include <algorithm>
#include <array>

namespace rpcrdma::wire {
namespace {

constexpr std::uint8_t class_communication_management = 0x07;
constexpr std::uint8_t method_send = 0x03;

/// The 232 octets of a datagram's data, of which the capture may hold less. Every access asks first.
class Area {
 public:
  explicit Area(Bytes captured) : captured_(captured) {}

  [[nodiscard]] std::optional<std::uint8_t> u8(std::size_t at) const {
    if (!holds(at, 1)) return std::nullopt;
    return captured_[at];
  }
  [[nodiscard]] std::optional<std::uint16_t> be16(std::size_t at) const {
    if (!holds(at, 2)) return std::nullopt;
    return load_be16(captured_.data() + at);
  }
  [[nodiscard]] std::optional<std::uint32_t> be24(std::size_t at) const {
    if (!holds(at, 3)) return std::nullopt;
    return load_be24(captured_.data() + at);
  }
  [[nodiscard]] std::optional<std::uint32_t> be32(std::size_t at) const {
    if (!holds(at, 4)) return std::nullopt;
    return load_be32(captured_.data() + at);
  }
  [[nodiscard]] std::optional<std::uint64_t> be64(std::size_t at) const {
    if (!holds(at, 8)) return std::nullopt;
    return load_be64(captured_.data() + at);
  }
  /// `width` bits of octet `at`, `shift` from its right end.
  [[nodiscard]] std::optional<std::uint8_t> bits(std::size_t at, unsigned shift, unsigned width) const {
    const auto octet = u8(at);
    if (!octet) return std::nullopt;
    return static_cast<std::uint8_t>((*octet >> shift) & ((1U << width) - 1U));
  }
  void consumer(std::size_t at, std::size_t length, CmMessage& m) const {
    m.consumer_length = static_cast<std::uint32_t>(length);
    if (at < captured_.size()) m.consumer = captured_.subspan(at, std::min(length, captured_.size() - at));
  }
  [[nodiscard]] Bytes slice(std::size_t at, std::size_t length) const { return captured_.subspan(at, length); }
  [[nodiscard]] bool holds(std::size_t at, std::size_t n) const { return at + n <= captured_.size(); }

 private:
  Bytes captured_;
};

constexpr std::size_t req_private = 140;
constexpr std::size_t req_private_octets = 92;

void decode_req(const Area& a, CmMessage& m) {
  m.service_id = a.be64(8);
  m.local_qpn = a.be24(32);
  m.responder_resources = a.u8(35);
  m.initiator_depth = a.u8(39);
  m.service_type = a.bits(43, 1, 2);
  m.starting_psn = a.be24(44);
  m.retry_count = a.bits(47, 0, 3);
  m.path_mtu = a.bits(50, 4, 4);
  m.rnr_retry = a.bits(50, 0, 3);

  // Without its service ID a REQ does not tell where the consumer's part begins; the capture then ends long before.
  std::size_t at = req_private;
  std::size_t length = req_private_octets;
  if (!m.service_id || is_ip_cm_service(*m.service_id)) {
    at += IpCmHeader::octets;
    length -= IpCmHeader::octets;
    if (a.holds(req_private, IpCmHeader::octets)) {
      const Bytes raw = a.slice(req_private, IpCmHeader::octets);
      IpCmHeader ip;
      ip.cma_version = raw[0];
      ip.ip_version = static_cast<std::uint8_t>(raw[1] >> 4U);
      ip.source_port = load_be16(raw.data() + 2);
      std::copy_n(raw.data() + 4, 16, ip.source.begin());
      std::copy_n(raw.data() + 20, 16, ip.destination.begin());
      m.ip = ip;
    }
  }
  a.consumer(at, length, m);
}

void decode_body(const Area& a, CmMessage& m) {
  if (m.kind != CmKind::req) m.remote_id = a.be32(4);
  switch (m.kind) {
    case CmKind::req:
      decode_req(a, m);
      break;
    case CmKind::mra:
      if (const auto v = a.bits(8, 6, 2)) m.about = static_cast<CmAbout>(*v);
      a.consumer(10, 222, m);
      break;
    case CmKind::rej:
      if (const auto v = a.bits(8, 6, 2)) m.about = static_cast<CmAbout>(*v);
      m.reason = a.be16(10);
      a.consumer(84, 148, m);
      break;
    case CmKind::rep:
      m.local_qpn = a.be24(12);
      m.starting_psn = a.be24(20);
      m.responder_resources = a.u8(24);
      m.initiator_depth = a.u8(25);
      m.rnr_retry = a.bits(27, 5, 3);
      a.consumer(36, 196, m);
      break;
    case CmKind::rtu:
    case CmKind::drep:
      a.consumer(8, 224, m);
      break;
    case CmKind::dreq:
      m.remote_qpn = a.be24(8);
      a.consumer(12, 220, m);
      break;
    case CmKind::lap:
      m.remote_qpn = a.be24(12);
      a.consumer(64, 168, m);
      break;
    case CmKind::apr:
      a.consumer(84, 148, m);
      break;
    case CmKind::sidr_req:
    case CmKind::sidr_rep:
      break;
  }
}

}  // namespace

std::string_view cm_name(CmKind kind) noexcept {
  switch (kind) {
    case CmKind::req:
      return "REQ";
    case CmKind::mra:
      return "MRA";
    case CmKind::rej:
      return "REJ";
    case CmKind::rep:
      return "REP";
    case CmKind::rtu:
      return "RTU";
    case CmKind::dreq:
      return "DREQ";
    case CmKind::drep:
      return "DREP";
    case CmKind::sidr_req:
      return "SIDR_REQ";
    case CmKind::sidr_rep:
      return "SIDR_REP";
    case CmKind::lap:
      return "LAP";
    case CmKind::apr:
      return "APR";
  }
  return "";
}

namespace {

struct RejectReason {
  std::string_view text;
  RejectSubject subject = RejectSubject::consumer;
};

constexpr RejectReason unknown_reason{"see the CM specification"};

/// By number (IBA 12.6.7.2).
constexpr auto reject_reasons = [] {
  using enum RejectSubject;
  return std::array<RejectReason, 36>{{
      unknown_reason,
      {"no queue pair available", own_lack},
      {"no end-to-end context available", parameters},
      {"no resources", own_lack},
      {"timeout", consumer},
      {"unsupported request", parameters},
      {"invalid communication ID", earlier_connection},
      {"invalid communication instance", earlier_connection},
      {"nobody listens on this service ID", no_listener},
      {"invalid transport service type", parameters},
      {"stale connection", earlier_connection},
      {"no such reliable datagram channel", parameters},
      {"invalid GID", path},
      {"invalid LID", path},
      {"invalid service level", path},
      {"invalid traffic class", path},
      {"invalid hop limit", path},
      {"invalid packet rate", path},
      {"invalid GID of the alternate path", path},
      {"invalid LID of the alternate path", path},
      {"invalid service level of the alternate path", path},
      {"invalid traffic class of the alternate path", path},
      {"invalid hop limit of the alternate path", path},
      {"invalid packet rate of the alternate path", path},
      {"port and CM redirection", elsewhere},
      {"port redirection", elsewhere},
      {"invalid path MTU", path},
      {"insufficient responder resources", parameters},
      {"rejected by the consumer", consumer},
      {"RNR retry count rejected", parameters},
      {"communication ID in use already", earlier_connection},
      {"unsupported class version", parameters},
      {"invalid flow label", path},
      {"invalid flow label of the alternate path", path},
      unknown_reason,
      {"vendor option not supported", parameters},
  }};
}();

[[nodiscard]] const RejectReason& reason_of(std::uint16_t number) noexcept {
  return number < reject_reasons.size() ? reject_reasons[number] : unknown_reason;
}

}  // namespace

std::string_view reject_reason_text(std::uint16_t reason) noexcept { return reason_of(reason).text; }

RejectSubject reject_subject(std::uint16_t reason) noexcept { return reason_of(reason).subject; }

Decoded<CmMessage> decode_cm(Bytes octets, std::size_t wire_length) noexcept {
  wire_length = std::max(wire_length, octets.size());
  if (wire_length < mad_octets) return tl::make_unexpected(DecodeError{Fault::invalid, "datagram length", 0});
  octets = octets.first(std::min(octets.size(), mad_octets));
  if (octets.size() < mad_header_octets)
    return tl::make_unexpected(DecodeError{Fault::truncated, "MAD header", octets.size()});

  const std::uint8_t* p = octets.data();
  if (p[0] != 1 || p[1] != class_communication_management || p[2] != 2)
    return tl::make_unexpected(DecodeError{Fault::unsupported, "management class", 0});
  if (p[3] != method_send) return tl::make_unexpected(DecodeError{Fault::unsupported, "method", 3});

  CmMessage m;
  m.transaction = load_be64(p + 8);
  const std::uint16_t attribute = load_be16(p + 16);
  if (attribute < static_cast<std::uint16_t>(CmKind::req) || attribute > static_cast<std::uint16_t>(CmKind::apr))
    return tl::make_unexpected(DecodeError{Fault::unsupported, "attribute", 16});
  m.kind = static_cast<CmKind>(attribute);

  const Area area(octets.subspan(mad_header_octets));
  m.local_id = area.be32(0);
  if (!m.local_id) return tl::make_unexpected(DecodeError{Fault::truncated, "communication ID", octets.size()});
  decode_body(area, m);
  return m;
}

}  // namespace rpcrdma::wire
