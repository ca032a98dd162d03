// SPDX-License-Identifier: GPL-2.0-or-later
#include "file_repair.hpp"

#include <algorithm>

#include "wire/bytes.hpp"

namespace rpcrdma::fuzz {
namespace {

using Octets = std::vector<std::uint8_t>;
using Kind = CaptureFile::Kind;

constexpr std::size_t pcap_header = 24;
constexpr std::size_t record_header = 16;
constexpr std::size_t captured_at = 8;  // in the header of a record
constexpr std::uint32_t section = 0x0A0D0D0A;
constexpr std::uint32_t byte_order = 0x1A2B3C4D;
constexpr std::uint32_t enhanced_packet = 6;
constexpr std::size_t packet_fixed = 24;     // of an enhanced packet: type, interface, time, two lengths
constexpr std::size_t packet_captured = 16;  // after its type
constexpr std::size_t block_around = 8;      // the two lengths

std::uint32_t load(const std::uint8_t* p, bool big_endian) noexcept {
  const std::uint32_t big = wire::load_be32(p);
  return big_endian ? big : __builtin_bswap32(big);
}

void store(std::uint8_t* p, std::size_t value, bool big_endian) noexcept {
  for (unsigned i = 0; i < 4; ++i) p[i] = static_cast<std::uint8_t>(value >> (big_endian ? 24U - 8U * i : 8U * i));
}

std::size_t in_words(std::size_t octets) noexcept { return (octets + 3) & ~std::size_t{3}; }

CaptureFile read_pcap(std::span<const std::uint8_t> octets) {
  CaptureFile out{Kind::pcap, {octets.begin(), octets.begin() + pcap_header}, {}, {}};
  const bool big_endian = octets[0] == 0xA1;
  octets = octets.subspan(pcap_header);
  while (octets.size() >= record_header) {
    const std::size_t size = record_header + std::size_t{load(octets.data() + captured_at, big_endian)};
    if (size > octets.size()) break;
    out.parts.push_back({big_endian, {octets.begin(), octets.begin() + static_cast<std::ptrdiff_t>(size)}});
    octets = octets.subspan(size);
  }
  out.rest.assign(octets.begin(), octets.end());
  return out;
}

CaptureFile read_pcapng(std::span<const std::uint8_t> octets) {
  CaptureFile out;
  out.kind = Kind::pcapng;
  bool big_endian = false;
  while (octets.size() >= 4 + block_around) {
    const bool begins = load(octets.data(), false) == section;
    if (begins) big_endian = load(octets.data() + 8, true) == byte_order;
    const std::size_t size = load(octets.data() + 4, big_endian);
    if (size < 4 + block_around || size > octets.size()) break;
    Octets part(octets.begin(), octets.begin() + 4);
    part.insert(part.end(), octets.begin() + 8, octets.begin() + static_cast<std::ptrdiff_t>(size - 4));
    out.parts.push_back({big_endian, std::move(part)});
    octets = octets.subspan(size);
  }
  out.rest.assign(octets.begin(), octets.end());
  return out;
}

Octets with_lengths(const CaptureFile::Part& part) {
  Octets out = part.octets;
  out.resize(std::max<std::size_t>(in_words(out.size()), 4));
  if (load(out.data(), part.big_endian) == enhanced_packet && out.size() >= packet_fixed) {
    std::uint8_t* captured = out.data() + packet_captured;
    const std::size_t room = part.octets.size() - std::min(part.octets.size(), packet_fixed);
    if (load(captured, part.big_endian) > room) store(captured, room, part.big_endian);
  }
  Octets length(4);
  store(length.data(), out.size() + block_around, part.big_endian);
  out.insert(out.begin() + 4, length.begin(), length.end());
  out.insert(out.end(), length.begin(), length.end());
  return out;
}

}  // namespace

CaptureFile read_file(std::span<const std::uint8_t> octets) {
  if (octets.size() >= pcap_header) {
    const std::uint32_t first = wire::load_be32(octets.data());
    if (first == section) return read_pcapng(octets);
    for (const std::uint32_t magic : {0xA1B2C3D4U, 0xA1B23C4DU}) {
      if (first == magic || first == __builtin_bswap32(magic)) return read_pcap(octets);
    }
  }
  CaptureFile out;
  out.head.assign(octets.begin(), octets.end());
  return out;
}

Octets write_file(const CaptureFile& file) {
  Octets out = file.head;
  for (const CaptureFile::Part& part : file.parts) {
    Octets octets;
    if (file.kind == Kind::pcapng) {
      octets = with_lengths(part);
    } else {
      octets = part.octets;
      if (octets.size() < record_header) octets.resize(record_header);
      store(octets.data() + captured_at, octets.size() - record_header, part.big_endian);
    }
    out.insert(out.end(), octets.begin(), octets.end());
  }
  out.insert(out.end(), file.rest.begin(), file.rest.end());
  return out;
}

}  // namespace rpcrdma::fuzz
