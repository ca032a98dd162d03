// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/html/column.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace rpcrdma::report::page {

namespace {

/// Printable ASCII that stands in a string of JSON inside a page as it is: without " \ < > &. The same as in
/// page/data.js.
constexpr std::string_view letters =
    " !#$%'()*+,-./0123456789:;=?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_`abcdefghijklmnopqrstuvwxyz{|}~";
static_assert(letters.size() == 90);

/// Empty when there are more values than letters.
[[nodiscard]] std::string in_letters(const std::vector<std::int64_t>& values) {
  std::unordered_map<std::int64_t, char> known;
  std::string meanings;
  std::string text;
  text.reserve(values.size());
  for (const std::int64_t value : values) {
    auto at = known.find(value);
    if (at == known.end()) {
      if (known.size() == letters.size()) return {};
      at = known.emplace(value, letters[known.size()]).first;
      fmt::format_to(std::back_inserter(meanings), ",{}", value);
    }
    text += at->second;
  }
  return fmt::format("[\"letters\",\"{}\"{}]", text, meanings);
}

}  // namespace

std::string column_json(const std::vector<std::int64_t>& values) {
  const bool same = std::all_of(values.begin(), values.end(), [&](std::int64_t v) { return v == values.front(); });
  if (same) return fmt::format("{}", values.empty() ? 0 : values.front());
  std::string shortest = fmt::format("[{}]", fmt::join(values, ","));
  if (std::string text = in_letters(values); !text.empty() && text.size() < shortest.size()) shortest = std::move(text);
  return shortest;
}

}  // namespace rpcrdma::report::page
