// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/encoding.hpp"

#include <algorithm>
#include <cstdint>

#include "report/stretches.hpp"

namespace rpcrdma::report {
namespace {

constexpr std::string_view replacement = "\xef\xbf\xbd";

/// A spreadsheet takes what begins like this for a formula. (A negative number is one, too, and harmless.)
[[nodiscard]] bool looks_like_formula(std::string_view cell) {
  if (cell.empty() || std::string_view("=+-@\t\r\n'").find(cell.front()) == std::string_view::npos) return false;
  const bool number = cell.front() == '-' && cell.size() > 1 && std::all_of(cell.begin() + 1, cell.end(), [](char c) {
                        return (c >= '0' && c <= '9') || c == '.';
                      });
  return !number;
}

}  // namespace

std::string valid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  each_stretch(
      text, [&out](std::string_view good) { out += good; }, [&out](char) { out += replacement; });
  return out;
}

std::string xml(std::string_view text) {
  std::string out;
  const std::string valid = valid_utf8(text);
  for (std::size_t i = 0; i < valid.size(); ++i) {
    const char c = valid[i];
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\t':
        out += "&#9;";
        break;
      case '\n':
        out += "&#10;";
        break;
      case '\r':
        out += "&#13;";
        break;
      default:
        if (static_cast<std::uint8_t>(c) < 0x20) {
          out += replacement;
        } else if (valid.compare(i, 3, "\xef\xbf\xbe") == 0 || valid.compare(i, 3, "\xef\xbf\xbf") == 0) {
          out += replacement;  // U+FFFE and U+FFFF are no characters of XML
          i += 2;
        } else {
          out += c;
        }
        break;
    }
  }
  return out;
}

std::string csv_cell(std::string_view text) {
  std::string valid = valid_utf8(text);
  const bool formula = looks_like_formula(valid);
  if (!formula && valid.find_first_of(",\"\r\n") == std::string::npos) return valid;
  std::string out = formula ? "\"'" : "\"";
  for (const char c : valid) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

}  // namespace rpcrdma::report
