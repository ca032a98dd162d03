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

/// Where values are written, each in its final form. There may be many thousands of connections and findings: no tree
/// is made of them first.
struct JsonText {
  JsonText(std::string& text) : out(text) {}
  std::string& out;
};

inline void put(JsonText to, std::nullptr_t) { to.out += "null"; }
inline void put(JsonText to, bool value) { to.out += value ? "true" : "false"; }
inline void put(JsonText to, std::unsigned_integral auto value) {
  const fmt::format_int digits(value);
  to.out.append(digits.data(), digits.size());
}
/// The shortest digits that mean the value, with a point in them; null for what is no number.
void put(JsonText to, double value);
/// Names of files and reasons may hold octets that are no UTF-8; the document is UTF-8 all the same.
void put(JsonText to, std::string_view value);
inline void put(JsonText to, const std::string& value) { put(to, std::string_view(value)); }
inline void put(JsonText to, const char* value) { put(to, std::string_view(value)); }
template <typename T>
void put(JsonText to, const std::optional<T>& value) {
  if (value) {
    put(to, *value);
  } else {
    put(to, nullptr);
  }
}
template <typename T>
void put(JsonText to, const std::vector<T>& values) {
  to.out += '[';
  for (const auto& value : values) {
    if (&value != values.data()) to.out += ',';
    put(to, value);
  }
  to.out += ']';
}

/// An object; it ends where it does. A member is put() as its type says.
class Object {
 public:
  explicit Object(JsonText to) : to_(to), begin_(to.out.size() + 1) { to_.out += '{'; }
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  ~Object() { to_.out += '}'; }

  /// The key needs no escapes.
  template <typename T>
  Object& add(std::string_view key, const T& value) {
    begin(key);
    put(to_, value);
    return *this;
  }
  /// `fill` adds the members of one inside.
  template <typename Fill>
  Object& object(std::string_view key, Fill fill) {
    begin(key);
    Object inside(to_);
    fill(inside);
    return *this;
  }
  /// Any key.
  template <typename T>
  Object& add_escaped(std::string_view key, const T& value) {
    if (to_.out.size() != begin_) to_.out += ',';
    put(to_, key);
    to_.out += ':';
    put(to_, value);
    return *this;
  }

 private:
  void begin(std::string_view key) {
    const bool first = to_.out.size() == begin_;
    char* at = grow(to_.out, key.size() + (first ? 3U : 4U));
    if (!first) *at++ = ',';
    *at++ = '"';
    at = std::copy(key.begin(), key.end(), at);
    *at++ = '"';
    *at = ':';
  }

  JsonText to_;
  std::size_t begin_;  ///< of its members
};

}  // namespace rpcrdma::report
