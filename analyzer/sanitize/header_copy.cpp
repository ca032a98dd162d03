// SPDX-License-Identifier: GPL-2.0-or-later
#include "sanitize/header_copy.hpp"

#include <algorithm>

#include "sanitize/ip_copy.hpp"
#include "wire/cooked.hpp"
#include "wire/erf.hpp"
#include "wire/ethernet.hpp"
#include "wire/frame_likeness.hpp"
#include "wire/gre.hpp"
#include "wire/grh.hpp"
#include "wire/mpls.hpp"
#include "wire/switch_tags.hpp"
#include "wire/tzsp.hpp"
#include "wire/udp.hpp"

namespace rpcrdma::sanitize {
namespace {

using trace::PassedLayer;
using wire::Bytes;
using Kind = PassedLayer::Kind;

constexpr std::size_t mac_size = 6;

class Headers {
 public:
  Headers(CopiedFrame& frame, trace::LinkType link, Pseudonyms& pseudonyms)
      : frame_(frame), link_(link), pseudonyms_(pseudonyms) {}

  /// What stands in front of the first header that was passed.
  void in_front(const trace::Frame& frame) {
    switch (frame.link) {
      case trace::LinkType::erf:
        erf(frame.octets);
        break;
      case trace::LinkType::null_loopback:
      case trace::LinkType::loop:
        if (wire::decode_loopback({frame.octets, frame.octets.size()})) frame_.keep(frame.octets, 0, 4);
        break;
      default:
        break;
    }
  }

  /// `outside`: the header in front of it; null: there is none. `proven`: what is inside is what was expected there.
  void layer(const PassedLayer& layer, const PassedLayer* outside, bool proven) {
    const Bytes octets = layer.layer.octets;
    if (octets.empty() || !frame_.holds(octets.data(), octets.size())) return;
    // Cisco's number is its own: a header that is cut is to be taken for one again.
    if (layer.form == PassedLayer::Form::broken && layer.kind != Kind::cisco_metadata) return;
    switch (layer.kind) {
      case Kind::ethernet:
        ethernet(octets, outside == nullptr);
        break;
      case Kind::cooked:
        frame_.keep(octets, 0, 6);
        cooked_address(octets, 4, 6);
        types(octets, 14);
        break;
      case Kind::cooked2:
        types(octets, 0, 20);
        frame_.keep(octets, 4, 8);
        cooked_address(octets, 11, 12);
        break;
      case Kind::ipv4:
      case Kind::ipv6:
        copy_ip(frame_, octets, pseudonyms_);
        break;
      case Kind::lrh:
        frame_.keep(octets, 0, wire::lrh_size);
        break;
      case Kind::grh:
        grh(octets);
        break;
      case Kind::udp:
        frame_.keep(octets, 0, wire::udp_header_size);
        break;
      case Kind::tcp:
        copy_tcp(frame_, octets);
        break;
      case Kind::icmp:
        copy_icmp(frame_, octets, outside != nullptr && outside->kind == Kind::ipv4, pseudonyms_);
        break;
      case Kind::gre:
        gre(octets);
        break;
      case Kind::vxlan:
        vxlan(octets, proven);
        break;
      case Kind::geneve:
        geneve(layer, proven);
        break;
      case Kind::mpls:
        mpls(layer, proven);
        break;
      case Kind::tzsp:
        tzsp(octets);
        break;
      case Kind::erspan:
        erspan(layer, proven);
        break;
      case Kind::nvidia_mirror:  // of no known form
        break;
      case Kind::pppoe:
        frame_.keep(octets, 0, 2);
        if (proven) frame_.keep(octets, 2, 2);  // the session
        frame_.keep(octets, 4, layer.inside_at == 7 ? 3 : 4);
        break;
      case Kind::cisco_metadata:
        frame_.keep(octets, 0, 2);
        if (layer.form == PassedLayer::Form::known) types(octets, 2 + octets[1] * std::size_t{4});
        break;
      case Kind::switch_tag:
        frame_.keep(octets, 0, layer.inside_at);
        break;
      case Kind::llc:
        llc(octets);
        break;
    }
  }

 private:
  /// The cards' record header; of the extension headers of which kind they are, and whether another one follows.
  void erf(Bytes record) {
    constexpr std::size_t header = 16;
    constexpr std::size_t extension = 8;
    constexpr std::uint8_t more = 0x80;
    frame_.keep(record, 0, header);
    if (record.size() < header || (record[8] & more) == 0) return;
    std::size_t at = header;
    for (int n = 0; n <= wire::max_erf_extensions && at < record.size(); ++n, at += extension) {
      frame_.keep(record, at, 1);
      if ((record[at] & more) == 0) break;
    }
  }

  /// An EtherType, and VLAN tags behind it. `from`: where the first of them begins, when not behind the type.
  void types(Bytes octets, std::size_t type_at, std::size_t from = 0) {
    constexpr std::size_t tag = 4;
    frame_.keep(octets, type_at, 2);
    std::size_t at = from != 0 ? from : type_at + 2;
    for (int tags = 0; tags <= wire::max_vlan_tags && type_at + 2 <= octets.size(); ++tags) {
      const std::uint16_t type = wire::load_be16(octets.data() + type_at);
      const bool vlan = type == wire::ether_type::vlan || type == wire::ether_type::vlan_service ||
                        type == wire::ether_type::vlan_service_old;
      if (!vlan) return;
      frame_.keep(octets, at, tag);
      type_at = at + 2;
      at += tag;
    }
  }

  void mac(Bytes octets, std::size_t at) {
    if (const auto address = frame_.whole(octets, at, mac_size); !address.empty()) pseudonyms_.mac(address.data());
  }

  void ethernet(Bytes octets, bool outermost) {
    constexpr std::size_t type_at = 12;
    constexpr std::size_t switch_tag = 4;
    for (std::size_t i = 0; i < 2; ++i) mac(octets, i * mac_size);
    std::size_t at = type_at;
    if (outermost && link_ == trace::LinkType::edsa) {
      frame_.keep(octets, at, 8);
      at += 8;
    } else if (outermost && (link_ == trace::LinkType::dsa || link_ == trace::LinkType::dsa_brcm)) {
      frame_.keep(octets, at, switch_tag);
      at += switch_tag;
    }
    types(octets, at);
    const auto ether = wire::decode_ethernet({octets, octets.size()});
    if (at == type_at && ether && ether->type == wire::ether_type::arp) arp(ether->payload.octets);
  }

  void arp(Bytes octets) {
    constexpr std::size_t size = 28;
    if (octets.size() < size) return;
    const bool known = wire::load_be32(octets.data()) == 0x00010800 && wire::load_be16(octets.data() + 4) == 0x0604;
    if (!known) return;
    frame_.keep(octets, 0, 8);
    for (const std::size_t at : {8U, 18U}) {
      mac(octets, at);
      pseudonyms_.ipv4(frame_.whole(octets, at + mac_size, 4).data());
    }
  }

  /// Of other links than Ethernet a part at most fits in.
  void cooked_address(Bytes octets, std::size_t length_at, std::size_t at) {
    const std::size_t low = length_at == 4 ? 5 : length_at;  // two octets, or one
    if (low < octets.size() && octets[low] == mac_size) mac(octets, at);
  }

  void grh(Bytes octets) {
    if (octets.empty() || octets[0] >> 4U != 6) return;
    frame_.keep(octets, 0, 8);
    for (const std::size_t at : {8U, 24U}) {
      if (const auto gid = frame_.whole(octets, at, 16); !gid.empty()) pseudonyms_.ipv6(gid.data());
    }
  }

  void gre(Bytes octets) {
    frame_.keep(octets, 0, 4);
    const auto decoded = wire::decode_gre({octets, octets.size()});
    if (decoded) frame_.keep(octets, 4, static_cast<std::size_t>(decoded->payload.octets.data() - octets.data()) - 4);
  }

  void vxlan(Bytes octets, bool proven) {
    constexpr unsigned next_protocol = 0x04;
    frame_.keep(octets, 0, 1);
    if (!octets.empty() && (octets[0] & next_protocol) != 0) frame_.keep(octets, 3, 1);
    if (proven) frame_.keep(octets, 4, 3);
  }

  /// Of options the class, the type and the length.
  void geneve(const PassedLayer& layer, bool proven) {
    constexpr std::size_t fixed = 8;
    constexpr std::size_t option = 4;
    const Bytes octets = layer.layer.octets;
    if (layer.form == PassedLayer::Form::unopened) {  // of another version, or no packet
      frame_.keep_bits(octets, 0, 0xC0U);
      frame_.keep_bits(octets, 1, 0x80U);
      return;
    }
    frame_.keep(octets, 0, 4);
    if (!proven) return;
    frame_.keep(octets, 4, 3);
    for (std::size_t at = fixed; at + option <= layer.inside_at;) {
      frame_.keep(octets, at, option);
      at += option + (octets[at + 3] & 0x1FU) * std::size_t{4};
    }
  }

  /// Labels, and a control word behind them.
  void mpls(const PassedLayer& layer, bool proven) {
    constexpr std::size_t entry = 4;
    constexpr unsigned bottom = 0x01;
    const Bytes octets = layer.layer.octets;
    std::size_t at = 0;
    bool last = false;
    for (int n = 0; n < wire::max_mpls_labels && !last && at + entry <= octets.size(); ++n, at += entry) {
      last = (octets[at + 2] & bottom) != 0;
      if (proven) {
        frame_.keep(octets, at, entry);
      } else {
        frame_.keep_bits(octets, at + 2, bottom);
      }
    }
    // What is behind them is told by these.
    if (last) frame_.keep_bits(octets, at, 0xF0U);
    if (proven && layer.inside_at > at) frame_.keep(octets, at, layer.inside_at - at);
  }

  /// Of tags the number and the length; the value only of the length that the frame had.
  void tzsp(Bytes octets) {
    constexpr std::uint8_t padding = 0;
    constexpr std::uint8_t end = 1;
    constexpr std::uint8_t original_length = 41;
    frame_.keep(octets, 0, 4);
    if (octets.size() < 4 || octets[1] > 1 || wire::load_be16(octets.data() + 2) != 1) return;
    std::size_t at = 4;
    for (int n = 0; n < wire::max_tzsp_tags && at < octets.size(); ++n) {
      frame_.keep(octets, at, 1);
      if (octets[at] == end) return;
      if (octets[at] == padding) {
        ++at;
        continue;
      }
      if (at + 1 >= octets.size()) return;
      frame_.keep(octets, at + 1, 1);
      if (octets[at] == original_length && octets[at + 1] == 2) frame_.keep(octets, at + 2, 2);
      at += 2 + std::size_t{octets[at + 1]};
    }
  }

  /// Types II and III, without what a platform adds.
  void erspan(const PassedLayer& layer, bool proven) {
    constexpr std::size_t third = 12;
    const Bytes octets = layer.layer.octets;
    if (layer.form == PassedLayer::Form::known && layer.inside_at == 0) return;  // type I has no header
    if (proven) {
      frame_.keep(octets, 0, std::min(layer.inside_at, third));
      return;
    }
    frame_.keep_bits(octets, 0, 0xF0U);
    frame_.keep_bits(octets, 2, 0x04U);
    if (octets.empty() || octets[0] >> 4U != 2) return;
    frame_.keep_bits(octets, 10, 0x7CU);
    frame_.keep_bits(octets, 11, 0x01U);
  }

  /// 802.2, and which protocol of whom.
  void llc(Bytes octets) {
    frame_.keep(octets, 0, 3);
    if (octets.size() >= 3 && wire::load_be24(octets.data()) == 0xAAAA03) frame_.keep(octets, 3, 5);
  }

  CopiedFrame& frame_;
  trace::LinkType link_;
  Pseudonyms& pseudonyms_;
};

/// A header by which it is known that what is in front of it was taken for what it is.
bool proves(const PassedLayer& layer) noexcept {
  const Bytes octets = layer.layer.octets;
  switch (layer.kind) {
    case Kind::ethernet:
      return wire::frame_likeness(layer.layer) == wire::Likeness::by_packet;
    case Kind::ipv4:
      return octets.size() >= 20 && octets[0] >> 4U == 4;
    case Kind::ipv6:
    case Kind::grh:
      return octets.size() >= 40 && octets[0] >> 4U == 6;
    default:
      return false;
  }
}

}  // namespace

void copy_headers(CopiedFrame& frame, const trace::Frame& original, const trace::PassedLayers& layers,
                  Pseudonyms& pseudonyms) {
  Headers headers(frame, original.link, pseudonyms);
  headers.in_front(original);
  const PassedLayer* proof = layers.end();
  while (proof != layers.begin() && !proves(*(proof - 1))) --proof;
  for (const PassedLayer& layer : layers) {
    headers.layer(layer, &layer == layers.begin() ? nullptr : &layer - 1, &layer + 1 < proof);
  }
}

}  // namespace rpcrdma::sanitize
