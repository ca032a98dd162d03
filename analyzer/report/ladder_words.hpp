// SPDX-License-Identifier: GPL-2.0-or-later
// What a row of a ladder says: one line for its arrow and what belongs to it, or a few words.
#pragma once

#include <optional>
#include <string>
#include <string_view>
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

/// A row in a few words, for drawings that have no room: what it is, and what matters about it.
struct LadderLabel {
  std::string what;
  std::string about;
  bool xid = false;  ///< the XID stands behind it
};
[[nodiscard]] LadderLabel label(const LadderRow& row, const Ladder& ladder);

/// "Read chunk", ...
[[nodiscard]] std::string_view list_name(LadderSegment::List list) noexcept;

}  // namespace rpcrdma::report
