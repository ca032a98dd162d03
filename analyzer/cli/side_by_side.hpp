// SPDX-License-Identifier: GPL-2.0-or-later
// One trace on several processors: frames are opened one after the other, and what goes between different pairs of
// addresses is judged side by side. What comes out does not depend on how many threads there are.
#pragma once

#include <cstddef>

#include "cli/inputs.hpp"
#include "cli/progress.hpp"
#include "referee/facts.hpp"
#include "referee/options.hpp"
#include "trace/trace.hpp"

namespace rpcrdma::cli {

struct Judged {
  referee::Report report;
  trace::Statistics statistics;
};

/// All frames of `inputs`, read to their end. `threads`: at least 1.
[[nodiscard]] Judged judge_side_by_side(Inputs& inputs, Progress& progress, trace::Options tracing,
                                        referee::Options judging, std::size_t threads);

}  // namespace rpcrdma::cli
