// SPDX-License-Identifier: GPL-2.0-or-later
// The part of the text report that says what was found, worst first, and what was not checked.
#pragma once

#include "report/layout.hpp"
#include "report/quantity.hpp"
#include "report/report.hpp"

namespace rpcrdma::report {

void findings_block(Page& page, const Run& run, const TextStyle& style, Epoch epoch);

void unchecked_block(Page& page, const Run& run);

}  // namespace rpcrdma::report
