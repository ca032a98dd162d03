// SPDX-License-Identifier: GPL-2.0-or-later
// Octet strings and a pen that writes numbers in network byte order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace forge {

using Octets = std::vector<std::uint8_t>;

/// A scenario, or a request, that makes no sense. The text is for a person.
class Mistake : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

enum class Side : std::uint8_t { client, server };
[[nodiscard]] constexpr Side other(Side s) noexcept { return s == Side::client ? Side::server : Side::client; }

/// Appends to an octet string. Every number is big-endian; excess high bits are dropped.
class Pen {
 public:
  Pen& u8(std::uint64_t v) { return number(v, 1); }
  Pen& u16(std::uint64_t v) { return number(v, 2); }
  Pen& u24(std::uint64_t v) { return number(v, 3); }
  Pen& u32(std::uint64_t v) { return number(v, 4); }
  Pen& u64(std::uint64_t v) { return number(v, 8); }
  Pen& little32(std::uint32_t v) {
    for (unsigned i = 0; i < 4; ++i) out_.push_back(static_cast<std::uint8_t>(v >> (8U * i)));
    return *this;
  }
  Pen& add(const Octets& octets) {
    out_.insert(out_.end(), octets.begin(), octets.end());
    return *this;
  }
  Pen& text(std::string_view s) {
    out_.insert(out_.end(), s.begin(), s.end());
    return *this;
  }
  Pen& zeros(std::size_t count) {
    out_.insert(out_.end(), count, 0);
    return *this;
  }
  /// Zeros up to a length that `unit` divides.
  Pen& align(std::size_t unit) { return zeros((unit - out_.size() % unit) % unit); }
  [[nodiscard]] std::size_t size() const noexcept { return out_.size(); }
  [[nodiscard]] Octets take() { return std::move(out_); }

 private:
  Pen& number(std::uint64_t v, unsigned octets) {
    for (unsigned i = octets; i-- > 0;) out_.push_back(static_cast<std::uint8_t>(v >> (8U * i)));
    return *this;
  }
  Octets out_;
};

[[nodiscard]] inline Octets slice(const Octets& from, std::size_t start, std::size_t count) {
  const auto first = from.begin() + static_cast<std::ptrdiff_t>(start);
  return {first, first + static_cast<std::ptrdiff_t>(count)};
}

inline void set16(Octets& octets, std::size_t at, std::uint32_t value) {
  octets.at(at) = static_cast<std::uint8_t>(value >> 8U);
  octets.at(at + 1) = static_cast<std::uint8_t>(value);
}

/// "f6ab 0e18" to octets; spaces and colons are ignored.
[[nodiscard]] Octets from_hex(std::string_view text);

/// The filler that stands for file data: the same for the same seed.
[[nodiscard]] Octets pattern(std::uint64_t seed, std::size_t length);

}  // namespace forge
