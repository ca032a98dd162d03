// SPDX-License-Identifier: GPL-2.0-or-later
// The sentence that a report begins with.
#pragma once

#include <string>

#include "referee/state/mount.hpp"
#include "referee/state/nameless.hpp"

namespace rpcrdma::referee {

/// By address: which end is the client is not known.
[[nodiscard]] EndNames names_of_ends(const Mount& mount);
[[nodiscard]] std::string sentence_of(const Mount& mount, const Assessment& assessment);

}  // namespace rpcrdma::referee
