// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/ib/roles.hpp"

#include <algorithm>
#include <cstdlib>

#include "wire/rpc.hpp"
#include "wire/rpcrdma.hpp"

namespace rpcrdma::trace::ib {
namespace {

constexpr int write_seen = role_sure;
constexpr int long_call = 5;
constexpr int reply_seen = 3;
constexpr int call_seen = 3;  // of a program that does not tell who calls whom
constexpr int read_seen = 2;

[[nodiscard]] Evidence spoken(int score, bool foreign = false) noexcept { return {score, score, foreign}; }

/// An RPC message that begins here, with this XID.
Evidence rpc_evidence(wire::Bytes octets, std::size_t wire_length, std::uint32_t xid) {
  const auto start = wire::decode_rpc_start(octets, wire_length);
  if (!start || start->xid != xid) return {};
  if (start->type == static_cast<std::uint32_t>(wire::MessageType::reply)) return spoken(-reply_seen);
  if (start->type != static_cast<std::uint32_t>(wire::MessageType::call)) return {};
  constexpr std::size_t to_program = 16;
  if (octets.size() < to_program || wire::load_be32(octets.data() + 8) != 2) return {};
  const std::uint32_t program = wire::load_be32(octets.data() + 12);
  if (wire::callback_program(program)) return {-role_proven};
  return wire::service_program(program) ? Evidence{role_proven} : spoken(call_seen, true);
}

/// Version 2: where the RPC message begins depends on lists; its start is looked for instead.
Evidence scan_evidence(wire::Bytes octets, std::size_t wire_length, std::uint32_t xid) {
  constexpr std::size_t after_prefix = 20;
  constexpr std::size_t far_enough = 512;
  for (std::size_t at = after_prefix; at + 16 <= std::min(octets.size(), far_enough); at += 4) {
    const std::uint8_t* p = octets.data() + at;
    if (wire::load_be32(p) != xid || wire::load_be32(p + 4) != 0 || wire::load_be32(p + 8) != 2) continue;
    return rpc_evidence(octets.subspan(at), wire_length - at, xid);
  }
  return {};
}

Evidence send_evidence(const wire::IbHeader& h) {
  const auto fixed = wire::decode_fixed_words(h.payload, h.payload_length);
  if (!fixed) return {};
  if (fixed->version == 2) return scan_evidence(h.payload, h.payload_length, fixed->xid);
  if (fixed->version != 1) return {};
  wire::HeaderV1 header;
  if (!wire::decode_header_v1(h.payload, h.payload_length, header)) return {};
  if (fixed->proc == static_cast<std::uint32_t>(wire::Proc::nomsg)) {
    return wire::has_position_zero(header) ? spoken(long_call) : Evidence{};
  }
  if (fixed->proc != static_cast<std::uint32_t>(wire::Proc::msg) || header.length > h.payload.size()) return {};
  return rpc_evidence(h.payload.subspan(header.length), h.payload_length - header.length, fixed->xid);
}

Evidence evidence_of(const wire::IbHeader& h) {
  switch (h.op.kind) {
    case wire::IbKind::send:
      return wire::begins(h.op.part) ? send_evidence(h) : Evidence{};
    case wire::IbKind::write:
      return {wire::begins(h.op.part) ? -write_seen : 0};
    case wire::IbKind::read_request:
      return {-read_seen};
    default:
      return {};
  }
}

}  // namespace

void Evidence::add(const wire::IbHeader& header) {
  if (std::abs(score) >= role_proven) return;
  const Evidence more = evidence_of(header);
  score += more.score;
  spoken += more.spoken;
  foreign = foreign || more.foreign;
}

Verdict weigh(const Evidence* sender, const Evidence* peer) noexcept {
  const Evidence none;
  const Evidence& one = sender != nullptr ? *sender : none;
  const Evidence& two = peer != nullptr ? *peer : none;
  const int score = one.score - two.score;
  // The whole conversation may be one in reverse direction, however long it is.
  const int counted = one.foreign || two.foreign ? score - (one.spoken - two.spoken) : score;
  return {score >= 0, std::abs(counted) >= role_sure};
}

}  // namespace rpcrdma::trace::ib
