// SPDX-License-Identifier: GPL-2.0-or-later
// The frames of a Call and what belongs to it, as the journal learns of them.
#pragma once

#include <cstdint>

#include "journal/notes.hpp"
#include "referee/observer.hpp"

namespace rpcrdma::journal {

/// With its last piece, which may be the only one, a Reply ends the exchange.
enum class PieceOfMessage : std::uint8_t { last, earlier };
/// A message, which is shown in that frame; `send`: as it came.
void enter(Connection& connection, const referee::MessageSeen& seen, const trace::Send& send, std::uint32_t shown,
           PieceOfMessage piece);
/// A message that was shown in that frame stands in its own from now on.
void stands_in_its_frame(Connection& connection, const Message& message, std::uint32_t shown);

}  // namespace rpcrdma::journal
