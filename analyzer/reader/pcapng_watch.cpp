// SPDX-License-Identifier: GPL-2.0-or-later
#include "reader/pcapng_watch.hpp"

#include <algorithm>
#include <cstring>

namespace rpcrdma::reader {
namespace {

constexpr std::uint32_t kSection = 0x0a0d0d0a;
constexpr std::uint32_t kByteOrderMagic = 0x1a2b3c4d;

/// Blocks that libpcap and Wireshark treat alike: packets, and descriptions that are no frames.
[[nodiscard]] constexpr bool counted_alike(std::uint32_t type) noexcept {
  switch (type) {
    case kSection:
    case 1:   // interface description
    case 2:   // packet (obsolete)
    case 3:   // simple packet
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

void PcapngWatch::see(wire::Bytes octets) noexcept {
  while (!octets.empty() && !lost_) {
    if (skip_ > 0) {
      const auto step = static_cast<std::size_t>(std::min<std::uint64_t>(skip_, octets.size()));
      octets = octets.subspan(step);
      seen_ += step;
      skip_ -= step;
      continue;
    }
    if (have_ == 0) {
      block_ = seen_;
    }
    const std::size_t part = std::min(kHeader - have_, octets.size());
    std::memcpy(header_.data() + have_, octets.data(), part);
    have_ += part;
    seen_ += part;
    octets = octets.subspan(part);
    if (have_ == kHeader) {
      header();
    }
  }
}

std::optional<std::uint64_t> PcapngWatch::broken_block() const noexcept {
  return lost_ || have_ > 0 || skip_ > 0 ? std::optional(block_) : std::nullopt;
}

void PcapngWatch::header() noexcept {
  have_ = 0;
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
  uncounted_ = uncounted_ || !counted_alike(type);
  skip_ = length - kHeader;
}

}  // namespace rpcrdma::reader
