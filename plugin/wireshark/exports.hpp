// SPDX-License-Identifier: GPL-2.0-or-later
// File → Export Objects → RPCRDMA, and --export-objects rpcrdma,DIR: files that were read or written over the mount.
#pragma once

#include "wireshark/draw.hpp"

namespace rpcrdma::plugin {

void register_exports();
/// A whole RPC message, as Wireshark's dissectors got it.
void queue_rpc(const Canvas& canvas, const journal::Payload& payload, tvbuff_t* tvb);

}  // namespace rpcrdma::plugin
