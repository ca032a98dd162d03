// SPDX-License-Identifier: GPL-2.0-or-later
#include "cm.hpp"

namespace forge::cm {
namespace {

enum Attribute : std::uint16_t {
  attribute_req = 0x10,
  attribute_mra = 0x11,
  attribute_rej = 0x12,
  attribute_rep = 0x13,
  attribute_rtu = 0x14,
  attribute_dreq = 0x15,
  attribute_drep = 0x16
};
constexpr std::size_t mad_size = 256;
constexpr std::size_t mad_header = 24;

Pen start(Attribute attribute, std::uint64_t transaction) {
  Pen pen;
  pen.u8(1).u8(0x07).u8(2).u8(0x03).u16(0).u16(0).u64(transaction).u16(attribute).u16(0).u32(0);
  return pen;
}

/// Private data starts at `offset` of the message and fills the rest of the datagram with zeros.
Octets finish(Pen pen, std::size_t offset, const Octets& data) {
  if (pen.size() > mad_header + offset) throw Mistake("CM message layout");
  pen.zeros(mad_header + offset - pen.size());
  if (data.size() > mad_size - pen.size()) throw Mistake("private data too long for its CM message");
  pen.add(data);
  return pen.zeros(mad_size - pen.size()).take();
}

Octets ip_cm_header(const Request& r) {
  return Pen()
      .u8(0)
      .u8(r.ipv6 ? 0x60 : 0x40)
      .u16(r.source_port)
      .add(r.source_address)
      .add(r.destination_address)
      .add(r.private_data)
      .take();
}

}  // namespace

Octets request(const Request& r) {
  constexpr std::size_t private_data_at = 140;
  constexpr std::size_t alternate_path = 44;
  Pen pen = start(attribute_req, r.transaction);
  pen.u32(r.communication_id).u32(0).u64(r.service_id).u64(r.guid).u32(0).u32(0);
  pen.u24(r.qpn).u8(r.responder_resources).u24(0).u8(r.initiator_depth).u24(0);
  pen.u8(20U << 3U);  // remote response timeout, reliable connection, no flow control
  pen.u24(r.starting_psn).u8(20U << 3U | (r.retry & 7U)).u16(0xFFFF);
  pen.u8(r.mtu_code << 4U | (r.rnr_retry & 7U)).u8(15U << 4U);
  pen.u16(r.local_lid).u16(r.remote_lid).add(r.local_gid).add(r.remote_gid);
  pen.u32(3).u8(0).u8(64).u8(0x08).u8(18U << 3U);  // rate 10 Gb/s, hop limit, subnet local, ack timeout
  pen.zeros(alternate_path);
  return finish(std::move(pen), private_data_at, ip_cm_header(r));
}

Octets reply(const Reply& r) {
  Pen pen = start(attribute_rep, r.transaction);
  pen.u32(r.communication_id).u32(r.remote_id).u32(0).u24(r.qpn).u8(0).u24(0).u8(0).u24(r.starting_psn).u8(0);
  pen.u8(r.responder_resources).u8(r.initiator_depth).u8(15U << 3U).u8((r.rnr_retry & 7U) << 5U).u64(r.guid);
  return finish(std::move(pen), 36, r.private_data);
}

Octets ready(std::uint64_t transaction, std::uint32_t local, std::uint32_t remote, const Octets& data) {
  Pen pen = start(attribute_rtu, transaction);
  pen.u32(local).u32(remote);
  return finish(std::move(pen), 8, data);
}

Octets receipt(std::uint64_t transaction, std::uint32_t remote) {
  constexpr std::uint8_t service_timeout = 20;  // 4.096 us * 2^20: 4 s
  Pen pen = start(attribute_mra, transaction);
  pen.u32(0).u32(remote).u8(0).u8(service_timeout << 3U);  // of a REQ
  return finish(std::move(pen), 10, {});
}

Octets reject(std::uint64_t transaction, std::uint32_t local, std::uint32_t remote, std::uint32_t reason,
              const Octets& data, Rejected what) {
  Pen pen = start(attribute_rej, transaction);
  pen.u32(local).u32(remote).u8(static_cast<std::uint32_t>(what) << 6U).u8(0).u16(reason);  // no further information
  return finish(std::move(pen), 84, data);
}

Octets disconnect_request(std::uint64_t transaction, std::uint32_t local, std::uint32_t remote,
                          std::uint32_t remote_qpn, const Octets& data) {
  Pen pen = start(attribute_dreq, transaction);
  pen.u32(local).u32(remote).u24(remote_qpn).u8(0);
  return finish(std::move(pen), 12, data);
}

Octets disconnect_reply(std::uint64_t transaction, std::uint32_t local, std::uint32_t remote, const Octets& data) {
  Pen pen = start(attribute_drep, transaction);
  pen.u32(local).u32(remote);
  return finish(std::move(pen), 8, data);
}

}  // namespace forge::cm
