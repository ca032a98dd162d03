// SPDX-License-Identifier: GPL-2.0-or-later
// MPA: the request and reply frames that open an iWARP stream (RFC 5044 section 7.1, RFC 6581 section 9), and the
// arithmetic of FPDUs and markers (RFC 5044 sections 4.1 to 4.3). Big-endian on the wire, except the CRC.
#pragma once

#include <cstdint>
#include <optional>

#include "wire/bytes.hpp"

namespace rpcrdma::wire {

inline constexpr std::size_t mpa_key_length = 16;
inline constexpr std::size_t mpa_header_length = 20;  ///< key, flags, revision, PD_Length
inline constexpr std::size_t mpa_private_data_limit = 512;

inline constexpr std::uint8_t mpa_flag_markers = 0x80;   ///< M: the sender of the frame wants to receive markers
inline constexpr std::uint8_t mpa_flag_crc = 0x40;       ///< C
inline constexpr std::uint8_t mpa_flag_reject = 0x20;    ///< R, reply only
inline constexpr std::uint8_t mpa_flag_enhanced = 0x10;  ///< S, revision 2: the IRD/ORD word opens the private data

/// What the first octets of a stream say.
enum class MpaKey : std::uint8_t {
  none,     ///< not MPA
  partial,  ///< fewer than 16 octets, and all of them agree with one of the keys
  request,
  reply,
};
[[nodiscard]] MpaKey mpa_key_in_full(Bytes octets) noexcept;
/// Asked of nearly all segments.
[[nodiscard]] inline MpaKey mpa_key(Bytes octets) noexcept {
  if (octets.empty()) return MpaKey::partial;
  return octets.front() == 'M' ? mpa_key_in_full(octets) : MpaKey::none;
}

struct MpaHeader {
  bool request = false;
  std::uint8_t flags = 0;
  std::uint8_t revision = 0;
  std::uint16_t private_data_length = 0;  ///< PD_Length in octets, the enhanced word included

  [[nodiscard]] std::size_t frame_length() const noexcept { return mpa_header_length + private_data_length; }
  /// The IRD/ORD word is there: only with revision 2, the S flag and room for it.
  [[nodiscard]] bool enhanced() const noexcept {
    return revision == 2 && (flags & mpa_flag_enhanced) != 0 && private_data_length >= 4;
  }
};
/// Needs 20 octets. Fault::invalid at "key" when neither key is there.
[[nodiscard]] Decoded<MpaHeader> decode_mpa_header(Bytes octets, std::size_t wire_length) noexcept;

/// RFC 6581 section 9: the word before the consumer's private data.
struct MpaEnhanced {
  bool peer_to_peer = false;         ///< A
  bool rtr_send = false;             ///< B
  bool rtr_write = false;            ///< C
  bool rtr_read = false;             ///< D
  std::optional<std::uint16_t> ird;  ///< absent: 0x3FFF, the sender takes no part in the negotiation
  std::optional<std::uint16_t> ord;
};

struct MpaFrame {
  MpaHeader header;
  std::optional<MpaEnhanced> enhanced;  ///< absent also when the capture cut it off (see header.enhanced())
  Bytes private_data;                   ///< the consumer's, as captured
  std::uint32_t private_data_wire_length = 0;
};
/// `octets` begin with the key; octets behind the frame are ignored. Private data that the capture cut is no error:
/// `private_data` is then shorter than its wire length. A frame that is longer than `wire_length` is Fault::invalid.
[[nodiscard]] Decoded<MpaFrame> decode_mpa_frame(Bytes octets, std::size_t wire_length) noexcept;

inline constexpr std::size_t fpdu_length_octets = 2;
inline constexpr std::size_t fpdu_crc_octets = 4;
/// Octets of the whole FPDU (length word, ULPDU, pad, CRC), markers not counted.
[[nodiscard]] constexpr std::uint32_t fpdu_size(std::uint16_t ulpdu_length) noexcept {
  return ((static_cast<std::uint32_t>(ulpdu_length) + 2U + 3U) & ~3U) + 4U;
}

/// Where the markers of one direction stand: 4 octets at `base` and every 512 octets of the TCP stream after it.
/// Positions are 64-bit stream positions at or after `base`.
struct Markers {
  static constexpr std::uint64_t interval = 512;
  static constexpr std::uint64_t octets = 4;
  bool used = false;
  std::uint64_t base = 0;

  /// Octets of a marker that are still to come at `position`: 0 outside of a marker.
  [[nodiscard]] constexpr std::uint64_t inside(std::uint64_t position) const noexcept {
    if (!used) return 0;
    const std::uint64_t phase = (position - base) % interval;
    return phase < octets ? octets - phase : 0;
  }
  /// Octets until the next marker begins (never 0 outside of a marker).
  [[nodiscard]] constexpr std::uint64_t until_next(std::uint64_t position) const noexcept {
    return used ? interval - (position - base) % interval : ~std::uint64_t{0};
  }
  /// The position behind `count` octets that are no markers, counted from `position`. A marker right behind the last
  /// one is not stepped over.
  [[nodiscard]] constexpr std::uint64_t after(std::uint64_t position, std::uint64_t count) const noexcept {
    if (!used) return position + count;
    position += inside(position);
    if (count == 0) return position;
    const std::uint64_t room = until_next(position);
    if (count <= room) return position + count;
    count -= room;
    position += room;
    const std::uint64_t blocks = (count - 1) / (interval - octets);
    return position + blocks * interval + octets + (count - blocks * (interval - octets));
  }
  /// Octets in [from, to) that are no markers.
  [[nodiscard]] constexpr std::uint64_t plain(std::uint64_t from, std::uint64_t to) const noexcept {
    if (to <= from) return 0;
    if (!used) return to - from;
    return plain_before(to) - plain_before(from);
  }

 private:
  [[nodiscard]] constexpr std::uint64_t plain_before(std::uint64_t position) const noexcept {
    const std::uint64_t distance = position - base;
    const std::uint64_t phase = distance % interval;
    return distance / interval * (interval - octets) + (phase > octets ? phase - octets : 0);
  }
};

}  // namespace rpcrdma::wire
