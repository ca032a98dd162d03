// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/encoding.hpp"

#include <cstddef>
#include <cstdint>

namespace rpcrdma::report {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

/// Length of the well-formed sequence that `text` begins with (Unicode, table 3-7); 0: none.
[[nodiscard]] std::size_t sequence(std::string_view text) {
  const auto octet = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t first = octet(0);
  if (first < 0x80) return 1;
  std::size_t length = 0;
  std::uint8_t least = 0x80;
  std::uint8_t most = 0xbf;
  if (first >= 0xc2 && first <= 0xdf) {
    length = 2;
  } else if (first >= 0xe0 && first <= 0xef) {
    length = 3;
    if (first == 0xe0) least = 0xa0;
    if (first == 0xed) most = 0x9f;
  } else if (first >= 0xf0 && first <= 0xf4) {
    length = 4;
    if (first == 0xf0) least = 0x90;
    if (first == 0xf4) most = 0x8f;
  } else {
    return 0;
  }
  if (text.size() < length || octet(1) < least || octet(1) > most) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if (octet(i) < 0x80 || octet(i) > 0xbf) return 0;
  }
  return length;
}

}  // namespace

std::string valid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = sequence(text);
    out += length == 0 ? kReplacement : text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
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
          out += kReplacement;
        } else if (valid.compare(i, 3, "\xef\xbf\xbe") == 0 || valid.compare(i, 3, "\xef\xbf\xbf") == 0) {
          out += kReplacement;  // U+FFFE and U+FFFF are no characters of XML
          i += 2;
        } else {
          out += c;
        }
        break;
    }
  }
  return out;
}

}  // namespace rpcrdma::report
