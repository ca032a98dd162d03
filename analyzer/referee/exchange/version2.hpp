// SPDX-License-Identifier: GPL-2.0-or-later
// Where messages of version 2 leave the path of version 1.
#pragma once

#include "referee/observer.hpp"
#include "referee/rules/checks.hpp"

namespace rpcrdma::referee::v2 {

/// True when the message has been taken: it is version 2's, or stands on a connection of version 2.
[[nodiscard]] bool take(const Witness& witness, const trace::Send& event, RecentSend& send, MessageSeen::Kind& kind,
                        const wire::HeaderV2*& readable);
/// After the close: counted only. True when it is of version 2.
[[nodiscard]] bool count_late(const Witness& witness, const trace::Send& event);
}  // namespace rpcrdma::referee::v2
