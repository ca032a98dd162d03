// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>

#include "trace/trace.hpp"

namespace rpcrdma::report {

/// What of the capture could not be opened, for a person; empty: all was opened that could be.
[[nodiscard]] std::string not_opened(const trace::Statistics& statistics);

}  // namespace rpcrdma::report
