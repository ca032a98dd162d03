// SPDX-License-Identifier: GPL-2.0-or-later
// Where each thing stands in the arguments and results of NFS, all procedures of versions 2, 3 (RFC 1813) and 4, and
// of its callbacks. What stands behind the last thing that could be told is not known.
#pragma once

#include "wire/item_watch.hpp"
#include "wire/nfs_steps.hpp"

namespace rpcrdma::wire {

/// `message` begins with the XID; items may have been moved into chunks. `places`: as for read_call_steps().
void walk_call(Bytes message, std::size_t wire_length, const DataPlaces& places, ItemWatch& watch);
/// The Reply to a Call of this procedure.
void walk_reply(Bytes message, std::size_t wire_length, const Asked& asked, const DataPlaces& places, ItemWatch& watch);

}  // namespace rpcrdma::wire
