// SPDX-License-Identifier: GPL-2.0-or-later
#include "wire/rpc.hpp"

namespace rpcrdma::wire {

namespace {

constexpr std::uint32_t rpc_version_2 = 2;

DecodeError wrong(std::string_view field, std::size_t offset) { return {Fault::invalid, field, offset}; }

struct Auth {
  std::uint32_t flavor = 0;
  Bytes body;
};

Decoded<Auth> decode_auth(Cursor& cursor, std::string_view field) {
  Auth auth;
  const auto flavor = cursor.be32(field);
  if (!flavor) return tl::make_unexpected(flavor.error());
  auth.flavor = *flavor;
  const std::size_t length_at = cursor.offset();
  const auto length = cursor.be32(field);
  if (!length) return tl::make_unexpected(length.error());
  if (*length > most_auth_octets) return tl::make_unexpected(wrong(field, length_at));
  const auto padded = cursor.take((*length + 3U) & ~3U, field);
  if (!padded) return tl::make_unexpected(padded.error());
  auth.body = padded->first(*length);
  return auth;
}

// RFC 2203 section 5.3.1: version, gss_proc, sequence number, service. Later versions kept the shape.
void read_gss(const Auth& credential, RpcCall& call) {
  if (credential.flavor != flavor_gss || credential.body.size() < 16) return;
  const std::uint32_t version = load_be32(credential.body.data());
  if (version < 1 || version > 3) return;
  call.gss_procedure = load_be32(credential.body.data() + 4);
  call.gss_service = load_be32(credential.body.data() + 12);
}

}  // namespace

std::optional<Protection> protection_of(const RpcCall& call) noexcept {
  if (call.flavor != flavor_gss) return Protection::none;
  switch (call.gss_service.value_or(0)) {
    case gss_service::none:
      return Protection::none;
    case gss_service::integrity:
      return Protection::integrity;
    case gss_service::privacy:
      return Protection::privacy;
    default:
      return std::nullopt;
  }
}

Decoded<RpcStart> decode_rpc_start(Bytes octets, std::size_t wire_length) noexcept {
  Cursor cursor(octets, wire_length);
  const auto words = cursor.take(rpc_start_octets, "rpc start");
  if (!words) return tl::make_unexpected(words.error());
  return RpcStart{load_be32(words->data()), load_be32(words->data() + 4)};
}

bool begins_message(Bytes octets, std::uint32_t xid, MessageType type) noexcept {
  const auto start = decode_rpc_start(octets, octets.size());
  return start && start->xid == xid && start->type == static_cast<std::uint32_t>(type);
}

Decoded<RpcCall> decode_rpc_call(Bytes octets, std::size_t wire_length) noexcept {
  Cursor cursor(octets, wire_length);
  const auto words = cursor.take(24, "call header");
  if (!words) {
    // What is there may already be wrong; only the rest is missing.
    if (octets.size() >= 8 && load_be32(octets.data() + 4) != static_cast<std::uint32_t>(MessageType::call)) {
      return tl::make_unexpected(wrong("message type", 4));
    }
    return tl::make_unexpected(words.error());
  }
  const std::uint8_t* const p = words->data();
  if (load_be32(p + 4) != static_cast<std::uint32_t>(MessageType::call)) {
    return tl::make_unexpected(wrong("message type", 4));
  }
  RpcCall call;
  call.xid = load_be32(p);
  call.rpc_version = load_be32(p + 8);
  if (call.rpc_version != rpc_version_2) return tl::make_unexpected(wrong("rpc version", 8));
  call.program = load_be32(p + 12);
  call.version = load_be32(p + 16);
  call.procedure = load_be32(p + 20);

  const auto credential = decode_auth(cursor, "credential");
  if (!credential) return tl::make_unexpected(credential.error());
  call.flavor = credential->flavor;
  read_gss(*credential, call);
  const auto verifier = decode_auth(cursor, "verifier");
  if (!verifier) return tl::make_unexpected(verifier.error());
  call.body = cursor.offset();
  return call;
}

std::optional<std::uint32_t> gss_major_of(Bytes results) noexcept {
  Cursor cursor(results, results.size());
  const auto handle = cursor.be32("handle");
  if (!handle || *handle > most_auth_octets || !cursor.take((*handle + 3U) & ~3U, "handle")) return std::nullopt;
  const auto major = cursor.be32("gss_major");
  return major ? std::optional(*major) : std::nullopt;
}

Decoded<RpcReply> decode_rpc_reply(Bytes octets, std::size_t wire_length) noexcept {
  Cursor cursor(octets, wire_length);
  RpcReply reply;
  const auto xid = cursor.be32("xid");
  if (!xid) return tl::make_unexpected(xid.error());
  reply.xid = *xid;
  const auto type = cursor.be32("message type");
  if (!type) return tl::make_unexpected(type.error());
  if (*type != static_cast<std::uint32_t>(MessageType::reply)) return tl::make_unexpected(wrong("message type", 4));
  const auto outcome = cursor.be32("reply status");
  if (!outcome) return tl::make_unexpected(outcome.error());
  if (*outcome != reply_stat::accepted && *outcome != reply_stat::denied) {
    return tl::make_unexpected(wrong("reply status", 8));
  }
  reply.accepted = *outcome == reply_stat::accepted;
  if (reply.accepted) {
    const auto verifier = decode_auth(cursor, "verifier");
    if (!verifier) return tl::make_unexpected(verifier.error());
    reply.flavor = verifier->flavor;
  }
  const std::size_t status_at = cursor.offset();
  const auto status = cursor.be32("status");
  if (!status) return tl::make_unexpected(status.error());
  if (*status > (reply.accepted ? accept_stat::system_err : reject_stat::auth_error)) {
    return tl::make_unexpected(wrong("status", status_at));
  }
  reply.status = *status;
  reply.body = cursor.offset();
  return reply;
}

bool callback_program(std::uint32_t program) noexcept {
  // RFC 5531 section 13: transient. NFSv4 clients choose their callback program from it.
  return program >= 0x40000000U && program < 0x60000000U;
}

bool service_program(std::uint32_t program) noexcept {
  return program == nfs_program || program == mount_program || program == nfsacl_program;
}

}  // namespace rpcrdma::wire
