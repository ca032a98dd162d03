// SPDX-License-Identifier: GPL-2.0-or-later
// How a value becomes JSON: text is appended, no tree is made first.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rpcrdma::report {

/// Room for so many more octets at the end, to be written at once.
[[nodiscard]] inline char* grow(std::string& out, std::size_t octets) {
  const std::size_t before = out.size();
  out.resize(before + octets);
  return out.data() + before;
}

/// A value in its final form. There may be many thousands of connections and findings: no tree is made of them first.
struct Text {
  std::string json;
};

inline void put(std::string& out, const Text& value) { out += value.json; }
inline void put(std::string& out, std::nullptr_t) { out += "null"; }
inline void put(std::string& out, bool value) { out += value ? "true" : "false"; }
inline void put(std::string& out, std::unsigned_integral auto value) {
  const fmt::format_int digits(value);
  out.append(digits.data(), digits.size());
}
/// The shortest digits that mean the value, with a point in them; null for what is no number.
void put(std::string& out, double value);
/// Names of files and reasons may hold octets that are no UTF-8; the document is UTF-8 all the same.
void put(std::string& out, std::string_view value);
inline void put(std::string& out, const std::string& value) { put(out, std::string_view(value)); }
inline void put(std::string& out, const char* value) { put(out, std::string_view(value)); }
template <typename T>
void put(std::string& out, const std::optional<T>& value) {
  if (value) {
    put(out, *value);
  } else {
    put(out, nullptr);
  }
}
template <typename T>
void put(std::string& out, const std::vector<T>& values) {
  out += '[';
  for (const auto& value : values) {
    if (&value != values.data()) out += ',';
    put(out, value);
  }
  out += ']';
}

/// An object; its keys need no escapes.
class Object {
 public:
  Object() {
    constexpr std::size_t usual = 768;  // octets; a finding
    json_.reserve(usual);
    json_ = '{';
  }
  template <typename T>
  Object& add(std::string_view key, const T& value) {
    const bool first = json_.size() == 1;
    char* to = grow(json_, key.size() + (first ? 3U : 4U));
    if (!first) *to++ = ',';
    *to++ = '"';
    to = std::copy(key.begin(), key.end(), to);
    *to++ = '"';
    *to = ':';
    put(json_, value);
    return *this;
  }
  operator Text() {
    json_ += '}';
    return {std::move(json_)};
  }
  friend void put(std::string& out, const Object& value) {
    out += value.json_;
    out += '}';
  }

 private:
  std::string json_;
};

}  // namespace rpcrdma::report
