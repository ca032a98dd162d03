// SPDX-License-Identifier: GPL-2.0-or-later
// Copies that show no loss: frames are missing, and no number is. Somebody else's story leaves the same.
#pragma once

#include "playback/recording.hpp"

namespace damage {

/// One reliable connection of InfiniBand between two addresses, its REQ and REP, and every number from the first to the
/// highest that was asked, answered or acknowledged. Not from the decoders that are tested. False where in doubt: over
/// TCP, with a second connection of the same addresses, without handshake.
[[nodiscard]] bool seamless(const playback::Take& take);

}  // namespace damage
