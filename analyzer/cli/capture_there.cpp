// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/capture_there.hpp"

#include <array>
#include <fstream>
#include <span>
#include <string_view>
#include <vector>

#include "annotate/blocks.hpp"
#include "reader/pcap_formats.hpp"
#include "report/version.hpp"

namespace rpcrdma::cli {
namespace {

using reader::load32;

constexpr std::uint16_t application_option = 4;
constexpr std::uint64_t longest_options = std::uint64_t{1} << 20U;

[[nodiscard]] bool written_by_us(wire::Bytes options, bool big_endian) {
  while (const auto option = reader::next_option(options, big_endian)) {
    const std::string_view value(reinterpret_cast<const char*>(option->value.data()), option->value.size());
    if (option->code == application_option && value.starts_with(report::tool_name)) return true;
  }
  return false;
}

[[nodiscard]] bool next(std::ifstream& file, std::span<std::uint8_t> to) {
  file.read(reinterpret_cast<char*>(to.data()), static_cast<std::streamsize>(to.size()));
  return static_cast<std::size_t>(file.gcount()) == to.size();
}

}  // namespace

CaptureThere capture_there(const std::string& path) {
  constexpr std::uint64_t fixed = 24;
  constexpr std::uint64_t trailer = 4;
  std::ifstream file(path, std::ios::binary);
  std::array<std::uint8_t, fixed> section{};
  const auto type = static_cast<std::uint32_t>(reader::Block::section);
  if (!next(file, section) || load32(section.data(), false) != type) return CaptureThere::none;
  const bool big_endian = load32(section.data() + 8, true) == reader::kByteOrderMagic;
  const std::uint64_t length = load32(section.data() + 4, big_endian);
  if (length <= fixed + trailer || length - fixed - trailer > longest_options) return CaptureThere::pcapng;
  std::vector<std::uint8_t> options(length - fixed - trailer);
  return next(file, options) && written_by_us(options, big_endian) ? CaptureThere::own : CaptureThere::pcapng;
}

}  // namespace rpcrdma::cli
