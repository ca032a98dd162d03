// SPDX-License-Identifier: GPL-2.0-or-later
// A small encoder for tests. Shares nothing with the decoders.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace rpcrdma::wire::test {

class Encoder {
 public:
  Encoder& word(std::uint32_t v);
  Encoder& words(const std::vector<std::uint32_t>& vs);
  Encoder& hyper(std::uint64_t v);
  Encoder& fill(std::size_t octets, std::uint8_t value = 0x5A);
  /// Counted octets with their pad.
  Encoder& opaque(std::size_t length, std::uint8_t value = 0x5A);
  Encoder& text(std::string_view t);
  Encoder& append(const std::vector<std::uint8_t>& more);
  [[nodiscard]] const std::vector<std::uint8_t>& octets() const { return octets_; }
  [[nodiscard]] std::size_t size() const { return octets_.size(); }

 private:
  std::vector<std::uint8_t> octets_;
};

/// The first `length` octets, in memory of exactly that size: a sanitizer sees any step beyond them.
[[nodiscard]] std::vector<std::uint8_t> prefix(const std::vector<std::uint8_t>& octets, std::size_t length);

}  // namespace rpcrdma::wire::test
