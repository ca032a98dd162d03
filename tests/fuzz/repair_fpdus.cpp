// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>

#include "repair.hpp"
#include "wire/crc32c.hpp"
#include "wire/mpa.hpp"

namespace rpcrdma::fuzz {
namespace {

void store_be16(std::uint8_t* p, std::size_t value) noexcept {
  p[0] = static_cast<std::uint8_t>(value >> 8U);
  p[1] = static_cast<std::uint8_t>(value);
}

/// Tagged or untagged, DDP version 1, RDMAP version 1: the first two octets behind the length of an FPDU.
bool like_ddp(const std::uint8_t* p) noexcept { return (p[0] & 0x3FU) == 0x01 && (p[1] & 0xF0U) == 0x40; }

/// All pieces in one.
struct Stream {
  std::vector<std::uint8_t> octets;
  std::vector<std::size_t> ends;  ///< of each piece
  std::size_t wire_length = 0;    ///< the last piece may have been cut

  [[nodiscard]] std::size_t end_of_piece(std::size_t position) const noexcept {
    const auto end = std::upper_bound(ends.begin(), ends.end(), position);
    return end == ends.end() ? octets.size() : *end;
  }

  [[nodiscard]] bool fpdu_at(std::size_t position) const noexcept {
    return position + 4 <= octets.size() && like_ddp(octets.data() + position + 2);
  }

  /// An FPDU of this length would end where a piece does, or where another FPDU begins; and it is not longer than its
  /// piece when one begins in the next.
  [[nodiscard]] bool leads_somewhere(std::size_t position, std::size_t size) const noexcept {
    const std::size_t end = position + size;
    const std::size_t piece = end_of_piece(position);
    if (end > piece && fpdu_at(piece)) return false;
    return end == wire_length || std::binary_search(ends.begin(), ends.end(), end) || fpdu_at(end);
  }
};

/// -> where the FPDUs begin: behind an MPA frame, else with the first piece that looks like it. Other TCP has none.
std::size_t repair_opening(Stream& stream) noexcept {
  const auto key = wire::mpa_key(stream.octets);
  if (key != wire::MpaKey::request && key != wire::MpaKey::reply) {
    std::size_t begin = 0;
    for (const std::size_t end : stream.ends) {
      if (begin + 4 <= end && like_ddp(stream.octets.data() + begin + 2)) return begin;
      begin = end;
    }
    return stream.octets.size();
  }
  if (stream.octets.size() < wire::mpa_header_length) return stream.octets.size();
  std::uint8_t* length = stream.octets.data() + 18;
  std::size_t end = wire::mpa_header_length + wire::load_be16(length);
  const std::size_t piece = stream.ends.front();
  const bool fits = end == piece || stream.fpdu_at(end);
  if (!fits && piece >= wire::mpa_header_length && piece <= wire::mpa_header_length + wire::mpa_private_data_limit) {
    store_be16(length, piece - wire::mpa_header_length);
    end = piece;
  }
  return std::min(end, stream.octets.size());
}

}  // namespace

void repair_fpdus(std::span<const Captured> pieces) {
  Stream stream;
  for (const Captured& piece : pieces) {
    stream.octets.insert(stream.octets.end(), piece.octets.begin(), piece.octets.end());
    stream.ends.push_back(stream.octets.size());
    stream.wire_length = stream.octets.size() + piece.missing;
  }
  if (stream.octets.empty()) return;

  std::size_t at = repair_opening(stream);
  while (at + wire::fpdu_length_octets <= stream.octets.size()) {
    std::uint8_t* p = stream.octets.data() + at;
    std::size_t size = wire::fpdu_size(wire::load_be16(p));
    if (!stream.leads_somewhere(at, size)) {
      std::size_t end = stream.end_of_piece(at);
      if (end == stream.octets.size()) end = stream.wire_length;
      constexpr std::size_t around = wire::fpdu_length_octets + wire::fpdu_crc_octets;
      const std::size_t room = (end - at) & ~std::size_t{3};
      if (room < around || room - around > 0xFFFF) break;
      store_be16(p, room - around);
      size = room;
    }
    if (at + size <= stream.octets.size()) {
      const std::size_t covered = size - wire::fpdu_crc_octets;
      const std::uint32_t sum = wire::crc32c({p, covered});
      for (unsigned i = 0; i < wire::fpdu_crc_octets; ++i) p[covered + i] = static_cast<std::uint8_t>(sum >> (8U * i));
    }
    at += size;
  }

  std::size_t from = 0;
  for (const Captured& piece : pieces) {
    std::copy_n(stream.octets.begin() + static_cast<std::ptrdiff_t>(from), piece.octets.size(), piece.octets.begin());
    from += piece.octets.size();
  }
}

}  // namespace rpcrdma::fuzz
