// SPDX-License-Identifier: GPL-2.0-or-later
// Below the transports: Ethernet, VLAN, IPv4, IPv6, UDP, TCP, GRH, LRH; and the ICRC, which covers some of them.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "octets.hpp"

namespace forge {

enum class Link : std::uint8_t { ipv4, ipv6, vlan, rocev1, infiniband };

/// One host with an address on every kind of fabric.
struct Host {
  std::array<std::uint8_t, 6> mac{};
  std::array<std::uint8_t, 4> ipv4{};
  std::array<std::uint8_t, 16> ipv6{};
  std::uint16_t lid = 0;
  std::uint64_t guid = 0;

  /// Host number `n` (1 to 4) of the network of a story: 192.0.2.n, 2001:db8::n, LID n. Where many stories share a
  /// file, each from the second on has a network of its own: 198.18.0.0 + 4 story + n.
  [[nodiscard]] static Host number(std::uint8_t n, unsigned story = 0);
  [[nodiscard]] Octets gid(Link link) const;         ///< 16 octets
  [[nodiscard]] Octets cm_address(Link link) const;  ///< 16 octets, as the RDMA IP CM header has it
  [[nodiscard]] bool uses_ipv6(Link link) const noexcept { return link == Link::ipv6; }
};

struct TcpHeader {
  std::uint16_t source = 0;
  std::uint16_t destination = 0;
  std::uint32_t sequence = 0;
  std::uint32_t acknowledgement = 0;
  std::uint8_t flags = 0;
  bool options = false;  ///< carry an MSS option (SYN segments)
  std::uint16_t window = 0xFFFF;
};

/// Makes frames of one fabric. Counts IPv4 identifications, so frames depend on their order.
class Network {
 public:
  explicit Network(Link link) : link_(link) {}
  [[nodiscard]] Link link() const noexcept { return link_; }
  [[nodiscard]] bool over_ip() const noexcept { return link_ != Link::rocev1 && link_ != Link::infiniband; }

  /// An InfiniBand transport packet (BTH to the pad octets) to a frame with ICRC. `spoil` makes the ICRC wrong.
  [[nodiscard]] Octets ib_frame(const Host& from, const Host& to, std::uint16_t udp_source, const Octets& packet,
                                bool spoil);
  [[nodiscard]] Octets tcp_frame(const Host& from, const Host& to, const TcpHeader& header, const Octets& payload);
  /// ICMP, ICMPv6: "administratively prohibited", about an IP packet in `refused`, a frame of this network over IP.
  [[nodiscard]] Octets icmp_refusal(const Host& from, const Host& to, const Octets& refused);
  enum class Echo : std::uint8_t { request, reply };
  [[nodiscard]] Octets icmp_echo(const Host& from, const Host& to, Echo what);
  /// What belongs to no mount: `from` asks who has the address of `to`. On InfiniBand ARP travels by IPoIB (RFC 4391).
  [[nodiscard]] Octets arp_frame(const Host& from, const Host& to);

 private:
  [[nodiscard]] Octets icmp(const Host& from, const Host& to, Octets message);
  [[nodiscard]] Octets ethernet(const Host& from, const Host& to, std::uint16_t type, const Octets& payload) const;
  [[nodiscard]] Octets ip(const Host& from, const Host& to, std::uint8_t protocol, const Octets& payload);
  [[nodiscard]] Octets pseudo_header(const Host& from, const Host& to, std::uint8_t protocol, std::size_t length) const;

  Link link_;
  std::uint16_t identification_ = 0x1000;
};

}  // namespace forge
