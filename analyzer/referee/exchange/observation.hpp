// SPDX-License-Identifier: GPL-2.0-or-later
// Tells the observer, where there is one.
#pragma once

#include "referee/observer.hpp"
#include "referee/rules/checks.hpp"
#include "referee/state/connection.hpp"

namespace rpcrdma::referee {

/// The message's header as it was decoded, of one version or of none.
struct Headers {
  const wire::HeaderV1* version1 = nullptr;
  const wire::HeaderV2* version2 = nullptr;
};

void observe_message(const Witness& witness, const trace::Send& event, MessageSeen::Kind kind, Headers headers,
                     TransactionId exchange);

/// `initiator`: who issued the Write or the Read; the memory is the other side's.
void observe_operation(const Witness& witness, OperationSeen seen, Side initiator);

}  // namespace rpcrdma::referee
