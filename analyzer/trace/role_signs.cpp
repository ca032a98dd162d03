// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/role_signs.hpp"

#include <algorithm>

#include "wire/rpc.hpp"
#include "wire/rpcrdma.hpp"
#include "wire/rpcrdma_v2.hpp"

namespace rpcrdma::trace {
namespace {

/// From the XID on. Servers send Calls as well, those of callbacks.
RoleSign sign_of_call(wire::Bytes rpc) {
  constexpr std::size_t version_at = 8;
  constexpr std::size_t program_at = 12;
  if (rpc.size() < program_at + 4 || wire::load_be32(rpc.data() + version_at) != 2) return RoleSign::none;
  const std::uint32_t program = wire::load_be32(rpc.data() + program_at);
  if (wire::callback_program(program)) return RoleSign::callback_call;
  return wire::service_program(program) ? RoleSign::service_call : RoleSign::foreign_call;
}

/// The capture cut the lists of an RDMA_NOMSG, and does not show that its Read list is empty: it may be read, and room
/// for results may follow.
bool may_offer_and_is_cut(wire::Bytes message, const wire::FixedWords& fixed, const wire::DecodeError& error) {
  constexpr std::size_t reads_at = 16;
  return error.fault == wire::Fault::truncated && fixed.proc == static_cast<std::uint32_t>(wire::Proc::nomsg) &&
         (message.size() < reads_at + 4 || wire::load_be32(message.data() + reads_at) == 1);
}

RoleSign sign_in_version_1(wire::Bytes message, std::size_t wire_length, const wire::FixedWords& fixed) {
  wire::HeaderV1 header;
  if (const auto decoded = wire::decode_header_v1(message, wire_length, header); !decoded) {
    return may_offer_and_is_cut(message, fixed, decoded.error()) ? RoleSign::unread_call : RoleSign::none;
  }
  switch (static_cast<wire::Proc>(header.fixed.proc)) {
    case wire::Proc::msg:
    case wire::Proc::msgp:
      break;
    case wire::Proc::nomsg:
      // It offers room for results, as a callback may too (RFC 8167 section 5.3), or gives it back unused.
      if (!header.reads.empty() && (!header.writes.empty() || header.reply)) return RoleSign::unread_call;
      return wire::has_position_zero(header) ? RoleSign::long_form : RoleSign::none;
    case wire::Proc::done:
      return RoleSign::done;
    default:
      return RoleSign::none;
  }
  if (header.length > message.size()) return RoleSign::none;
  const wire::Bytes body = message.subspan(header.length);
  const std::size_t body_length = wire_length - std::min(wire_length, header.length);
  const auto start = wire::decode_rpc_start(body, body_length);
  if (!start || start->xid != header.fixed.xid) return RoleSign::none;
  if (start->type == static_cast<std::uint32_t>(wire::MessageType::reply)) return RoleSign::reply;
  if (start->type != static_cast<std::uint32_t>(wire::MessageType::call)) return RoleSign::none;
  return sign_of_call(body);
}

/// Where the RPC message begins depends on lists: its start is looked for.
RoleSign sign_of_call_in_version_2(wire::Bytes message, std::uint32_t xid) {
  constexpr std::size_t after_prefix = 20;
  constexpr std::size_t far_enough = 1024;
  for (std::size_t at = after_prefix; at + 16 <= std::min(message.size(), far_enough); at += 4) {
    const wire::Bytes rest = message.subspan(at);
    if (!wire::begins_message(rest, xid, wire::MessageType::call)) continue;
    const RoleSign sign = sign_of_call(rest);
    if (sign != RoleSign::none) return sign;
  }
  return RoleSign::unread_call;
}

}  // namespace

RoleSign role_sign(wire::Bytes message, std::size_t wire_length) {
  const auto fixed = wire::decode_fixed_words(message, wire_length);
  if (!fixed) return RoleSign::none;
  if (fixed->version == 1) return sign_in_version_1(message, wire_length, *fixed);
  if (fixed->version != 2 || !wire::known_htype(fixed->proc)) return RoleSign::none;
  const auto type = static_cast<wire::HeaderType>(fixed->proc);
  if (wire::is_call(type)) return sign_of_call_in_version_2(message, fixed->xid);
  return wire::is_reply(type) ? RoleSign::reply : RoleSign::none;
}

}  // namespace rpcrdma::trace
