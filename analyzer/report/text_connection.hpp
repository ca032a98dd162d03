// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <optional>
#include <string>

#include "report/layout.hpp"
#include "report/report.hpp"

namespace rpcrdma::report {

/// "frame 12, +1.234567 s": seconds since the capture's first frame where that is known.
[[nodiscard]] std::string place(const trace::FrameRef& frame, std::optional<trace::TimeNs> epoch);

/// Whether the connection came to be, as far as findings tell.
enum class Opening { accepted, refused, unanswered };

/// One block of the text report.
void connection_block(Page& page, const referee::ConnectionFacts& connection, Opening opening,
                      std::optional<trace::TimeNs> epoch, const TextStyle& style);

}  // namespace rpcrdma::report
