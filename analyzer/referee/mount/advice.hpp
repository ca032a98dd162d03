// SPDX-License-Identifier: GPL-2.0-or-later
// What to look at next.
#pragma once

#include <string>

#include "referee/state/mount.hpp"

namespace rpcrdma::referee {

/// Empty: there is nothing to be done, or nothing that the capture tells.
[[nodiscard]] std::string next_step(const Assessment& assessment);

}  // namespace rpcrdma::referee
