// SPDX-License-Identifier: GPL-2.0-or-later
// Octets for tests: written as hexadecimal text, or put together field by field.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "wire/bytes.hpp"

namespace rpcrdma::test {

using Octets = std::vector<std::uint8_t>;

/// Spaces may stand anywhere between octets.
inline Octets hex(std::string_view text) {
  Octets out;
  int high = -1;
  for (const char c : text) {
    if (c == ' ' || c == '\n') continue;
    int digit = 0;
    if (c >= '0' && c <= '9') {
      digit = c - '0';
    } else if (c >= 'a' && c <= 'f') {
      digit = c - 'a' + 10;
    } else if (c >= 'A' && c <= 'F') {
      digit = c - 'A' + 10;
    } else {
      throw std::invalid_argument("not hexadecimal");
    }
    if (high < 0) {
      high = digit;
    } else {
      out.push_back(static_cast<std::uint8_t>(high * 16 + digit));
      high = -1;
    }
  }
  if (high >= 0) throw std::invalid_argument("half an octet");
  return out;
}

inline Octets operator+(Octets a, const Octets& b) {
  for (const std::uint8_t octet : b) a.push_back(octet);  // GCC 12 warns wrongly of insert() with an empty range
  return a;
}

inline Octets be16(std::size_t v) { return {static_cast<std::uint8_t>(v >> 8U), static_cast<std::uint8_t>(v)}; }

inline Octets filled(std::size_t n, std::uint8_t value = 0) { return Octets(n, value); }

inline Octets text(std::string_view s) { return {s.begin(), s.end()}; }

}  // namespace rpcrdma::test
