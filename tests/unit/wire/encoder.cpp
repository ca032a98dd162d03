// SPDX-License-Identifier: GPL-2.0-or-later
#include "encoder.hpp"

namespace rpcrdma::wire::test {

namespace {

std::size_t pad_of(std::size_t length) { return (4 - length % 4) % 4; }

}  // namespace

Encoder& Encoder::word(std::uint32_t v) {
  for (unsigned shift = 32; shift != 0; shift -= 8) octets_.push_back(static_cast<std::uint8_t>(v >> (shift - 8U)));
  return *this;
}

Encoder& Encoder::words(const std::vector<std::uint32_t>& vs) {
  for (const auto v : vs) word(v);
  return *this;
}

Encoder& Encoder::hyper(std::uint64_t v) {
  return word(static_cast<std::uint32_t>(v >> 32U)).word(static_cast<std::uint32_t>(v));
}

Encoder& Encoder::fill(std::size_t octets, std::uint8_t value) {
  octets_.resize(octets_.size() + octets, value);
  return *this;
}

Encoder& Encoder::opaque(std::size_t length, std::uint8_t value) {
  return word(static_cast<std::uint32_t>(length)).fill(length, value).fill(pad_of(length), 0);
}

Encoder& Encoder::text(std::string_view t) {
  word(static_cast<std::uint32_t>(t.size()));
  for (const char c : t) octets_.push_back(static_cast<std::uint8_t>(c));
  return fill(pad_of(t.size()), 0);
}

Encoder& Encoder::append(const std::vector<std::uint8_t>& more) {
  octets_.insert(octets_.end(), more.begin(), more.end());
  return *this;
}

std::vector<std::uint8_t> prefix(const std::vector<std::uint8_t>& octets, std::size_t length) {
  return {octets.begin(), octets.begin() + static_cast<std::ptrdiff_t>(length)};
}

}  // namespace rpcrdma::wire::test
