// SPDX-License-Identifier: GPL-2.0-or-later
#include "rpcrdma_v2.hpp"

namespace forge {
namespace {

void put_reads(Pen& pen, const std::vector<ReadChunk>& list) {
  for (const ReadChunk& chunk : list) {
    for (const Segment& s : chunk.segments) {
      pen.u32(1).u32(chunk.position);
      put(pen, s);
    }
  }
  pen.u32(0);
}

void put_writes(Pen& pen, const std::vector<Chunk>& list) {
  for (const Chunk& chunk : list) {
    pen.u32(1);
    put(pen, chunk);
  }
  pen.u32(0);
}

void put_reply(Pen& pen, const std::optional<Chunk>& chunk) {
  pen.u32(chunk ? 1 : 0);
  if (chunk) put(pen, *chunk);
}

}  // namespace

Octets encode(const HeaderV2& h) {
  Pen pen;
  pen.u32(h.xid).u32(h.version).u32(h.credit).u32(h.type);
  switch (h.type) {
    case type_call_external:
      pen.u32(h.inv_handle);
      put_reads(pen, h.call);
      put_reads(pen, h.reads);
      put_writes(pen, h.writes);
      put_reply(pen, h.reply);
      break;
    case type_call_inline:
      pen.u32(h.inv_handle);
      put_reads(pen, h.reads);
      put_writes(pen, h.writes);
      put_reply(pen, h.reply);
      break;
    case type_call_middle:
    case type_reply_middle:
      pen.u32(h.remaining);
      break;
    case type_reply_external:
      put_writes(pen, h.writes);
      put_reply(pen, h.reply);
      break;
    case type_reply_inline:
      put_writes(pen, h.writes);
      break;
    default:
      break;
  }
  return pen.take();
}

}  // namespace forge
