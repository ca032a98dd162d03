// SPDX-License-Identifier: GPL-2.0-or-later
// Who opened a connection whose handshake is not in the capture, told from its traffic.
#pragma once

#include "wire/ib.hpp"

namespace rpcrdma::trace::ib {

/// From here on the evidence is enough to call the roles known.
inline constexpr int role_sure = 10;
/// From here on nothing can change it: a forward Call was seen.
inline constexpr int role_proven = 1000;

/// How much one packet speaks for its sender being the active side; negative: the passive side.
/// Looks at the first packet of a Send, and at what RDMA operations are issued: only responders issue Writes, and
/// nearly always also the READs.
[[nodiscard]] int active_evidence(const wire::IbHeader& header);

}  // namespace rpcrdma::trace::ib
