// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/networks.hpp"

#include <algorithm>

namespace rpcrdma::trace {
namespace {

/// The transaction of a REQ, which it keeps when it is sent again; 0: no REQ.
[[nodiscard]] std::uint64_t opening(const IbPacket& packet) noexcept {
  constexpr std::size_t mad = 12 + 8;
  constexpr std::uint8_t communication_management = 0x07;
  constexpr std::uint16_t request = 0x0010;
  const std::uint8_t* p = packet.octets.data();
  if (packet.octets.size() < mad + 24 || p[0] != wire::ud_send_only || wire::load_be24(p + 5) != 1) return 0;
  if (p[mad + 1] != communication_management || wire::load_be16(p + mad + 16) != request) return 0;
  return wire::load_be64(p + mad + 8) | 1U;
}

[[nodiscard]] std::uint64_t opening(const TcpSegment& segment) noexcept {
  if ((segment.flags & (TcpSegment::syn | TcpSegment::ack)) != TcpSegment::syn) return 0;
  const std::uint32_t ports = std::uint32_t{segment.source_port} << 16U | segment.destination_port;
  return std::uint64_t{ports} << 32U | segment.sequence | 1U;
}

/// Clients' ports are the higher ones.
template <typename Segment>
[[nodiscard]] std::uint16_t service(const Segment& segment) noexcept {
  return std::min(segment.source_port, segment.destination_port);
}

}  // namespace

bool Networks::place_in_networks(Opened& opened) {
  const auto set = [&](auto& packet, std::uint16_t service, std::uint64_t opens) {
    if (opens == 0 && !any_ && opened.network.id() == 0) return;
    const Placed at = placed(packet.source, packet.destination, service, opened.network, opens);
    packet.source.network = packet.destination.network = at.number;
    if constexpr (requires { packet.seen_in; }) packet.seen_in = at.name;
  };
  if (opened.content == Content::infiniband) {
    set(opened.ib, 0, opening(opened.ib));
  } else if (opened.content == Content::tcp) {
    set(opened.tcp, service(opened.tcp), opening(opened.tcp));
  } else if (opened.content == Content::undelivered) {
    set(opened.undelivered, service(opened.undelivered), 0);
  }
  if (!full_ || full_told_) [[likely]] {
    return true;
  }
  full_told_ = true;
  return false;
}

const std::string* Networks::name(const NetworkPath& path) {
  if (path.id() == 0) return nullptr;
  const auto known = names_.find(path.id());
  if (known != names_.end()) return &known->second;
  if (names_.size() >= most_names) {
    full_ = true;
    return nullptr;
  }
  return &names_.emplace(path.id(), path.text()).first->second;
}

Networks::Placed Networks::placed(const Address& source, const Address& destination, std::uint16_t service,
                                  const NetworkPath& path, std::uint64_t opening) {
  const std::uint64_t network = path.id();
  any_ = any_ || network != 0;
  const bool up = source < destination;
  const std::uint8_t direction = up ? 1 : 2;
  const auto key = up ? std::tuple(source, destination, service) : std::tuple(destination, source, service);
  auto at = pairs_.find(key);
  if (at == pairs_.end()) {
    if (pairs_.size() >= most_pairs) {
      full_ = full_ || any_;
      return {};
    }
    at = pairs_.try_emplace(key).first;
  }
  Pair& pair = at->second;
  auto way = std::find_if(pair.ways.begin(), pair.ways.end(), [&](const Way& w) { return w.network == network; });
  if (way == pair.ways.end()) {
    if (pair.ways.size() >= most_ways) {
      full_ = true;
      return {};
    }
    const std::uint8_t fresh = pair.number_of_new(direction, opening);
    way = pair.ways.insert(pair.ways.end(), {network, name(path), fresh, 0});
  }
  way->directions = static_cast<std::uint8_t>(way->directions | direction);
  if (opening != 0) {
    if (pair.openings.size() < most_openings) {
      pair.openings.push_back({opening, way->number});
    } else {
      pair.openings[pair.next_opening] = {opening, way->number};
      pair.next_opening = (pair.next_opening + 1) % most_openings;
    }
  }
  return {way->number, way->name};
}

std::uint8_t Networks::Pair::number_of_new(std::uint8_t direction, std::uint64_t opening) noexcept {
  if (ways.empty()) return 0;
  if (opening == 0) {
    const auto one_way =
        std::find_if(ways.rbegin(), ways.rend(), [&](const Way& w) { return (w.directions & direction) == 0; });
    return one_way != ways.rend() ? one_way->number : ways.front().number;
  }
  for (const Opening& one : openings) {
    if (one.mark == opening) return one.number;
  }
  const bool same_direction =
      std::any_of(ways.begin(), ways.end(), [&](const Way& w) { return (w.directions & direction) != 0; });
  return same_direction ? ++last_number : ways.front().number;
}

}  // namespace rpcrdma::trace
