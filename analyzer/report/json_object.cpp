// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/json_object.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>

namespace rpcrdma::report {

// Where many zeros would be needed, as the library writes it.
void put(JsonText to, double value) {
  std::string& out = to.out;
  constexpr double least = 1e-4;
  constexpr double most = 1e15;
  if (value != 0 && !(std::abs(value) >= least && std::abs(value) < most)) {
    out += nlohmann::json(value).dump();
    return;
  }
  // Most are microseconds with three digits behind the point at most: what has no more than fifteen digits in all is
  // the shortest that means the value.
  constexpr double parts = 1000;
  constexpr double most_parts = 1e14;
  if (!std::signbit(value) && value * parts < most_parts) {
    auto whole = static_cast<std::uint64_t>(value * parts);
    if (static_cast<double>(whole) / parts != value) ++whole;
    if (static_cast<double>(whole) / parts == value) {
      put(out, whole / 1000);
      const auto rest = static_cast<unsigned>(whole % 1000);
      const std::array<char, 4> behind{'.', static_cast<char>('0' + rest / 100),
                                       static_cast<char>('0' + rest / 10 % 10), static_cast<char>('0' + rest % 10)};
      out.append(behind.data(), rest % 10 != 0 ? 4U : rest % 100 != 0 ? 3U : 2U);
      return;
    }
  }
  std::array<char, 40> digits{};
  const char* end = std::to_chars(digits.begin(), digits.end(), value, std::chars_format::fixed).ptr;
  const std::string_view number(digits.data(), static_cast<std::size_t>(end - digits.data()));
  out += number;
  if (number.find('.') == std::string_view::npos) out += ".0";
}

namespace {

/// Any octet of the eight is below a space, above a tilde, a quotation mark or a backslash. Where none is, no sum and
/// no difference reaches the octet beside it.
[[nodiscard]] bool any_odd(std::uint64_t octets) noexcept {
  constexpr std::uint64_t ones = 0x0101010101010101;
  constexpr std::uint64_t highest = 0x80 * ones;
  const auto below = [](std::uint64_t of, std::uint64_t least) { return of - least * ones; };  // borrows: highest bit
  const auto holds = [&](char octet) { return below(octets ^ static_cast<unsigned char>(octet) * ones, 1); };
  return ((octets | below(octets, ' ') | (octets + ones) | holds('"') | holds('\\')) & highest) != 0;
}

[[nodiscard]] bool needs_escapes(std::string_view text) noexcept {
  std::uint64_t octets = 0x2020202020202020;
  if (text.size() < sizeof octets) {
    for (const char c : text) octets = octets << 8U | static_cast<unsigned char>(c);
    return any_odd(octets);
  }
  const char* const last = text.data() + text.size() - sizeof octets;
  for (const char* at = text.data(); at < last; at += sizeof octets) {
    std::memcpy(&octets, at, sizeof octets);
    if (any_odd(octets)) return true;
  }
  std::memcpy(&octets, last, sizeof octets);
  return any_odd(octets);
}

}  // namespace

void put(JsonText into, std::string_view value) {
  std::string& out = into.out;
  if (needs_escapes(value)) {
    out += nlohmann::json(value).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    return;
  }
  out += '"';
  out += value;
  out += '"';
}

}  // namespace rpcrdma::report
