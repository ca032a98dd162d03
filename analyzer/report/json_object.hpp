// SPDX-License-Identifier: GPL-2.0-or-later
// How a value becomes JSON: text is appended, no tree is made first.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rpcrdma::report {

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

/// A member's name, which needs no escapes, with what stands around it: put together by the compiler.
class Key {
 public:
  consteval Key(const char* name) {
    const std::string_view letters(name);
    const auto behind = std::copy(letters.begin(), letters.end(), std::next(text_.begin(), 2));
    *behind = '"';
    *std::next(behind) = ':';
    size_ = letters.size() + 4;
  }
  [[nodiscard]] constexpr std::string_view behind_another() const noexcept { return {text_.data(), size_}; }
  [[nodiscard]] constexpr std::string_view first() const noexcept { return behind_another().substr(1); }

 private:
  static constexpr std::size_t longest = 36;
  std::array<char, longest> text_{',', '"'};
  std::size_t size_ = 0;
};

/// An object; it ends where it does. A member is put() as its type says.
class Object {
 public:
  explicit Object(JsonText to) : to_(to), begin_(to.out.size() + 1) { to_.out += '{'; }
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  ~Object() { to_.out += '}'; }

  template <typename T>
  Object& add(const Key& key, const T& value) {
    begin(key);
    put(to_, value);
    return *this;
  }
  /// `fill` adds the members of one inside.
  template <typename Fill>
  Object& object(const Key& key, Fill fill) {
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
  void begin(const Key& key) { to_.out += to_.out.size() == begin_ ? key.first() : key.behind_another(); }

  JsonText to_;
  std::size_t begin_;  ///< of its members
};

}  // namespace rpcrdma::report
