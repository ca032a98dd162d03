// SPDX-License-Identifier: GPL-2.0-or-later
#include "chunks.hpp"

#include <algorithm>

namespace lab {

namespace {

void encode_segment(Writer& out, const Segment& segment) {
  out.u32(segment.handle).u32(segment.length).u64(segment.offset);
}

Segment decode_segment(Reader& in) {
  Segment segment;
  segment.handle = in.u32();
  segment.length = in.u32();
  segment.offset = in.u64();
  return segment;
}

Chunk decode_chunk(Reader& in) {
  Chunk chunk;
  for (std::uint32_t left = in.u32(); left > 0; --left) chunk.push_back(decode_segment(in));
  return chunk;
}

void encode_chunk(Writer& out, const Chunk& chunk) {
  out.u32(static_cast<std::uint32_t>(chunk.size()));
  for (const Segment& segment : chunk) encode_segment(out, segment);
}

}  // namespace

void encode_reads(Writer& out, const std::vector<ReadSegment>& reads) {
  for (const ReadSegment& read : reads) encode_segment(out.u32(1).u32(read.position), read.segment);
  out.u32(0);
}

void encode_writes(Writer& out, const std::vector<Chunk>& writes) {
  for (const Chunk& chunk : writes) encode_chunk(out.u32(1), chunk);
  out.u32(0);
}

void encode_reply(Writer& out, const std::optional<Chunk>& reply) {
  out.u32(reply ? 1 : 0);
  if (reply) encode_chunk(out, *reply);
}

std::vector<ReadSegment> decode_reads(Reader& in) {
  std::vector<ReadSegment> reads;
  while (in.u32() != 0) {
    const std::uint32_t position = in.u32();
    reads.push_back({position, decode_segment(in)});
  }
  return reads;
}

std::vector<Chunk> decode_writes(Reader& in) {
  std::vector<Chunk> writes;
  while (in.u32() != 0) writes.push_back(decode_chunk(in));
  return writes;
}

std::optional<Chunk> decode_reply(Reader& in) {
  if (in.u32() == 0) return {};
  return decode_chunk(in);
}

Chunk cut(const Memory& memory, std::size_t length, std::size_t count) {
  Chunk chunk;
  const std::size_t each = (length + count - 1) / count;
  for (std::size_t at = 0; at < length; at += each) {
    chunk.push_back({memory.handle, static_cast<std::uint32_t>(std::min(each, length - at)), memory.address() + at});
  }
  return chunk;
}

std::optional<Octets> pulled(Endpoint& end, const std::vector<ReadSegment>& reads, std::uint32_t position,
                             std::size_t beyond) {
  std::size_t length = 0;
  for (const ReadSegment& read : reads) length += read.position == position ? read.segment.length : 0;
  const std::unique_ptr<Memory> memory = end.expose(Octets(length + beyond));
  std::size_t at = 0;
  for (const ReadSegment& read : reads) {
    if (read.position != position) continue;
    const Segment& from = read.segment;
    if (!end.read(*memory, at, from.handle, from.offset, from.length + beyond)) return {};
    at += from.length;
  }
  memory->octets.resize(length);
  return memory->octets;
}

bool pushed(Endpoint& end, const Octets& data, Chunk& chunk, std::size_t beyond) {
  std::size_t at = 0;
  for (Segment& segment : chunk) {
    const std::size_t piece = std::min<std::size_t>(segment.length, data.size() - at);
    segment.length = static_cast<std::uint32_t>(piece);
    if (piece == 0) continue;
    const auto start = data.begin() + static_cast<std::ptrdiff_t>(at);
    Octets octets(start, start + static_cast<std::ptrdiff_t>(piece));
    octets.resize(piece + beyond);
    if (!end.write(octets, segment.handle, segment.offset)) return false;
    at += piece;
  }
  return at == data.size();
}

}  // namespace lab
