// SPDX-License-Identifier: GPL-2.0-or-later
// A frame of the copy while it is being made: zeros, but for what somebody who knows what it is has kept.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "wire/bytes.hpp"

namespace rpcrdma::sanitize {

class CopiedFrame {
 public:
  void begin(wire::Bytes original) {
    original_ = original;
    octets_.assign(original.size(), 0);
  }
  [[nodiscard]] wire::Bytes octets() const noexcept { return octets_; }

  // What is named is part of the original; octets from elsewhere (a packet put together of fragments) are none of it.
  [[nodiscard]] bool holds(const std::uint8_t* original, std::size_t size) const noexcept {
    const std::uint8_t* const begin = original_.data();
    const std::less_equal<const std::uint8_t*> up_to;
    return original != nullptr && up_to(begin, original) && up_to(original + size, begin + original_.size());
  }
  /// Where it stands in the copy.
  [[nodiscard]] std::uint8_t* at(const std::uint8_t* original) noexcept {
    return octets_.data() + (original - original_.data());
  }
  void keep(const std::uint8_t* original, std::size_t size) noexcept {
    if (holds(original, size)) std::copy_n(original, size, at(original));
  }
  /// As many as there are of those.
  void keep(wire::Bytes of, std::size_t from, std::size_t size) noexcept {
    if (from < of.size()) keep(of.data() + from, std::min(size, of.size() - from));
  }
  /// Those bits of an octet.
  void keep_bits(wire::Bytes of, std::size_t at_offset, unsigned bits) noexcept {
    if (at_offset < of.size() && holds(of.data() + at_offset, 1)) {
      *at(of.data() + at_offset) = static_cast<std::uint8_t>(of[at_offset] & bits);
    }
  }
  /// An address, to be given another name in its place; empty: not all of it is there, and nothing is kept.
  [[nodiscard]] std::span<std::uint8_t> whole(wire::Bytes of, std::size_t from, std::size_t size) noexcept {
    if (from + size > of.size() || !holds(of.data() + from, size)) return {};
    keep(of.data() + from, size);
    return {at(of.data() + from), size};
  }

 private:
  wire::Bytes original_;
  std::vector<std::uint8_t> octets_;
};

}  // namespace rpcrdma::sanitize
