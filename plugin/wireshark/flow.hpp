// SPDX-License-Identifier: GPL-2.0-or-later
// Statistics → Flow Graph, type "NFS over RDMA", and -z flow,rpcrdma,network: messages and RDMA operations as arrows,
// findings in the comment column.
#pragma once

namespace rpcrdma::plugin {

void register_flow();

}  // namespace rpcrdma::plugin
