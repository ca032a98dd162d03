// SPDX-License-Identifier: GPL-2.0-or-later
// InfiniBand packets for tests, field by field: an encoder that shares no table with the decoders.
#pragma once

#include <algorithm>
#include <cstdint>

#include "octets.hpp"

namespace rpcrdma::test {

inline Octets be24(std::uint32_t v) {
  return {static_cast<std::uint8_t>(v >> 16U), static_cast<std::uint8_t>(v >> 8U), static_cast<std::uint8_t>(v)};
}
inline Octets be32(std::uint32_t v) { return be16(v >> 16U) + be16(v & 0xFFFFU); }
inline Octets be64(std::uint64_t v) {
  return be32(static_cast<std::uint32_t>(v >> 32U)) + be32(static_cast<std::uint32_t>(v));
}

/// From the BTH to the ICRC (which is wrong). `extended`: the headers behind the BTH.
inline Octets ib_packet(std::uint8_t opcode, std::uint32_t qpn, std::uint32_t psn, const Octets& extended = {},
                        const Octets& payload = {}) {
  const std::size_t pad = (4 - payload.size() % 4) % 4;
  return Octets{opcode, static_cast<std::uint8_t>(pad << 4U), 0xFF, 0xFF, 0} + be24(qpn) + hex("80") +
         be24(psn & 0xFFFFFFU) + extended + payload + filled(pad) + hex("1c1c1c1c");
}

inline Octets reth(std::uint64_t address, std::uint32_t key, std::uint32_t length) {
  return be64(address) + be32(key) + be32(length);
}
inline Octets aeth(std::uint8_t syndrome, std::uint32_t msn = 0) { return Octets{syndrome} + be24(msn); }

// Opcodes of the reliable connection service
inline constexpr std::uint8_t op_send_first = 0x00, op_send_middle = 0x01, op_send_last = 0x02, op_send_only = 0x04;
inline constexpr std::uint8_t op_send_last_invalidate = 0x16, op_send_only_invalidate = 0x17;
inline constexpr std::uint8_t op_write_first = 0x06, op_write_middle = 0x07, op_write_last = 0x08, op_write_only = 0x0A;
inline constexpr std::uint8_t op_read = 0x0C, op_response_first = 0x0D, op_response_middle = 0x0E,
                              op_response_last = 0x0F, op_response_only = 0x10;
inline constexpr std::uint8_t op_acknowledge = 0x11;
inline constexpr std::uint8_t op_ud_send = 0x64;

/// What a CM message says; each builder takes what it needs.
struct CmFields {
  std::uint64_t transaction = 0x1122334455667788ULL;
  std::uint32_t local_id = 0x0A0A0A01;
  std::uint32_t remote_id = 0x0B0B0B01;
  std::uint32_t qpn = 0x11;
  std::uint32_t psn = 0x000100;
  std::uint64_t service_id = 0x0000000001064E51ULL;
  std::uint8_t mtu = 3;  ///< 1024
  std::uint8_t responder_resources = 8;
  std::uint8_t initiator_depth = 0;
  std::uint8_t rnr_retry = 0;
  std::uint8_t retry = 6;
  std::uint16_t reason = 8;
  std::uint16_t source_port = 40000;
  Octets consumer = hex("f6ab0e18 01 01 03 03");
};

inline Octets mad(std::uint16_t attribute, std::uint64_t transaction, Octets data) {
  data.resize(232);
  return hex("01 07 02 03 0000 0000") + be64(transaction) + be16(attribute) + hex("0000 00000000") + data;
}

inline void put(Octets& area, std::size_t at, const Octets& octets) {
  if (area.size() < at + octets.size()) area.resize(at + octets.size());
  std::copy(octets.begin(), octets.end(), area.begin() + static_cast<std::ptrdiff_t>(at));
}

inline Octets cm_req(const CmFields& f) {
  Octets d(232);
  put(d, 0, be32(f.local_id));
  put(d, 8, be64(f.service_id));
  put(d, 32, be24(f.qpn));
  put(d, 35, {f.responder_resources});
  put(d, 39, {f.initiator_depth});
  put(d, 44, be24(f.psn));
  put(d, 47, {static_cast<std::uint8_t>(0xA0U | f.retry)});
  put(d, 50, {static_cast<std::uint8_t>((f.mtu << 4U) | f.rnr_retry)});
  if (f.service_id >> 24U == 1) {  // the RDMA IP CM header
    put(d, 140, hex("00 40") + be16(f.source_port));
    put(d, 140 + 16, hex("0a000002"));
    put(d, 140 + 32, hex("0a000001"));
    put(d, 140 + 36, f.consumer);
  } else {
    put(d, 140, f.consumer);
  }
  return mad(0x0010, f.transaction, d);
}

inline Octets cm_rep(const CmFields& f) {
  Octets d(232);
  put(d, 0, be32(f.local_id) + be32(f.remote_id));
  put(d, 12, be24(f.qpn));
  put(d, 20, be24(f.psn));
  put(d, 24, {f.responder_resources, f.initiator_depth});
  put(d, 27, {static_cast<std::uint8_t>(f.rnr_retry << 5U)});
  put(d, 36, f.consumer);
  return mad(0x0013, f.transaction, d);
}

inline Octets cm_rtu(const CmFields& f) { return mad(0x0014, f.transaction, be32(f.local_id) + be32(f.remote_id)); }
inline Octets cm_drep(const CmFields& f) { return mad(0x0016, f.transaction, be32(f.local_id) + be32(f.remote_id)); }
inline Octets cm_mra(const CmFields& f) {
  return mad(0x0011, f.transaction, be32(f.local_id) + be32(f.remote_id) + hex("40 78"));
}
inline Octets cm_dreq(const CmFields& f) {
  return mad(0x0015, f.transaction, be32(f.local_id) + be32(f.remote_id) + be24(f.qpn));
}
inline Octets cm_rej(const CmFields& f) {
  Octets d(232);
  put(d, 0, be32(f.local_id) + be32(f.remote_id));
  put(d, 8, hex("40"));
  put(d, 10, be16(f.reason));
  put(d, 84, f.consumer);
  return mad(0x0012, f.transaction, d);
}

/// A datagram to QP1.
inline Octets cm_packet(const Octets& message, std::uint32_t psn = 1) {
  return ib_packet(op_ud_send, 1, psn, hex("80010000 00 000001"), message);
}

}  // namespace rpcrdma::test
