// SPDX-License-Identifier: GPL-2.0-or-later
// -z rpcrdma,tree and -z rpcrdma,connections, and the same in the Statistics menu.
#pragma once

namespace rpcrdma::plugin {

void register_statistics();

}  // namespace rpcrdma::plugin
