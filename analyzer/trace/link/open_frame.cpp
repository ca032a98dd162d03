// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/link/open_frame.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "wire/cooked.hpp"
#include "wire/erf.hpp"
#include "wire/ethernet.hpp"
#include "wire/grh.hpp"
#include "wire/icmp.hpp"
#include "wire/ipv4.hpp"
#include "wire/ipv6.hpp"
#include "wire/layer.hpp"
#include "wire/tcp.hpp"
#include "wire/udp.hpp"

namespace rpcrdma::trace {
namespace {

using wire::Layer;

constexpr std::size_t bth_size = 12;

void set(Address& address, Address::Kind kind, const std::uint8_t* octets, std::size_t size) noexcept {
  address.octets.fill(0);
  std::memcpy(address.octets.data(), octets, size);
  address.kind = kind;
}

std::uint32_t narrow(std::size_t n) noexcept {
  return static_cast<std::uint32_t>(std::min<std::size_t>(n, std::numeric_limits<std::uint32_t>::max()));
}

/// The first `size` octets of a layer, or all there are.
wire::Bytes head(const Layer& from, std::size_t size) noexcept {
  return from.octets.first(std::min(size, from.octets.size()));
}

Content ib(Opened& out, Transport transport, wire::Bytes network, const Layer& packet) noexcept {
  if (packet.wire_length < bth_size) return Content::nothing;
  out.ib.transport = transport;
  out.ib.network = network;
  out.ib.octets = packet.octets;
  out.ib.wire_length = narrow(packet.wire_length);
  return Content::infiniband;
}

template <Address::Kind kind, std::size_t size>
Content undelivered(Opened& out, const Layer& icmp) noexcept {
  const auto quoted =
      kind == Address::Kind::ipv4 ? wire::decode_icmp_unreachable(icmp) : wire::decode_icmpv6_unreachable(icmp);
  if (!quoted) return Content::nothing;
  set(out.undelivered.source, kind, quoted->source, size);
  set(out.undelivered.destination, kind, quoted->destination, size);
  out.undelivered.source_port = quoted->source_port;
  out.undelivered.destination_port = quoted->destination_port;
  out.undelivered.sequence = quoted->sequence;
  return Content::undelivered;
}

template <Address::Kind kind, std::size_t size>
Content upper(Opened& out, const Layer& network, const wire::IpPacket& ip) noexcept {
  if (ip.protocol == wire::ip_protocol::udp) {
    const auto udp = wire::decode_udp(ip.payload);
    if (!udp) return Content::nothing;
    const std::uint16_t port = udp->destination_port;
    if (port == wire::vxlan_port || port == wire::geneve_port) return Content::tunnel;
    if (port != wire::rocev2_port) return Content::nothing;
    set(out.ib.source, kind, ip.source, size);
    set(out.ib.destination, kind, ip.destination, size);
    return ib(out, Transport::rocev2, head(network, ip.header_size + wire::udp_header_size), udp->payload);
  }
  if (ip.protocol == wire::ip_protocol::tcp) {
    const auto tcp = wire::decode_tcp(ip.payload);
    if (!tcp) return Content::nothing;
    set(out.tcp.source, kind, ip.source, size);
    set(out.tcp.destination, kind, ip.destination, size);
    out.tcp.source_port = tcp->source_port;
    out.tcp.destination_port = tcp->destination_port;
    out.tcp.sequence = tcp->sequence;
    out.tcp.acknowledgement = tcp->acknowledgement;
    out.tcp.flags = tcp->flags;
    out.tcp.window = tcp->window;
    out.tcp.ip_identification = ip.identification;
    out.tcp.payload = tcp->payload.octets;
    out.tcp.wire_length = narrow(tcp->payload.wire_length);
    return Content::tcp;
  }
  constexpr std::uint8_t icmp = kind == Address::Kind::ipv4 ? wire::ip_protocol::icmp : wire::ip_protocol::icmpv6;
  if (ip.protocol == icmp) return undelivered<kind, size>(out, ip.payload);
  const bool inside = ip.protocol == wire::ip_protocol::gre || ip.protocol == wire::ip_protocol::ipv4_inside ||
                      ip.protocol == wire::ip_protocol::ipv6_inside;
  return inside ? Content::tunnel : Content::nothing;
}

Content ipv4(Opened& out, const Layer& in) noexcept {
  const auto ip = wire::decode_ipv4(in);
  return ip ? upper<Address::Kind::ipv4, 4>(out, in, *ip) : Content::nothing;
}

Content ipv6(Opened& out, const Layer& in) noexcept {
  const auto ip = wire::decode_ipv6(in);
  return ip ? upper<Address::Kind::ipv6, 16>(out, in, *ip) : Content::nothing;
}

void set_gids(Opened& out, const wire::Grh& grh) noexcept {
  set(out.ib.source, Address::Kind::gid, grh.source, 16);
  set(out.ib.destination, Address::Kind::gid, grh.destination, 16);
}

Content roce(Opened& out, const Layer& in) noexcept {
  const auto grh = wire::decode_grh(in);
  if (!grh) return Content::nothing;
  set_gids(out, *grh);
  return ib(out, Transport::rocev1, head(in, wire::grh_size), grh->payload);
}

Content infiniband(Opened& out, const Layer& in) noexcept {
  const auto lrh = wire::decode_lrh(in);
  if (!lrh) return Content::nothing;
  if (!lrh->global) {
    set(out.ib.source, Address::Kind::lid, lrh->source, 2);
    set(out.ib.destination, Address::Kind::lid, lrh->destination, 2);
    return ib(out, Transport::infiniband, head(in, wire::lrh_size), lrh->payload);
  }
  const auto grh = wire::decode_grh(lrh->payload);
  if (!grh) return Content::nothing;
  set_gids(out, *grh);
  // Two lengths for one thing: where they disagree the shorter one ends the packet.
  Layer packet = grh->payload;
  const std::size_t by_lrh = lrh->payload.wire_length - std::min(wire::grh_size, lrh->payload.wire_length);
  if (by_lrh < packet.wire_length) packet = packet.ended_at(by_lrh);
  return ib(out, Transport::infiniband, head(in, wire::lrh_size + wire::grh_size), packet);
}

Content ether_payload(Opened& out, const wire::Decoded<wire::EtherPayload>& ether) noexcept {
  if (!ether) return Content::nothing;
  switch (ether->type) {
    case wire::ether_type::ipv4:
      return ipv4(out, ether->payload);
    case wire::ether_type::ipv6:
      return ipv6(out, ether->payload);
    case wire::ether_type::roce:
      return roce(out, ether->payload);
    default:
      return Content::nothing;
  }
}

Content erf(Opened& out, const Layer& in) noexcept {
  const auto record = wire::decode_erf(in);
  if (!record) return Content::nothing;
  out.frame_cut = out.frame_cut || record->frame.cut();
  switch (record->kind) {
    case wire::ErfRecord::Kind::ethernet:
      return ether_payload(out, wire::decode_ethernet(record->frame));
    case wire::ErfRecord::Kind::infiniband:
      return infiniband(out, record->frame);
    case wire::ErfRecord::Kind::ipv4:
      return ipv4(out, record->frame);
    case wire::ErfRecord::Kind::ipv6:
      return ipv6(out, record->frame);
    case wire::ErfRecord::Kind::no_frame:
      return Content::nothing;
    case wire::ErfRecord::Kind::other_link:
      return Content::unknown_link;
  }
  return Content::nothing;
}

Content link(Opened& out, LinkType type, const Layer& in) noexcept {
  switch (type) {
    case LinkType::ethernet:
      return ether_payload(out, wire::decode_ethernet(in));
    case LinkType::linux_sll:
      return ether_payload(out, wire::decode_cooked(in));
    case LinkType::linux_sll2:
      return ether_payload(out, wire::decode_cooked2(in));
    case LinkType::null_loopback:
    case LinkType::loop:
      return ether_payload(out, wire::decode_loopback(in));
    case LinkType::raw_ip:
      return ether_payload(out, wire::decode_raw_ip(in));
    case LinkType::ipv4:
      return ipv4(out, in);
    case LinkType::ipv6:
      return ipv6(out, in);
    case LinkType::infiniband:
      return infiniband(out, in);
    case LinkType::erf:
      return erf(out, in);
  }
  return Content::unknown_link;
}

}  // namespace

void open_frame(const Frame& frame, Opened& out) noexcept {
  Layer layer{frame.octets, std::max<std::size_t>(frame.wire_length, frame.octets.size())};
  // Not every layer below has a length of its own: one with segmentation offload ends where the frame does.
  if (frame.fcs_length != 0 && layer.wire_length > frame.fcs_length) {
    layer = layer.ended_at(layer.wire_length - frame.fcs_length);
  }
  out.frame_cut = layer.cut();
  out.content = link(out, frame.link, layer);
  if (out.content == Content::infiniband) out.ib.ref = frame.ref;
  if (out.content == Content::tcp) out.tcp.ref = frame.ref;
  if (out.content == Content::undelivered) out.undelivered.ref = frame.ref;
}

}  // namespace rpcrdma::trace
