// SPDX-License-Identifier: GPL-2.0-or-later
#include "annotate/blocks.hpp"

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

namespace rpcrdma::annotate {
namespace {

constexpr std::size_t kPacketHeader = 28;  // type, length, interface, time, captured and original length
constexpr std::size_t kCaptured = 20;
constexpr std::size_t kTrailer = 4;
constexpr std::uint16_t kEndOfOptions = 0;
constexpr std::uint16_t kComment = 1;

using reader::load32;
using reader::padded;

void put(std::vector<std::uint8_t>& to, std::uint64_t value, unsigned octets, bool big_endian = false) {
  for (unsigned i = 0; i < octets; ++i) {
    to.push_back(static_cast<std::uint8_t>(value >> 8U * (big_endian ? octets - 1 - i : i)));
  }
}

void put_option(std::vector<std::uint8_t>& to, std::uint16_t code, wire::Bytes value, bool big_endian = false) {
  put(to, code, 2, big_endian);
  put(to, value.size(), 2, big_endian);
  to.insert(to.end(), value.begin(), value.end());
  to.resize(padded(to.size()));
}

[[nodiscard]] wire::Bytes bytes(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

/// The length of the block, at its beginning and at its end.
void close(std::vector<std::uint8_t>& block, std::size_t start, bool big_endian = false) {
  const auto length = static_cast<std::uint32_t>(block.size() - start + kTrailer);
  store32(block.data() + start + 4, length, big_endian);
  put(block, length, 4, big_endian);
}

[[nodiscard]] bool has_comment(wire::Bytes options, std::string_view comment, bool big_endian) {
  while (const auto option = reader::next_option(options, big_endian)) {
    const wire::Bytes value = option->value;
    if (option->code == kComment &&
        std::equal(value.begin(), value.end(), bytes(comment).begin(), bytes(comment).end())) {
      return true;
    }
  }
  return false;
}

[[nodiscard]] bool has_dropped(wire::Bytes options, bool big_endian) {
  while (const auto option = reader::next_option(options, big_endian)) {
    const wire::Bytes value = option->value;
    const bool some = std::any_of(value.begin(), value.end(), [](std::uint8_t octet) { return octet != 0; });
    if (option->code == reader::kDropsBefore && some) return true;
  }
  return false;
}

/// Of a block that options_of_packet() knows.
[[nodiscard]] wire::Bytes options_in(const std::vector<std::uint8_t>& block, bool big_endian) {
  const std::size_t at = options_of_packet(block, big_endian).value_or(block.size() - kTrailer);
  return wire::Bytes(block).subspan(at, block.size() - kTrailer - at);
}

/// In front of those that are there.
void add_options(std::vector<std::uint8_t>& block, std::vector<std::uint8_t> added, bool big_endian) {
  const std::size_t there = options_in(block, big_endian).size();
  if (there == 0) put_option(added, kEndOfOptions, {}, big_endian);
  const std::size_t at = block.size() - kTrailer - there;
  block.insert(block.begin() + static_cast<std::ptrdiff_t>(at), added.begin(), added.end());
  block.resize(block.size() - kTrailer);
  close(block, 0, big_endian);
}

}  // namespace

void store32(std::uint8_t* to, std::uint32_t value, bool big_endian) noexcept {
  for (unsigned i = 0; i < 4; ++i) to[i] = static_cast<std::uint8_t>(value >> 8U * (big_endian ? 3 - i : i));
}

std::optional<std::size_t> options_of_packet(wire::Bytes block, bool big_endian) noexcept {
  if (block.size() < kPacketHeader + kTrailer) return std::nullopt;
  const std::size_t captured = load32(block.data() + kCaptured, big_endian);
  if (captured > block.size() || kPacketHeader + padded(captured) + kTrailer > block.size()) return std::nullopt;
  return kPacketHeader + padded(captured);
}

void add_comments(std::vector<std::uint8_t>& block, const Comments& comments, bool big_endian) {
  const wire::Bytes there = options_in(block, big_endian);
  std::vector<std::uint8_t> added;
  for (const std::string& comment : comments) {
    const std::string_view fits = std::string_view(comment).substr(0, std::numeric_limits<std::uint16_t>::max());
    if (!has_comment(there, fits, big_endian)) put_option(added, kComment, bytes(fits), big_endian);
  }
  if (!added.empty()) add_options(block, std::move(added), big_endian);
}

void add_loss(std::vector<std::uint8_t>& block, bool big_endian) {
  if (has_dropped(options_in(block, big_endian), big_endian)) return;
  std::vector<std::uint8_t> count;
  put(count, 1, 8, big_endian);
  std::vector<std::uint8_t> added;
  put_option(added, reader::kDropsBefore, count, big_endian);
  add_options(block, std::move(added), big_endian);
}

std::vector<std::uint8_t> section_block(std::string_view application) {
  constexpr std::uint16_t user_application = 4;
  std::vector<std::uint8_t> out;
  put(out, static_cast<std::uint32_t>(Block::section), 4);
  put(out, 0, 4);
  put(out, reader::kByteOrderMagic, 4);
  put(out, 1, 2);
  put(out, 0, 2);
  put(out, std::numeric_limits<std::uint64_t>::max(), 8);  // how long the section is, is not said
  put_option(out, user_application, bytes(application));
  put_option(out, kEndOfOptions, {});
  close(out, 0);
  return out;
}

std::vector<std::uint8_t> interface_block(std::uint16_t link, std::uint32_t snap_length, std::uint8_t digits,
                                          std::int64_t seconds_later, std::uint8_t fcs_length) {
  constexpr std::uint16_t resolution = 9;
  constexpr std::uint16_t check_sequence = 13;
  constexpr std::uint16_t offset = 14;
  std::vector<std::uint8_t> out;
  put(out, static_cast<std::uint32_t>(Block::interface), 4);
  put(out, 0, 4);
  put(out, link, 2);
  put(out, 0, 2);
  put(out, snap_length, 4);
  put_option(out, resolution, {&digits, 1});
  const auto bits = static_cast<std::uint8_t>(fcs_length * 8U);
  if (bits != 0) put_option(out, check_sequence, {&bits, 1});
  if (seconds_later != 0) {
    std::vector<std::uint8_t> value;
    put(value, static_cast<std::uint64_t>(seconds_later), 8);
    put_option(out, offset, value);
  }
  put_option(out, kEndOfOptions, {});
  close(out, 0);
  return out;
}

std::vector<std::uint8_t> statistics_block(std::uint32_t interface, std::uint64_t time, std::uint64_t dropped) {
  constexpr std::uint16_t dropped_by_interface = 5;
  std::vector<std::uint8_t> out;
  put(out, static_cast<std::uint32_t>(Block::statistics), 4);
  put(out, 0, 4);
  put(out, interface, 4);
  put(out, time >> 32U, 4);
  put(out, time & 0xffffffffU, 4);
  std::vector<std::uint8_t> count;
  put(count, dropped, 8);
  put_option(out, dropped_by_interface, count);
  put_option(out, kEndOfOptions, {});
  close(out, 0);
  return out;
}

void append_packet(std::vector<std::uint8_t>& to, std::uint32_t interface, std::uint64_t time, wire::Bytes octets,
                   std::uint32_t wire_length) {
  const std::size_t start = to.size();
  put(to, static_cast<std::uint32_t>(Block::enhanced_packet), 4);
  put(to, 0, 4);
  put(to, interface, 4);
  put(to, time >> 32U, 4);
  put(to, time & 0xffffffffU, 4);
  put(to, octets.size(), 4);
  put(to, wire_length, 4);
  to.insert(to.end(), octets.begin(), octets.end());
  to.resize(start + padded(to.size() - start));
  close(to, start);
}

}  // namespace rpcrdma::annotate
