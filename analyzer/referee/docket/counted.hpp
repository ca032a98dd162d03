// SPDX-License-Identifier: GPL-2.0-or-later
// A number with its noun, as messages say it: "1 credit", "0 credits", "3 credits".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace rpcrdma::referee {

/// `noun` in the singular; the plural takes an s, and a y before it becomes ie.
[[nodiscard]] inline std::string counted(std::uint64_t number, std::string_view noun) {
  if (number == 1) return fmt::format("1 {}", noun);
  if (noun.ends_with('y')) return fmt::format("{} {}ies", number, noun.substr(0, noun.size() - 1));
  return fmt::format("{} {}s", number, noun);
}

}  // namespace rpcrdma::referee
