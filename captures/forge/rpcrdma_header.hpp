// SPDX-License-Identifier: GPL-2.0-or-later
// RPC-over-RDMA version 1 headers and the CM private data, as a sender writes them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "octets.hpp"

namespace forge {

struct Segment {
  std::uint32_t handle = 0;
  std::uint32_t length = 0;
  std::uint64_t offset = 0;
};
using Chunk = std::vector<Segment>;

struct ReadChunk {
  std::uint32_t position = 0;
  Chunk segments;
};

/// A segment, and a chunk with its count before it, as both versions write them.
void put(Pen& pen, const Segment& s);
void put(Pen& pen, const Chunk& chunk);

[[nodiscard]] std::uint64_t length(const Chunk& chunk);

enum Proc : std::uint32_t { proc_msg = 0, proc_nomsg = 1, proc_msgp = 2, proc_done = 3, proc_error = 4 };

struct RdmaHeader {
  std::uint32_t xid = 0;
  std::uint32_t version = 1;
  std::uint32_t credit = 0;
  std::uint32_t proc = proc_msg;
  std::vector<ReadChunk> reads;
  std::vector<Chunk> writes;
  std::optional<Chunk> reply;
};
/// Everything before the RPC message. RDMA_MSGP gets its two words; RDMA_DONE ends after the fixed words.
[[nodiscard]] Octets encode(const RdmaHeader& header);

struct RdmaError {
  std::uint32_t xid = 0;
  std::uint32_t version = 1;
  std::uint32_t credit = 0;
  std::uint32_t code = 2;  ///< 1 ERR_VERS, 2 ERR_CHUNK
  std::uint32_t low = 1;
  std::uint32_t high = 1;
};
[[nodiscard]] Octets encode(const RdmaError& error);

/// RFC 8797 section 4. Sizes in octets; they are rounded down to whole KiB.
struct PrivateData {
  std::uint8_t version = 1;
  std::uint8_t reserved = 0;  ///< the flag bits other than R, in place
  bool invalidate = false;
  std::uint32_t send = 1024;
  std::uint32_t receive = 1024;
};
[[nodiscard]] Octets encode(const PrivateData& data);

}  // namespace forge
