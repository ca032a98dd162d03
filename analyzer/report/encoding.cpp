// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/encoding.hpp"

#include <cstdint>

#include "report/stretches.hpp"

namespace rpcrdma::report {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

}  // namespace

std::string valid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  each_stretch(
      text, [&out](std::string_view good) { out += good; }, [&out](char) { out += kReplacement; });
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
