// SPDX-License-Identifier: GPL-2.0-or-later
// What happened to each mount, in a sentence: Statistics → NFS over RDMA mounts, and -z rpcrdma,mounts.
#pragma once

#include "wireshark/draw.hpp"

namespace rpcrdma::plugin {

void register_mounts();
/// Of the first frame: the table is filled when it passes.
void queue_mounts(const Canvas& canvas);

}  // namespace rpcrdma::plugin
