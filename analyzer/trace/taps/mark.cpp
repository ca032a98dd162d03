// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/taps/mark.hpp"

#include <cstring>

#include "wire/ib.hpp"

namespace rpcrdma::trace::taps {
namespace {

[[nodiscard]] std::uint64_t mixed(std::uint64_t seed, std::uint64_t value) noexcept {
  std::uint64_t h = (seed ^ value) * 0x9E3779B97F4A7C15ULL;
  h ^= h >> 32U;
  h *= 0xC2B2AE3D27D4EB4FULL;
  h ^= h >> 29U;
  return h != 0 ? h : 1;
}

[[nodiscard]] std::uint64_t word(const std::uint8_t* octets) noexcept {
  std::uint64_t v = 0;
  std::memcpy(&v, octets, sizeof v);
  return v;
}

[[nodiscard]] std::uint64_t digest(const Address& address) noexcept {
  const std::uint8_t* octets = address.octets.data();
  return mixed(mixed(word(octets), word(octets + sizeof(std::uint64_t))), static_cast<std::uint64_t>(address.kind));
}

void set_route(Mark& out, const Address& source, const Address& destination) noexcept {
  out = {};
  out.up = source < destination;
  out.low = out.up ? source : destination;
  out.high = out.up ? destination : source;
  out.route = mixed(digest(out.low), digest(out.high));
  out.flow = out.route;
}

[[nodiscard]] std::uint64_t sent(const Mark& mark, bool up, std::uint64_t what) noexcept {
  return mixed(mixed(mark.flow, up ? 1 : 2), what);
}

/// Of IPv4 the only thing that changes when an adapter sends a packet again.
[[nodiscard]] std::uint32_t ip_identification(const IbPacket& packet) noexcept {
  constexpr std::size_t at = 4;
  const bool ipv4 = packet.source.kind == Address::Kind::ipv4 && packet.network.size() >= at + 2;
  return ipv4 ? static_cast<std::uint32_t>(packet.network[at] << 8U | packet.network[at + 1]) : 0;
}

bool mark_infiniband(const IbPacket& packet, Mark& out) noexcept {
  const auto header = wire::decode_ib(packet.octets, packet.wire_length);
  if (!header) return false;
  set_route(out, packet.source, packet.destination);
  const wire::IbHeader& h = *header;
  const bool acknowledges = h.op.kind == wire::IbKind::acknowledge;
  const bool answers =
      acknowledges || h.op.kind == wire::IbKind::read_response || h.op.kind == wire::IbKind::atomic_acknowledge;
  const bool rc = h.op.service == wire::IbService::rc;
  out.queue_pair = h.destination_qp;
  out.place = sent(out, out.up, std::uint64_t{h.destination_qp} << 32U | (answers ? 1U << 24U : 0U) | h.psn);
  const std::uint64_t what = std::uint64_t{h.opcode} << 56U | std::uint64_t{h.syndrome} << 48U |
                             std::uint64_t{ip_identification(packet)} << 32U | packet.wire_length;
  out.packet = mixed(mixed(out.place, what), std::uint64_t{h.msn} << 32U | h.source_qp);
  out.bare = acknowledges;
  if (!rc) {
    // Messages of the connection manager all go to one queue pair: each transaction has its number in the first words.
    constexpr std::size_t head = 24;
    if (h.payload.size() >= head) out.packet = mixed(out.packet, word(h.payload.data() + head / 3));
    return true;
  }
  if (!answers) out.carries = sent(out, out.up, h.psn);
  if (acknowledges && wire::aeth_type(h.syndrome) == wire::AethType::ack) {
    out.acknowledges = sent(out, !out.up, h.psn);
  }
  return true;
}

void mark_tcp(const TcpSegment& segment, Mark& out) noexcept {
  set_route(out, segment.source, segment.destination);
  const std::uint32_t ports = out.up ? std::uint32_t{segment.source_port} << 16U | segment.destination_port
                                     : std::uint32_t{segment.destination_port} << 16U | segment.source_port;
  out.flow = mixed(out.route, ports);
  const bool flags = (segment.flags & (TcpSegment::syn | TcpSegment::fin)) != 0;
  const std::uint32_t end = segment.sequence + segment.wire_length + (flags ? 1U : 0U);
  out.bare = segment.wire_length == 0 && !flags;
  out.place = sent(out, out.up, std::uint64_t{segment.sequence} << 32U | end);
  if (out.bare) out.place = mixed(out.place, segment.acknowledgement);
  const std::uint64_t what =
      std::uint64_t{segment.acknowledgement} << 32U | std::uint64_t{segment.ip_identification} << 16U | segment.window;
  out.packet = mixed(mixed(out.place, what), segment.flags);
  out.sequence = segment.sequence;
  out.octets = segment.wire_length;
  if (!out.bare) out.carries = sent(out, out.up, end);
  if ((segment.flags & TcpSegment::ack) != 0) out.acknowledges = sent(out, !out.up, segment.acknowledgement);
}

}  // namespace

bool mark_of(const Opened& opened, Mark& out) noexcept {
  if (opened.content == Content::infiniband) return mark_infiniband(opened.ib, out);
  if (opened.content != Content::tcp) return false;
  mark_tcp(opened.tcp, out);
  return true;
}

}  // namespace rpcrdma::trace::taps
