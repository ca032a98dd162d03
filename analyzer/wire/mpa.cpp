// SPDX-License-Identifier: GPL-2.0-or-later
#include "wire/mpa.hpp"

#include <algorithm>
#include <cstring>

namespace rpcrdma::wire {
namespace {

constexpr char request_key[] = "MPA ID Req Frame";
constexpr char reply_key[] = "MPA ID Rep Frame";
static_assert(sizeof request_key == mpa_key_length + 1 && sizeof reply_key == mpa_key_length + 1);
static_assert(request_key[0] == 'M' && reply_key[0] == 'M');  // as mpa_key() knows

constexpr std::uint16_t depth_mask = 0x3FFF;

std::optional<std::uint16_t> depth(std::uint16_t word) noexcept {
  const auto value = static_cast<std::uint16_t>(word & depth_mask);
  if (value == depth_mask) return std::nullopt;
  return value;
}

MpaEnhanced enhanced_word(const std::uint8_t* p) noexcept {
  const std::uint16_t first = load_be16(p);
  const std::uint16_t second = load_be16(p + 2);
  MpaEnhanced word;
  word.peer_to_peer = (first & 0x8000U) != 0;
  word.rtr_send = (first & 0x4000U) != 0;
  word.rtr_write = (second & 0x8000U) != 0;
  word.rtr_read = (second & 0x4000U) != 0;
  word.ird = depth(first);
  word.ord = depth(second);
  return word;
}

}  // namespace

MpaKey mpa_key_in_full(Bytes octets) noexcept {
  const std::size_t n = std::min(octets.size(), mpa_key_length);
  const bool request = std::memcmp(octets.data(), request_key, n) == 0;
  const bool reply = std::memcmp(octets.data(), reply_key, n) == 0;
  if (!request && !reply) return MpaKey::none;
  if (n < mpa_key_length) return MpaKey::partial;
  return request ? MpaKey::request : MpaKey::reply;
}

Decoded<MpaHeader> decode_mpa_header(Bytes octets, std::size_t wire_length) noexcept {
  const MpaKey key = mpa_key(octets);
  if (key == MpaKey::none) return tl::make_unexpected(DecodeError{Fault::invalid, "key", 0});
  Cursor cursor(octets, wire_length);
  if (auto skipped = cursor.take(mpa_key_length, "key"); !skipped) return tl::make_unexpected(skipped.error());
  MpaHeader header;
  header.request = key == MpaKey::request;
  const auto flags = cursor.u8("flags");
  if (!flags) return tl::make_unexpected(flags.error());
  const auto revision = cursor.u8("Rev");
  if (!revision) return tl::make_unexpected(revision.error());
  const auto length = cursor.be16("PD_Length");
  if (!length) return tl::make_unexpected(length.error());
  header.flags = *flags;
  header.revision = *revision;
  header.private_data_length = *length;
  return header;
}

Decoded<MpaFrame> decode_mpa_frame(Bytes octets, std::size_t wire_length) noexcept {
  const auto header = decode_mpa_header(octets, wire_length);
  if (!header) return tl::make_unexpected(header.error());
  if (header->frame_length() > std::max(wire_length, octets.size())) {
    return tl::make_unexpected(DecodeError{Fault::invalid, "private data", mpa_header_length});
  }
  MpaFrame frame;
  frame.header = *header;
  Bytes area = octets.subspan(mpa_header_length);
  area = area.first(std::min<std::size_t>(area.size(), header->private_data_length));
  frame.private_data_wire_length = header->private_data_length;
  if (header->enhanced()) {
    if (area.size() >= 4) frame.enhanced = enhanced_word(area.data());
    area = area.subspan(std::min<std::size_t>(area.size(), 4));
    frame.private_data_wire_length -= 4;
  }
  frame.private_data = area;
  return frame;
}

}  // namespace rpcrdma::wire
