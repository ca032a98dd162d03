// SPDX-License-Identifier: GPL-2.0-or-later
// The rows that stand above the checks, by name.
#pragma once

#include "referee/rules/list.hpp"
#include "referee/rules/table.hpp"

#define RPCRDMA_ROW(name) extern const Row name;

namespace rpcrdma::referee::rows {
RPCRDMA_RULES_OF_VERSION_1_AND_BOTH(RPCRDMA_ROW)
RPCRDMA_RULES_OF_PEERS(RPCRDMA_ROW)
RPCRDMA_RULES_OF_MOUNTS(RPCRDMA_ROW)
}  // namespace rpcrdma::referee::rows

namespace rpcrdma::referee::v2::rows {
RPCRDMA_RULES_OF_VERSION_2(RPCRDMA_ROW)
}  // namespace rpcrdma::referee::v2::rows

#undef RPCRDMA_ROW
