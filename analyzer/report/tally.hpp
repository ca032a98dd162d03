// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "report/report.hpp"

namespace rpcrdma::report {

/// Findings by severity. A folded finding counts once, however often it was seen.
struct Tally {
  std::uint64_t errors = 0;
  std::uint64_t warnings = 0;
  std::uint64_t notes = 0;

  void add(const referee::Finding& finding) noexcept;
};

/// Their places in the list, in the order of their frames; those that belong to no frame come last.
[[nodiscard]] std::vector<std::size_t> by_place(const referee::PackedList<referee::Finding>& findings);

[[nodiscard]] Tally count(const referee::PackedList<referee::Finding>& findings);

/// The mount does not do what it is for.
[[nodiscard]] bool suffers(referee::MountFacts::State state) noexcept;

/// What was found in one sentence: "No violations found in 1 connection; 2 notes." Where the report begins with a
/// sentence about the mount, this one counts only: "No error and no warning in 1 connection; 2 notes."
[[nodiscard]] std::string verdict(const Run& run);

}  // namespace rpcrdma::report
