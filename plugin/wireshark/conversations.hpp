// SPDX-License-Identifier: GPL-2.0-or-later
// Statistics → Conversations and → Endpoints, and -z conv,rpcrdma and -z endpoints,rpcrdma. A conversation is a
// connection: its number stands where other protocols have their ports (tshark prints ports of TCP, UDP and SCTP
// alone).
#pragma once

namespace rpcrdma::plugin {

void register_conversations();

}  // namespace rpcrdma::plugin
