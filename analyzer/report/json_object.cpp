// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/json_object.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
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

void put(JsonText into, std::string_view value) {
  std::string& out = into.out;
  unsigned char odd = 0;  // without a branch for each, the compiler looks at many at once
  for (const char c : value) {
    const auto octet = static_cast<unsigned char>(c);
    odd |= static_cast<unsigned char>((octet < 0x20U) | (octet > 0x7eU) | (octet == '"') | (octet == '\\'));
  }
  if (odd != 0) {
    out += nlohmann::json(value).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    return;
  }
  char* to = grow(out, value.size() + 2);
  *to++ = '"';
  to = std::copy(value.begin(), value.end(), to);
  *to = '"';
}

}  // namespace rpcrdma::report
