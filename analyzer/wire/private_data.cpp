// SPDX-License-Identifier: GPL-2.0-or-later
#include "wire/private_data.hpp"

#include <cstring>

namespace rpcrdma::wire {

namespace {

constexpr std::size_t block_length = 8;
constexpr std::uint8_t first_identifier_octet = private_data_identifier >> 24U;

// RFC 8797 section 4.2: the octet counts kibioctets, less one.
constexpr std::uint32_t decoded_size(std::uint8_t encoded) noexcept {
  return (static_cast<std::uint32_t>(encoded) + 1U) * 1024U;
}

PrivateDataFields fields_at(const std::uint8_t* block, std::size_t offset) noexcept {
  PrivateDataFields fields;
  fields.offset = static_cast<std::uint32_t>(offset);
  fields.version = block[4];
  fields.reserved = block[5] & 0xFEU;
  fields.remote_invalidation = (block[5] & 0x01U) != 0;
  fields.send_size = decoded_size(block[6]);
  fields.receive_size = decoded_size(block[7]);
  return fields;
}

}  // namespace

PrivateDataSearch find_private_data(Bytes octets, std::size_t wire_length) noexcept {
  PrivateDataSearch search;
  const std::size_t area = wire_length < octets.size() ? octets.size() : wire_length;
  search.cut_by_capture = area > octets.size();

  std::size_t at = 0;
  while (octets.size() - at >= 4) {
    const auto* const hit = static_cast<const std::uint8_t*>(
        std::memchr(octets.data() + at, first_identifier_octet, octets.size() - at - 3));
    if (hit == nullptr) break;
    at = static_cast<std::size_t>(hit - octets.data());
    if (load_be32(hit) != private_data_identifier) {
      ++at;
      continue;
    }
    if (area - at < block_length) {
      if (!search.truncated_offset) search.truncated_offset = static_cast<std::uint32_t>(at);
      ++at;
      continue;
    }
    // The version decides, and it may be there even when the capture ends inside the block.
    if (octets.size() - at > 4 && hit[4] != 1) {
      if (!search.unknown_version_offset) {
        search.unknown_version_offset = static_cast<std::uint32_t>(at);
        search.unknown_version = hit[4];
      }
      ++at;
      continue;
    }
    if (octets.size() - at < block_length) break;  // the capture keeps the rest of this block from us
    if (!search.found) {
      search.found = fields_at(hit, at);
    } else if (!search.duplicate_offset) {
      search.duplicate_offset = static_cast<std::uint32_t>(at);
    }
    at += block_length;  // what a valid block contains is not another block
  }
  return search;
}

}  // namespace rpcrdma::wire
