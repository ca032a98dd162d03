// SPDX-License-Identifier: GPL-2.0-or-later
// What is known of where the data of an NFS message stand: in it, or in chunks of their own (RFC 8166 section 3.4.4).
#pragma once

#include <span>
#include <variant>

#include "wire/nfs_items.hpp"

namespace rpcrdma::wire {

/// Data that may have been moved end the reading, unless only one of here and gone makes the operations end where the
/// message ends.
using PlacesUnknown = std::monostate;
/// Its sender has used no chunk.
struct NothingMoved {};
/// The Read chunks of a Call, in increasing order of Position.
using ChunksOfCall = std::span<const ReadChunk>;
/// What list_call_items or list_reply_items found in the message.
using ItemsListed = const NfsItems*;

using DataPlaces = std::variant<PlacesUnknown, NothingMoved, ChunksOfCall, ItemsListed>;

}  // namespace rpcrdma::wire
