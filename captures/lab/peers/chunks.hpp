// SPDX-License-Identifier: GPL-2.0-or-later
// Segments and chunk lists, which versions 1 and 2 encode alike (RFC 8166, 4.1 and the draft's 8.4), and what both
// sides do with them.
#pragma once

#include <optional>
#include <vector>

#include "endpoint.hpp"
#include "octets.hpp"

namespace lab {

struct Segment {
  std::uint32_t handle = 0;
  std::uint32_t length = 0;
  std::uint64_t offset = 0;
};
struct ReadSegment {
  std::uint32_t position = 0;
  Segment segment;
};
using Chunk = std::vector<Segment>;

struct ChunkLists {
  std::vector<ReadSegment> reads;
  std::vector<Chunk> writes;
  std::optional<Chunk> reply;
};

void encode_reads(Writer& out, const std::vector<ReadSegment>& reads);
void encode_writes(Writer& out, const std::vector<Chunk>& writes);
void encode_reply(Writer& out, const std::optional<Chunk>& reply);
std::vector<ReadSegment> decode_reads(Reader& in);
std::vector<Chunk> decode_writes(Reader& in);
std::optional<Chunk> decode_reply(Reader& in);

// The memory as `count` segments of one length but for the last one.
Chunk cut(const Memory& memory, std::size_t length, std::size_t count);

// RDMA Reads all segments of one position; nothing when the driver refused. `beyond`: octets past the end of each
// segment, which is wrong.
std::optional<Octets> pulled(Endpoint& end, const std::vector<ReadSegment>& reads, std::uint32_t position,
                             std::size_t beyond = 0);
// RDMA Writes the data into the chunk and sets its lengths to what was written. False when it does not fit or was
// refused.
bool pushed(Endpoint& end, const Octets& data, Chunk& chunk, std::size_t beyond = 0);

}  // namespace lab
