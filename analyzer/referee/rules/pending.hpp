// SPDX-License-Identifier: GPL-2.0-or-later
// Accusations that were held back (Pending): when they are certain.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "referee/rules/checks.hpp"

namespace rpcrdma::referee {

/// As many wait at once in a connection: one that accuses so often is broken beyond the next of them.
inline constexpr std::size_t most_held_back = 256;

/// Holds an accusation back until it is certain. Where too many wait already it is given up, and the report says so.
void hold_back(Connection& connection, Pending pending);

/// Settles accusations that were held back; those older than what `side` has now sent, or all of them.
void settle_pending(const Witness& witness, Side side, std::uint64_t before_frame);
/// `complete`: this side's stream is known to be in the capture to its last octet.
void settle_all_pending(const Witness& witness, std::optional<Side> complete);

}  // namespace rpcrdma::referee
