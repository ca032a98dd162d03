// SPDX-License-Identifier: GPL-2.0-or-later
#include "octets.hpp"

namespace lab {

Writer& Writer::u32(std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) octets_.push_back(static_cast<std::uint8_t>(value >> shift));
  return *this;
}

Writer& Writer::u64(std::uint64_t value) {
  return u32(static_cast<std::uint32_t>(value >> 32)).u32(static_cast<std::uint32_t>(value));
}

Writer& Writer::raw(std::span<const std::uint8_t> octets) {
  octets_.insert(octets_.end(), octets.begin(), octets.end());
  return *this;
}

Writer& Writer::opaque(std::span<const std::uint8_t> octets) {
  u32(static_cast<std::uint32_t>(octets.size())).raw(octets);
  octets_.resize(octets_.size() + padded(octets.size()) - octets.size());
  return *this;
}

Writer& Writer::opaque(std::string_view text) { return opaque(Octets(text.begin(), text.end())); }

std::uint32_t Reader::u32() {
  std::uint32_t value = 0;
  for (const std::uint8_t octet : raw(4)) value = value << 8 | octet;
  return value;
}

std::uint64_t Reader::u64() {
  const std::uint64_t high = u32();
  return high << 32 | u32();
}

Octets Reader::opaque() {
  const std::uint32_t length = u32();
  Octets octets = raw(length);
  raw(padded(length) - length);
  return octets;
}

Octets Reader::raw(std::size_t length) {
  if (length > left_.size()) throw std::out_of_range("message too short");
  Octets octets(left_.begin(), left_.begin() + static_cast<std::ptrdiff_t>(length));
  left_ = left_.subspan(length);
  return octets;
}

std::size_t padded(std::size_t length) { return (length + 3) / 4 * 4; }

Octets pattern(std::size_t length, std::size_t first) {
  Octets octets(length);
  for (std::size_t i = 0; i < length; ++i) octets[i] = static_cast<std::uint8_t>((first + i) % 251);
  return octets;
}

Octets joined(std::span<const std::uint8_t> one, std::span<const std::uint8_t> other) {
  Octets octets(one.begin(), one.end());
  octets.insert(octets.end(), other.begin(), other.end());
  return octets;
}

}  // namespace lab
