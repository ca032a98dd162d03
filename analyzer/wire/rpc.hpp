// SPDX-License-Identifier: GPL-2.0-or-later
// Of ONC RPC (RFC 5531), what transactions need; and the names of NFS procedures and operations.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/bytes.hpp"
#include "wire/data_places.hpp"
#include "wire/rpc_numbers.hpp"

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

struct RpcCall {
  std::uint32_t xid = 0;
  std::uint32_t rpc_version = 0;
  std::uint32_t program = 0;
  std::uint32_t version = 0;
  std::uint32_t procedure = 0;
  std::uint32_t flavor = 0;
  std::optional<std::uint32_t> gss_service;    ///< as it stands; only of RPCSEC_GSS, versions 1 to 3
  std::optional<std::uint32_t> gss_procedure;  ///< likewise
  std::size_t body = 0;                        ///< offset of the procedure's arguments (after the verifier)
};
/// Fault::invalid when rpc_version is not 2 or a length breaks RFC 5531 (credential, verifier above 400 octets).
[[nodiscard]] Decoded<RpcCall> decode_rpc_call(Bytes octets, std::size_t wire_length) noexcept;

/// How RPCSEC_GSS protects arguments and results (RFC 2203 section 5.3.2). With integrity they can still be read.
enum class Protection : std::uint8_t { none, integrity, privacy };
/// nullopt: of RPCSEC_GSS, and the service is none of these. The arguments stand as they are only where it is `none`.
[[nodiscard]] std::optional<Protection> protection_of(const RpcCall& call) noexcept;

struct RpcReply {
  std::uint32_t xid = 0;
  bool accepted = false;
  std::uint32_t status = 0;  ///< accept_stat or reject_stat
  std::uint32_t flavor = 0;  ///< of the verifier
  std::size_t body = 0;      ///< offset of the results

  [[nodiscard]] bool succeeded() const noexcept { return accepted && status == accept_stat::success; }
};
[[nodiscard]] Decoded<RpcReply> decode_rpc_reply(Bytes octets, std::size_t wire_length) noexcept;
/// auth_stat: "AUTH_TOOWEAK"; empty if unknown.
[[nodiscard]] std::string_view auth_status_name(std::uint32_t status) noexcept;
/// gss_major of the answer (RFC 2203 section 5.2.3.1). `results`: of the procedure. nullopt: cut.
[[nodiscard]] std::optional<std::uint32_t> gss_major_of(Bytes results) noexcept;
/// By the error in it (RFC 2744 section 3.9.1): "GSS_S_NO_CRED"; empty if unknown.
[[nodiscard]] std::string_view gss_major_name(std::uint32_t major) noexcept;

/// sessionid4
struct SessionId {
  std::array<std::uint8_t, 16> octets{};
  friend bool operator==(const SessionId&, const SessionId&) = default;
};

/// Which request of a session a Call is (RFC 8881 section 2.10.6.1): whoever sends it again sends the same numbers,
/// whatever its XID.
struct SlotUse {
  std::uint32_t sequence = 0;
  std::uint32_t slot = 0;
};

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
  /// That of the SEQUENCE or CB_SEQUENCE that stands first (RFC 8881 sections 18.46 and 20.9). nullopt: another
  /// operation does, or it is cut.
  std::optional<SessionId> session;
  std::optional<SlotUse> slot;  ///< likewise
};
/// Decodes into `out` (its vector keeps its capacity).
[[nodiscard]] tl::expected<void, DecodeError> decode_compound(Bytes arguments, std::size_t wire_length, bool callback,
                                                              Compound& out);
[[nodiscard]] Decoded<Compound> decode_compound(Bytes arguments, std::size_t wire_length, bool callback);
/// That of a Call, in a message that begins with its XID: of NFS or of its callback program. Under RPCSEC_GSS with
/// integrity as well; with privacy it is not supported. `places`: what is known of where its data stand. `out` as
/// above.
[[nodiscard]] tl::expected<void, DecodeError> decode_compound_of(const RpcCall& call, Bytes message,
                                                                 std::size_t wire_length, const DataPlaces& places,
                                                                 Compound& out);
[[nodiscard]] Decoded<Compound> decode_compound_of(const RpcCall& call, Bytes message, std::size_t wire_length);

/// OP_ILLEGAL and OP_CB_ILLEGAL (RFC 8881 section 18.52): the one operation with a name that no small number has.
inline constexpr std::uint32_t nfs4_illegal_operation = 10044;
[[nodiscard]] std::string_view nfs4_operation_name(std::uint32_t operation, bool callback) noexcept;
/// "NFSv3 READ", "NFSACLv3 GETACL", "NFSv4 COMPOUND", "NFSv4 CB_COMPOUND", "MOUNTv3 MNT", "NLMv4 LOCK", ... ; else
/// "program 400000 version 1 procedure 3".
[[nodiscard]] std::string procedure_name(std::uint32_t program, std::uint32_t version, std::uint32_t procedure);
/// "READ", "COMPOUND", "CB_COMPOUND" (of every callback program); empty if unknown.
[[nodiscard]] std::string_view bare_procedure_name(std::uint32_t program, std::uint32_t version,
                                                   std::uint32_t procedure) noexcept;

/// Programs in the transient range that servers use towards clients, and NFS callbacks: a Call of these from the
/// active side would be odd.
[[nodiscard]] bool callback_program(std::uint32_t program) noexcept;
/// Programs that only clients call: NFS and what belongs to it. Of any other it is not known who calls whom: a server
/// may send Calls in reverse direction (RFC 8167).
[[nodiscard]] bool service_program(std::uint32_t program) noexcept;

}  // namespace rpcrdma::wire
