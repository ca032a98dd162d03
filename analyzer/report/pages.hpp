// SPDX-License-Identifier: GPL-2.0-or-later
// Where the documents say more about a rule. Paths are those of the source tree.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "referee/rules/table.hpp"

namespace rpcrdma::report {

/// "docs/rules/inline-threshold-exceeded.md"
[[nodiscard]] std::string rule_page(const referee::Rule& rule);

/// "docs/learn/02-inline.md": the lesson in which the subject of the rule is taught.
[[nodiscard]] std::string_view lesson(const referee::Rule& rule) noexcept;

/// The exchange that breaks a rule, taken from its page when the program is built (rule_drawings.cmake).
struct RuleDrawing {
  std::string_view rule;
  std::string_view scenario;  ///< its name in captures/scenarios
  std::string_view drawing;   ///< a ladder as ladder_text() makes it, in UTF-8
};
[[nodiscard]] std::span<const RuleDrawing> rule_drawings() noexcept;

}  // namespace rpcrdma::report
