// SPDX-License-Identifier: GPL-2.0-or-later
// What one RPC-over-RDMA message shows of its sender's role. Who is the client is told by it where neither handshake
// nor port tell; each transport weighs it with what else its packets show.
#pragma once

#include <cstddef>
#include <cstdint>

#include "wire/bytes.hpp"

namespace rpcrdma::trace {

enum class RoleSign : std::uint8_t {
  none,
  service_call,   ///< to NFS, or to what belongs to it: of a client
  callback_call,  ///< to a callback program: of a server
  foreign_call,   ///< to a program of which is not known who calls whom
  unread_call,    ///< most likely a Call, and its program is not inline: maybe a callback, in chunks
  long_form,      ///< RDMA_NOMSG that is to be read: a Long Call, or a Reply whose pull is completed by RDMA_DONE
  done,           ///< RDMA_DONE, of who reads what Replies offer: mostly a client
  reply           ///< mostly of a server; a client replies, too, to callbacks
};

/// `message`: from the RPC-over-RDMA header on, as far as it was captured; `wire_length` octets long on the wire.
[[nodiscard]] RoleSign role_sign(wire::Bytes message, std::size_t wire_length);

}  // namespace rpcrdma::trace
