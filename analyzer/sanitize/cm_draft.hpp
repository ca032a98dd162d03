// SPDX-License-Identifier: GPL-2.0-or-later
// Messages of the communication manager in the copy.
#pragma once

#include "sanitize/draft.hpp"
#include "sanitize/pseudonyms.hpp"

namespace rpcrdma::sanitize {

/// The draft is a management datagram to QP1. One of another class keeps its common header alone.
void draft_cm(Draft& draft, Pseudonyms& pseudonyms);

}  // namespace rpcrdma::sanitize
