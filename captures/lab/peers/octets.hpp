// SPDX-License-Identifier: GPL-2.0-or-later
// Octet strings in network byte order, and the XDR (RFC 4506) in them. Written for the lab alone: it shares nothing
// with the analyzer, so that both can only agree when both are right.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace lab {

using Octets = std::vector<std::uint8_t>;

class Writer {
 public:
  Writer& u32(std::uint32_t value);
  Writer& u64(std::uint64_t value);
  Writer& raw(std::span<const std::uint8_t> octets);
  // Variable length opaque: its length, its octets, zeros up to a multiple of four.
  Writer& opaque(std::span<const std::uint8_t> octets);
  Writer& opaque(std::string_view text);
  [[nodiscard]] const Octets& octets() const { return octets_; }

 private:
  Octets octets_;
};

// Throws std::out_of_range where the octets end too early: a peer that gets nonsense says so and gives up.
class Reader {
 public:
  explicit Reader(std::span<const std::uint8_t> octets) : left_(octets) {}
  std::uint32_t u32();
  std::uint64_t u64();
  Octets opaque();
  Octets raw(std::size_t length);
  Octets rest() { return raw(left_.size()); }
  [[nodiscard]] std::size_t left() const { return left_.size(); }

 private:
  std::span<const std::uint8_t> left_;
};

std::size_t padded(std::size_t length);
// Octet i is (first + i) mod 251: a pattern that shows where a piece belongs.
Octets pattern(std::size_t length, std::size_t first = 0);
Octets joined(std::span<const std::uint8_t> one, std::span<const std::uint8_t> other);

}  // namespace lab
