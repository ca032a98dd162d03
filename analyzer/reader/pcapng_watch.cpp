// SPDX-License-Identifier: GPL-2.0-or-later
#include "reader/pcapng_watch.hpp"

#include <algorithm>
#include <cstring>

namespace rpcrdma::reader {
namespace {

constexpr std::uint32_t kSection = 0x0a0d0d0a;
constexpr std::uint32_t kInterface = 1;
constexpr std::uint32_t kSimplePacket = 3;
constexpr std::uint32_t kByteOrderMagic = 0x1a2b3c4d;
constexpr std::uint32_t kTrailer = 4;  // the length once more
constexpr std::uint16_t kEthernet = 1;

/// Blocks that libpcap and Wireshark treat alike: packets, and descriptions that are no frames.
[[nodiscard]] constexpr bool read_alike(std::uint32_t type) noexcept {
  switch (type) {
    case kSection:
    case kInterface:
    case 2:  // packet (obsolete)
    case kSimplePacket:
    case 4:   // name resolution
    case 5:   // interface statistics
    case 6:   // enhanced packet
    case 10:  // decryption secrets
      return true;
    default:
      return false;
  }
}

}  // namespace

std::uint32_t PcapngWatch::word(std::size_t at) const noexcept {
  const std::uint32_t big = wire::load_be32(header_.data() + at);
  return little_endian_ ? __builtin_bswap32(big) : big;
}

std::uint16_t PcapngWatch::half(std::size_t at) const noexcept {
  const std::uint16_t big = wire::load_be16(header_.data() + at);
  return little_endian_ ? __builtin_bswap16(big) : big;
}

void PcapngWatch::see(wire::Bytes octets) noexcept {
  while (!octets.empty() && !lost_) {
    if (skip_ > 0) {
      const auto step = static_cast<std::size_t>(std::min<std::uint64_t>(skip_, octets.size()));
      octets = octets.subspan(step);
      seen_ += step;
      skip_ -= step;
      continue;
    }
    const std::size_t wanted = options_ > 0 ? kOptionHeader : kHeader;
    if (have_ == 0 && options_ == 0) {
      block_ = seen_;
    }
    const std::size_t part = std::min(wanted - have_, octets.size());
    std::memcpy(header_.data() + have_, octets.data(), part);
    have_ += part;
    seen_ += part;
    octets = octets.subspan(part);
    if (have_ == wanted) {
      have_ = 0;
      if (options_ > 0) {
        option();
      } else {
        header();
      }
    }
  }
}

std::optional<std::uint64_t> PcapngWatch::broken_block() const noexcept {
  return lost_ || have_ > 0 || skip_ > 0 || options_ > 0 ? std::optional(block_) : std::nullopt;
}

void PcapngWatch::header() noexcept {
  const std::uint32_t type = word(0);
  if (type == kSection) {  // reads the same in both byte orders
    if (word(8) != kByteOrderMagic) {
      little_endian_ = !little_endian_;
    }
    if (word(8) != kByteOrderMagic) {
      lost_ = true;
      return;
    }
  }
  const std::uint32_t length = word(4);
  if (length < kHeader || length % 4 != 0) {
    lost_ = true;
    return;
  }
  if (type == kSection) {
    interfaces_ = 0;
    offset_ = false;
  }
  // A simple packet is of the first interface and has no time; libpcap takes the interface's offset for one.
  unfit_ = unfit_ || !read_alike(type) || (type == kSimplePacket && offset_);
  skip_ = length - kHeader;
  // Of an interface: its snap length comes first, and the block's length once more last.
  constexpr std::uint32_t snap_length = 4;
  if (type == kInterface) {
    ++interfaces_;
    ethernet_ = half(8) == kEthernet;
    if (length >= kHeader + snap_length + kOptionHeader + kTrailer) {
      skip_ = snap_length;
      options_ = length - kHeader - snap_length - kTrailer;
    }
  }
}

void PcapngWatch::option() noexcept {
  constexpr std::uint16_t end_of_options = 0;
  constexpr std::uint16_t fcs_length = 13;
  constexpr std::uint16_t time_offset = 14;
  const std::uint16_t code = half(0);
  const std::size_t length = (half(2) + std::size_t{3}) / 4 * 4;
  unfit_ = unfit_ || (code == fcs_length && ethernet_);
  offset_ = offset_ || (code == time_offset && interfaces_ == 1);
  options_ -= kOptionHeader;
  if (code == end_of_options || length + kOptionHeader > options_) {
    skip_ = options_ + kTrailer;  // the last one, or what follows is too short for another
    options_ = 0;
  } else {
    skip_ = length;
    options_ -= length;
  }
}

}  // namespace rpcrdma::reader
