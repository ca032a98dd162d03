// SPDX-License-Identifier: GPL-2.0-or-later
#include "reader/content.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include <fmt/format.h>

namespace rpcrdma::reader {
namespace {

struct Magic {
  std::array<std::uint8_t, 6> octets;
  std::size_t length;
  Content content;
};

constexpr std::array kMagics{
    Magic{{0xd4, 0xc3, 0xb2, 0xa1}, 4, Content::pcap},
    Magic{{0xa1, 0xb2, 0xc3, 0xd4}, 4, Content::pcap},
    Magic{{0x4d, 0x3c, 0xb2, 0xa1}, 4, Content::pcap_ns},
    Magic{{0xa1, 0xb2, 0x3c, 0x4d}, 4, Content::pcap_ns},
    Magic{{0x34, 0xcd, 0xb2, 0xa1}, 4, Content::pcap_modified},
    Magic{{0xa1, 0xb2, 0xcd, 0x34}, 4, Content::pcap_modified},
    Magic{{0x0a, 0x0d, 0x0d, 0x0a}, 4, Content::pcapng},
    Magic{{0x1f, 0x8b}, 2, Content::gzip},
    Magic{{0x28, 0xb5, 0x2f, 0xfd}, 4, Content::zstd},
    Magic{{0x04, 0x22, 0x4d, 0x18}, 4, Content::lz4},
    Magic{{0xfd, '7', 'z', 'X', 'Z', 0x00}, 6, Content::xz},
    Magic{{'B', 'Z', 'h'}, 3, Content::bzip2},
    Magic{{'P', 'K', 0x03, 0x04}, 4, Content::zip},
    Magic{{'7', 'z', 0xbc, 0xaf, 0x27, 0x1c}, 6, Content::seven_zip},
};

[[nodiscard]] bool is_text(wire::Bytes head) noexcept {
  const auto printable = [](std::uint8_t c) { return c >= 0x20 ? c != 0x7f : c == '\n' || c == '\r' || c == '\t'; };
  const auto ascii = std::count_if(head.begin(), head.end(), [](std::uint8_t c) { return c < 0x80; });
  return std::all_of(head.begin(), head.end(), printable) && static_cast<std::size_t>(ascii) * 2 >= head.size();
}

}  // namespace

Content content_of(wire::Bytes head) noexcept {
  if (head.empty()) {
    return Content::empty;
  }
  for (const Magic& magic : kMagics) {
    if (head.size() >= magic.length &&
        std::equal(head.begin(), head.begin() + static_cast<std::ptrdiff_t>(magic.length), magic.octets.begin())) {
      return magic.content;
    }
  }
  if (std::all_of(head.begin(), head.end(), [](std::uint8_t octet) { return octet == 0; })) {
    return Content::zeros;
  }
  return is_text(head) ? Content::text : Content::other;
}

std::string_view compression_name(Content content) noexcept {
  switch (content) {
    case Content::gzip:
      return "gzip";
    case Content::zstd:
      return "zstd";
    case Content::lz4:
      return "lz4";
    case Content::xz:
      return "xz";
    case Content::bzip2:
      return "bzip2";
    default:
      return {};
  }
}

bool is_packet_capture(Content content) noexcept {
  return content == Content::pcap || content == Content::pcap_ns || content == Content::pcap_modified ||
         content == Content::pcapng;
}

bool is_hopeless(Content content) noexcept {
  return content == Content::empty || content == Content::zeros || content == Content::text || content == Content::xz ||
         content == Content::bzip2 || content == Content::zip || content == Content::seven_zip;
}

std::string not_a_capture(Content content) {
  switch (content) {
    case Content::empty:
      return "empty";
    case Content::zeros:
      return "zeros, not a capture";
    case Content::text:
      return "a text file, not a capture";
    case Content::xz:
    case Content::bzip2:
      return fmt::format("compressed with {}, which cannot be read here: decompress it first",
                         compression_name(content));
    case Content::zip:
      return "a zip archive, not a capture: unpack it first";
    case Content::seven_zip:
      return "a 7z archive, not a capture: unpack it first";
    case Content::gzip:
    case Content::zstd:
    case Content::lz4:
      return fmt::format("what is compressed here with {} is not a capture of a known format",
                         compression_name(content));
    default:
      return "not a capture of a known format";
  }
}

}  // namespace rpcrdma::reader
