// SPDX-License-Identifier: GPL-2.0-or-later
// The top of the text report: what happened to the mounts.
#pragma once

#include <string_view>

#include "report/layout.hpp"
#include "report/quantity.hpp"
#include "report/report.hpp"

namespace rpcrdma::report {

/// "the server", "the client, which cannot be reached"
[[nodiscard]] std::string_view debtor(referee::Owes owes) noexcept;

/// The sentence. Nothing where the capture holds no mount.
void sentence_block(Page& page, const Run& run);

/// Each mount that does not work; of those that work, one alone in full, several in a line each.
void mounts_block(Page& page, const Run& run, const TextStyle& style, Epoch epoch);

}  // namespace rpcrdma::report
