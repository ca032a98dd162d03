// SPDX-License-Identifier: GPL-2.0-or-later
#include "reader/pcapng_watch.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "reader/pcap_formats.hpp"

namespace rpcrdma::reader {
namespace {

constexpr std::uint32_t kTrailer = 4;       // the length once more
constexpr std::uint32_t kOptionHeader = 4;  // of a name, too
constexpr std::uint32_t kFirstWords = 12;   // of a block
constexpr std::uint16_t kEthernet = 1;
constexpr std::uint32_t kCount = 8;  // octets of a counter

/// Blocks that libpcap and Wireshark treat alike: packets, and descriptions that are no frames.
[[nodiscard]] constexpr bool read_alike(Block type) noexcept {
  return type == Block::section || (type >= Block::interface && type <= Block::enhanced_packet) ||
         type == Block::secrets;
}

/// Octets of a block behind its first twelve that stand in every one of its type.
[[nodiscard]] constexpr std::uint32_t fixed_length(Block type) noexcept {
  switch (type) {
    case Block::section:
      return 12;  // version, length of the section
    case Block::interface:
      return 4;  // snap length
    case Block::statistics:
      return 8;  // time
    case Block::packet:
    case Block::enhanced_packet:
      return 16;  // time, captured and original length
    case Block::secrets:
      return 4;  // their length
    default:
      return 0;
  }
}

}  // namespace

std::uint32_t PcapngWatch::word(std::size_t at) const noexcept { return load32(here_.data() + at, big_endian_); }

std::uint16_t PcapngWatch::half(std::size_t at) const noexcept { return load16(here_.data() + at, big_endian_); }

void PcapngWatch::see(wire::Bytes octets) {
  while (!octets.empty() && !lost_) {
    if (skip_ > 0) {
      const auto step = static_cast<std::size_t>(std::min<std::uint64_t>(skip_, octets.size()));
      octets = octets.subspan(step);
      seen_ += step;
      skip_ -= step;
      continue;
    }
    if (have_ == 0 && part_ == Part::header) {
      block_ = seen_;
    }
    const std::size_t part = std::min(wanted_ - have_, octets.size());
    std::memcpy(here_.data() + have_, octets.data(), part);
    have_ += part;
    seen_ += part;
    octets = octets.subspan(part);
    if (have_ == wanted_) {
      have_ = 0;
      take();
    }
  }
}

std::optional<std::uint64_t> PcapngWatch::broken_block() const noexcept {
  const bool inside = have_ > 0 || skip_ > 0 || part_ != Part::header;
  return lost_ || inside ? std::optional(block_) : std::nullopt;
}

void PcapngWatch::take() {
  switch (part_) {
    case Part::header:
      return header();
    case Part::fixed:
      return fixed();
    case Part::option:
      return option();
    case Part::count:
      return count();
    case Part::name:
      return name();
    case Part::name_end:
      return name_end();
    case Part::trailer:
      return trailer();
  }
}

void PcapngWatch::next(Part part, std::size_t octets) noexcept {
  part_ = part;
  wanted_ = octets;
}

void PcapngWatch::pass(std::uint32_t octets) noexcept {
  skip_ += octets;
  left_ -= octets;
}

void PcapngWatch::give_up(std::string_view reason) noexcept {
  if (!defect_) {
    defect_ = Defect{block_, reason};
  }
  pass(left_);
  next(Part::trailer, kTrailer);
}

void PcapngWatch::section() noexcept {  // its type reads the same in both byte orders
  if (word(8) != kByteOrderMagic) {
    big_endian_ = !big_endian_;
  }
  lost_ = word(8) != kByteOrderMagic;
  interfaces_ = 0;
  offset_ = false;
}

void PcapngWatch::header() {
  type_ = static_cast<Block>(word(0));
  if (type_ == Block::section) {
    section();
  }
  length_ = word(4);
  lost_ = lost_ || length_ < kHeader || length_ % 4 != 0;
  if (lost_) {
    return;
  }
  // A simple packet is of the first interface and has no time; libpcap takes the interface's offset for one.
  unfit_ = unfit_ || !read_alike(type_) || (type_ == Block::simple_packet && offset_);
  if (type_ == Block::interface) {
    ++interfaces_;
    ethernet_ = half(8) == kEthernet;
  }
  if (type_ == Block::enhanced_packet || type_ == Block::packet || type_ == Block::simple_packet) {
    ++packets_;
  }
  constexpr std::uint16_t not_known = 0xffff;
  if (type_ == Block::packet && half(10) != not_known) {
    dropped_before(half(10));
  }
  if (length_ == kHeader) {  // what was taken for its first word is its trailer
    std::memcpy(here_.data(), here_.data() + 8, kTrailer);
    left_ = 0;
    if (fixed_length(type_) != 0) {
      give_up("a block too short for what it is");
    }
    return trailer();
  }
  left_ = length_ - kFirstWords - kTrailer;
  const std::uint32_t wanted = fixed_length(type_);
  if (wanted > left_) {
    return give_up("a block too short for what it is");
  }
  if (wanted != 0) {
    return next(Part::fixed, wanted);
  }
  if (type_ == Block::names) {
    std::memcpy(here_.data(), here_.data() + 8, kOptionHeader);
    return name();
  }
  pass(left_);
  next(Part::trailer, kTrailer);
}

void PcapngWatch::fixed() noexcept {
  left_ -= fixed_length(type_);
  std::uint64_t data = 0;
  if (type_ == Block::enhanced_packet || type_ == Block::packet) {
    data = padded(word(8));
  } else if (type_ == Block::secrets) {
    data = padded(word(0));
  }
  if (data > left_) {
    return give_up(type_ == Block::secrets ? "decryption secrets that go beyond their block"
                                           : "a packet that goes beyond its block");
  }
  pass(static_cast<std::uint32_t>(data));
  options_or_end();
}

void PcapngWatch::options_or_end() noexcept {
  if (left_ >= kOptionHeader) {
    return next(Part::option, kOptionHeader);
  }
  next(Part::trailer, kTrailer);
}

void PcapngWatch::option() noexcept {
  constexpr std::uint16_t end_of_options = 0;
  constexpr std::uint16_t fcs_length = 13;
  constexpr std::uint16_t time_offset = 14;
  const std::uint16_t code = half(0);
  const std::uint64_t length = padded(half(2));
  if (type_ == Block::interface) {
    unfit_ = unfit_ || (code == fcs_length && ethernet_);
    offset_ = offset_ || (code == time_offset && interfaces_ == 1);
  }
  left_ -= kOptionHeader;
  if (code == end_of_options) {
    pass(left_);
  } else if (length > left_) {
    return give_up("an option goes beyond its block");
  } else if (half(2) == kCount && counts_what_was_dropped(code)) {
    left_ -= kCount;
    return next(Part::count, kCount);
  } else {
    pass(static_cast<std::uint32_t>(length));
  }
  options_or_end();
}

bool PcapngWatch::counts_what_was_dropped(std::uint16_t code) const noexcept {
  constexpr std::uint16_t by_interface = 5;
  constexpr std::uint16_t by_system = 7;
  return type_ == Block::enhanced_packet ? code == kDropsBefore
                                         : type_ == Block::statistics && (code == by_interface || code == by_system);
}

void PcapngWatch::count() {
  const std::uint64_t first = word(0);
  const std::uint64_t second = word(4);
  const std::uint64_t value = big_endian_ ? first << 32U | second : second << 32U | first;
  if (type_ == Block::statistics) {
    by_statistics_ = std::max(by_statistics_, value);
  } else {
    dropped_before(value);
  }
  options_or_end();
}

void PcapngWatch::dropped_before(std::uint64_t count) {
  between_packets_ += std::min(count, std::numeric_limits<std::uint64_t>::max() - between_packets_);
  const bool told = !places_.empty() && places_.back() == packets_;
  if (count != 0 && !told && places_.size() < most_places) {
    places_.push_back(packets_);
  }
}

void PcapngWatch::names_or_options() noexcept {
  if (left_ >= kOptionHeader) {
    left_ -= kOptionHeader;
    return next(Part::name, kOptionHeader);
  }
  next(Part::trailer, kTrailer);
}

/// `left_`: without the header of the record.
void PcapngWatch::name() noexcept {
  constexpr std::uint16_t end_of_records = 0;
  constexpr std::uint16_t of_ipv4 = 1;
  constexpr std::uint16_t of_ipv6 = 2;
  const std::uint16_t code = half(0);
  const std::uint16_t length = half(2);
  if (code == end_of_records) {
    return options_or_end();
  }
  if (padded(length) > left_) {
    return give_up("a name goes beyond its block");
  }
  if (code != of_ipv4 && code != of_ipv6) {
    pass(static_cast<std::uint32_t>(padded(length)));
    return names_or_options();
  }
  if (length <= (code == of_ipv4 ? 4 : 16)) {
    return give_up("a name that is too short for its address");
  }
  // Each name ends with a zero; so does the last, at the record's end.
  const std::uint32_t before = (length - 1U) / 4 * 4;
  pass(before);
  left_ -= kOptionHeader;
  name_end_ = (length - 1U) % 4;
  next(Part::name_end, kOptionHeader);
}

void PcapngWatch::name_end() noexcept {
  if (here_[name_end_] != 0) {
    return give_up("a name without an end");
  }
  names_or_options();
}

void PcapngWatch::trailer() noexcept {
  if (word(0) != length_ && !defect_) {
    defect_ = Defect{block_, "a block whose length at its end is not the one at its beginning"};
  }
  next(Part::header, kHeader);
}

}  // namespace rpcrdma::reader
