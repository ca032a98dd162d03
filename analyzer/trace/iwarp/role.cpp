// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/iwarp/role.hpp"

#include <algorithm>
#include <array>

#include "wire/ddp.hpp"
#include "wire/rpc.hpp"
#include "wire/rpcrdma.hpp"

namespace rpcrdma::trace::iwarp {
namespace {

constexpr int fpdus_limit = 128;
constexpr std::size_t message_limit = 1024;  // octets: headers and the Call's first words

/// Servers send Calls as well, those of callbacks.
RoleHint role_of_call(Bytes rpc, std::size_t wire_length) {
  const auto call = wire::decode_rpc_call(rpc, wire_length);
  if (!call) return RoleHint::none;
  if (wire::callback_program(call->program)) return RoleHint::server;
  return wire::service_program(call->program) ? RoleHint::client : RoleHint::perhaps_client;
}

RoleHint role_of_v1(Bytes octets, std::size_t wire_length) {
  wire::HeaderV1 header;
  if (!wire::decode_header_v1(octets, wire_length, header)) return RoleHint::none;
  switch (static_cast<wire::Proc>(header.fixed.proc)) {
    case wire::Proc::msg:
    case wire::Proc::msgp:
      break;
    case wire::Proc::nomsg:
      // Position-Zero chunks are offered by Replies too, when pulls are completed by RDMA_DONE; results never are. A
      // Long Call may be a callback.
      return !header.reads.empty() && (!header.writes.empty() || header.reply) ? RoleHint::likely_client
                                                                               : RoleHint::none;
    default:
      return RoleHint::none;
  }
  if (header.length > octets.size()) return RoleHint::none;
  const Bytes body = octets.subspan(header.length);
  const std::size_t body_length = wire_length - std::min(wire_length, header.length);
  const auto start = wire::decode_rpc_start(body, body_length);
  if (!start || start->xid != header.fixed.xid) return RoleHint::none;
  if (start->type == static_cast<std::uint32_t>(wire::MessageType::reply)) return RoleHint::likely_server;
  if (start->type != static_cast<std::uint32_t>(wire::MessageType::call)) return RoleHint::none;
  return role_of_call(body, body_length);
}

/// Where the RPC message begins depends on lists: its start is looked for.
RoleHint role_of_v2_call(Bytes octets, std::size_t wire_length, std::uint32_t xid) {
  constexpr std::size_t after_prefix = 20;
  for (std::size_t at = after_prefix; at + 12 <= octets.size(); at += 4) {
    const std::uint8_t* p = octets.data() + at;
    if (wire::load_be32(p) != xid || wire::load_be32(p + 4) != 0 || wire::load_be32(p + 8) != 2) continue;
    const RoleHint hint = role_of_call(octets.subspan(at), wire_length - at);
    if (hint != RoleHint::none) return hint;
  }
  return RoleHint::perhaps_client;
}

/// Only Responders move data (RFC 8166 section 3.1), and the server is the Responder of nearly everything.
RoleHint role_of_operation(wire::RdmapOpcode opcode) noexcept {
  switch (opcode) {
    case wire::RdmapOpcode::write:
    case wire::RdmapOpcode::read_request:
      return RoleHint::likely_server;
    case wire::RdmapOpcode::read_response:
      return RoleHint::likely_client;
    default:
      return RoleHint::none;
  }
}

}  // namespace

RoleHint role_of_message(Bytes octets, std::size_t wire_length) {
  const auto fixed = wire::decode_fixed_words(octets, wire_length);
  if (!fixed) return RoleHint::none;
  if (fixed->version == 1) return role_of_v1(octets, wire_length);
  if (fixed->version != 2) return RoleHint::none;
  // RDMA2_CALL_* are 8 to 10, RDMA2_REPLY_* 11 to 13.
  if (fixed->proc >= 8 && fixed->proc <= 10) return role_of_v2_call(octets, wire_length, fixed->xid);
  return fixed->proc >= 11 && fixed->proc <= 13 ? RoleHint::likely_server : RoleHint::none;
}

RoleHint role_in_window(const Window& window, Position from, const wire::Markers& markers) {
  RoleHint best = RoleHint::none;
  std::vector<std::uint8_t> message;
  for (int i = 0; i < fpdus_limit; ++i) {
    std::array<std::uint8_t, 2 + wire::ddp_untagged_length> head{};
    if (window.read(from, 4, markers, head.data()) != Window::Have::yes) break;
    const std::uint16_t length = wire::load_be16(head.data());
    const wire::DdpControl control = wire::ddp_control(head.data() + 2);
    if (!control.plausible() || length < control.header_length()) break;
    if (control.send() && window.read(from, head.size(), markers, head.data()) == Window::Have::yes &&
        wire::load_be32(head.data() + 16) == 0) {
      const std::size_t data = length - wire::ddp_untagged_length;
      const Position begin = markers.after(from, head.size());
      message.resize(std::min(data, message_limit));
      while (!message.empty() && window.read(begin, message.size(), markers, message.data()) != Window::Have::yes) {
        message.resize(message.size() / 2);  // the snap length cut it somewhere
      }
      const RoleHint hint = role_of_message(message, control.last ? data : std::max(data, message_limit));
      if (hint == RoleHint::client || hint == RoleHint::server) return hint;
      if (hint != RoleHint::none && best != RoleHint::perhaps_client) best = hint;
    } else if (best == RoleHint::none && !control.send()) {
      best = role_of_operation(control.rdmap());
    }
    from = markers.after(from, wire::fpdu_size(length));
  }
  return best;
}

}  // namespace rpcrdma::trace::iwarp
