// SPDX-License-Identifier: GPL-2.0-or-later
#include "octets.hpp"

namespace forge {

Octets from_hex(std::string_view text) {
  Octets out;
  int high = -1;
  for (const char c : text) {
    int digit = 0;
    if (c >= '0' && c <= '9') {
      digit = c - '0';
    } else if (c >= 'a' && c <= 'f') {
      digit = c - 'a' + 10;
    } else if (c >= 'A' && c <= 'F') {
      digit = c - 'A' + 10;
    } else if (c == ' ' || c == ':' || c == '\n') {
      continue;
    } else {
      throw Mistake("not a hexadecimal digit: '" + std::string(1, c) + "'");
    }
    if (high < 0) {
      high = digit;
    } else {
      out.push_back(static_cast<std::uint8_t>(high * 16 + digit));
      high = -1;
    }
  }
  if (high >= 0) throw Mistake("an odd number of hexadecimal digits");
  return out;
}

Octets pattern(std::uint64_t seed, std::size_t length) {
  Octets out(length);
  for (std::size_t i = 0; i < length; ++i) out[i] = static_cast<std::uint8_t>(seed * 31 + i + i / 251);
  return out;
}

}  // namespace forge
