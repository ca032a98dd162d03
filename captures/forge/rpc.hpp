// SPDX-License-Identifier: GPL-2.0-or-later
// RPC messages and the NFS procedures that the stories speak of, with the places of the items that may be reduced.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "octets.hpp"

namespace forge {

/// A data item that RFC 8267 lets a sender move into a chunk: its octets without count word and pad.
struct Item {
  std::size_t offset = 0;  ///< in the complete message
  std::size_t length = 0;
};

struct RpcMessage {
  Octets octets;
  std::vector<Item> items;
};

/// What is asked. Call and reply are both made from it.
struct Procedure {
  enum class Kind : std::uint8_t { generic, nfs3, compound, callback } kind = Kind::generic;
  std::uint32_t program = 0x20004E51;  ///< user-defined range: carries filler
  std::uint32_t version = 1;
  std::uint32_t number = 1;
  std::vector<std::string> operations;    ///< of a COMPOUND
  std::size_t octets = 16;                ///< of file data, names, or filler
  std::uint32_t nfs_status = 0;           ///< of the reply: NFSv3, or the last operation of a COMPOUND
  std::string fails;                      ///< the operation that has nfs_status, and ends the COMPOUND; empty: the last
  std::uint32_t state = 9;                ///< tells the stateids of a story apart
  std::uint32_t file = 0;                 ///< tells the file handles of a story apart
  std::uint32_t owner = 0;                ///< whose client it is: EXCHANGE_ID, SETCLIENTID
  std::uint32_t client = 0;               ///< tells the client IDs of a story apart
  bool confirmed = false;                 ///< EXCHANGE_ID: the server knows the client already
  std::uint32_t session = 0;              ///< tells the sessions of a story apart
  std::optional<std::uint32_t> request;   ///< of its session, in slot 0: sa_sequenceid; empty: one for each XID
  unsigned story = 0;                     ///< tells the sessions of stories apart
  std::uint32_t sequence_flags = 0;       ///< sr_status_flags of a SEQUENCE reply
  bool asynchronous = false;              ///< COPY: asked for so, and done so
  std::optional<std::uint32_t> complete;  ///< OFFLOAD_STATUS: osr_complete; empty: still under way
  /// RPCSEC_GSS service (RFC 2203 section 5.3.1, RFC 5403 section 2.1), or that a context is asked for with NULL
  /// (RFC 2203 section 5.2.2).
  enum class Gss : std::uint8_t {
    no = 0,
    none = 1,
    integrity = 2,
    privacy = 3,
    channel = 4,
    destroy = 0xFE,
    context = 0xFF
  } gss = Gss::no;
  std::optional<Octets> body;   ///< arguments or results as they stand, of a program that nobody here knows
  std::uint32_t gss_major = 0;  ///< of the reply to who asks for a context: 0 GSS_S_COMPLETE, 1 GSS_S_CONTINUE_NEEDED

  [[nodiscard]] static Procedure nfs3(const std::string& name);
  [[nodiscard]] static Procedure compound(std::vector<std::string> operations);
  [[nodiscard]] static Procedure callback(std::vector<std::string> operations);
};

[[nodiscard]] RpcMessage rpc_call(const Procedure& procedure, std::uint32_t xid);
/// `status`: accept_stat, 0 for success; results follow only then.
[[nodiscard]] RpcMessage rpc_reply(const Procedure& procedure, std::uint32_t xid, std::uint32_t status);
/// MSG_DENIED, AUTH_ERROR (RFC 5531 section 9).
[[nodiscard]] RpcMessage rpc_denied(std::uint32_t xid, std::uint32_t auth_status);

namespace nfs3 {
void call(Pen& pen, std::vector<Item>& items, const Procedure& p);
void reply(Pen& pen, std::vector<Item>& items, const Procedure& p);
}  // namespace nfs3

namespace nfs4 {
void call(Pen& pen, std::vector<Item>& items, const Procedure& p);
void reply(Pen& pen, std::vector<Item>& items, const Procedure& p);
void callback_call(Pen& pen, const Procedure& p);
void callback_reply(Pen& pen, const Procedure& p);
}  // namespace nfs4

/// A counted opaque with its pad; the place of its octets is remembered as an item.
void put_data(Pen& pen, std::vector<Item>& items, std::size_t length);
/// A counted opaque or string with its pad.
void put_opaque(Pen& pen, const Octets& octets);
void put_string(Pen& pen, std::string_view text);

}  // namespace forge
