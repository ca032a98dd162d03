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
/// Frame numbers are Wireshark's, so such a file is not libpcap's to read; nor is one with packets that have no time,
/// or with frame check sequences, of which it says nothing.
class PcapngWatch {
 public:
  /// The next octets of the file, in order.
  void see(wire::Bytes octets) noexcept;
  /// Something was seen that libpcap would leave out, or tell wrongly.
  [[nodiscard]] bool unfit_for_libpcap() const noexcept { return unfit_; }
  /// Where the last block begins of which anything was seen.
  [[nodiscard]] std::uint64_t block() const noexcept { return block_; }
  /// Once all octets of the file were seen: where a block begins that does not end in it, or whose length is no length.
  [[nodiscard]] std::optional<std::uint64_t> broken_block() const noexcept;

 private:
  void header() noexcept;
  void option() noexcept;
  [[nodiscard]] std::uint16_t half(std::size_t at) const noexcept;
  [[nodiscard]] std::uint32_t word(std::size_t at) const noexcept;

  static constexpr std::size_t kOptionHeader = 4;
  static constexpr std::size_t kHeader = 12;  ///< block type, total length, and of a section its byte-order magic
  std::array<std::uint8_t, kHeader> header_{};
  std::uint64_t seen_ = 0;        ///< octets of the file so far
  std::uint64_t block_ = 0;       ///< where the block at hand begins
  std::size_t have_ = 0;          ///< octets of header_ that are there
  std::uint64_t skip_ = 0;        ///< octets until the next block or option begins
  std::size_t options_ = 0;       ///< octets of options of an interface that are left
  std::uint32_t interfaces_ = 0;  ///< of the section
  bool ethernet_ = false;         ///< of the interface at hand
  bool offset_ = false;           ///< the section's first interface adds something to its times
  bool little_endian_ = true;
  bool lost_ = false;  ///< block lengths make no sense: libpcap will say so
  bool unfit_ = false;
};

}  // namespace rpcrdma::reader
