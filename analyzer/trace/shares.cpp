// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/shares.hpp"

#include <algorithm>

#include "wire/cm.hpp"
#include "wire/ib.hpp"

namespace rpcrdma::trace {
namespace {

/// RoCE's GID of an IPv4 address: ten octets of zeros and two of ones stand before it.
[[nodiscard]] bool mapped_ipv4(const std::array<std::uint8_t, 16>& octets) noexcept {
  return std::all_of(octets.begin(), octets.begin() + 10, [](std::uint8_t o) { return o == 0; }) &&
         octets[10] == 0xFF && octets[11] == 0xFF;
}

/// IPv4 stands in the last four octets of the RDMA IP CM header.
[[nodiscard]] Address named(std::uint8_t version, const std::array<std::uint8_t, 16>& octets) noexcept {
  Address address;
  if (version == 4) {
    std::copy(octets.begin() + 12, octets.end(), address.octets.begin());
  } else {
    address.octets = octets;
  }
  return address;
}

}  // namespace

Shares::Words Shares::words_of_gid(const Address& address) noexcept {
  if (!mapped_ipv4(address.octets)) return std::bit_cast<Words>(address.octets);
  std::array<std::uint8_t, 16> ipv4{};
  std::copy(address.octets.begin() + 12, address.octets.end(), ipv4.begin());
  return std::bit_cast<Words>(ipv4);
}

std::size_t Shares::look_up(const Pair& pair) {
  const auto known = pairs_.find(pair);
  if (known != pairs_.end()) return known->second;
  // Pairs for which there is no room any more are spread by their addresses.
  if (pairs_.size() >= most_pairs) return (pair.low[0] ^ pair.low[1] ^ pair.high[0] ^ pair.high[1]) % count;
  const std::uint8_t share = next_;
  next_ = static_cast<std::uint8_t>((next_ + 1U) % count);
  pairs_.emplace(pair, share);
  return share;
}

/// A mount is known by the IP addresses of the request, where it names them.
void Shares::join(const IbPacket& packet) {
  if (packet.source.kind != Address::Kind::gid && packet.source.kind != Address::Kind::lid) return;
  const auto header = wire::decode_ib(packet.octets, packet.wire_length);
  if (!header || header->destination_qp != wire::cm_queue_pair) return;
  const auto message = wire::decode_cm(header->payload, header->payload_length);
  if (!message || !message->ip) return;
  const wire::IpCmHeader& ip = *message->ip;
  const Pair fabric = pair(words(packet.source), words(packet.destination));
  const Pair mount = pair(words(named(ip.ip_version, ip.source)), words(named(ip.ip_version, ip.destination)));
  if (pairs_.size() >= most_pairs) return;
  if (pairs_.contains(fabric)) {
    pairs_.emplace(mount, static_cast<std::uint8_t>(look_up(fabric)));
  } else {
    pairs_.emplace(fabric, static_cast<std::uint8_t>(look_up(mount)));
  }
}

std::optional<Service> Shares::new_service(const TcpSegment& segment, wire::MpaKey key) {
  const Service found = key == wire::MpaKey::request ? Service{segment.destination, segment.destination_port}
                                                     : Service{segment.source, segment.source_port};
  if (services_.size() >= most_services || !services_.insert(found).second) return std::nullopt;
  return found;
}

}  // namespace rpcrdma::trace
