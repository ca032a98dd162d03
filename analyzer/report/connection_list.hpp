// SPDX-License-Identifier: GPL-2.0-or-later
// Which connections the text report tells in full, and the others in a line each.
#pragma once

#include "report/layout.hpp"
#include "report/quantity.hpp"
#include "report/report.hpp"

namespace rpcrdma::report {

/// In full: those with something to say, the worst of them where they are many; with -v all. Attempts to connect that
/// failed one after the other are one line.
void connections_block(Page& page, const Run& run, const TextStyle& style, Epoch epoch);

}  // namespace rpcrdma::report
