// SPDX-License-Identifier: GPL-2.0-or-later
// Frames into a capture file: pcap and pcapng (nanoseconds), or the native ERF format.
#pragma once

#include <cstdint>
#include <string>

#include "film.hpp"

namespace forge {

enum class FileFormat : std::uint8_t { pcap, pcapng, erf };

struct FileOptions {
  FileFormat format = FileFormat::pcap;
  bool infiniband = false;  ///< frames begin with an LRH and get an ERF record header; else Ethernet
};

/// A frame as a file holds it.
struct Record {
  Octets octets;             ///< as far as the capture keeps them
  std::uint32_t length = 0;  ///< on the wire, in the units of the file's link type
};

[[nodiscard]] Record record(const Shot& shot, bool infiniband);

/// Only frames that the capture holds are written. Throws Mistake when the file cannot be written.
void write_capture(const Film& film, const FileOptions& options, const std::string& path);

}  // namespace forge
