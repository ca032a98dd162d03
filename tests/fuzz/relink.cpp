// SPDX-License-Identifier: GPL-2.0-or-later
#include "relink.hpp"

#include <initializer_list>

#include "trace/link/open_frame.hpp"
#include "wire/cooked.hpp"
#include "wire/ethernet.hpp"

namespace rpcrdma::fuzz {
namespace {

using trace::LinkType;

void append(Octets& to, wire::Bytes octets) { to.insert(to.end(), octets.begin(), octets.end()); }
void append(Octets& to, std::initializer_list<std::uint8_t> octets) { to.insert(to.end(), octets); }
void append_type(Octets& to, std::uint16_t type) {
  append(to, {static_cast<std::uint8_t>(type >> 8U), static_cast<std::uint8_t>(type)});
}

std::optional<wire::EtherPayload> network(const trace::Frame& frame) {
  const wire::Layer in{frame.octets, frame.octets.size()};
  wire::Decoded<wire::EtherPayload> out = tl::make_unexpected(wire::DecodeError{});
  switch (frame.link) {
    case LinkType::ethernet:
      out = wire::decode_ethernet(in);
      break;
    case LinkType::linux_sll:
      out = wire::decode_cooked(in);
      break;
    case LinkType::linux_sll2:
      out = wire::decode_cooked2(in);
      break;
    case LinkType::null_loopback:
    case LinkType::loop:
      out = wire::decode_loopback(in);
      break;
    case LinkType::raw_ip:
      out = wire::decode_raw_ip(in);
      break;
    default:
      break;
  }
  if (!out || (out->type != wire::ether_type::ipv4 && out->type != wire::ether_type::ipv6)) return std::nullopt;
  return *out;
}

Octets ethernet(std::uint16_t type, wire::Bytes payload) {
  Octets out{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2};
  append_type(out, type);
  append(out, payload);
  return out;
}

/// Lengths are zero: repair sets them.
Octets erf(std::uint8_t type, wire::Bytes inside, std::size_t trailer) {
  Octets out{0, 0, 0, 0, 0, 0, 0, 0, type, 4, 0, 0, 0, 0, 0, 0};
  if (type == 2) append(out, {0, 0});  // offset and pad
  append(out, inside);
  out.insert(out.end(), trailer, 0);
  return out;
}

Octets grh(const trace::Address& source, const trace::Address& destination) {
  Octets out{0x60, 0, 0, 0, 0, 0, 0x1B, 64};
  append(out, source.octets);
  append(out, destination.octets);
  return out;
}

/// LRH, GRH where wanted, the packet, two octets of VCRC. A LID is the end of an address.
Octets infiniband(const trace::IbPacket& packet, bool global) {
  const auto lid = [](const trace::Address& a) {
    return a.kind == trace::Address::Kind::ipv4 ? std::array{a.octets[2], a.octets[3]}
                                                : std::array{a.octets[14], a.octets[15]};
  };
  Octets out{0, static_cast<std::uint8_t>(global ? 3 : 2)};
  append(out, lid(packet.destination));
  append(out, {0, 0});
  append(out, lid(packet.source));
  if (global) append(out, grh(packet.source, packet.destination));
  append(out, packet.octets);
  append(out, {0, 0});
  return out;
}

}  // namespace

LinkType link_of(Carrier carrier) noexcept {
  switch (carrier) {
    case Carrier::ethernet:
    case Carrier::rocev1:
      return LinkType::ethernet;
    case Carrier::linux_sll:
      return LinkType::linux_sll;
    case Carrier::linux_sll2:
      return LinkType::linux_sll2;
    case Carrier::raw_ip:
      return LinkType::raw_ip;
    case Carrier::null_loopback:
      return LinkType::null_loopback;
    case Carrier::loop:
      return LinkType::loop;
    case Carrier::infiniband:
    case Carrier::infiniband_grh:
      return LinkType::infiniband;
    case Carrier::erf_ethernet:
    case Carrier::erf_infiniband:
      return LinkType::erf;
  }
  return LinkType::ethernet;
}

bool without_ip(Carrier carrier) noexcept {
  return carrier == Carrier::rocev1 || carrier == Carrier::infiniband || carrier == Carrier::infiniband_grh ||
         carrier == Carrier::erf_infiniband;
}

std::optional<Octets> relinked(const trace::Frame& frame, Carrier carrier) {
  if (without_ip(carrier)) {
    trace::Opened opened;
    trace::open_frame(frame, opened);
    if (opened.content != trace::Content::infiniband) return std::nullopt;
    switch (carrier) {
      case Carrier::rocev1: {
        Octets out = grh(opened.ib.source, opened.ib.destination);
        append(out, opened.ib.octets);
        return ethernet(wire::ether_type::roce, out);
      }
      case Carrier::erf_infiniband:
        return erf(21, infiniband(opened.ib, false), 0);
      default:
        return infiniband(opened.ib, carrier == Carrier::infiniband_grh);
    }
  }
  const auto ip = network(frame);
  if (!ip) return std::nullopt;
  const bool v4 = ip->type == wire::ether_type::ipv4;
  const std::uint8_t family = v4 ? 2 : 10;
  Octets out;
  switch (carrier) {
    case Carrier::linux_sll:
      out.resize(14);
      append_type(out, ip->type);
      break;
    case Carrier::linux_sll2:
      append_type(out, ip->type);
      out.resize(20);
      break;
    case Carrier::null_loopback:
      out = {family, 0, 0, 0};
      break;
    case Carrier::loop:
      out = {0, 0, 0, family};
      break;
    case Carrier::raw_ip:
      break;
    case Carrier::erf_ethernet:
      return erf(2, ethernet(ip->type, ip->payload.octets), 4);
    default:
      return ethernet(ip->type, ip->payload.octets);
  }
  append(out, ip->payload.octets);
  return out;
}

}  // namespace rpcrdma::fuzz
