// SPDX-License-Identifier: GPL-2.0-or-later
#include "repair.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "wire/cooked.hpp"
#include "wire/erf.hpp"
#include "wire/ethernet.hpp"
#include "wire/grh.hpp"
#include "wire/icrc.hpp"
#include "wire/ipv4.hpp"
#include "wire/ipv6.hpp"
#include "wire/switch_tags.hpp"
#include "wire/udp.hpp"
#include "wire/vxlan.hpp"

namespace rpcrdma::fuzz {
namespace {

using trace::LinkType;
using wire::Layer;

constexpr std::size_t widest = 0xFFFF;  // what a length of two octets can say

void store_be16(std::uint8_t* p, std::size_t value) noexcept {
  p[0] = static_cast<std::uint8_t>(value >> 8U);
  p[1] = static_cast<std::uint8_t>(value);
}

/// The way down through one frame. The decoders say where the next header begins, in octets that may be written.
class Lengths {
 public:
  explicit Lengths(std::span<std::uint8_t> frame) noexcept : frame_(frame) {}

  void link(LinkType type, const Layer& in) noexcept {
    switch (type) {
      case LinkType::ethernet:
        return ether(wire::decode_ethernet(in));
      case LinkType::linux_sll:
        return ether(wire::decode_cooked(in));
      case LinkType::linux_sll2:
        return ether(wire::decode_cooked2(in));
      case LinkType::null_loopback:
      case LinkType::loop:
        return ether(wire::decode_loopback(in));
      case LinkType::raw_ip:
        return ether(wire::decode_raw_ip(in));
      case LinkType::ipv4:
        return ipv4(in);
      case LinkType::ipv6:
        return ipv6(in);
      case LinkType::infiniband:
        return infiniband(in);
      case LinkType::erf:
        return erf(in);
      case LinkType::dsa:
      case LinkType::dsa_brcm:
        return ether(wire::decode_tagged_by_switch(in));
      case LinkType::edsa:
        return ether(wire::decode_tagged_with_type(in));
      case LinkType::dsa_brcm_prepend:
        if (in.octets.size() < wire::prepended_tag_size) return;
        return ether(wire::decode_ethernet(in.after(wire::prepended_tag_size)));
    }
  }

 private:
  [[nodiscard]] std::uint8_t* at(const Layer& layer) const noexcept {
    return frame_.data() + (layer.octets.data() - frame_.data());
  }

  void ether(const wire::Decoded<wire::EtherPayload>& ether) noexcept {
    if (!ether) return;
    switch (ether->type) {
      case wire::ether_type::ipv4:
        return ipv4(ether->payload);
      case wire::ether_type::ipv6:
        return ipv6(ether->payload);
      case wire::ether_type::roce:
        return grh(ether->payload);
      default:
        return;
    }
  }

  void ipv4(const Layer& in) noexcept {
    constexpr std::size_t fixed = 20;
    constexpr std::size_t ethernet_least = 46;  // what is shorter may be padded: then its length stands
    if (in.octets.size() < fixed) return;
    std::uint8_t* p = at(in);
    const std::size_t header = (p[0] & 0x0FU) * std::size_t{4};
    if ((p[0] >> 4U) != 4 || header < fixed || header > in.octets.size()) return;
    const std::size_t total = wire::load_be16(p + 2);
    if (in.wire_length > ethernet_least || total < header || total > in.wire_length) {
      store_be16(p + 2, std::min(in.wire_length, widest));
    }
    store_be16(p + 10, 0);
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < header; i += 2) sum += wire::load_be16(p + i);
    while (sum > 0xFFFFU) sum = (sum & 0xFFFFU) + (sum >> 16U);
    store_be16(p + 10, ~sum & 0xFFFFU);
    upper(wire::decode_ipv4(in));
  }

  void ipv6(const Layer& in) noexcept {
    constexpr std::size_t fixed = 40;
    if (in.octets.size() < fixed) return;
    store_be16(at(in) + 4, std::min(in.wire_length - fixed, widest));
    upper(wire::decode_ipv6(in));
  }

  void upper(const wire::Decoded<wire::IpPacket>& ip) noexcept {
    if (!ip || ip->protocol != wire::ip_protocol::udp || ip->first_fragment) return;
    const Layer& in = ip->payload;
    if (in.octets.size() < wire::udp_header_size) return;
    store_be16(at(in) + 4, std::min(in.wire_length, widest));
    const auto udp = wire::decode_udp(in);
    if (!udp || udp->destination_port != wire::vxlan_port || ++depth_ > most_inside) return;
    ether(wire::decode_vxlan(udp->payload));
  }

  void grh(const Layer& in) noexcept {
    if (in.octets.size() < wire::grh_size) return;
    store_be16(at(in) + 4, std::min(in.wire_length - wire::grh_size, widest));
  }

  void infiniband(const Layer& in) noexcept {
    if (in.octets.size() < wire::lrh_size) return;
    std::uint8_t* p = at(in);
    // In words up to the ICRC; of a VCRC there are two octets, less than a word.
    const std::size_t words = std::min<std::size_t>(in.wire_length / 4, 0x07FF);
    store_be16(p + 4, (wire::load_be16(p + 4) & 0xF800U) | words);
    const auto lrh = wire::decode_lrh(in);
    if (lrh && lrh->global) grh(lrh->payload);
  }

  void erf(const Layer& in) noexcept {
    constexpr std::size_t fixed = 16;
    constexpr std::size_t filling = 8;  // records are filled up to a multiple
    constexpr std::size_t fcs = 4;
    if (in.octets.size() < fixed) return;
    std::uint8_t* p = at(in);
    const std::size_t said = wire::load_be16(p + 14);
    store_be16(p + 10, std::min(in.octets.size(), widest));
    store_be16(p + 14, 0);  // what there is
    const auto record = wire::decode_erf(in);
    if (!record) return;
    const std::size_t held = record->frame.wire_length;
    const bool filled = said <= held && held - said < filling;
    store_be16(
        p + 14,
        std::min(filled && in.wire_length == in.octets.size() ? said : held + (in.wire_length - in.octets.size()),
                 widest));
    const auto again = wire::decode_erf(in);
    if (!again) return;
    const Layer& frame = again->frame;
    switch (again->kind) {
      case wire::ErfRecord::Kind::ethernet:
        return frame.wire_length > fcs ? ether(wire::decode_ethernet(frame.ended_at(frame.wire_length - fcs))) : void();
      case wire::ErfRecord::Kind::infiniband:
        return infiniband(frame);
      case wire::ErfRecord::Kind::ipv4:
        return ipv4(frame);
      case wire::ErfRecord::Kind::ipv6:
        return ipv6(frame);
      case wire::ErfRecord::Kind::no_frame:
      case wire::ErfRecord::Kind::other_link:
        return;
    }
  }

  static constexpr int most_inside = 4;
  std::span<std::uint8_t> frame_;
  int depth_ = 0;
};

wire::IcrcLayout layout(const trace::IbPacket& packet) noexcept {
  switch (packet.transport) {
    case trace::Transport::rocev1:
      return wire::IcrcLayout::grh;
    case trace::Transport::infiniband:
      return wire::IcrcLayout::lrh;
    default:
      return !packet.network.empty() && (packet.network[0] >> 4U) == 6 ? wire::IcrcLayout::rocev2_ipv6
                                                                       : wire::IcrcLayout::rocev2_ipv4;
  }
}

/// The pieces of one direction that follow each other without a hole.
struct Run {
  std::uint32_t next = 0;  ///< sequence number behind them
  std::vector<Captured> pieces;
};

/// A direction of a connection.
using Direction = std::tuple<trace::Address, std::uint16_t, trace::Address, std::uint16_t>;

}  // namespace

trace::Opened open(LinkType link, std::span<const std::uint8_t> octets, std::size_t missing) noexcept {
  trace::Frame frame;
  frame.ref.number = 1;
  frame.link = link;
  frame.octets = octets;
  frame.wire_length = static_cast<std::uint32_t>(octets.size() + missing);
  trace::Opened opened;
  trace::open_frame(frame, opened);
  return opened;
}

void repair_lengths(LinkType link, const Captured& frame) noexcept {
  const std::size_t length = frame.octets.size() + frame.missing;
  Lengths(frame.octets).link(link, {frame.octets, length});
}

void repair_icrc(LinkType link, const Captured& frame) noexcept {
  const trace::Opened opened = open(link, frame.octets, frame.missing);
  if (opened.content != trace::Content::infiniband) return;
  const trace::IbPacket& packet = opened.ib;
  if (packet.octets.size() != packet.wire_length || packet.octets.size() < wire::icrc_size) return;
  const std::size_t covered = packet.octets.size() - wire::icrc_size;
  const auto sum = wire::icrc(layout(packet), packet.network, packet.octets.first(covered));
  if (!sum) return;
  std::uint8_t* to = frame.octets.data() + (packet.octets.data() + covered - frame.octets.data());
  for (unsigned i = 0; i < wire::icrc_size; ++i) to[i] = static_cast<std::uint8_t>(*sum >> (8U * i));
}

void repair_frames(LinkType link, std::span<const Captured> frames) {
  std::map<Direction, Run> runs;
  const auto close = [](Run& run) {
    repair_fpdus(run.pieces);
    run.pieces.clear();
  };
  for (const Captured& frame : frames) {
    repair_lengths(link, frame);
    repair_icrc(link, frame);
    const trace::Opened opened = open(link, frame.octets, frame.missing);
    if (opened.content != trace::Content::tcp) continue;
    const trace::TcpSegment& tcp = opened.tcp;
    Run& run = runs[{tcp.source, tcp.source_port, tcp.destination, tcp.destination_port}];
    if (tcp.sequence != run.next) close(run);
    run.next = tcp.sequence + tcp.wire_length + ((tcp.flags & trace::TcpSegment::syn) != 0 ? 1U : 0U);
    if (tcp.wire_length == 0 || tcp.payload.empty()) continue;
    const auto begin = static_cast<std::size_t>(tcp.payload.data() - frame.octets.data());
    run.pieces.push_back({frame.octets.subspan(begin, tcp.payload.size()), tcp.wire_length - tcp.payload.size()});
    if (tcp.wire_length != tcp.payload.size()) close(run);
  }
  for (auto& [direction, run] : runs) close(run);
}

}  // namespace rpcrdma::fuzz
