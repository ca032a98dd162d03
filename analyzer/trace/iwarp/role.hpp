// SPDX-License-Identifier: GPL-2.0-or-later
// Which side is the client, when neither handshake nor port tell: a look into the first Sends.
#pragma once

#include "trace/iwarp/window.hpp"

namespace rpcrdma::trace::iwarp {

/// What the Sends of one direction say about their sender, the weakest first.
enum class RoleHint : std::uint8_t {
  none,
  reads,           ///< likely a server, unless its peer offers
  is_read,         ///< likely a client, unless it offers
  offers,          ///< a Long Call, or a Reply that its requester pulls: who reads may be either
  likely_server,   ///< it replies, or writes; a client replies too, to callbacks
  likely_client,   ///< it is read, and offers nothing that may be a Reply
  perhaps_client,  ///< it calls, and of what it calls is not known who calls whom: its peer's replies tell no more
  client,          ///< it calls NFS, or what belongs to it
  server,          ///< it calls a callback program
};

/// The Sends that wait in a window, from the FPDU at `from` on.
[[nodiscard]] RoleHint role_in_window(const Window& window, Position from, const wire::Markers& markers);

/// `hint` beside what its peer shows: likely_client, likely_server, or none.
[[nodiscard]] RoleHint likely_role(RoleHint hint, RoleHint peer) noexcept;

}  // namespace rpcrdma::trace::iwarp
