// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <optional>
#include <string>

#include "report/layout.hpp"
#include "report/report.hpp"

namespace rpcrdma::report {

/// "frame 12, +1.234567 s": seconds since the capture's first frame where that is known.
[[nodiscard]] std::string place(const trace::FrameRef& frame, std::optional<trace::TimeNs> epoch);

/// One block of the text report.
void connection_block(Page& page, const referee::ConnectionFacts& connection, std::optional<trace::TimeNs> epoch,
                      const TextStyle& style);
/// The same in one line.
void connection_line(Page& page, const referee::ConnectionFacts& connection, std::optional<trace::TimeNs> epoch);
/// Attempts in a row that failed the same way: they are one line.
[[nodiscard]] bool failed_alike(const referee::ConnectionFacts& a, const referee::ConnectionFacts& b);
void failed_series_line(Page& page, const referee::ConnectionFacts& first, const referee::ConnectionFacts& last,
                        std::uint64_t count, std::optional<trace::TimeNs> epoch);
/// It came to be, by what is known of its end.
[[nodiscard]] bool established(const referee::ConnectionFacts& connection) noexcept;

}  // namespace rpcrdma::report
