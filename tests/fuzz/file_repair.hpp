// SPDX-License-Identifier: GPL-2.0-or-later
// Capture files taken apart into records or blocks and put together again, with the lengths that they then have.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace rpcrdma::fuzz {

struct CaptureFile {
  enum class Kind : std::uint8_t { pcap, pcapng, other };
  struct Part {
    bool big_endian = false;
    std::vector<std::uint8_t> octets;  ///< a record with its header; a block's type and body, without its two lengths
  };
  Kind kind = Kind::other;
  std::vector<std::uint8_t> head;  ///< of a pcap file; of what is neither, all of it
  std::vector<Part> parts;
  std::vector<std::uint8_t> rest;  ///< what makes no part
};

[[nodiscard]] CaptureFile read_file(std::span<const std::uint8_t> octets);
/// With the captured length of each record, both lengths of each block, and captured lengths of packets within it.
[[nodiscard]] std::vector<std::uint8_t> write_file(const CaptureFile& file);

}  // namespace rpcrdma::fuzz
