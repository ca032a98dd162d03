// SPDX-License-Identifier: GPL-2.0-or-later
// What happened to each mount, in a sentence: Statistics → NFS over RDMA mounts, and -z rpcrdma,mounts.
#pragma once

#include "wireshark/draw.hpp"

namespace rpcrdma::plugin {

void register_mounts();
/// Somebody has opened that table.
[[nodiscard]] bool mounts_shown();
/// In each frame: the table is filled with the first that passes its filter.
void queue_mounts(const Canvas& canvas);

}  // namespace rpcrdma::plugin
