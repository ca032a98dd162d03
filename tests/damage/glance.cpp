// SPDX-License-Identifier: GPL-2.0-or-later
#include "damage/glance.hpp"

namespace damage {
namespace {

using rpcrdma::trace::Frame;
using rpcrdma::trace::LinkType;

class Octets {
 public:
  explicit Octets(rpcrdma::wire::Bytes octets) : octets_(octets) {}
  /// 0 behind the end.
  [[nodiscard]] std::size_t at(std::size_t place) const { return place < octets_.size() ? octets_[place] : 0; }
  [[nodiscard]] std::size_t word(std::size_t place) const { return at(place) << 8U | at(place + 1); }
  [[nodiscard]] std::string text(std::size_t place, std::size_t length) const {
    std::string found;
    for (std::size_t i = 0; i < length; ++i) found.push_back(static_cast<char>(at(place + i)));
    return found;
  }

 private:
  rpcrdma::wire::Bytes octets_;
};

Carries of_transport_header(const Octets& octets, std::size_t place) {
  constexpr std::size_t acknowledge = 0x11, unreliable = 0x60;
  const std::size_t opcode = octets.at(place);
  if (opcode >= unreliable) return Carries::handshake;
  return opcode == acknowledge ? Carries::acknowledgement : Carries::data;
}

std::uint32_t number_at(const Octets& octets, std::size_t place) {
  return static_cast<std::uint32_t>(octets.at(place) << 16U | octets.word(place + 1));
}

Numbered number_of(const Octets& octets, std::size_t place) {
  constexpr std::size_t last_request = 0x0C, acknowledge = 0x11, invalidating = 0x16, unreliable = 0x60;
  constexpr std::size_t mad = 20, attribute = mad + 16, message = mad + 24, req = 0x0010, rep = 0x0013;
  const std::size_t opcode = octets.at(place);
  if (opcode > unreliable) {
    if (octets.word(place + attribute) == req)
      return {Numbered::As::beginning, number_at(octets, place + message + 44)};
    if (octets.word(place + attribute) == rep)
      return {Numbered::As::beginning, number_at(octets, place + message + 20)};
    return {};
  }
  const std::uint32_t number = number_at(octets, place + 9);
  if (opcode <= last_request || opcode == invalidating || opcode == invalidating + 1) {
    return {Numbered::As::asked, number};
  }
  return {opcode == acknowledge ? Numbered::As::acknowledged : Numbered::As::answered, number};
}

Carries of_tcp(const Octets& octets, std::size_t place, std::size_t length) {
  constexpr std::size_t syn_fin_rst = 0x07;
  if ((octets.at(place + 13) & syn_fin_rst) != 0) return Carries::handshake;
  return length > (octets.at(place + 12) >> 4U) * 4 ? Carries::data : Carries::acknowledgement;
}

void look_into_ip(const Octets& octets, Glance& seen) {
  constexpr std::size_t tcp = 6, udp = 17, roce = 4791;
  const std::size_t at = seen.network;
  std::size_t protocol = 0, transport = 0, length = 0;
  if (octets.at(at) >> 4U == 4) {
    const std::size_t header = (octets.at(at) & 0x0FU) * 4;
    protocol = octets.at(at + 9);
    transport = at + header;
    length = octets.word(at + 2) - header;
    seen.sender = octets.text(at + 12, 8);
  } else {
    protocol = octets.at(at + 6);
    transport = at + 40;
    length = octets.word(at + 4);
    seen.sender = octets.text(at + 8, 32);
  }
  if (protocol == tcp) seen.carries = of_tcp(octets, transport, length);
  if (protocol == udp && octets.word(transport + 2) == roce) {
    seen.carries = of_transport_header(octets, transport + 8);
    seen.numbered = number_of(octets, transport + 8);
  }
}

void look_into_infiniband(const Octets& octets, std::size_t at, Glance& seen) {
  constexpr std::size_t local = 2, global = 3;
  const std::size_t next = octets.at(at + 1) & 0x03U;
  if (next != local && next != global) return;
  seen.sender = octets.text(at + 6, 2) + octets.text(at + 2, 2);
  const std::size_t transport = at + 8 + (next == global ? 40 : 0);
  seen.carries = of_transport_header(octets, transport);
  seen.numbered = number_of(octets, transport);
}

}  // namespace

Glance glance(const Frame& frame) {
  constexpr std::size_t vlan = 0x8100, ipv4 = 0x0800, ipv6 = 0x86DD, roce = 0x8915, global_header = 40;
  Glance seen;
  const Octets octets(frame.octets);
  if (frame.link == LinkType::infiniband) look_into_infiniband(octets, 0, seen);
  if (frame.link == LinkType::erf) {
    std::size_t extension = 16;
    bool more = (octets.at(8) & 0x80U) != 0;
    while (more && extension < frame.octets.size()) {
      more = (octets.at(extension) & 0x80U) != 0;
      extension += 8;
    }
    look_into_infiniband(octets, extension, seen);
  }
  if (frame.link == LinkType::ethernet) {
    seen.network_type = 12;
    while (octets.word(seen.network_type) == vlan) seen.network_type += 4;
    const std::size_t type = octets.word(seen.network_type);
    if (type == ipv4 || type == ipv6) {
      seen.network = seen.network_type + 2;
      look_into_ip(octets, seen);
    }
    if (type == roce) {
      const std::size_t transport = seen.network_type + 2 + global_header;
      seen.sender = octets.text(seen.network_type + 2 + 8, 32);
      seen.carries = of_transport_header(octets, transport);
      seen.numbered = number_of(octets, transport);
    }
  }
  return seen;
}

}  // namespace damage
