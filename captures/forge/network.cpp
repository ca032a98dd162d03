// SPDX-License-Identifier: GPL-2.0-or-later
#include "network.hpp"

#include "checksum.hpp"

namespace forge {
namespace {

constexpr std::uint16_t type_ipv4 = 0x0800;
constexpr std::uint16_t type_ipv6 = 0x86DD;
constexpr std::uint16_t type_arp = 0x0806;
constexpr std::uint16_t type_vlan = 0x8100;
constexpr std::uint16_t type_roce = 0x8915;
constexpr std::uint16_t vlan_tag = 0x6065;  // priority 3, VLAN 101
constexpr std::uint8_t protocol_icmp = 1;
constexpr std::uint8_t protocol_icmp_v6 = 58;
constexpr std::uint8_t protocol_tcp = 6;
constexpr std::uint8_t protocol_udp = 17;
constexpr std::uint8_t next_header_bth = 0x1B;
constexpr std::uint16_t roce_port = 4791;
constexpr std::size_t ipv4_header = 20;
constexpr std::size_t ipv6_header = 40;
constexpr std::size_t lrh_size = 8;
constexpr std::size_t icrc_size = 4;
constexpr std::size_t shortest_ethernet = 60;

template <std::size_t N>
Octets octets(const std::array<std::uint8_t, N>& a) {
  return {a.begin(), a.end()};
}

void ones(Octets& o, std::size_t at, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) o.at(at + i) = 0xFF;
}

Octets join(const Octets& a, const Octets& b) { return Pen().add(a).add(b).take(); }

/// The ICRC sees network headers with their variant fields set to ones.
Octets icrc_field(const Octets& masked_network, const Octets& packet, bool spoil) {
  Octets all = join(masked_network, packet);
  all.at(masked_network.size() + 4) = 0xFF;  // BTH: congestion bits
  return Pen().little32(crc32(all) ^ (spoil ? 0x5A5A5A5AU : 0U)).take();
}

}  // namespace

Host Host::number(std::uint8_t n, unsigned story) {
  const unsigned host = 4 * story + n;
  const auto high = static_cast<std::uint8_t>(host >> 8U);
  const auto low = static_cast<std::uint8_t>(host);
  Host h;
  h.mac = {0x02, 0x00, 0x5E, 0x00, 0x53, n};
  h.ipv4 = {192, 0, 2, n};
  if (story != 0) {
    h.mac = {0x02, 0x00, 0x5E, 0x01, high, low};
    h.ipv4 = {198, 18, high, low};
  }
  h.ipv6 = {0x20, 0x01, 0x0D, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, high, low};
  h.lid = static_cast<std::uint16_t>(host);
  h.guid = 0x0002C90300005300ULL + host;
  return h;
}

Octets Host::gid(Link link) const {
  if (link == Link::ipv6) return octets(ipv6);
  if (link == Link::infiniband) return Pen().u64(0xFE80000000000000ULL).u64(guid).take();
  return Pen().zeros(10).u16(0xFFFF).add(octets(ipv4)).take();
}

Octets Host::cm_address(Link link) const {
  return uses_ipv6(link) ? octets(ipv6) : Pen().zeros(12).add(octets(ipv4)).take();
}

Octets Network::ethernet(const Host& from, const Host& to, std::uint16_t type, const Octets& payload) const {
  Pen pen;
  pen.add(octets(to.mac)).add(octets(from.mac));
  if (link_ == Link::vlan) pen.u16(type_vlan).u16(vlan_tag);
  pen.u16(type).add(payload);
  if (pen.size() < shortest_ethernet) pen.zeros(shortest_ethernet - pen.size());
  return pen.take();
}

Octets Network::pseudo_header(const Host& from, const Host& to, std::uint8_t protocol, std::size_t length) const {
  if (link_ == Link::ipv6) return Pen().add(octets(from.ipv6)).add(octets(to.ipv6)).u32(length).u32(protocol).take();
  return Pen().add(octets(from.ipv4)).add(octets(to.ipv4)).u16(protocol).u16(length).take();
}

/// An IP packet; the payload's own checksum is already in place.
Octets Network::ip(const Host& from, const Host& to, std::uint8_t protocol, const Octets& payload) {
  Pen pen;
  if (link_ == Link::ipv6) {
    pen.u32(0x60000000U | 0x53U).u16(payload.size()).u8(protocol).u8(64).add(octets(from.ipv6)).add(octets(to.ipv6));
    return pen.add(payload).take();
  }
  pen.u8(0x45).u8(0).u16(ipv4_header + payload.size()).u16(identification_++).u16(0x4000);
  pen.u8(64).u8(protocol).u16(0).add(octets(from.ipv4)).add(octets(to.ipv4));
  Octets header = pen.take();
  set16(header, 10, internet_checksum(header));
  return join(header, payload);
}

Octets Network::tcp_frame(const Host& from, const Host& to, const TcpHeader& h, const Octets& payload) {
  Pen pen;
  pen.u16(h.source).u16(h.destination).u32(h.sequence).u32(h.acknowledgement);
  pen.u8(h.options ? 0x60 : 0x50).u8(h.flags).u16(h.window).u16(0).u16(0);
  if (h.options) pen.u8(2).u8(4).u16(1460);
  Octets segment = pen.add(payload).take();
  set16(segment, 16, internet_checksum(join(pseudo_header(from, to, protocol_tcp, segment.size()), segment)));
  return ethernet(from, to, link_ == Link::ipv6 ? type_ipv6 : type_ipv4, ip(from, to, protocol_tcp, segment));
}

Octets Network::icmp_refusal(const Host& from, const Host& to, const Octets& refused) {
  constexpr std::size_t ethernet_header = 14;
  constexpr std::size_t tag = 4;
  const bool v6 = link_ == Link::ipv6;
  const std::size_t start = ethernet_header + (link_ == Link::vlan ? tag : 0);
  const std::size_t length =
      v6 ? ipv6_header + (static_cast<std::size_t>(refused.at(start + 4)) << 8U) + refused.at(start + 5)
         : (static_cast<std::size_t>(refused.at(start + 2)) << 8U) + refused.at(start + 3);
  const Octets quoted = slice(refused, start, length);
  // Destination unreachable. RFC 1812: host administratively prohibited; RFC 4443 section 3.1: by policy
  return icmp(from, to, Pen().u8(v6 ? 1 : 3).u8(v6 ? 1 : 10).u16(0).u32(0).add(quoted).take());
}

Octets Network::icmp_echo(const Host& from, const Host& to, Echo what) {
  const bool v6 = link_ == Link::ipv6;
  const bool asks = what == Echo::request;
  constexpr std::uint16_t identifier = 0x4e46;
  return icmp(from, to,
              Pen().u8(v6 ? (asks ? 128 : 129) : (asks ? 8 : 0)).u8(0).u16(0).u16(identifier).u16(1).zeros(32).take());
}

Octets Network::icmp(const Host& from, const Host& to, Octets message) {
  const bool v6 = link_ == Link::ipv6;
  const std::uint8_t protocol = v6 ? protocol_icmp_v6 : protocol_icmp;
  set16(message, 2, internet_checksum(v6 ? join(pseudo_header(from, to, protocol, message.size()), message) : message));
  return ethernet(from, to, v6 ? type_ipv6 : type_ipv4, ip(from, to, protocol, message));
}

Octets Network::arp_frame(const Host& from, const Host& to) {
  const bool ipoib = link_ == Link::infiniband;
  constexpr std::uint32_t queue_pair = 0x000048;
  Pen pen;
  const auto hardware = [&](const Host& host) {
    if (ipoib) {
      pen.u32(queue_pair).add(host.gid(link_));
    } else {
      pen.add(octets(host.mac));
    }
  };
  pen.u16(ipoib ? 32 : 1).u16(type_ipv4).u8(ipoib ? 20 : 6).u8(4).u16(1);  // a request
  hardware(from);
  pen.add(octets(from.ipv4)).zeros(ipoib ? 20 : 6).add(octets(to.ipv4));
  if (!ipoib) return ethernet(from, to, type_arp, pen.take());
  constexpr std::uint32_t queue_key = 0x00000B1B;
  Octets packet = Pen()
                      .u8(0x64)  // UD, Send Only
                      .u8(0)
                      .u16(0xFFFF)
                      .u32(queue_pair)
                      .u32(0)
                      .u32(queue_key)
                      .u32(queue_pair)
                      .u16(type_arp)
                      .u16(0)
                      .add(pen.take())
                      .take();
  return ib_frame(from, to, 0, packet, false);
}

Octets Network::ib_frame(const Host& from, const Host& to, std::uint16_t udp_source, const Octets& packet, bool spoil) {
  if (link_ == Link::infiniband) {
    // LRH: virtual lane 0, next header BTH, length in words up to the ICRC
    const std::size_t words = (lrh_size + packet.size() + icrc_size) / 4;
    const Octets lrh = Pen().u8(0).u8(0x02).u16(to.lid).u16(words).u16(from.lid).take();
    Octets masked = lrh;
    masked.at(0) |= 0xF0U;
    Octets all = Pen().add(lrh).add(packet).add(icrc_field(masked, packet, spoil)).take();
    return Pen().add(all).u16(variant_crc(all)).take();
  }
  if (link_ == Link::rocev1) {
    const Octets grh = Pen()
                           .u32(0x60000000U)
                           .u16(packet.size() + icrc_size)
                           .u8(next_header_bth)
                           .u8(64)
                           .add(from.gid(link_))
                           .add(to.gid(link_))
                           .take();
    Octets masked = join(Octets(lrh_size, 0xFF), grh);
    masked.at(lrh_size) |= 0x0FU;
    ones(masked, lrh_size + 1, 3);
    ones(masked, lrh_size + 7, 1);
    return ethernet(from, to, type_roce, Pen().add(grh).add(packet).add(icrc_field(masked, packet, spoil)).take());
  }
  // RoCEv2. The IP header is made first without the ICRC, which depends on it and on nothing behind it.
  Pen udp;
  udp.u16(udp_source).u16(roce_port).u16(8 + packet.size() + icrc_size).u16(0).add(packet).zeros(icrc_size);
  Octets datagram = udp.take();
  const std::uint16_t identification = identification_;
  const Octets draft = ip(from, to, protocol_udp, datagram);
  const bool v6 = link_ == Link::ipv6;
  const std::size_t network = v6 ? ipv6_header : ipv4_header;
  Octets masked = join(Octets(lrh_size, 0xFF), slice(draft, 0, network + 8));
  if (v6) {
    masked.at(lrh_size) |= 0x0FU;
    ones(masked, lrh_size + 1, 3);
    ones(masked, lrh_size + 7, 1);
  } else {
    ones(masked, lrh_size + 1, 1);
    ones(masked, lrh_size + 8, 1);
    ones(masked, lrh_size + 10, 2);
  }
  ones(masked, lrh_size + network + 6, 2);
  const Octets icrc = icrc_field(masked, packet, spoil);
  std::copy(icrc.begin(), icrc.end(), datagram.end() - static_cast<std::ptrdiff_t>(icrc_size));
  const std::uint16_t sum = internet_checksum(join(pseudo_header(from, to, protocol_udp, datagram.size()), datagram));
  set16(datagram, 6, sum == 0 ? 0xFFFFU : sum);
  identification_ = identification;
  return ethernet(from, to, v6 ? type_ipv6 : type_ipv4, ip(from, to, protocol_udp, datagram));
}

}  // namespace forge
