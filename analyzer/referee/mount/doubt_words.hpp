// SPDX-License-Identifier: GPL-2.0-or-later
// Why nothing can be told of a mount, as the sentence about it.
#pragma once

#include <string>

#include "referee/state/mount.hpp"

namespace rpcrdma::referee {

/// Of a mount whose state is not known.
[[nodiscard]] std::string cannot_be_told(const Mount& mount, const Assessment& a);

}  // namespace rpcrdma::referee
