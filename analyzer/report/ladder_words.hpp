// SPDX-License-Identifier: GPL-2.0-or-later
// What a row of a ladder says, in words: one line for its arrow, and what belongs to it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/ladder.hpp"

namespace rpcrdma::report {

struct LadderWords {
  std::string label;
  std::vector<std::string> details;
};

/// `call`: where the Call of the row's exchange stands, when that is known and is another row.
[[nodiscard]] LadderWords words(const LadderRow& row, const Ladder& ladder, trace::Transport transport,
                                std::optional<trace::FrameRef> call);

}  // namespace rpcrdma::report
