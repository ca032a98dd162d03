// SPDX-License-Identifier: GPL-2.0-or-later
// Bytes from the wire, and what a decoder answers when it cannot decode them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include <tl/expected.hpp>

namespace rpcrdma::wire {

/// Octets as captured. Never owned, never modified.
using Bytes = std::span<const std::uint8_t>;

/// Three different answers; a caller must never treat one as another.
enum class Fault : std::uint8_t {
  truncated,    ///< the capture ends before the octets that are needed (snap length): nobody is at fault
  invalid,      ///< the octets are there and break the format
  unsupported,  ///< well-formed as far as can be told, but not a form this decoder knows
};

struct DecodeError {
  Fault fault = Fault::invalid;
  std::string_view field;  ///< static text: what could not be decoded
  std::size_t offset = 0;  ///< octet offset from the start of the decoded span
};

template <class T>
using Decoded = tl::expected<T, DecodeError>;

// Big-endian loads. The caller has checked that the octets are there.
[[nodiscard]] constexpr std::uint16_t load_be16(const std::uint8_t* p) noexcept {
  return static_cast<std::uint16_t>((p[0] << 8U) | p[1]);
}
[[nodiscard]] constexpr std::uint32_t load_be24(const std::uint8_t* p) noexcept {
  return (static_cast<std::uint32_t>(p[0]) << 16U) | (static_cast<std::uint32_t>(p[1]) << 8U) | p[2];
}
[[nodiscard]] constexpr std::uint32_t load_be32(const std::uint8_t* p) noexcept {
  return (static_cast<std::uint32_t>(p[0]) << 24U) | (static_cast<std::uint32_t>(p[1]) << 16U) |
         (static_cast<std::uint32_t>(p[2]) << 8U) | p[3];
}
/// Empty: there are less than four octets.
[[nodiscard]] constexpr std::optional<std::uint32_t> first_word(Bytes octets) noexcept {
  return octets.size() >= 4 ? std::optional(load_be32(octets.data())) : std::nullopt;
}
constexpr void store_be32(std::uint8_t* p, std::uint32_t value) noexcept {
  for (unsigned i = 0; i < 4; ++i) p[i] = static_cast<std::uint8_t>(value >> (24U - 8U * i));
}
[[nodiscard]] constexpr std::uint64_t load_be64(const std::uint8_t* p) noexcept {
  return (static_cast<std::uint64_t>(load_be32(p)) << 32U) | load_be32(p + 4);
}

/// FNV-1a: tells names apart of which only that matters.
[[nodiscard]] constexpr std::uint64_t hash_of(Bytes octets) noexcept {
  std::uint64_t hash = 0xCBF29CE484222325;
  for (const std::uint8_t octet : octets) hash = (hash ^ octet) * 0x100000001B3;
  return hash;
}

/// A read position in a message of which only a prefix may have been captured.
/// `octets` is what the capture holds, `wire_length` how long the message was: running past `octets` but not past
/// `wire_length` is Fault::truncated, running past `wire_length` is Fault::invalid.
class Cursor {
 public:
  explicit constexpr Cursor(Bytes octets) noexcept : octets_(octets), wire_length_(octets.size()) {}
  constexpr Cursor(Bytes octets, std::size_t wire_length) noexcept
      : octets_(octets), wire_length_(wire_length < octets.size() ? octets.size() : wire_length) {}

  [[nodiscard]] constexpr std::size_t offset() const noexcept { return at_; }
  [[nodiscard]] constexpr std::size_t captured_left() const noexcept { return octets_.size() - at_; }
  [[nodiscard]] constexpr std::size_t wire_left() const noexcept { return wire_length_ - at_; }
  [[nodiscard]] constexpr Bytes rest() const noexcept { return octets_.subspan(at_); }

  /// The error for "n more octets were needed here".
  [[nodiscard]] constexpr DecodeError missing(std::size_t n, std::string_view field) const noexcept {
    return {n > wire_left() ? Fault::invalid : Fault::truncated, field, at_};
  }

  [[nodiscard]] Decoded<std::uint8_t> u8(std::string_view field) noexcept {
    if (captured_left() < 1) return tl::make_unexpected(missing(1, field));
    return octets_[at_++];
  }
  [[nodiscard]] Decoded<std::uint16_t> be16(std::string_view field) noexcept {
    if (captured_left() < 2) return tl::make_unexpected(missing(2, field));
    const auto v = load_be16(octets_.data() + at_);
    at_ += 2;
    return v;
  }
  [[nodiscard]] Decoded<std::uint32_t> be32(std::string_view field) noexcept {
    if (captured_left() < 4) return tl::make_unexpected(missing(4, field));
    const auto v = load_be32(octets_.data() + at_);
    at_ += 4;
    return v;
  }
  [[nodiscard]] Decoded<std::uint64_t> be64(std::string_view field) noexcept {
    if (captured_left() < 8) return tl::make_unexpected(missing(8, field));
    const auto v = load_be64(octets_.data() + at_);
    at_ += 8;
    return v;
  }
  [[nodiscard]] Decoded<Bytes> take(std::size_t n, std::string_view field) noexcept {
    if (captured_left() < n) return tl::make_unexpected(missing(n, field));
    const auto v = octets_.subspan(at_, n);
    at_ += n;
    return v;
  }

 private:
  Bytes octets_;
  std::size_t wire_length_;
  std::size_t at_ = 0;
};

}  // namespace rpcrdma::wire
