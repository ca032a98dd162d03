// SPDX-License-Identifier: GPL-2.0-or-later
#include "ib.hpp"

namespace forge::ib {

Octets encode(const Packet& p) {
  constexpr std::uint32_t management_q_key = 0x80010000U;
  const std::size_t pad = (4 - p.payload.size() % 4) % 4;
  Pen pen;
  pen.u8(p.opcode);
  pen.u8((p.solicited ? 0x80U : 0U) | 0x40U | pad << 4U);  // migrated state, as most adapters send
  pen.u16(0xFFFF).u8(0).u24(p.destination_qp).u8(p.ack_request ? 0x80 : 0).u24(p.psn);
  if (p.source_qp) pen.u32(management_q_key).u8(0).u24(*p.source_qp);
  if (p.reth) pen.u64(p.reth->address).u32(p.reth->key).u32(p.reth->length);
  if (p.aeth) pen.u32(*p.aeth);
  if (p.immediate) pen.u32(*p.immediate);
  if (p.invalidate) pen.u32(*p.invalidate);
  return pen.add(p.payload).zeros(pad).take();
}

}  // namespace forge::ib
