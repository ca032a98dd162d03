// SPDX-License-Identifier: GPL-2.0-or-later
// Looks at the blocks of a pcapng file as its octets pass by on their way to a library.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "reader/pcap_formats.hpp"
#include "wire/bytes.hpp"

namespace rpcrdma::reader {

/// libpcap steps silently over blocks that Wireshark counts as frames (custom blocks, journal entries, system calls).
/// Frame numbers are Wireshark's, so such a file is not libpcap's to read; nor is one with packets that have no time,
/// or with frame check sequences, of which it says nothing. Neither does it say a word of what it passes over, so what
/// is malformed there is noted here.
class PcapngWatch {
 public:
  struct Defect {
    std::uint64_t block = 0;  ///< where it begins
    std::string_view reason;
  };

  /// The next octets of the file, in order.
  void see(wire::Bytes octets);
  /// Something was seen that libpcap would leave out, or tell wrongly.
  [[nodiscard]] bool unfit_for_libpcap() const noexcept { return unfit_; }
  /// Where the last block begins of which anything was seen.
  [[nodiscard]] std::uint64_t block() const noexcept { return block_; }
  /// Lengths make no sense: whatever comes now, nobody can read it.
  [[nodiscard]] bool lost() const noexcept { return lost_; }
  /// Once all octets of the file were seen: where a block begins that does not end in it, or whose length is no length.
  [[nodiscard]] std::optional<std::uint64_t> broken_block() const noexcept;
  /// The first block that contradicts itself, though its length leads to the next.
  [[nodiscard]] const std::optional<Defect>& defect() const noexcept { return defect_; }
  /// Packets that, so the file says, whoever captured had no room for: at least so many. Statistics count from the
  /// start of a capture; of several interfaces and sections the one that lost most.
  [[nodiscard]] std::uint64_t dropped() const noexcept { return std::max(by_statistics_, between_packets_); }
  /// In front of which packets some of them were, counted from 1, in order; no more places than `most_places`.
  static constexpr std::size_t most_places = std::size_t{1} << 16U;
  [[nodiscard]] const std::vector<std::uint64_t>& places() const noexcept { return places_; }

 private:
  enum class Part : std::uint8_t { header, fixed, option, count, name, name_end, trailer };

  void take();
  void header();
  void section() noexcept;
  void fixed() noexcept;
  void option() noexcept;
  [[nodiscard]] bool counts_what_was_dropped(std::uint16_t code) const noexcept;
  void count();
  void dropped_before(std::uint64_t count);
  void name() noexcept;
  void name_end() noexcept;
  void trailer() noexcept;
  void next(Part part, std::size_t octets) noexcept;
  void options_or_end() noexcept;
  void names_or_options() noexcept;
  void give_up(std::string_view reason) noexcept;
  void pass(std::uint32_t octets) noexcept;
  [[nodiscard]] std::uint16_t half(std::size_t at) const noexcept;
  [[nodiscard]] std::uint32_t word(std::size_t at) const noexcept;

  static constexpr std::size_t kHeader = 12;  ///< block type, total length, and of a section its byte-order magic
  static constexpr std::size_t kMost = 16;
  std::array<std::uint8_t, kMost> here_{};  ///< the part at hand
  std::size_t wanted_ = kHeader;            ///< octets of it
  std::size_t have_ = 0;                    ///< those that are there
  Part part_ = Part::header;
  std::uint64_t seen_ = 0;        ///< octets of the file so far
  std::uint64_t block_ = 0;       ///< where the block at hand begins
  std::uint64_t skip_ = 0;        ///< octets until the part at hand begins
  Block type_{};                  ///< of the block
  std::uint32_t length_ = 0;      ///< of the block, as its header says
  std::uint32_t left_ = 0;        ///< octets of it before its trailer that have no place yet
  std::uint32_t interfaces_ = 0;  ///< of the section
  std::size_t name_end_ = 0;      ///< where in its last word a name has to end
  std::uint64_t by_statistics_ = 0;
  std::uint64_t between_packets_ = 0;
  std::uint64_t packets_ = 0;
  std::vector<std::uint64_t> places_;
  std::optional<Defect> defect_;
  bool ethernet_ = false;  ///< of the interface at hand
  bool offset_ = false;    ///< the section's first interface adds something to its times
  bool big_endian_ = false;
  bool lost_ = false;  ///< block lengths make no sense: libpcap will say so
  bool unfit_ = false;
};

}  // namespace rpcrdma::reader
