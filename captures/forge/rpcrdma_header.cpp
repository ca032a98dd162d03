// SPDX-License-Identifier: GPL-2.0-or-later
#include "rpcrdma_header.hpp"

namespace forge {

void put(Pen& pen, const Segment& s) { pen.u32(s.handle).u32(s.length).u64(s.offset); }

void put(Pen& pen, const Chunk& chunk) {
  pen.u32(chunk.size());
  for (const Segment& s : chunk) put(pen, s);
}

std::uint64_t length(const Chunk& chunk) {
  std::uint64_t sum = 0;
  for (const Segment& s : chunk) sum += s.length;
  return sum;
}

Octets encode(const RdmaHeader& h) {
  constexpr std::uint32_t msgp_align = 4;
  constexpr std::uint32_t msgp_threshold = 64;
  Pen pen;
  pen.u32(h.xid).u32(h.version).u32(h.credit).u32(h.proc);
  if (h.proc == proc_done) return pen.take();
  if (h.proc == proc_msgp) pen.u32(msgp_align).u32(msgp_threshold);
  for (const ReadChunk& chunk : h.reads) {
    for (const Segment& s : chunk.segments) {
      pen.u32(1).u32(chunk.position);
      put(pen, s);
    }
  }
  pen.u32(0);
  for (const Chunk& chunk : h.writes) {
    pen.u32(1);
    put(pen, chunk);
  }
  pen.u32(0);
  pen.u32(h.reply ? 1 : 0);
  if (h.reply) put(pen, *h.reply);
  return pen.take();
}

Octets encode(const RdmaError& e) {
  Pen pen;
  pen.u32(e.xid).u32(e.version).u32(e.credit).u32(proc_error).u32(e.code);
  if (e.code == 1) pen.u32(e.low).u32(e.high);
  return pen.take();
}

Octets encode(const PrivateData& d) {
  const auto kib = [](std::uint32_t octets) {
    if (octets < 1024 || octets > 256 * 1024) throw Mistake("private data can say 1024 to 262144 octets");
    return octets / 1024 - 1;
  };
  return Pen()
      .u32(0xF6AB0E18U)
      .u8(d.version)
      .u8((d.reserved & 0xFEU) | (d.invalidate ? 1U : 0U))
      .u8(kib(d.send))
      .u8(kib(d.receive))
      .take();
}

}  // namespace forge
