// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/own_capture.hpp"

#include <array>
#include <cstdint>
#include <fstream>
#include <string_view>
#include <vector>

#include "annotate/blocks.hpp"
#include "reader/pcap_formats.hpp"
#include "report/version.hpp"

namespace rpcrdma::cli {
namespace {

using reader::load32;
using reader::padded;

constexpr std::uint64_t kLongestOptions = std::uint64_t{1} << 20U;

template <typename Matches>
[[nodiscard]] bool any_option(wire::Bytes options, bool big_endian, std::uint16_t wanted, Matches&& matches) {
  constexpr std::size_t head = 4;
  while (options.size() >= head) {
    const std::uint16_t code = reader::load16(options.data(), big_endian);
    const std::size_t length = reader::load16(options.data() + 2, big_endian);
    if (code == 0 || padded(head + length) > options.size()) return false;
    const std::string_view value(reinterpret_cast<const char*>(options.data()) + head, length);
    if (code == wanted && matches(value)) return true;
    options = options.subspan(padded(head + length));
  }
  return false;
}

[[nodiscard]] bool read_at(std::ifstream& file, std::uint64_t at, std::span<std::uint8_t> to) {
  file.seekg(static_cast<std::streamoff>(at));
  file.read(reinterpret_cast<char*>(to.data()), static_cast<std::streamsize>(to.size()));
  return static_cast<std::size_t>(file.gcount()) == to.size();
}

}  // namespace

bool is_own_capture(const std::string& path) {
  constexpr std::uint64_t trailer = 4;
  constexpr std::uint64_t section_options = 24;
  constexpr std::uint64_t packet_options = 28;
  constexpr std::uint16_t comment = 1;
  constexpr std::uint16_t application = 4;
  std::ifstream file(path, std::ios::binary);
  bool big_endian = false;
  std::array<std::uint8_t, packet_options> head{};
  for (std::uint64_t at = 0; read_at(file, at, std::span(head).first(12));) {
    const bool section = load32(head.data(), false) == static_cast<std::uint32_t>(reader::Block::section);
    if (at == 0 && !section) return false;
    if (section) big_endian = load32(head.data() + 8, true) == reader::kByteOrderMagic;
    const auto type = static_cast<reader::Block>(load32(head.data(), big_endian));
    const std::uint64_t length = load32(head.data() + 4, big_endian);
    if (length < 12 || length % 4 != 0) return false;
    std::uint64_t options = section ? section_options : length;
    if (type == reader::Block::enhanced_packet || type == reader::Block::packet) {
      if (!read_at(file, at, head)) return false;
      options = packet_options + padded(load32(head.data() + 20, big_endian));
    }
    if (options + trailer < length && length - options - trailer <= kLongestOptions) {
      std::vector<std::uint8_t> read(length - options - trailer);
      if (!read_at(file, at + options, read)) return false;
      const bool ours = section ? any_option(read, big_endian, application,
                                             [](std::string_view name) { return name.starts_with(report::tool_name); })
                                : any_option(read, big_endian, comment, [](std::string_view text) {
                                    return text.find("(rpcrdma-analyzer, connection ") != std::string_view::npos;
                                  });
      if (ours) return true;
    }
    at += length;
  }
  return false;
}

}  // namespace rpcrdma::cli
