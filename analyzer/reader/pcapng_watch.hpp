// SPDX-License-Identifier: GPL-2.0-or-later
// Looks at the block headers of a pcapng file as its octets pass by on their way to libpcap.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "wire/bytes.hpp"

namespace rpcrdma::reader {

/// libpcap steps silently over blocks that Wireshark counts as frames (custom blocks, journal entries, system calls).
/// Frame numbers are Wireshark's, so such a file is not libpcap's to read.
class PcapngWatch {
 public:
  /// The next octets of the file, in order.
  void see(wire::Bytes octets) noexcept;
  /// A block was seen that libpcap would leave out of the count.
  [[nodiscard]] bool uncounted_block() const noexcept { return uncounted_; }
  /// Once all octets of the file were seen: where a block begins that does not end in it, or whose length is no length.
  [[nodiscard]] std::optional<std::uint64_t> broken_block() const noexcept;

 private:
  void header() noexcept;
  [[nodiscard]] std::uint32_t word(std::size_t at) const noexcept;

  static constexpr std::size_t kHeader = 12;  ///< block type, total length, and of a section its byte-order magic
  std::array<std::uint8_t, kHeader> header_{};
  std::uint64_t seen_ = 0;   ///< octets of the file so far
  std::uint64_t block_ = 0;  ///< where the block at hand begins
  std::size_t have_ = 0;     ///< octets of header_ that are there
  std::uint64_t skip_ = 0;   ///< octets until the next block begins
  bool little_endian_ = true;
  bool lost_ = false;  ///< block lengths make no sense: libpcap will say so
  bool uncounted_ = false;
};

}  // namespace rpcrdma::reader
