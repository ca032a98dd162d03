// SPDX-License-Identifier: GPL-2.0-or-later
// Numbers as messages say them: "1 credit", "0 credits", "3 credits", "1,234,567"; and how long something took.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "trace/frame.hpp"

namespace rpcrdma::referee {

[[nodiscard]] inline double seconds(trace::TimeNs time) noexcept { return static_cast<double>(time) / 1e9; }

/// "1,234,567"
[[nodiscard]] inline std::string grouped(std::uint64_t number) {
  std::string digits = fmt::format("{}", number);
  for (std::size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
  return digits;
}

/// "412 us", "1.23 ms", "2.10 s"
[[nodiscard]] inline std::string duration(double microseconds) {
  if (!std::isfinite(microseconds)) return "unknown";
  if (microseconds < 999.5) return fmt::format("{:.0f} us", microseconds);
  if (microseconds < 999'500) return fmt::format("{:.3g} ms", microseconds / 1e3);
  return fmt::format("{:.2f} s", microseconds / 1e6);
}

/// How long somebody waited, in tenths of a second that are over: "4.9 s". Never rounded up: what has waited for less
/// than counts as long must not look as if it had.
[[nodiscard]] inline std::string waited(trace::TimeNs time) {
  constexpr trace::TimeNs tenth = 100'000'000;
  const trace::TimeNs tenths = std::max<trace::TimeNs>(time, 0) / tenth;
  return fmt::format("{}.{} s", tenths / 10, tenths % 10);
}

/// `noun` in the singular; the plural takes an s, and a y before it becomes ie.
[[nodiscard]] inline std::string counted(std::uint64_t number, std::string_view noun) {
  if (number == 1) return fmt::format("1 {}", noun);
  if (noun.ends_with('y')) return fmt::format("{} {}ies", grouped(number), noun.substr(0, noun.size() - 1));
  return fmt::format("{} {}s", grouped(number), noun);
}

constexpr std::uint64_t xdr_word = 4;  // octets

/// "10 octets long, 2 more than a whole number of XDR words"
[[nodiscard]] inline std::string beyond_xdr_words(std::uint64_t octets) {
  return fmt::format("{} long, {} more than a whole number of XDR words", counted(octets, "octet"), octets % xdr_word);
}

}  // namespace rpcrdma::referee
