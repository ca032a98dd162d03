// SPDX-License-Identifier: GPL-2.0-or-later
// What pcap and pcapng files are made of, in the byte order of whoever wrote them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "wire/bytes.hpp"

namespace rpcrdma::reader {

[[nodiscard]] inline std::uint16_t load16(const std::uint8_t* from, bool big_endian) noexcept {
  const std::uint16_t big = wire::load_be16(from);
  return big_endian ? big : __builtin_bswap16(big);
}

[[nodiscard]] inline std::uint32_t load32(const std::uint8_t* from, bool big_endian) noexcept {
  const std::uint32_t big = wire::load_be32(from);
  return big_endian ? big : __builtin_bswap32(big);
}

// pcap: the file's header
constexpr std::size_t kPcapHeader = 24;
constexpr std::size_t kPcapVersion = 4;      ///< where the version stands in it, two halves
constexpr std::size_t kPcapSnapLength = 16;  ///< a word
constexpr std::size_t kPcapLink = 20;        ///< a word
/// Of a pcap file, from the first octet of its magic number.
[[nodiscard]] constexpr bool pcap_is_big_endian(std::uint8_t first) noexcept { return first == 0xa1; }

// pcapng: type of a block
enum class Block : std::uint32_t {
  interface = 1,
  packet = 2,  ///< obsolete
  simple_packet = 3,
  names = 4,
  statistics = 5,
  enhanced_packet = 6,
  secrets = 10,
  section = 0x0a0d0d0a,  ///< the same in both byte orders
};

constexpr std::uint16_t kDropsBefore = 4;  ///< an enhanced packet's option: how many were dropped in front of it

constexpr std::uint32_t kByteOrderMagic = 0x1a2b3c4d;  ///< behind type and length of a section's block

/// Data, options and names begin at whole words.
[[nodiscard]] constexpr std::uint64_t padded(std::uint64_t length) noexcept { return (length + 3) / 4 * 4; }

struct Option {
  std::uint16_t code = 0;
  wire::Bytes value;  ///< without what fills its last word
};
constexpr std::size_t kOptionHead = 4;  ///< octets: code and length

/// Takes the next one off the options of a block. Nothing: their end, whether it is said or the block's; or, with a
/// head and more of them left, one that goes beyond the block.
[[nodiscard]] inline std::optional<Option> next_option(wire::Bytes& options, bool big_endian) noexcept {
  if (options.size() < kOptionHead) return std::nullopt;
  const std::uint16_t code = load16(options.data(), big_endian);
  const std::size_t length = load16(options.data() + 2, big_endian);
  if (code == 0) {
    options = {};
    return std::nullopt;
  }
  if (padded(kOptionHead + length) > options.size()) return std::nullopt;
  const Option option{code, options.subspan(kOptionHead, length)};
  options = options.subspan(padded(kOptionHead + length));
  return option;
}

}  // namespace rpcrdma::reader
