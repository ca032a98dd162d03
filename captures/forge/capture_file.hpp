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
  bool infiniband = false;      ///< frames begin with an LRH and get an ERF record header; else Ethernet
  std::uint32_t snap = 262144;  ///< octets kept of each frame
};

/// Only frames that the capture holds are written. Throws Mistake when the file cannot be written.
void write_capture(const Film& film, const FileOptions& options, const std::string& path);

}  // namespace forge
