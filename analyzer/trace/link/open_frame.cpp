// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/link/open_frame.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include "trace/link/icmp_report.hpp"
#include "wire/cooked.hpp"
#include "wire/erf.hpp"
#include "wire/erspan.hpp"
#include "wire/ethernet.hpp"
#include "wire/frame_likeness.hpp"
#include "wire/geneve.hpp"
#include "wire/gre.hpp"
#include "wire/grh.hpp"
#include "wire/gtp.hpp"
#include "wire/ib.hpp"
#include "wire/icrc.hpp"
#include "wire/ip_fragment.hpp"
#include "wire/ipv4.hpp"
#include "wire/ipv6.hpp"
#include "wire/layer.hpp"
#include "wire/llc.hpp"
#include "wire/mpls.hpp"
#include "wire/nvidia_mirror.hpp"
#include "wire/pppoe.hpp"
#include "wire/switch_tags.hpp"
#include "wire/tcp.hpp"
#include "wire/tzsp.hpp"
#include "wire/udp.hpp"
#include "wire/vxlan.hpp"

namespace rpcrdma::trace {
namespace {

using wire::Layer;
using Kind = PassedLayer::Kind;

/// The longest trailer that a switch puts behind what it mirrors: a time stamp of 16 octets and a frame check sequence.
constexpr std::size_t mirror_trailer = 20;
/// UDP and BTH, or TCP, without which a packet has no place among others.
constexpr std::size_t ordering_header = 20;

/// Of a GRE key with a frame behind it (RFC 7637) the last bits tell flows apart, not networks.
constexpr unsigned nvgre_flow = 8;

// What is rare stays out of the way of what is not: those functions are not to be inlined.

/// The way through a frame.
struct Walk {
  void pass(Kind kind, const Layer& layer) noexcept {
    if (passed != nullptr) [[unlikely]] {
      passed->add(kind, layer);
    }
  }
  Opened& out;
  Fragments* fragments;
  PassedLayers* passed;
  std::optional<wire::EtherPayload> next{};  ///< what the encapsulation that was opened last holds
  std::optional<std::uint8_t> joined{};      ///< something was put together out of fragments of this protocol
  int depth = 0;
  std::uint16_t way = 0;
  bool shortened = false;  ///< a switch says that it cut what is inside
  bool udp_knows = false;  ///< IP may tell of less than was sent: a first fragment, or rewritten by a mirror
};

[[gnu::noinline]] void add_vlans(NetworkPath& to, std::uint64_t vlans) noexcept {
  constexpr std::uint64_t mask = (std::uint64_t{1} << wire::vlan_bits) - 1;
  for (unsigned left = wire::max_vlan_tags * wire::vlan_bits; left != 0;) {
    left -= wire::vlan_bits;
    const auto vlan = static_cast<std::uint32_t>(vlans >> left & mask);
    if (vlan != 0) to.add(NetworkPath::Kind::vlan, vlan);
  }
}

/// `by`: what has the key.
NetworkPath::Kind kind_of_key(NotOpened by, std::uint16_t inside) noexcept {
  if (by.by == NotOpened::By::ip_protocol) {
    return inside == wire::ether_type::bridged ? NetworkPath::Kind::nvgre : NetworkPath::Kind::gre;
  }
  return by.number == wire::geneve_port ? NetworkPath::Kind::geneve : NetworkPath::Kind::vxlan;
}

std::uint32_t narrow(std::size_t n) noexcept {
  return static_cast<std::uint32_t>(std::min<std::size_t>(n, std::numeric_limits<std::uint32_t>::max()));
}

/// The first `size` octets of a layer, or all there are.
wire::Bytes head(const Layer& from, std::size_t size) noexcept {
  return from.octets.first(std::min(size, from.octets.size()));
}

Content ib(Opened& out, Transport transport, wire::Bytes network, const Layer& packet) noexcept {
  if (packet.wire_length < wire::bth_octets) return Content::nothing;
  out.ib.transport = transport;
  out.ib.network = network;
  out.ib.octets = packet.octets;
  out.ib.wire_length = narrow(packet.wire_length);
  return Content::infiniband;
}

Content unopened(Walk& walk, NotOpened what, Content content = Content::tunnel) noexcept {
  walk.out.not_opened = what;
  return content;
}

/// `what`: the encapsulation that holds it. Where its header is none, something else uses its number.
[[gnu::noinline]] Content enter(Walk& walk, NotOpened what, const wire::Decoded<wire::EtherPayload>& inside) noexcept {
  if (!inside) return inside.error().fault == wire::Fault::unsupported ? unopened(walk, what) : Content::nothing;
  if (walk.depth == max_encapsulations) return unopened(walk, {NotOpened::By::too_deep, max_encapsulations});
  if (inside->key != 0) walk.out.network.add(kind_of_key(what, inside->type), inside->key);
  if (inside->type == wire::ether_type::bridged) {
    walk.pass(Kind::ethernet, inside->payload);
    const auto ether = wire::decode_ethernet(inside->payload);
    if (!ether) return Content::nothing;
    if (inside->vlans != 0) add_vlans(walk.out.network, inside->vlans);
    walk.next = *ether;
  } else {
    walk.next = *inside;
  }
  ++walk.depth;
  walk.udp_knows = true;
  walk.way = static_cast<std::uint16_t>(walk.way * 31U + what.number + 1U);
  return Content::nothing;
}

/// Likewise, where the encapsulation has a header of its own: `in`.
[[gnu::noinline]] Content enter(Walk& walk, NotOpened what, Kind kind, const Layer& in,
                                const wire::Decoded<wire::EtherPayload>& inside) noexcept {
  if (walk.passed != nullptr) walk.passed->add(kind, in, inside);
  return enter(walk, what, inside);
}

[[gnu::noinline]] Content datagram(Walk& walk, std::uint16_t port, const Layer& payload) noexcept {
  const NotOpened what{NotOpened::By::udp_port, port};
  switch (port) {
    case wire::vxlan_port:
    case wire::vxlan_port_old:
    case wire::vxlan_gpe_port:
      return enter(walk, what, Kind::vxlan, payload, wire::decode_vxlan(payload));
    case wire::geneve_port:
      return enter(walk, what, Kind::geneve, payload, wire::decode_geneve(payload));
    case wire::mpls_port:
      return enter(walk, what, Kind::mpls, payload, wire::decode_mpls(payload));
    case wire::tzsp_port:
      walk.out.network.clear();
      return enter(walk, what, Kind::tzsp, payload, wire::decode_tzsp(payload));
    case wire::gtp_port:
      return wire::is_gtp_user_packet(payload) ? unopened(walk, what) : Content::nothing;
    default:
      return Content::nothing;
  }
}

Content erspan(Walk& walk, const wire::GreHeader& gre) noexcept {
  walk.out.network.clear();
  const NotOpened what{NotOpened::By::ether_type, gre.type};
  const auto mirrored = wire::decode_erspan(gre.type, gre.sequenced, gre.payload);
  const auto inside = mirrored.map([](const wire::ErspanHeader& header) { return header.inside; });
  if (walk.passed != nullptr) walk.passed->add(Kind::erspan, gre.payload, inside);
  if (!mirrored) return enter(walk, what, inside);
  walk.shortened = walk.shortened || mirrored->truncated;
  if (mirrored->raw_ip) return enter(walk, what, wire::decode_raw_ip(mirrored->inside.payload));
  return enter(walk, what, mirrored->inside);
}

Content gre(Walk& walk, const Layer& in) noexcept {
  const NotOpened what{NotOpened::By::ip_protocol, wire::ip_protocol::gre};
  walk.pass(Kind::gre, in);
  const auto gre = wire::decode_gre(in);
  if (!gre) return enter(walk, what, tl::make_unexpected(gre.error()));
  switch (gre->type) {
    case wire::ether_type::erspan:
    case wire::ether_type::erspan3:
      return erspan(walk, *gre);
    case wire::ether_type::nvidia_mirror:
      walk.out.network.clear();
      return enter(walk, {NotOpened::By::ether_type, gre->type}, Kind::nvidia_mirror, gre->payload,
                   wire::decode_nvidia_mirror(gre->payload));
    case wire::ether_type::mpls:
    case wire::ether_type::mpls_multicast:
      return enter(walk, what, Kind::mpls, gre->payload, wire::decode_mpls(gre->payload));
    case 0:  // keep-alive
      return Content::nothing;
    case wire::ether_type::bridged:
      return enter(walk, what, wire::EtherPayload{gre->type, gre->payload, gre->key >> nvgre_flow});
    default:
      return enter(walk, what, wire::EtherPayload{gre->type, gre->payload, gre->key});
  }
}

/// What is neither TCP nor UDP nor an answer about them.
[[gnu::noinline]] Content other_protocol(Walk& walk, const wire::IpPacket& ip) noexcept {
  const NotOpened what{NotOpened::By::ip_protocol, ip.protocol};
  switch (ip.protocol) {
    case wire::ip_protocol::gre:
      return gre(walk, ip.payload);
    case wire::ip_protocol::ipv4_inside:
      return enter(walk, what, wire::EtherPayload{wire::ether_type::ipv4, ip.payload});
    case wire::ip_protocol::ipv6_inside:
      return enter(walk, what, wire::EtherPayload{wire::ether_type::ipv6, ip.payload});
    case wire::ip_protocol::mpls_inside:
      return enter(walk, what, Kind::mpls, ip.payload, wire::decode_mpls(ip.payload));
    case wire::ip_protocol::icmp:
    case wire::ip_protocol::icmpv6:
    case wire::ip_protocol::no_next:
    case 2:    // IGMP
    case 46:   // RSVP
    case 88:   // EIGRP
    case 89:   // OSPF
    case 103:  // PIM
    case 112:  // VRRP
    case 132:  // SCTP
      return Content::nothing;
    default:
      return unopened(walk, what, Content::nothing);
  }
}

template <Address::Kind kind, std::size_t size>
Content upper(Walk& walk, const Layer& network, const wire::IpPacket& ip) noexcept {
  Opened& out = walk.out;
  if (ip.protocol == wire::ip_protocol::udp) {
    walk.pass(Kind::udp, ip.payload);
    Layer in = ip.payload;
    if (walk.udp_knows && in.octets.size() >= 6) {
      in.wire_length = std::max<std::size_t>(in.wire_length, wire::load_be16(in.octets.data() + 4));
    }
    const auto udp = wire::decode_udp(in);
    if (!udp) return Content::nothing;
    if (udp->destination_port != wire::rocev2_port) {
      out.sender.assign(kind, ip.source);
      return datagram(walk, udp->destination_port, udp->payload);
    }
    out.ib.source.assign(kind, ip.source);
    out.ib.destination.assign(kind, ip.destination);
    return ib(out, Transport::rocev2, head(network, ip.header_size + wire::udp_header_size), udp->payload);
  }
  if (ip.protocol == wire::ip_protocol::tcp) {
    walk.pass(Kind::tcp, ip.payload);
    const auto tcp = wire::decode_tcp(ip.payload);
    if (!tcp) return Content::nothing;
    out.tcp.source.assign(kind, ip.source);
    out.tcp.destination.assign(kind, ip.destination);
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
  if (ip.protocol != icmp) return other_protocol(walk, ip);
  walk.pass(Kind::icmp, ip.payload);
  if (!answers_for_others(kind, ip.payload)) out.sender.assign(kind, ip.source);
  if (!read_report(kind, ip.payload, out.undelivered)) return Content::nothing;
  Address reporter;
  reporter.assign(kind, ip.source);
  out.undelivered.by =
      reporter == out.undelivered.destination ? Undelivered::By::destination : Undelivered::By::another;
  return Content::undelivered;
}

/// A packet that is longer than the frame that carried it was cut before it came to whoever captured it. Behind the cut
/// may stand a trailer, which is none of its octets; where that begins nobody knows.
[[gnu::noinline]] void cut_before_capture(Walk& walk, const Layer& in, std::size_t header, std::size_t least,
                                          Layer& payload) noexcept {
  walk.out.frame_cut = true;
  if (walk.depth != 0) return;  // inside of a mirror's header nothing follows
  const std::size_t certain = in.wire_length > mirror_trailer ? in.wire_length - mirror_trailer : 0;
  const std::size_t kept = std::max(certain, header + least) - header;
  if (kept < payload.octets.size()) payload.octets = payload.octets.first(kept);
}

template <Address::Kind kind, std::size_t size>
Content ip_packet(Walk& walk, const Layer& in, wire::IpPacket& ip) noexcept {
  if (ip.header_size + ip.payload.wire_length > in.wire_length) [[unlikely]] {
    cut_before_capture(walk, in, ip.header_size, ordering_header, ip.payload);
  }
  return upper<kind, size>(walk, in, ip);
}

/// A fragment that is to be opened by itself: the beginning of a packet, or something that cannot be opened.
Content fragment_alone(Walk& walk, const Layer& in, wire::Decoded<wire::IpPacket>& ip) noexcept {
  const bool v4 = (in.octets[0] >> 4U) == 4;
  if (!ip) {
    const std::uint32_t protocol = v4 ? in.octets[9] : wire::ip_protocol::fragment;
    return unopened(walk, {NotOpened::By::fragment, protocol}, Content::nothing);
  }
  walk.out.frame_cut = walk.udp_knows = true;
  return v4 ? ip_packet<Address::Kind::ipv4, 4>(walk, in, *ip) : ip_packet<Address::Kind::ipv6, 16>(walk, in, *ip);
}

/// `ip`: what became of decoding it as a whole packet.
[[gnu::noinline]] Content fragment(Walk& walk, const Layer& in, wire::Decoded<wire::IpPacket>& ip) noexcept {
  if (!ip && ip.error().fault != wire::Fault::unsupported) return Content::nothing;
  if (walk.fragments == nullptr) return fragment_alone(walk, in, ip);
  const bool v4 = (in.octets[0] >> 4U) == 4;
  const auto piece = v4 ? wire::decode_ipv4_fragment(in) : wire::decode_ipv6_fragment(in);
  if (!piece) return fragment_alone(walk, in, ip);
  const Fragments::Answer answer = walk.fragments->take(*piece, walk.out.network.id() ^ walk.way);
  if (answer.taken == Fragments::Taken::no) return fragment_alone(walk, in, ip);
  if (answer.taken == Fragments::Taken::held) return Content::nothing;
  walk.joined = piece->protocol;
  const Layer whole{answer.packet, answer.packet.size()};
  auto joined = v4 ? wire::decode_ipv4(whole) : wire::decode_ipv6(whole);
  if (!joined) return Content::nothing;
  return v4 ? ip_packet<Address::Kind::ipv4, 4>(walk, whole, *joined)
            : ip_packet<Address::Kind::ipv6, 16>(walk, whole, *joined);
}

Content ipv4(Walk& walk, const Layer& in) noexcept {
  walk.pass(Kind::ipv4, in);
  auto ip = wire::decode_ipv4(in);
  if (!ip || ip->first_fragment) [[unlikely]] {
    return fragment(walk, in, ip);
  }
  return ip_packet<Address::Kind::ipv4, 4>(walk, in, *ip);
}

Content ipv6(Walk& walk, const Layer& in) noexcept {
  walk.pass(Kind::ipv6, in);
  auto ip = wire::decode_ipv6(in);
  if (!ip || ip->first_fragment) [[unlikely]] {
    return fragment(walk, in, ip);
  }
  return ip_packet<Address::Kind::ipv6, 16>(walk, in, *ip);
}

void set_gids(Opened& out, const wire::Grh& grh) noexcept {
  out.ib.source.assign(Address::Kind::gid, grh.source);
  out.ib.destination.assign(Address::Kind::gid, grh.destination);
}

Content roce(Walk& walk, const Layer& in) noexcept {
  Opened& out = walk.out;
  walk.pass(Kind::grh, in);
  auto grh = wire::decode_grh(in);
  if (!grh) return Content::nothing;
  if (wire::grh_size + grh->payload.wire_length > in.wire_length) [[unlikely]] {
    cut_before_capture(walk, in, wire::grh_size, wire::bth_octets, grh->payload);
  }
  set_gids(out, *grh);
  return ib(out, Transport::rocev1, head(in, wire::grh_size), grh->payload);
}

Content infiniband(Walk& walk, const Layer& in) noexcept {
  Opened& out = walk.out;
  walk.pass(Kind::lrh, in);
  const auto lrh = wire::decode_lrh(in);
  if (!lrh) return Content::nothing;
  if (!lrh->global) {
    out.ib.source.assign(Address::Kind::lid, lrh->source);
    out.ib.destination.assign(Address::Kind::lid, lrh->destination);
    return ib(out, Transport::infiniband, head(in, wire::lrh_size), lrh->payload);
  }
  walk.pass(Kind::grh, lrh->payload);
  const auto grh = wire::decode_grh(lrh->payload);
  if (!grh) return Content::nothing;
  set_gids(out, *grh);
  // Two lengths for one thing: where they disagree the shorter one ends the packet.
  Layer packet = grh->payload;
  const std::size_t by_lrh = lrh->payload.wire_length - std::min(wire::grh_size, lrh->payload.wire_length);
  if (by_lrh < packet.wire_length) packet = packet.ended_at(by_lrh);
  return ib(out, Transport::infiniband, head(in, wire::lrh_size + wire::grh_size), packet);
}

/// A length (802.2), or a tag of Marvell's switches, which has no EtherType of its own.
Content no_ether_type(Walk& walk, const wire::EtherPayload& ether) noexcept {
  const auto tagged = wire::decode_dsa(ether.payload);
  if (tagged && wire::frame_likeness(*tagged) == wire::Likeness::by_packet) {
    return enter(walk, {NotOpened::By::ether_type, ether.type}, Kind::switch_tag, ether.payload, tagged);
  }
  if (ether.type >= wire::least_ether_type) {
    return unopened(walk, {NotOpened::By::ether_type, ether.type}, Content::nothing);
  }
  const auto snap = wire::decode_llc(ether.type, ether.payload);
  if (walk.passed != nullptr) walk.passed->add(Kind::llc, ether.payload, snap);
  if (!snap) return Content::nothing;
  return enter(walk, {NotOpened::By::ether_type, snap->type}, *snap);
}

/// All but the few EtherTypes that RDMA uses.
[[gnu::noinline]] Content other_ether_type(Walk& walk, const wire::EtherPayload& ether) noexcept {
  const NotOpened what{NotOpened::By::ether_type, ether.type};
  const auto in = [&](Kind kind, const wire::Decoded<wire::EtherPayload>& inside) noexcept {
    return enter(walk, what, kind, ether.payload, inside);
  };
  switch (ether.type) {
    case wire::ether_type::bridged:
      return enter(walk, what, wire::EtherPayload{ether.type, ether.payload});
    case wire::ether_type::mpls:
    case wire::ether_type::mpls_multicast:
      return in(Kind::mpls, wire::decode_mpls(ether.payload));
    case wire::ether_type::pppoe_session:
      return in(Kind::pppoe, wire::decode_pppoe(ether.payload));
    case wire::ether_type::cisco_metadata:
      return in(Kind::cisco_metadata, wire::decode_cisco_metadata(ether.payload));
    case wire::ether_type::fabricpath:
      return in(Kind::switch_tag, wire::decode_fabricpath(ether.payload));
    case wire::ether_type::vn_tag:
      return in(Kind::switch_tag, wire::decode_vn_tag(ether.payload));
    case wire::ether_type::backbone:
      return in(Kind::switch_tag, wire::decode_backbone(ether.payload));
    case wire::ether_type::ethertype_dsa:
      return in(Kind::switch_tag, wire::decode_ethertype_dsa(ether.payload));
    case wire::ether_type::nvidia_mirror:
      walk.out.network.clear();
      return in(Kind::nvidia_mirror, wire::decode_nvidia_mirror(ether.payload));
    case wire::ether_type::arp:
    case 0x0842:  // Wake-on-LAN
    case 0x8035:  // RARP
    case 0x8808:  // flow control
    case 0x8809:  // LACP and others
    case 0x8863:  // PPPoE discovery
    case 0x888E:  // 802.1X
    case 0x88CC:  // LLDP
    case 0x88F7:  // PTP
    case 0x8902:  // CFM
    case 0x8914:  // FIP
    case 0x9000:  // loopback test
      return Content::nothing;
    default:
      return no_ether_type(walk, ether);
  }
}

Content ether_payload(Walk& walk, const wire::EtherPayload& ether) noexcept {
  if (ether.vlans != 0) [[unlikely]] {
    add_vlans(walk.out.network, ether.vlans);
  }
  switch (ether.type) {
    case wire::ether_type::ipv4:
      return ipv4(walk, ether.payload);
    case wire::ether_type::ipv6:
      return ipv6(walk, ether.payload);
    case wire::ether_type::roce:
      return roce(walk, ether.payload);
    default:
      return other_ether_type(walk, ether);
  }
}

Content ether_payload(Walk& walk, const wire::Decoded<wire::EtherPayload>& ether) noexcept {
  return ether ? ether_payload(walk, *ether) : Content::nothing;
}

/// TCP's numbers tell what is missing. A packet of InfiniBand whose lengths are those of what is left would be taken
/// for a whole one; only one without payload is.
void cut_by_mirror(Walk& walk) noexcept {
  Opened& out = walk.out;
  out.frame_cut = true;
  constexpr std::size_t acknowledgement = wire::bth_octets + 8;
  const bool whole = out.ib.octets.size() >= out.ib.wire_length && out.ib.octets.size() > acknowledgement;
  if (out.content == Content::infiniband && whole) {
    out.content = unopened(walk, {NotOpened::By::shortened, 0}, Content::nothing);
  }
}

/// The numbers of fragments come again, and a piece may be missing: of two packets one was made. An ICRC that an
/// adapter fills in later is zero.
[[gnu::noinline]] void check_joined(Walk& walk) noexcept {
  const IbPacket& packet = walk.out.ib;
  if (walk.out.content != Content::infiniband || packet.octets.size() != packet.wire_length) return;
  if (packet.octets.size() < wire::bth_octets + wire::icrc_size) return;
  const bool filled_in = wire::load_be32(packet.octets.data() + packet.octets.size() - wire::icrc_size) != 0;
  if (!filled_in || wire::icrc_matches(icrc_layout(packet), packet.network, packet.octets)) return;
  walk.out.content = unopened(walk, {NotOpened::By::fragment, *walk.joined}, Content::nothing);
}

Content erf(Walk& walk, const Layer& in) noexcept {
  const auto record = wire::decode_erf(in);
  if (!record) return Content::nothing;
  walk.out.frame_cut = walk.out.frame_cut || record->frame.cut();
  switch (record->kind) {
    case wire::ErfRecord::Kind::ethernet:
      walk.pass(Kind::ethernet, record->frame);
      return ether_payload(walk, wire::decode_ethernet(record->frame));
    case wire::ErfRecord::Kind::infiniband:
      return infiniband(walk, record->frame);
    case wire::ErfRecord::Kind::ipv4:
      return ipv4(walk, record->frame);
    case wire::ErfRecord::Kind::ipv6:
      return ipv6(walk, record->frame);
    case wire::ErfRecord::Kind::no_frame:
      return Content::nothing;
    case wire::ErfRecord::Kind::other_link:
      return Content::unknown_link;
  }
  return Content::nothing;
}

Content link(Walk& walk, LinkType type, const Layer& in) noexcept {
  switch (type) {
    case LinkType::ethernet:
      walk.pass(Kind::ethernet, in);
      return ether_payload(walk, wire::decode_ethernet(in));
    case LinkType::linux_sll:
      walk.pass(Kind::cooked, in);
      return ether_payload(walk, wire::decode_cooked(in));
    case LinkType::linux_sll2:
      walk.pass(Kind::cooked2, in);
      return ether_payload(walk, wire::decode_cooked2(in));
    case LinkType::null_loopback:
    case LinkType::loop:
      return ether_payload(walk, wire::decode_loopback(in));
    case LinkType::raw_ip:
      return ether_payload(walk, wire::decode_raw_ip(in));
    case LinkType::ipv4:
      return ipv4(walk, in);
    case LinkType::ipv6:
      return ipv6(walk, in);
    case LinkType::infiniband:
      return infiniband(walk, in);
    case LinkType::erf:
      return erf(walk, in);
    case LinkType::dsa:
    case LinkType::dsa_brcm:
      walk.pass(Kind::ethernet, in);
      return ether_payload(walk, wire::decode_tagged_by_switch(in));
    case LinkType::edsa:
      walk.pass(Kind::ethernet, in);
      return ether_payload(walk, wire::decode_tagged_with_type(in));
    case LinkType::dsa_brcm_prepend:
      if (in.octets.size() < wire::prepended_tag_size) return Content::nothing;
      walk.pass(Kind::ethernet, in.after(wire::prepended_tag_size));
      return ether_payload(walk, wire::decode_ethernet(in.after(wire::prepended_tag_size)));
  }
  return Content::unknown_link;
}

}  // namespace

void open_frame(const Frame& frame, Opened& out, Fragments* fragments, PassedLayers* passed) noexcept {
  Layer layer{frame.octets, std::max<std::size_t>(frame.wire_length, frame.octets.size())};
  // Not every layer below has a length of its own: one with segmentation offload ends where the frame does.
  if (frame.fcs_length != 0 && layer.wire_length > frame.fcs_length) {
    layer = layer.ended_at(layer.wire_length - frame.fcs_length);
  }
  out.frame_cut = layer.cut();
  out.not_opened = {};
  out.sender.kind = Address::Kind::none;
  out.network.clear();
  if (fragments != nullptr) fragments->start(frame.ref);
  if (passed != nullptr) passed->clear();
  Walk walk{out, fragments, passed};
  out.content = link(walk, frame.link, layer);
  while (walk.next) {
    const wire::EtherPayload ether = *walk.next;
    walk.next.reset();
    out.content = ether_payload(walk, ether);
    if (walk.shortened) cut_by_mirror(walk);
  }
  if (walk.joined) [[unlikely]] {
    check_joined(walk);
  }
  if (out.content == Content::infiniband) {
    out.ib.ref = frame.ref;
    out.ib.way = walk.way;
  } else if (out.content == Content::tcp) {
    out.tcp.ref = frame.ref;
    out.tcp.way = walk.way;
  } else if (out.content == Content::undelivered) {
    out.undelivered.ref = frame.ref;
  }
}

}  // namespace rpcrdma::trace
