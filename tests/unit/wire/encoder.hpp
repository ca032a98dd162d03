// SPDX-License-Identifier: GPL-2.0-or-later
// A small encoder for tests. Shares nothing with the decoders.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "wire/bytes.hpp"

namespace rpcrdma::wire::test {

class Encoder {
 public:
  Encoder& word(std::uint32_t v) {
    for (unsigned shift = 32; shift != 0; shift -= 8) octets_.push_back(static_cast<std::uint8_t>(v >> (shift - 8U)));
    return *this;
  }
  Encoder& words(const std::vector<std::uint32_t>& vs) {
    for (const auto v : vs) word(v);
    return *this;
  }
  Encoder& hyper(std::uint64_t v) {
    return word(static_cast<std::uint32_t>(v >> 32U)).word(static_cast<std::uint32_t>(v));
  }
  Encoder& fill(std::size_t octets, std::uint8_t value = 0x5A) {
    octets_.insert(octets_.end(), octets, value);
    return *this;
  }
  /// Counted octets with their pad.
  Encoder& opaque(std::size_t length, std::uint8_t value = 0x5A) {
    word(static_cast<std::uint32_t>(length));
    return fill(length, value).fill((4 - length % 4) % 4, 0);
  }
  Encoder& text(std::string_view t) {
    word(static_cast<std::uint32_t>(t.size()));
    octets_.insert(octets_.end(), t.begin(), t.end());
    return fill((4 - t.size() % 4) % 4, 0);
  }
  Encoder& append(const std::vector<std::uint8_t>& more) {
    octets_.insert(octets_.end(), more.begin(), more.end());
    return *this;
  }
  [[nodiscard]] const std::vector<std::uint8_t>& octets() const { return octets_; }
  [[nodiscard]] std::size_t size() const { return octets_.size(); }

 private:
  std::vector<std::uint8_t> octets_;
};

/// The first `length` octets, in memory of exactly that size: a sanitizer sees any step beyond them.
[[nodiscard]] inline std::vector<std::uint8_t> prefix(const std::vector<std::uint8_t>& octets, std::size_t length) {
  return {octets.begin(), octets.begin() + static_cast<std::ptrdiff_t>(length)};
}

}  // namespace rpcrdma::wire::test
