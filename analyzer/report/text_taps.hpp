// SPDX-License-Identifier: GPL-2.0-or-later
// What a merge of captures tells: their clocks, what each of them lacks, and how long the way between them is.
#pragma once

#include "report/layout.hpp"
#include "report/quantity.hpp"
#include "report/report.hpp"

namespace rpcrdma::report {

/// Nothing where nothing was put together.
void taps_block(Page& page, const Run& run, const TextStyle& style, Epoch epoch);

}  // namespace rpcrdma::report
