// SPDX-License-Identifier: GPL-2.0-or-later
// RPC-over-RDMA version 2 messages, as a sender writes them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "octets.hpp"
#include "rpcrdma_header.hpp"

namespace forge {

enum HeaderType : std::uint32_t {
  type_error = 4,
  type_grant = 5,
  type_connprop_middle = 6,
  type_connprop_final = 7,
  type_call_external = 8,
  type_call_middle = 9,
  type_call_inline = 10,
  type_reply_external = 11,
  type_reply_middle = 12,
  type_reply_inline = 13
};

struct HeaderV2 {
  std::uint32_t xid = 0;
  std::uint32_t version = 2;
  std::uint32_t credit = 0;
  std::uint32_t type = type_call_inline;
  std::uint32_t inv_handle = 0;
  std::uint32_t remaining = 0;
  std::vector<ReadChunk> call;
  std::vector<ReadChunk> reads;
  std::vector<Chunk> writes;
  std::optional<Chunk> reply;
};
/// Everything before the RPC message; only the prefix for the types that carry no call or reply.
[[nodiscard]] Octets encode(const HeaderV2& header);

}  // namespace forge
