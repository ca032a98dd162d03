// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/ring_names.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

namespace rpcrdma::cli {

namespace {

constexpr std::string_view digits = "0123456789";

/// What all files of a ring share, and which of them it is.
struct RingName {
  std::string_view prefix;
  std::string_view suffix;
  std::uint64_t number = 0;
};

[[nodiscard]] std::optional<std::uint64_t> number_of(std::string_view text) noexcept {
  constexpr std::size_t longest = 9;
  if (text.empty() || text.size() > longest || text.find_first_not_of(digits) != std::string_view::npos) return {};
  std::uint64_t number = 0;
  for (const char c : text) number = 10 * number + static_cast<std::uint64_t>(c - '0');
  return number;
}

[[nodiscard]] bool is_time(std::string_view text) noexcept {
  constexpr std::size_t length = std::string_view("YYYYMMDDhhmmss").size();
  return text.size() == length && text.find_first_not_of(digits) == std::string_view::npos;
}

[[nodiscard]] std::optional<RingName> of_dumpcap(std::string_view name) noexcept {
  constexpr std::size_t least_digits = 5;
  const std::size_t dot = std::min(name.find('.', name.rfind('_') + 1), name.size());
  const std::size_t second = name.rfind('_');
  if (second == std::string_view::npos || second == 0) return {};
  const std::size_t first = name.rfind('_', second - 1);
  if (first == std::string_view::npos) return {};
  std::string_view one = name.substr(first + 1, second - first - 1);
  std::string_view other = name.substr(second + 1, dot - second - 1);
  if (is_time(one)) std::swap(one, other);
  const auto number = number_of(one);
  if (!number || one.size() < least_digits || !is_time(other)) return {};
  return RingName{name.substr(0, first), name.substr(dot), *number};
}

[[nodiscard]] std::optional<RingName> of_tcpdump(std::string_view name) noexcept {
  const std::size_t last = name.find_last_not_of(digits);
  if (last == std::string_view::npos) return {};
  const std::string_view prefix = name.substr(0, last + 1);
  constexpr std::array<std::string_view, 4> kinds = {".pcap", ".cap", ".dmp", ".dump"};
  const bool capture =
      std::any_of(kinds.begin(), kinds.end(), [&](std::string_view kind) { return prefix.ends_with(kind); });
  if (!capture) return {};
  const std::string_view number = name.substr(last + 1);
  return RingName{prefix, {}, number.empty() ? 0 : number_of(number).value_or(0)};
}

[[nodiscard]] bool one_missing(const std::optional<RingName>& before, const std::optional<RingName>& after) noexcept {
  return before && after && before->prefix == after->prefix && before->suffix == after->suffix &&
         after->number > before->number + 1;
}

}  // namespace

bool ring_skips(std::string_view before, std::string_view after) noexcept {
  return one_missing(of_dumpcap(before), of_dumpcap(after)) || one_missing(of_tcpdump(before), of_tcpdump(after));
}

}  // namespace rpcrdma::cli
