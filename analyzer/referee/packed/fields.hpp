// SPDX-License-Identifier: GPL-2.0-or-later
// The fields of facts and findings, one after the other: packed and unpacked by the same list of them. A list binds all
// members of its struct, so that none can be forgotten.
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "referee/packed/octets.hpp"
#include "referee/packed/words.hpp"

namespace rpcrdma::referee {

template <class T>
concept PackedAsNumber = std::integral<T> || std::is_enum_v<T>;

/// Thousandths that are whole, as times in microseconds are: packed as such.
struct Thousandths {
  [[nodiscard]] static std::optional<std::uint64_t> of(double value) noexcept {
    constexpr double largest = 1e15;  // all whole numbers below are doubles
    if (!(value >= 0) || value > largest) return std::nullopt;
    const auto whole = static_cast<std::uint64_t>(std::llround(value * 1000));
    return value_of(whole) == value && !std::signbit(value) ? std::optional(whole) : std::nullopt;
  }
  [[nodiscard]] static double value_of(std::uint64_t whole) noexcept { return static_cast<double>(whole) / 1000; }
};

class Packing {
 public:
  Packing(PackedOctets& to, PackedWords& words) : to_(to), words_(words) {}

  template <class... T>
  void operator()(const T&... each) {
    (put(each), ...);
  }

 private:
  template <PackedAsNumber T>
  void put(T value) {
    if constexpr (std::is_enum_v<T>) {
      put(static_cast<std::underlying_type_t<T>>(value));
    } else if constexpr (std::is_signed_v<T>) {
      // The sign stands lowest: small ones stay small.
      const auto bits = static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
      pack_number(to_, bits << 1U ^ (value < 0 ? ~std::uint64_t{0} : 0));
    } else {
      pack_number(to_, value);
    }
  }
  void put(double value) {
    const std::optional<std::uint64_t> whole = Thousandths::of(value);
    pack_number(to_, whole ? *whole + 1 : 0);
    if (whole) return;
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    pack_number(to_, bits);
  }
  void put(const std::string& text) {
    const std::uint64_t number = words_.number_of(text);
    pack_number(to_, number);
    if (number != 0) return;
    pack_number(to_, text.size());
    to_.insert(to_.end(), text.begin(), text.end());
  }
  void put(std::string_view name) { pack_number(to_, words_.number_of_name(name)); }
  template <class T>
  void put(const std::optional<T>& value) {
    to_.push_back(value ? 1 : 0);
    if (value) put(*value);
  }
  template <class T>
  void put(const std::vector<T>& values) {
    pack_number(to_, values.size());
    for (const T& value : values) put(value);
  }
  template <class Key, class T>
  void put(const std::map<Key, T>& values) {
    pack_number(to_, values.size());
    for (const auto& [key, value] : values) (*this)(key, value);
  }
  template <class T>
  requires std::is_class_v<T>
  void put(const T& value) { each_field(*this, value); }

  PackedOctets& to_;
  PackedWords& words_;
};

/// Of what Packing wrote; `from` moves on. What is unpacked into keeps its room.
class Unpacking {
 public:
  Unpacking(const std::uint8_t*& from, const PackedWords& words) : from_(from), words_(words) {}

  template <class... T>
  void operator()(T&... each) {
    (take(each), ...);
  }

 private:
  [[nodiscard]] std::size_t size() { return static_cast<std::size_t>(unpack_number(from_)); }

  template <PackedAsNumber T>
  void take(T& value) {
    if constexpr (std::is_enum_v<T>) {
      std::underlying_type_t<T> number{};
      take(number);
      value = static_cast<T>(number);
    } else if constexpr (std::is_signed_v<T>) {
      const std::uint64_t bits = unpack_number(from_);
      value = static_cast<T>(static_cast<std::int64_t>(bits >> 1U ^ ((bits & 1U) != 0 ? ~std::uint64_t{0} : 0)));
    } else {
      value = static_cast<T>(unpack_number(from_));
    }
  }
  void take(double& value) {
    const std::uint64_t whole = unpack_number(from_);
    if (whole != 0) {
      value = Thousandths::value_of(whole - 1);
      return;
    }
    const std::uint64_t bits = unpack_number(from_);
    std::memcpy(&value, &bits, sizeof bits);
  }
  void take(std::string& text) {
    const std::uint64_t number = unpack_number(from_);
    if (number != 0) {
      text = words_.text(number);
      return;
    }
    const std::size_t length = size();
    text.assign(from_, from_ + length);
    from_ += length;
  }
  void take(std::string_view& name) { name = words_.name(unpack_number(from_)); }
  template <class T>
  void take(std::optional<T>& value) {
    if (*from_++ == 0) {
      value.reset();
      return;
    }
    if (!value) value = T{};
    take(*value);
  }
  template <class T>
  void take(std::vector<T>& values) {
    values.resize(size());
    for (T& value : values) take(value);
  }
  template <class Key, class T>
  void take(std::map<Key, T>& values) {
    values.clear();
    for (std::size_t left = size(); left > 0; --left) {
      Key key{};
      take(key);
      take(values[key]);
    }
  }
  template <class T>
  requires std::is_class_v<T>
  void take(T& value) { each_field(*this, value); }

  const std::uint8_t*& from_;
  const PackedWords& words_;
};

}  // namespace rpcrdma::referee
