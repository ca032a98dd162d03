// SPDX-License-Identifier: GPL-2.0-or-later
// What NFS lets a mount wait for: copies, recalls, the callback channel, lost state, delays. Counts and remembers.
#pragma once

namespace rpcrdma::referee {

struct NfsWatch {};

}  // namespace rpcrdma::referee
