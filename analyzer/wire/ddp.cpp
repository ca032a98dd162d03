// SPDX-License-Identifier: GPL-2.0-or-later
#include "wire/ddp.hpp"

namespace rpcrdma::wire {

Decoded<ReadRequestHeader> decode_read_request(Bytes octets, std::size_t wire_length) noexcept {
  Cursor cursor(octets, wire_length);
  const auto all = cursor.take(read_request_length, "RDMA Read Request");
  if (!all) return tl::make_unexpected(all.error());
  const std::uint8_t* p = all->data();
  ReadRequestHeader request;
  request.sink_stag = load_be32(p);
  request.sink_offset = load_be64(p + 4);
  request.size = load_be32(p + 12);
  request.source_stag = load_be32(p + 16);
  request.source_offset = load_be64(p + 20);
  return request;
}

Decoded<Terminate> decode_terminate(Bytes octets, std::size_t wire_length) noexcept {
  Cursor cursor(octets, wire_length);
  const auto word = cursor.take(4, "Terminate control");
  if (!word) return tl::make_unexpected(word.error());
  const std::uint8_t* p = word->data();
  Terminate terminate;
  terminate.layer = static_cast<std::uint8_t>(p[0] >> 4U);
  terminate.etype = static_cast<std::uint8_t>(p[0] & 0x0FU);
  terminate.ecode = p[1];
  // By the RFC the flags are the high bits and everything below is reserved, so the two packings exclude each other.
  terminate.low_flags = (p[2] & 0xF8U) == 0 && (p[2] & 0x07U) != 0;
  const bool has_length = (p[2] & (terminate.low_flags ? 0x01U : 0x80U)) != 0;
  const bool has_ddp = (p[2] & (terminate.low_flags ? 0x02U : 0x40U)) != 0;
  const bool has_read = (p[2] & (terminate.low_flags ? 0x04U : 0x20U)) != 0;
  if (!has_length && !has_ddp) return terminate;

  // The length stands before the DDP header also when only D is set.
  const auto length = cursor.be16("DDP segment length");
  if (!length) return terminate;
  if (has_length) terminate.segment_length = *length;
  if (!has_ddp) return terminate;
  const auto header = decode_ddp_header(cursor.rest(), cursor.wire_left());
  if (!header) return terminate;
  terminate.refused = *header;
  if (!has_read || !cursor.take(header->length(), "DDP header")) return terminate;
  if (const auto read = decode_read_request(cursor.rest(), cursor.wire_left())) terminate.refused_read = *read;
  return terminate;
}

}  // namespace rpcrdma::wire
