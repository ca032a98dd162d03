// SPDX-License-Identifier: GPL-2.0-or-later
// RFC 8797: the RPC-over-RDMA version 1 CM private data (section 4), found at any octet offset (section 5.2).
#pragma once

#include <cstdint>
#include <optional>

#include "wire/bytes.hpp"

namespace rpcrdma::wire {

inline constexpr std::uint32_t private_data_identifier = 0xF6AB0E18U;

struct PrivateDataFields {
  std::uint32_t offset = 0;  ///< octets from the start of the consumer's private data
  std::uint8_t version = 0;
  std::uint8_t reserved = 0;  ///< flags & 0xFE
  bool remote_invalidation = false;
  std::uint32_t send_size = 0;     ///< octets, decoded
  std::uint32_t receive_size = 0;  ///< octets, decoded
};

/// What a search of the whole area found. At most one of the "not usable" hits is kept of each kind (the first).
struct PrivateDataSearch {
  std::optional<PrivateDataFields> found;         ///< first valid hit
  std::optional<std::uint32_t> duplicate_offset;  ///< offset of a second valid hit
  std::optional<std::uint32_t> unknown_version_offset;
  std::uint8_t unknown_version = 0;
  std::optional<std::uint32_t> truncated_offset;  ///< identifier found, but the 8 octets do not fit into the area
  bool cut_by_capture = false;                    ///< the capture ends inside the area: "not found" proves nothing
};

/// `wire_length`: length of the area on the wire; octets may be shorter (snap length).
[[nodiscard]] PrivateDataSearch find_private_data(Bytes octets, std::size_t wire_length) noexcept;

}  // namespace rpcrdma::wire
