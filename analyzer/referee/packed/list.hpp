// SPDX-License-Identifier: GPL-2.0-or-later
// A list of what a report is made of, in a fraction of the room that its elements take: a capture may hold tens of
// thousands of connections, and most that is done with them is done with one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <utility>
#include <vector>

#include "referee/packed/octets.hpp"
#include "referee/packed/words.hpp"

namespace rpcrdma::referee {

/// Rows of octets, each known by its place.
class PackedRows {
 public:
  /// -> where it stands
  [[nodiscard]] std::uint64_t add(const PackedOctets& row);
  [[nodiscard]] const std::uint8_t* at(std::uint64_t place) const {
    return blocks_[place >> place_bits].data() + (place & ((std::uint64_t{1} << place_bits) - 1));
  }

 private:
  static constexpr unsigned place_bits = 40;
  static constexpr std::size_t block = std::size_t{64} << 10U;  ///< octets; a longer row has one of its own

  std::vector<PackedOctets> blocks_;
};

/// `pack(PackedOctets&, PackedWords&, const T&)` and `unpack(const std::uint8_t*&, const PackedWords&, T&)` say how.
template <class T>
class PackedList {
 public:
  using value_type = T;

  /// Unpacks one after the other: what it refers to is there until it moves on.
  class const_iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = const T*;
    using reference = const T&;

    const_iterator() = default;
    const_iterator(const PackedList* list, std::size_t at) : list_(list), at_(at) {}
    reference operator*() const {
      if (unpacked_ != at_) list_->read(at_, value_);
      unpacked_ = at_;
      return value_;
    }
    pointer operator->() const { return &**this; }
    const_iterator& operator++() {
      ++at_;
      return *this;
    }
    const_iterator operator++(int) {
      const_iterator before = *this;
      ++at_;
      return before;
    }
    friend bool operator==(const const_iterator& a, const const_iterator& b) noexcept { return a.at_ == b.at_; }

   private:
    const PackedList* list_ = nullptr;
    std::size_t at_ = 0;
    mutable std::size_t unpacked_ = SIZE_MAX;
    mutable T value_{};
  };

  PackedList() = default;
  PackedList(std::initializer_list<T> values) {
    for (const T& value : values) push_back(value);
  }

  [[nodiscard]] std::size_t size() const noexcept { return places_.size(); }
  [[nodiscard]] bool empty() const noexcept { return places_.empty(); }
  [[nodiscard]] const_iterator begin() const { return {this, 0}; }
  [[nodiscard]] const_iterator end() const { return {this, size()}; }
  [[nodiscard]] T at(std::size_t index) const {
    T value{};
    read(index, value);
    return value;
  }
  void read(std::size_t index, T& into) const {
    const std::uint8_t* from = rows_.at(places_[index]);
    unpack(from, words_, into);
  }
  [[nodiscard]] std::vector<T> all() const {
    std::vector<T> values(size());
    for (std::size_t i = 0; i < values.size(); ++i) read(i, values[i]);
    return values;
  }

  void push_back(const T& value) { places_.push_back(put(value)); }
  /// The room that the one before took is not used again.
  void set(std::size_t index, const T& value) { places_[index] = put(value); }
  template <class Change>
  void change(std::size_t index, Change how) {
    T value = at(index);
    how(value);
    set(index, value);
  }
  /// Those that are named, in that order.
  void keep(const std::vector<std::size_t>& order) {
    std::vector<std::uint64_t> places;
    places.reserve(order.size());
    for (const std::size_t index : order) places.push_back(places_[index]);
    places_ = std::move(places);
  }
  void clear() { *this = {}; }

 private:
  [[nodiscard]] std::uint64_t put(const T& value) {
    scratch_.clear();
    pack(scratch_, words_, value);
    return rows_.add(scratch_);
  }

  PackedRows rows_;
  PackedWords words_;
  std::vector<std::uint64_t> places_;
  PackedOctets scratch_;
};

template <class T, class Predicate>
std::size_t erase_if(PackedList<T>& list, Predicate unwanted) {
  std::vector<std::size_t> wanted;
  std::size_t index = 0;
  for (const T& value : list) {
    if (!unwanted(value)) wanted.push_back(index);
    ++index;
  }
  const std::size_t erased = list.size() - wanted.size();
  if (erased != 0) list.keep(wanted);
  return erased;
}

}  // namespace rpcrdma::referee
