// SPDX-License-Identifier: GPL-2.0-or-later
// --rule, --no-rule, --severity and --connection: what of a report is shown and counts.
#pragma once

#include "cli/options.hpp"
#include "referee/facts.hpp"

namespace rpcrdma::cli {

[[nodiscard]] bool shows(const Options& options, referee::RuleId rule);
[[nodiscard]] bool shows(const Options& options, const referee::Finding& finding);
[[nodiscard]] bool shows(const Options& options, const referee::Unchecked& unchecked);
[[nodiscard]] bool shows(const Options& options, const referee::ConnectionFacts& connection);

/// RPC-over-RDMA messages of one connection.
[[nodiscard]] std::uint64_t messages_of(const referee::ConnectionFacts& connection);

/// Takes out of the report what was not asked for. Whether there is RPC-over-RDMA in it, and whether anything could be
/// judged, stays as it was.
/// Returns how many errors and warnings it takes out.
std::size_t select(referee::Report& report, const Options& options);

/// Whether a finding that is left makes the exit status 1.
[[nodiscard]] bool fails(const referee::Report& report, std::optional<referee::Severity> fail_on);

}  // namespace rpcrdma::cli
