// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/json_object.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

namespace rpcrdma::report {

// Where many zeros would be needed, as the library writes it.
void put(std::string& out, double value) {
  constexpr double least = 1e-4;
  constexpr double most = 1e15;
  if (value != 0 && !(std::abs(value) >= least && std::abs(value) < most)) {
    out += nlohmann::json(value).dump();
    return;
  }
  std::array<char, 40> digits{};
  const char* end = std::to_chars(digits.begin(), digits.end(), value, std::chars_format::fixed).ptr;
  const std::string_view number(digits.data(), static_cast<std::size_t>(end - digits.data()));
  out += number;
  if (number.find('.') == std::string_view::npos) out += ".0";
}

void put(std::string& out, std::string_view value) {
  bool plain = true;  // without leaving early, the compiler looks at many at once
  for (const char c : value) plain &= c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
  if (!plain) {
    out += nlohmann::json(value).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    return;
  }
  out += '"';
  out += value;
  out += '"';
}

}  // namespace rpcrdma::report
