// SPDX-License-Identifier: GPL-2.0-or-later
// Which side is the client, when neither handshake nor port tell: a look into the first Sends.
#pragma once

#include "trace/iwarp/window.hpp"

namespace rpcrdma::trace::iwarp {

/// What the Sends of one direction say about their sender.
enum class RoleHint : std::uint8_t {
  none,
  perhaps_client,  ///< it calls, and of what it calls is not known who calls whom: its peer's replies tell no more
  likely_client,   ///< its memory is read
  likely_server,   ///< it replies, writes or reads; a client replies too, to callbacks
  client,          ///< it calls NFS, or what belongs to it
  server,          ///< it calls a callback program
};

/// The Sends that wait in a window, from the FPDU at `from` on.
[[nodiscard]] RoleHint role_in_window(const Window& window, Position from, const wire::Markers& markers);

}  // namespace rpcrdma::trace::iwarp
