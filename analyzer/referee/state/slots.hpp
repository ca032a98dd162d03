// SPDX-License-Identifier: GPL-2.0-or-later
// A request of a session is known by its slot and the sequence number in it, whatever its XID (RFC 8881 section
// 2.10.6.1): what is sent again there is answered from the session's reply cache.
#pragma once

#include "wire/rpc.hpp"

namespace rpcrdma::referee {

struct Connection;
struct Transaction;

/// The Call says which request of its session it is.
void take_up_slot(Connection& connection, Transaction& call, const wire::SlotUse& use);

}  // namespace rpcrdma::referee
