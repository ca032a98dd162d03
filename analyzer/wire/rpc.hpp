// SPDX-License-Identifier: GPL-2.0-or-later
// Of ONC RPC (RFC 5531), what transactions need; and the names of NFS procedures and operations.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/bytes.hpp"

namespace rpcrdma::wire {

enum class MessageType : std::uint32_t { call = 0, reply = 1 };

/// XID and message type: no RPC message is shorter.
inline constexpr std::size_t rpc_start_octets = 8;

/// These alone: enough for the direction.
struct RpcStart {
  std::uint32_t xid = 0;
  std::uint32_t type = 0;  ///< 0 CALL, 1 REPLY, anything else is not RPC
};
[[nodiscard]] Decoded<RpcStart> decode_rpc_start(Bytes octets, std::size_t wire_length) noexcept;

/// The first 8 octets say: an RPC message of this type begins here, with this XID.
[[nodiscard]] bool begins_message(Bytes octets, std::uint32_t xid, MessageType type) noexcept;

inline constexpr std::uint32_t flavor_gss = 6;

struct RpcCall {
  std::uint32_t xid = 0;
  std::uint32_t rpc_version = 0;
  std::uint32_t program = 0;
  std::uint32_t version = 0;
  std::uint32_t procedure = 0;
  std::uint32_t flavor = 0;
  std::optional<std::uint32_t> gss_service;    ///< 1 none, 2 integrity, 3 privacy
  std::optional<std::uint32_t> gss_procedure;  ///< 0 DATA, 1 INIT, 2 CONTINUE_INIT, 3 DESTROY
  std::size_t body = 0;                        ///< offset of the procedure's arguments (after the verifier)
};
/// Fault::invalid when rpc_version is not 2 or a length breaks RFC 5531 (credential, verifier above 400 octets).
[[nodiscard]] Decoded<RpcCall> decode_rpc_call(Bytes octets, std::size_t wire_length) noexcept;

struct RpcReply {
  std::uint32_t xid = 0;
  bool accepted = false;
  std::uint32_t status = 0;  ///< accept_stat (0 SUCCESS ... 4 GARBAGE_ARGS) or reject_stat
  std::uint32_t flavor = 0;  ///< of the verifier
  std::size_t body = 0;      ///< offset of the results
};
[[nodiscard]] Decoded<RpcReply> decode_rpc_reply(Bytes octets, std::size_t wire_length) noexcept;
/// auth_stat: "AUTH_TOOWEAK"; empty if unknown.
[[nodiscard]] std::string_view auth_status_name(std::uint32_t status) noexcept;

/// gss_proc of a Call that asks for a context of RPCSEC_GSS (RFC 2203 section 5.2.2): the first, and those behind it.
inline constexpr std::uint32_t gss_init = 1;
inline constexpr std::uint32_t gss_continue_init = 2;
/// gss_major of the answer (RFC 2203 section 5.2.3.1). `results`: of the procedure. nullopt: cut.
[[nodiscard]] std::optional<std::uint32_t> gss_major_of(Bytes results) noexcept;
inline constexpr std::uint32_t gss_complete = 0;
inline constexpr std::uint32_t gss_continue_needed = 1;
/// By the error in it (RFC 2744 section 3.9.1): "GSS_S_NO_CRED"; empty if unknown.
[[nodiscard]] std::string_view gss_major_name(std::uint32_t major) noexcept;

/// NFSv4 COMPOUND arguments or CB_COMPOUND arguments: the tag and the operations' numbers as far as they can be
/// walked inline. The walker knows the argument shapes of the common operations and stops at the first it cannot
/// size; it never guesses. At most 64 operations.
struct Compound {
  std::string tag;
  std::uint32_t minor_version = 0;
  std::uint32_t count = 0;                ///< as announced
  std::vector<std::uint32_t> operations;  ///< as far as walked
  /// Whether a client agrees in it to be called on this connection: CREATE_SESSION with CONN_BACK_CHAN (RFC 8881
  /// section 18.36), BIND_CONN_TO_SESSION not for the fore channel alone (section 18.34). nullopt: cut where that
  /// stands.
  std::optional<bool> back_channel = false;
};
/// Decodes into `out` (its vector keeps its capacity).
[[nodiscard]] tl::expected<void, DecodeError> decode_compound(Bytes arguments, std::size_t wire_length, bool callback,
                                                              Compound& out);
[[nodiscard]] Decoded<Compound> decode_compound(Bytes arguments, std::size_t wire_length, bool callback);

/// OP_ILLEGAL and OP_CB_ILLEGAL (RFC 8881 section 18.52): the one operation with a name that no small number has.
inline constexpr std::uint32_t nfs4_illegal_operation = 10044;
[[nodiscard]] std::string_view nfs4_operation_name(std::uint32_t operation, bool callback) noexcept;
/// "NFSv3 READ", "NFSACLv3 GETACL", "NFSv4 COMPOUND", "NFSv4 CB_COMPOUND", "MOUNTv3 MNT", "NLMv4 LOCK", ... ; else
/// "program 400000 version 1 procedure 3".
[[nodiscard]] std::string procedure_name(std::uint32_t program, std::uint32_t version, std::uint32_t procedure);
/// "READ", "COMPOUND", "CB_COMPOUND" (of every callback program); empty if unknown.
[[nodiscard]] std::string_view bare_procedure_name(std::uint32_t program, std::uint32_t version,
                                                   std::uint32_t procedure) noexcept;

/// The program number of NFS (RFC 1813, RFC 8881).
inline constexpr std::uint32_t nfs_program = 100003;

/// Programs in the transient range that servers use towards clients, and NFS callbacks: a Call of these from the
/// active side would be odd.
[[nodiscard]] bool callback_program(std::uint32_t program) noexcept;
/// Programs that only clients call: NFS and what belongs to it. Of any other it is not known who calls whom: a server
/// may send Calls in reverse direction (RFC 8167).
[[nodiscard]] bool service_program(std::uint32_t program) noexcept;

}  // namespace rpcrdma::wire
