// SPDX-License-Identifier: GPL-2.0-or-later
// Inside trace: what the link and network layers hand to the two transports.
#pragma once

#include <array>
#include <bit>
#include <compare>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "trace/events.hpp"
#include "trace/frame.hpp"
#include "trace/moment.hpp"
#include "wire/bytes.hpp"
#include "wire/icrc.hpp"

namespace rpcrdma::trace {

/// A network address of any fabric, comparable without allocation.
struct Address {
  enum class Kind : std::uint8_t { none, ipv4, ipv6, gid, lid };
  std::array<std::uint8_t, 16> octets{};  ///< IPv4: the first 4; LID: the first 2; rest zero
  Kind kind = Kind::none;
  std::uint8_t network = 0;  ///< which of several networks that use it (trace/networks.hpp)

  /// Asked for each frame: two comparisons of words are cheaper than one of octets.
  friend bool operator==(const Address& a, const Address& b) noexcept {
    const auto words = [](const Address& of) { return std::bit_cast<std::array<std::uint64_t, 2>>(of.octets); };
    return words(a) == words(b) && a.kind == b.kind && a.network == b.network;
  }
  /// Some order: tables by address are ordered, so that no choice of addresses makes looking one up slow.
  friend std::strong_ordering operator<=>(const Address& a, const Address& b) noexcept {
    const auto words = [](const Address& of) { return std::bit_cast<std::array<std::uint64_t, 2>>(of.octets); };
    const auto here = words(a);
    const auto there = words(b);
    if (here[0] != there[0]) return here[0] <=> there[0];
    if (here[1] != there[1]) return here[1] <=> there[1];
    return a.kind != b.kind ? a.kind <=> b.kind : a.network <=> b.network;
  }
  [[nodiscard]] std::string text() const;  ///< as Wireshark prints it; a LID as "lid 5"
  /// `from`: as many octets as an address of that kind has. On network 0.
  void assign(Kind of, const std::uint8_t* from) noexcept {
    octets.fill(0);
    std::memcpy(octets.data(), from, of == Kind::ipv4 ? 4U : of == Kind::lid ? 2U : 16U);
    kind = of;
    network = 0;
  }
};

/// One InfiniBand transport packet, from the BTH on.
struct IbPacket {
  FrameRef ref;
  Transport transport = Transport::rocev2;
  Address source;
  Address destination;
  /// Through which mirror and overlay headers it was reached; 0: none. The same packet by two ways is no
  /// retransmission.
  std::uint16_t way = 0;
  const std::string* seen_in = nullptr;  ///< what its network is called (trace/networks.hpp); null: it has no name
  wire::Bytes network;                   ///< for the ICRC: IP header / GRH / LRH to the end of the UDP header or GRH
  wire::Bytes octets;                    ///< from BTH, as captured, ICRC included if captured
  std::uint32_t wire_length =
      0;  ///< from BTH to the end of the ICRC, as the network layer says (Ethernet padding removed)
};

/// What its ICRC covers.
[[nodiscard]] constexpr wire::IcrcLayout icrc_layout(const IbPacket& packet) noexcept {
  switch (packet.transport) {
    case Transport::rocev1:
      return wire::IcrcLayout::grh;
    case Transport::infiniband:
      return wire::IcrcLayout::lrh;
    default:
      return packet.source.kind == Address::Kind::ipv6 ? wire::IcrcLayout::rocev2_ipv6 : wire::IcrcLayout::rocev2_ipv4;
  }
}

struct TcpSegment {
  static constexpr std::uint8_t fin = 0x01;
  static constexpr std::uint8_t syn = 0x02;
  static constexpr std::uint8_t rst = 0x04;
  static constexpr std::uint8_t ack = 0x10;

  FrameRef ref;
  Address source;
  Address destination;
  std::uint16_t source_port = 0;
  std::uint16_t destination_port = 0;
  std::uint32_t sequence = 0;
  std::uint32_t acknowledgement = 0;
  std::uint8_t flags = 0;
  std::uint16_t window = 0xFFFF;         ///< as it stands on the wire: only nothing is told from something
  std::uint16_t ip_identification = 0;   ///< 0: none
  std::uint16_t way = 0;                 ///< as IbPacket's
  const std::string* seen_in = nullptr;  ///< likewise
  wire::Bytes payload;                   ///< as captured
  std::uint32_t wire_length = 0;         ///< payload octets on the wire
};

/// A packet that ICMP reports as undeliverable: its source is whom the report goes to.
struct Undelivered {
  FrameRef ref;  ///< of the report
  Address source;
  Address destination;
  enum class What : std::uint8_t {
    segment,  ///< of TCP
    request   ///< a REQ over RoCEv2
  } what = What::segment;
  /// Who reports it.
  enum class By : std::uint8_t {
    destination,
    another  ///< a router, a firewall
  } by = By::destination;
  // Of a segment
  std::uint16_t source_port = 0;
  std::uint16_t destination_port = 0;
  std::uint32_t sequence = 0;
  // Of a REQ
  std::uint32_t communication_id = 0;
};

/// Where connections over TCP are taken.
struct Service {
  Address address;
  std::uint16_t port = 0;
  friend bool operator==(const Service&, const Service&) = default;
  friend auto operator<=>(const Service&, const Service&) = default;  // NOLINT(modernize-use-nullptr): clang-tidy 14
};

/// Numbers connections by first appearance over both transports.
class ConnectionNumbers {
 public:
  [[nodiscard]] ConnectionId next() {
    if (remembers_) numbered_.push_back(now_);
    return ++last_;
  }
  void at(Moment now) noexcept { now_ = now; }
  [[nodiscard]] const Moment& now() const noexcept { return now_; }
  void remember() noexcept { remembers_ = true; }
  /// When each number was given, from 1.
  [[nodiscard]] const std::vector<Moment>& numbered() const noexcept { return numbered_; }

 private:
  ConnectionId last_ = 0;
  Moment now_;
  bool remembers_ = false;
  std::vector<Moment> numbered_;
};

}  // namespace rpcrdma::trace
