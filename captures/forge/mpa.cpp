// SPDX-License-Identifier: GPL-2.0-or-later
#include "mpa.hpp"

#include "checksum.hpp"

namespace forge::mpa {
namespace {
constexpr std::uint64_t marker_interval = 512;
}

Octets encode(const Start& s) {
  const bool enhanced = (s.flags & flag_enhanced) != 0;
  Pen pen;
  pen.text(s.reply ? "MPA ID Rep Frame" : "MPA ID Req Frame").u8(s.flags).u8(s.revision);
  pen.u16(s.private_data.size() + (enhanced ? 4 : 0));
  if (enhanced) pen.u16(s.ird).u16(s.ord);
  return pen.add(s.private_data).take();
}

Octets Framer::frame(const Octets& ulpdu, bool spoil) {
  Pen body;
  body.u16(ulpdu.size()).add(ulpdu).align(4);
  const Octets plain = body.take();
  Octets out;
  const std::uint64_t start = stream_;
  // A marker says how far back the FPDU began, counted in the stream; one right before the FPDU says zero.
  const auto marker_if_due = [&] {
    if (!markers_ || stream_ % marker_interval != 0) return;
    const Octets marker = Pen().u16(0).u16(out.empty() ? 0 : stream_ - start).take();
    out.insert(out.end(), marker.begin(), marker.end());
    stream_ += marker.size();
  };
  for (const std::uint8_t octet : plain) {
    marker_if_due();
    out.push_back(octet);
    ++stream_;
  }
  marker_if_due();  // one that falls between pad and CRC is covered by the CRC
  const std::uint32_t crc = crc_ ? crc32c(out) : 0;
  const Octets tail = Pen().little32(crc ^ (spoil ? 0x5A5A5A5AU : 0U)).take();
  out.insert(out.end(), tail.begin(), tail.end());
  stream_ += tail.size();
  return out;
}

Octets encode(const Tagged& h) {
  return Pen().u8(0x81U | (h.last ? 0x40U : 0U)).u8(0x40U | h.opcode).u32(h.stag).u64(h.offset).take();
}

Octets encode(const Untagged& h) {
  return Pen()
      .u8(0x01U | (h.last ? 0x40U : 0U))
      .u8(0x40U | h.opcode)
      .u32(h.invalidate)
      .u32(h.queue)
      .u32(h.message)
      .u32(h.offset)
      .take();
}

Octets encode(const ReadRequest& r) {
  return Pen().u32(r.sink_stag).u64(r.sink_offset).u32(r.length).u32(r.source_stag).u64(r.source_offset).take();
}

Octets encode(const Terminate& t) {
  const bool ddp = !t.ddp_header.empty();
  const bool read = !t.read_request.empty();
  Pen pen;
  pen.u8(static_cast<unsigned>(t.layer) << 4U | (t.type & 0x0FU)).u8(t.code);
  pen.u16((ddp ? 0xC000U : 0U) | (read ? 0x2000U : 0U));
  if (ddp) pen.u16(t.segment_length).add(t.ddp_header);
  return pen.add(t.read_request).take();
}

}  // namespace forge::mpa
