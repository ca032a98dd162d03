// SPDX-License-Identifier: GPL-2.0-or-later
// A message of the copy while it is being made: what is to stand in it, and what of it has been told so far.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "wire/bytes.hpp"

namespace rpcrdma::sanitize {

class Draft {
 public:
  struct Range {
    std::size_t at = 0;
    std::size_t length = 0;
  };

  /// `original` must outlive it.
  explicit Draft(wire::Bytes original) : original_(original), octets_(original.size()) {}

  [[nodiscard]] wire::Bytes original() const noexcept { return original_; }
  /// The octets as they are in the original, as far as it has them; they may be changed.
  std::span<std::uint8_t> keep(std::size_t at, std::size_t length) {
    if (at >= original_.size()) return {};
    length = std::min(length, original_.size() - at);
    std::copy_n(original_.begin() + static_cast<std::ptrdiff_t>(at), length,
                octets_.begin() + static_cast<std::ptrdiff_t>(at));
    if (length != 0) ranges_.push_back({at, length});
    return std::span(octets_).subspan(at, length);
  }
  /// A thing that is to be given another name in its place; empty: not all of it is there, and nothing is kept. What is
  /// left of it would stand in the copy as it was.
  std::span<std::uint8_t> whole(std::size_t at, std::size_t length) {
    const bool there = at <= original_.size() && length <= original_.size() - at;
    return there ? keep(at, length) : std::span<std::uint8_t>();
  }
  void forget(std::size_t from) {
    std::fill(octets_.begin() + static_cast<std::ptrdiff_t>(std::min(from, octets_.size())), octets_.end(),
              std::uint8_t{0});
    std::erase_if(ranges_, [from](const Range& range) { return range.at >= from; });
  }

  [[nodiscard]] wire::Bytes octets() const noexcept { return octets_; }
  [[nodiscard]] const std::vector<Range>& ranges() const noexcept { return ranges_; }

 private:
  wire::Bytes original_;
  std::vector<std::uint8_t> octets_;
  std::vector<Range> ranges_;
};

}  // namespace rpcrdma::sanitize
