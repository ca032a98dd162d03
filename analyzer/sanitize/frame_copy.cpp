// SPDX-License-Identifier: GPL-2.0-or-later
#include "sanitize/frame_copy.hpp"

#include <algorithm>
#include <array>
#include <functional>

#include "sanitize/checksums.hpp"
#include "sanitize/cm_draft.hpp"
#include "trace/iwarp/plain_nfs.hpp"
#include "wire/cm.hpp"
#include "wire/ddp.hpp"
#include "wire/ethernet.hpp"
#include "wire/grh.hpp"
#include "wire/icrc.hpp"
#include "wire/ipv4.hpp"
#include "wire/ipv6.hpp"
#include "wire/udp.hpp"

namespace rpcrdma::sanitize {
namespace {

using trace::PassedLayer;
using wire::Bytes;
using wire::Layer;
using Kind = PassedLayer::Kind;

constexpr std::size_t mac_octets = 6;
constexpr std::size_t most_straddling = 4096;
/// What tells one encapsulation's header from another's, where what is inside is not opened.
constexpr std::size_t tunnel_header = 8;

/// Octets of VLAN tags, and of 802.2 where a length stands in place of the EtherType, behind the `type` at that offset.
std::size_t behind_type(Bytes octets, std::size_t type_at) noexcept {
  constexpr std::size_t llc = 8;
  constexpr std::size_t tag = 4;
  std::size_t size = type_at + 2;
  for (int tags = 0; tags <= wire::max_vlan_tags && size <= octets.size(); ++tags) {
    const std::uint16_t type = wire::load_be16(octets.data() + size - 2);
    if (type < wire::least_ether_type) return size + llc;
    if (type != wire::ether_type::vlan && type != wire::ether_type::vlan_service &&
        type != wire::ether_type::vlan_service_old) {
      break;
    }
    size += tag;
  }
  return size;
}

std::size_t ip_header(Bytes octets) noexcept {
  if (octets.empty()) return 0;
  if (octets[0] >> 4U == 4) return (octets[0] & 0x0FU) * std::size_t{4};
  constexpr std::size_t fixed = 40;
  const auto ip = wire::decode_ipv6({octets, octets.size()});
  return ip ? ip->header_size : fixed;
}

std::size_t gre_header(Bytes octets) noexcept {
  constexpr std::size_t word = 4;
  if (octets.empty()) return 0;
  std::size_t size = word;
  for (const unsigned present : {0x80U, 0x20U, 0x10U}) size += (octets[0] & present) != 0 ? word : 0;
  return size;
}

bool tunnel_port(std::uint16_t port) noexcept {
  return port == wire::vxlan_port || port == wire::vxlan_port_old || port == wire::vxlan_gpe_port ||
         port == wire::geneve_port || port == wire::mpls_port || port == wire::tzsp_port;
}

/// Octets of a header of which all are understood.
std::size_t header_of(const PassedLayer& layer) noexcept {
  const Bytes octets = layer.layer.octets;
  switch (layer.kind) {
    case Kind::ethernet:
      return octets.size() < 14 ? 14 : behind_type(octets, 12);
    case Kind::cooked:
      return octets.size() < 16 ? 16 : behind_type(octets, 14);
    case Kind::cooked2:
      return 20;
    case Kind::ipv4:
    case Kind::ipv6:
      return ip_header(octets);
    case Kind::lrh:
      return wire::lrh_size;
    case Kind::grh:
      return wire::grh_size;
    case Kind::udp:
      return wire::udp_header_size +
             (octets.size() >= 4 && tunnel_port(wire::load_be16(octets.data() + 2)) ? tunnel_header : 0);
    case Kind::tcp:
      return octets.size() < 13 ? 20 : (octets[12] >> 4U) * std::size_t{4};
    case Kind::icmp:
      return 8;
    case Kind::gre:
      return gre_header(octets);
  }
  return 0;
}

}  // namespace

bool FrameCopy::inside(const std::uint8_t* original, std::size_t size) const noexcept {
  const std::uint8_t* const begin = frame_.octets.data();
  const std::less_equal<const std::uint8_t*> up_to;
  return original != nullptr && up_to(begin, original) && up_to(original + size, begin + frame_.octets.size());
}

/// Where the octet stands in the copy.
std::uint8_t* FrameCopy::copy(const std::uint8_t* original) noexcept {
  return octets_.data() + (original - frame_.octets.data());
}

void FrameCopy::zero_from(const std::uint8_t* original) noexcept {
  std::fill(octets_.begin() + (original - frame_.octets.data()), octets_.end(), std::uint8_t{0});
}

void FrameCopy::restore(const std::uint8_t* original, std::size_t size) noexcept {
  if (inside(original, size)) std::copy_n(original, size, copy(original));
}

/// What stands behind the headers is zero until somebody puts something there.
void FrameCopy::clear_payload() {
  constexpr std::size_t erf_header = 16;
  constexpr std::size_t family = 4;
  const std::uint8_t* const begin = frame_.octets.data();
  std::size_t kept = 0;
  if (frame_.link == trace::LinkType::erf) kept = erf_header;
  if (frame_.link == trace::LinkType::null_loopback || frame_.link == trace::LinkType::loop) kept = family;
  for (const PassedLayer& layer : layers_) {
    const Bytes octets = layer.layer.octets;
    if (octets.empty() || !inside(octets.data(), octets.size())) break;
    kept = static_cast<std::size_t>(octets.data() - begin) + header_of(layer);
  }
  if (kept < frame_.octets.size()) zero_from(begin + kept);
}

void FrameCopy::replace_arp(const Layer& ethernet) {
  constexpr std::size_t size = 28;
  const std::size_t header = behind_type(ethernet.octets, 12);
  if (ethernet.octets.size() < header + size) return;
  if (wire::load_be16(ethernet.octets.data() + header - 2) != wire::ether_type::arp) return;
  const Bytes arp = ethernet.octets.subspan(header, size);
  const bool known = wire::load_be32(arp.data()) == 0x00010800 && wire::load_be16(arp.data() + 4) == 0x0604;
  if (!known) return;
  restore(arp.data(), size);
  for (const std::size_t at : {8U, 18U}) {
    pseudonyms_.mac(copy(arp.data() + at));
    pseudonyms_.ipv4(copy(arp.data() + at + mac_octets));
  }
}

void FrameCopy::replace_addresses() {
  for (const PassedLayer& layer : layers_) {
    const Bytes octets = layer.layer.octets;
    if (octets.empty() || !inside(octets.data(), octets.size())) continue;
    std::uint8_t* const to = copy(octets.data());
    const auto each = [&](std::size_t from, std::size_t size, std::size_t count, auto&& replace) {
      for (std::size_t i = 0; i < count && from + (i + 1) * size <= octets.size(); ++i) replace(to + from + i * size);
    };
    const auto mac = [this](std::uint8_t* at) { pseudonyms_.mac(at); };
    const auto v4 = [this](std::uint8_t* at) { pseudonyms_.ipv4(at); };
    const auto v6 = [this](std::uint8_t* at) { pseudonyms_.ipv6(at); };
    switch (layer.kind) {
      case Kind::ethernet:
        each(0, mac_octets, 2, mac);
        replace_arp(layer.layer);
        break;
      case Kind::cooked:
        each(6, mac_octets, 1, mac);
        break;
      case Kind::cooked2:
        each(12, mac_octets, 1, mac);
        break;
      case Kind::ipv4:
        each(12, 4, 2, v4);
        // Options may hold the addresses of routers: they become as many that do nothing.
        if (const std::size_t header = std::min(ip_header(octets), octets.size()); header > 20) {
          std::fill(to + 20, to + header, std::uint8_t{1});
        }
        break;
      case Kind::ipv6:
      case Kind::grh:
        each(8, 16, 2, v6);
        break;
      case Kind::icmp:
        discovery(layer.layer);
        break;
      case Kind::lrh:
      case Kind::udp:
      case Kind::tcp:
      case Kind::gre:
        break;
    }
  }
}

/// Neighbour discovery (RFC 4861): who looks for whom, with addresses of the link in options.
void FrameCopy::discovery(const Layer& icmp) {
  constexpr std::uint8_t router_solicitation = 133;
  constexpr std::uint8_t neighbour_solicitation = 135;
  constexpr std::uint8_t neighbour_advertisement = 136;
  constexpr std::size_t header = 8;
  constexpr std::size_t unit = 8;
  const Bytes octets = icmp.octets;
  if (octets.size() < header || !inside(octets.data(), octets.size())) return;
  const std::uint8_t type = octets[0];
  std::size_t at = header;
  if (type == neighbour_solicitation || type == neighbour_advertisement) {
    if (octets.size() < header + 16) return;
    restore(octets.data() + at, 16);
    pseudonyms_.ipv6(copy(octets.data() + at));
    at += 16;
  } else if (type != router_solicitation) {
    return;
  }
  while (at + unit <= octets.size() && octets[at + 1] != 0 && at + octets[at + 1] * unit <= octets.size()) {
    const bool of_link = octets[at] <= 2 && octets[at + 1] == 1;
    restore(octets.data() + at, of_link ? unit : 2);
    if (of_link) pseudonyms_.mac(copy(octets.data() + at + 2));
    at += octets[at + 1] * unit;
  }
}

/// ICMP quotes the beginning of what it is about.
void FrameCopy::undelivered() {
  constexpr std::size_t icmp_header = 8;
  constexpr std::size_t quoted_start = 8;  // of TCP; all of UDP
  if (layers_.size() == 0) return;
  const PassedLayer& last = *(layers_.end() - 1);
  if (last.kind != Kind::icmp || last.layer.octets.size() <= icmp_header) return;
  const Bytes quoted = last.layer.octets.subspan(icmp_header);
  const bool v4 = quoted[0] >> 4U == 4;
  const std::size_t header = ip_header(quoted);
  if (quoted.size() < header + quoted_start || header < 20 || !inside(quoted.data(), header + quoted_start)) return;
  restore(quoted.data(), header + quoted_start);
  std::uint8_t* const to = copy(quoted.data());
  for (std::size_t i = 0; i < 2; ++i) {
    if (v4) {
      pseudonyms_.ipv4(to + 12 + 4 * i);
    } else {
      pseudonyms_.ipv6(to + 8 + 16 * i);
    }
  }
  if (v4) correct_internet(to + 10, internet_difference(quoted.first(header), {to, header}));
  if (opened_.undelivered.what == trace::Undelivered::What::request) {
    const std::size_t at = header + quoted_start;
    message_of_cm(quoted.subspan(at), quoted.size() - at);
  }
}

/// From the BTH on, and all of it that is quoted or captured.
void FrameCopy::message_of_cm(Bytes packet, std::size_t wire_length) {
  const auto header = wire::decode_ib(packet, wire_length);
  if (!header || header->payload.empty()) return;
  restore(packet.data(), wire::bth_octets + header->op.extended);
  Draft draft(header->payload);
  draft_cm(draft, pseudonyms_);
  std::copy(draft.octets().begin(), draft.octets().end(), copy(header->payload.data()));
}

void FrameCopy::infiniband() {
  const Bytes packet = opened_.ib.octets;
  if (!inside(packet.data(), packet.size())) return;
  const auto header = wire::decode_ib(packet, opened_.ib.wire_length);
  if (!header) {
    const std::size_t extended = packet.empty() ? 0 : wire::ib_opcode(packet[0]).extended;
    restore(packet.data(), std::min(packet.size(), wire::bth_octets + extended));
    return;
  }
  restore(packet.data(), std::min(packet.size(), wire::bth_octets + header->op.extended));
  if (packet.size() >= opened_.ib.wire_length && packet.size() >= wire::bth_octets + wire::icrc_octets) {
    restore(packet.data() + packet.size() - wire::icrc_octets, wire::icrc_octets);
  }
  if (header->payload.empty()) return;
  const std::span<std::uint8_t> payload(copy(header->payload.data()), header->payload.size());
  if (header->op.service == wire::IbService::rc) {
    places_.fill(frame_, opened_, payload);
  } else if (header->op.service == wire::IbService::ud && header->destination_qp == wire::cm_queue_pair) {
    Draft draft(header->payload);
    draft_cm(draft, pseudonyms_);
    std::copy(draft.octets().begin(), draft.octets().end(), payload.begin());
  }
}

/// Markers stand among the octets of FPDUs and hold nothing but a length.
void FrameCopy::markers(const Places::InStream& at) {
  const Bytes payload = opened_.tcp.payload;
  const std::uint64_t end = at.position + payload.size();
  for (const FpduAt& fpdu : places_.fpdus(at.stream, at.position, end)) {
    if (!fpdu.markers.used) continue;
    std::uint64_t position = fpdu.start - std::min(fpdu.start, wire::Markers::octets);
    const std::uint64_t last = fpdu.end + wire::Markers::octets;
    while (position < last) {
      const std::uint64_t left = fpdu.markers.inside(position);
      if (left == 0) {
        position += fpdu.markers.until_next(position);
        continue;
      }
      for (std::uint64_t i = 0; i < left; ++i, ++position) {
        if (position >= at.position && position < end) restore(payload.data() + (position - at.position), 1);
      }
    }
  }
}

/// An FPDU whose end is not in the capture was never told of: its head alone is understood.
void FrameCopy::last_fpdu(const Places::InStream& at) {
  const Bytes payload = opened_.tcp.payload;
  const std::uint64_t end = at.position + payload.size();
  const auto fpdus = places_.fpdus(at.stream, at.position, end + 1);
  for (std::size_t i = 0; i < fpdus.size(); ++i) {
    if (fpdus[i].end >= end) continue;
    const bool next = i + 1 < fpdus.size() && fpdus[i + 1].start <= fpdus[i].end + wire::Markers::octets;
    if (next) continue;
    const wire::Markers& marks = fpdus[i].markers;
    const std::uint64_t start = fpdus[i].end + marks.inside(fpdus[i].end);
    if (start < at.position || start + 4 > end) continue;
    const Bytes head = payload.subspan(static_cast<std::size_t>(start - at.position));
    const wire::DdpControl control = wire::ddp_control(head.data() + 2);
    if (!control.plausible()) continue;
    restore(head.data(), std::min(head.size(), wire::fpdu_length_octets + control.header_length()));
  }
}

void FrameCopy::crc(const Places::InStream& at) {
  const Bytes payload = opened_.tcp.payload;
  if (payload.empty()) return;
  const Bytes now(copy(payload.data()), payload.size());
  const std::uint64_t end = at.position + payload.size();
  for (const FpduAt& fpdu : places_.fpdus(at.stream, at.position, end)) {
    if (fpdu.opening || fpdu.end <= at.position || fpdu.end - fpdu.start <= wire::fpdu_crc_octets) continue;
    const auto covered = static_cast<std::size_t>(fpdu.end - fpdu.start - wire::fpdu_crc_octets);
    const std::uint64_t crc_at = fpdu.end - wire::fpdu_crc_octets;
    if (fpdu.start >= at.position && fpdu.end <= end) {
      const auto from = static_cast<std::size_t>(fpdu.start - at.position);
      restore(payload.data() + (crc_at - at.position), wire::fpdu_crc_octets);
      correct_crc32c(copy(payload.data() + (crc_at - at.position)), payload.subspan(from, covered),
                     now.subspan(from, covered));
      continue;
    }
    if (straddling_.size() > most_straddling) straddling_.erase(straddling_.begin());
    const auto [found, fresh] = straddling_.try_emplace({at.stream, fpdu.start});
    Straddling& whole = found->second;
    if (fresh) {
      whole.before.resize(covered);
      whole.after.resize(covered);
    }
    const std::uint64_t from = std::max(at.position, fpdu.start);
    const std::uint64_t to = std::min(end, crc_at);
    if (from < to) {
      const auto in_frame = static_cast<std::size_t>(from - at.position);
      const auto in_fpdu = static_cast<std::size_t>(from - fpdu.start);
      const auto count = static_cast<std::size_t>(to - from);
      std::copy_n(payload.begin() + static_cast<std::ptrdiff_t>(in_frame), count,
                  whole.before.begin() + static_cast<std::ptrdiff_t>(in_fpdu));
      std::copy_n(now.begin() + static_cast<std::ptrdiff_t>(in_frame), count,
                  whole.after.begin() + static_cast<std::ptrdiff_t>(in_fpdu));
    }
    if (end <= crc_at) continue;
    // Its octets, or those of them that are in this frame
    std::array<std::uint8_t, wire::fpdu_crc_octets> difference{};
    correct_crc32c(difference.data(), whole.before, whole.after);
    for (std::uint64_t i = 0; i < difference.size(); ++i) {
      const std::uint64_t position = crc_at + i;
      if (position < at.position || position >= end) continue;
      const std::uint8_t* const original = payload.data() + (position - at.position);
      *copy(original) = static_cast<std::uint8_t>(*original ^ difference[i]);
    }
  }
}

void FrameCopy::tcp() {
  const Bytes payload = opened_.tcp.payload;
  if (payload.empty() || !inside(payload.data(), payload.size())) return;
  Places::InStream at;
  if (!places_.in_stream(frame_.ref.number, at)) return;
  places_.fill(frame_, opened_, {copy(payload.data()), payload.size()});
  restore(payload.data(), trace::iwarp::plain_nfs_head(payload));
  markers(at);
  last_fpdu(at);
  crc(at);
}

void FrameCopy::invariant_crc() {
  const trace::IbPacket& ib = opened_.ib;
  if (!inside(ib.octets.data(), ib.octets.size()) || !inside(ib.network.data(), ib.network.size())) return;
  if (ib.octets.size() < ib.wire_length || ib.octets.size() < wire::bth_octets + wire::icrc_octets) return;
  const std::size_t covered = ib.octets.size() - wire::icrc_octets;
  const auto layout = trace::icrc_layout(ib);
  const auto before = wire::icrc(layout, ib.network, ib.octets.first(covered));
  const auto after =
      wire::icrc(layout, {copy(ib.network.data()), ib.network.size()}, {copy(ib.octets.data()), covered});
  if (!before || !after) return;
  std::uint8_t* const crc = copy(ib.octets.data() + covered);
  for (unsigned i = 0; i < 4; ++i) crc[i] = static_cast<std::uint8_t>(crc[i] ^ ((*before ^ *after) >> (8U * i)));
}

/// From the innermost on: each covers those inside of it.
void FrameCopy::internet_checksums() {
  for (const PassedLayer* layer = layers_.end(); layer != layers_.begin();) {
    --layer;
    const Bytes before = layer->layer.octets;
    if (before.empty() || !inside(before.data(), before.size())) continue;
    std::uint8_t* const to = copy(before.data());
    if (layer->kind == Kind::ipv4) {
      const std::size_t header = ip_header(before);
      if (header < 20 || header > before.size()) continue;
      correct_internet(to + 10, internet_difference(before.first(header), {to, header}));
      continue;
    }
    const std::size_t at = layer->kind == Kind::udp ? 6 : layer->kind == Kind::tcp ? 16 : 2;
    const bool summed = layer->kind == Kind::udp || layer->kind == Kind::tcp || layer->kind == Kind::icmp;
    if (!summed || before.size() < at + 2 || layer == layers_.begin()) continue;
    if (layer->kind == Kind::udp && wire::load_be16(to + at) == 0) continue;  // none was made
    std::uint32_t difference = internet_difference(before, {to, before.size()});
    const PassedLayer& ip = *(layer - 1);
    const bool v4 = ip.kind == Kind::ipv4;
    if (!(v4 && layer->kind == Kind::icmp)) {
      const std::size_t from = v4 ? 12 : 8;
      const std::size_t size = v4 ? 8 : 32;
      difference +=
          internet_difference(ip.layer.octets.subspan(from, size), {copy(ip.layer.octets.data() + from), size});
    }
    correct_internet(to + at, difference);
    if (layer->kind == Kind::udp && wire::load_be16(to + at) == 0) to[at] = to[at + 1] = 0xFF;
  }
}

wire::Bytes FrameCopy::of(const trace::Frame& frame) {
  frame_ = frame;
  octets_.assign(frame.octets.begin(), frame.octets.end());
  trace::open_frame(frame, opened_, &fragments_, &layers_);
  clear_payload();
  replace_addresses();
  switch (opened_.content) {
    case trace::Content::infiniband:
      infiniband();
      invariant_crc();
      break;
    case trace::Content::tcp:
      tcp();
      break;
    case trace::Content::undelivered:
      undelivered();
      break;
    case trace::Content::nothing:
    case trace::Content::tunnel:
    case trace::Content::unknown_link:
      break;
  }
  internet_checksums();
  return octets_;
}

}  // namespace rpcrdma::sanitize
