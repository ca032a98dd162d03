// SPDX-License-Identifier: GPL-2.0-or-later
// Well-formed packets for tests of the link and network layers, from the inside out.
#pragma once

#include "octets.hpp"

namespace rpcrdma::test {

/// 12 octets of BTH (SEND Only to QP 0x12, PSN 0x345), `payload` octets, and a wrong ICRC.
inline Octets bth_packet(std::size_t payload = 8) {
  return hex("04 00 ffff 00 000012 80 000345") + filled(payload, 0xAB) + hex("de ad be ef");
}

inline Octets udp(const Octets& payload, std::uint16_t destination = 4791, std::uint16_t source = 0xC001) {
  return be16(source) + be16(destination) + be16(payload.size() + 8) + hex("0000") + payload;
}

inline Octets tcp(const Octets& payload, const Octets& options = {}) {
  Octets fixed = hex("c002 4e51 01020304 05060708 50 18 ffff 0000 0000");
  fixed[12] = static_cast<std::uint8_t>((20 + options.size()) / 4 << 4U);
  return fixed + options + payload;
}

inline Octets ipv4(std::uint8_t protocol, const Octets& payload, const Octets& options = {}) {
  Octets head = hex("45 02") + be16(20 + options.size() + payload.size()) + hex("0001 4000 40") + Octets{protocol} +
                hex("0000 c0a84d02 c0a84d01");
  head[0] = static_cast<std::uint8_t>(0x40 + (20 + options.size()) / 4);
  return head + options + payload;
}

inline Octets ipv6(std::uint8_t next, const Octets& payload) {
  return hex("60 012345") + be16(payload.size()) + Octets{next} + hex("40") +
         hex("fd770000000000000000000000000002 fd770000000000000000000000000001") + payload;
}

inline Octets grh(const Octets& payload, std::uint8_t next = 0x1B) {
  return hex("60 012345") + be16(payload.size()) + Octets{next} + hex("40") +
         hex("fe80000000000000505400fffe000002 fe80000000000000505400fffe000001") + payload;
}

/// `next`: 2 = BTH, 3 = GRH. From LID 5 to LID 7; the VCRC follows the packet.
inline Octets lrh(std::uint8_t next, const Octets& payload) {
  return Octets{0x00, next} + hex("0007") + be16((payload.size() + 8) / 4) + hex("0005") + payload + hex("cc cc");
}

inline Octets ethernet(std::uint16_t type, const Octets& payload, const Octets& tags = {}) {
  return hex("525400000001 525400000002") + tags + be16(type) + payload;
}

/// The record's length is filled up to a multiple of eight, as cards do. `wire` 0: the frame's own length.
inline Octets erf(std::uint8_t type, const Octets& frame, const Octets& extensions = {}, std::size_t wire = 0) {
  const bool ether = (type & 0x7FU) == 2 || (type & 0x7FU) == 11 || (type & 0x7FU) == 16 || (type & 0x7FU) == 20;
  Octets body = extensions + filled(ether ? 2 : 0) + frame;
  body.resize((body.size() + 7) / 8 * 8);
  return hex("0000000001020304") + Octets{type, 0x04} + be16(16 + body.size()) + hex("0000") +
         be16(wire != 0 ? wire : frame.size()) + body;
}

}  // namespace rpcrdma::test
