// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

namespace forge {
namespace {

constexpr std::uint32_t linktype_ethernet = 1;
constexpr std::uint32_t linktype_erf = 197;
constexpr std::uint8_t erf_infiniband = 21;
constexpr std::size_t erf_header = 16;
constexpr std::int64_t second = 1'000'000'000;

/// Files are written little-endian, as most machines do.
void little16(Octets& out, std::uint32_t v) {
  out.push_back(static_cast<std::uint8_t>(v));
  out.push_back(static_cast<std::uint8_t>(v >> 8U));
}
void little32(Octets& out, std::uint64_t v) {
  little16(out, static_cast<std::uint32_t>(v & 0xFFFFU));
  little16(out, static_cast<std::uint32_t>((v >> 16U) & 0xFFFFU));
}

/// ERF record header: time as 32.32 fixed point little-endian, the rest big-endian.
Octets erf_record(const Shot& shot, std::uint32_t kept) {
  const auto seconds = static_cast<std::uint64_t>(shot.time / second);
  const auto fraction = (static_cast<std::uint64_t>(shot.time % second) << 32U) / static_cast<std::uint64_t>(second);
  Octets time;
  little32(time, fraction);
  little32(time, seconds);
  Pen pen;
  pen.add(time).u8(erf_infiniband).u8(0x04);  // variable length record, interface 0
  pen.u16(erf_header + kept).u16(0).u16(shot.octets.size());
  pen.add(slice(shot.octets, 0, kept));
  return pen.take();
}

void pcap_header(Octets& out, std::uint32_t link) {
  little32(out, 0xA1B23C4D);  // nanoseconds
  little16(out, 2);
  little16(out, 4);
  little32(out, 0);
  little32(out, 0);
  little32(out, 262144);
  little32(out, link);
}

void pcap_record(Octets& out, const Shot& shot, const Record& r) {
  little32(out, static_cast<std::uint64_t>(shot.time / second));
  little32(out, static_cast<std::uint64_t>(shot.time % second));
  little32(out, r.octets.size());
  little32(out, r.length);
  out.insert(out.end(), r.octets.begin(), r.octets.end());
}

void pcapng_block(Octets& out, std::uint32_t type, Octets body) {
  while (body.size() % 4 != 0) body.push_back(0);
  const std::size_t length = body.size() + 12;
  little32(out, type);
  little32(out, length);
  out.insert(out.end(), body.begin(), body.end());
  little32(out, length);
}

void pcapng_header(Octets& out, std::uint32_t link) {
  Octets section;
  little32(section, 0x1A2B3C4D);
  little16(section, 1);
  little16(section, 0);
  little32(section, 0xFFFFFFFF);
  little32(section, 0xFFFFFFFF);
  pcapng_block(out, 0x0A0D0D0A, section);
  Octets interface;
  little16(interface, link);
  little16(interface, 0);
  little32(interface, 262144);
  little16(interface, 9);  // if_tsresol: 10^-9 s
  little16(interface, 1);
  little32(interface, 9);
  little32(interface, 0);
  pcapng_block(out, 1, interface);
}

void pcapng_record(Octets& out, const Shot& shot, const Record& r) {
  Octets body;
  little32(body, 0);
  little32(body, static_cast<std::uint64_t>(shot.time) >> 32U);
  little32(body, static_cast<std::uint64_t>(shot.time) & 0xFFFFFFFFU);
  little32(body, r.octets.size());
  little32(body, r.length);
  body.insert(body.end(), r.octets.begin(), r.octets.end());
  pcapng_block(out, 6, body);
}

}  // namespace

Record record(const Shot& shot, bool infiniband) {
  const auto size = static_cast<std::uint32_t>(shot.octets.size());
  const std::uint32_t kept = std::min(size, shot.snap);
  if (infiniband) return {erf_record(shot, kept), size + static_cast<std::uint32_t>(erf_header)};
  return {slice(shot.octets, 0, kept), size};
}

void write_capture(const Film& film, const FileOptions& options, const std::string& path) {
  if (options.format == FileFormat::erf && !options.infiniband) {
    throw Mistake("the native ERF format is for InfiniBand only");
  }
  const std::uint32_t link = options.infiniband ? linktype_erf : linktype_ethernet;
  Octets out;
  if (options.format == FileFormat::pcap) pcap_header(out, link);
  if (options.format == FileFormat::pcapng) pcapng_header(out, link);
  for (const Shot& shot : film.shots) {
    if (!shot.captured) continue;
    const Record r = record(shot, options.infiniband);
    switch (options.format) {
      case FileFormat::pcap:
        pcap_record(out, shot, r);
        break;
      case FileFormat::pcapng:
        pcapng_record(out, shot, r);
        break;
      case FileFormat::erf:
        out.insert(out.end(), r.octets.begin(), r.octets.end());
        break;
    }
  }
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char*>(out.data()), static_cast<std::streamsize>(out.size()));
  file.close();
  if (!file) throw Mistake(path + ": " + std::strerror(errno));
}

}  // namespace forge
