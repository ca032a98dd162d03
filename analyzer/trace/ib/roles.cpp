// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/ib/roles.hpp"

#include <algorithm>

#include "wire/rpc.hpp"
#include "wire/rpcrdma.hpp"

namespace rpcrdma::trace::ib {
namespace {

constexpr int write_seen = role_sure;
constexpr int long_call = 5;
constexpr int reply_seen = 3;
constexpr int read_seen = 2;

/// An RPC message that begins here, with this XID.
int rpc_evidence(wire::Bytes octets, std::size_t wire_length, std::uint32_t xid) {
  const auto start = wire::decode_rpc_start(octets, wire_length);
  if (!start || start->xid != xid) return 0;
  if (start->type == static_cast<std::uint32_t>(wire::MessageType::reply)) return -reply_seen;
  if (start->type != static_cast<std::uint32_t>(wire::MessageType::call)) return 0;
  constexpr std::size_t to_program = 16;
  if (octets.size() < to_program || wire::load_be32(octets.data() + 8) != 2) return 0;
  return wire::callback_program(wire::load_be32(octets.data() + 12)) ? -role_proven : role_proven;
}

/// Version 2: where the RPC message begins depends on lists; its start is looked for instead.
int scan_evidence(wire::Bytes octets, std::size_t wire_length, std::uint32_t xid) {
  constexpr std::size_t after_prefix = 20;
  constexpr std::size_t far_enough = 512;
  for (std::size_t at = after_prefix; at + 16 <= std::min(octets.size(), far_enough); at += 4) {
    const std::uint8_t* p = octets.data() + at;
    if (wire::load_be32(p) != xid || wire::load_be32(p + 4) != 0 || wire::load_be32(p + 8) != 2) continue;
    return rpc_evidence(octets.subspan(at), wire_length - at, xid);
  }
  return 0;
}

int send_evidence(const wire::IbHeader& h) {
  const auto fixed = wire::decode_fixed_words(h.payload, h.payload_length);
  if (!fixed) return 0;
  if (fixed->version == 2) return scan_evidence(h.payload, h.payload_length, fixed->xid);
  if (fixed->version != 1) return 0;
  wire::HeaderV1 header;
  if (!wire::decode_header_v1(h.payload, h.payload_length, header)) return 0;
  if (fixed->proc == static_cast<std::uint32_t>(wire::Proc::nomsg)) {
    return wire::has_position_zero(header) ? long_call : 0;
  }
  if (fixed->proc != static_cast<std::uint32_t>(wire::Proc::msg) || header.length > h.payload.size()) return 0;
  return rpc_evidence(h.payload.subspan(header.length), h.payload_length - header.length, fixed->xid);
}

}  // namespace

int active_evidence(const wire::IbHeader& h) {
  switch (h.op.kind) {
    case wire::IbKind::send:
      return wire::begins(h.op.part) ? send_evidence(h) : 0;
    case wire::IbKind::write:
      return wire::begins(h.op.part) ? -write_seen : 0;
    case wire::IbKind::read_request:
      return -read_seen;
    default:
      return 0;
  }
}

}  // namespace rpcrdma::trace::ib
