// SPDX-License-Identifier: GPL-2.0-or-later
#include "sanitize/ip_copy.hpp"

#include <algorithm>
#include <array>

#include "wire/ipv4.hpp"
#include "wire/ipv6.hpp"

namespace rpcrdma::sanitize {
namespace {

using wire::Bytes;

constexpr std::size_t ipv4_fixed = 20;
constexpr std::size_t ipv6_fixed = 40;
constexpr std::size_t ipv4_octets = 4;
constexpr std::size_t ipv6_octets = 16;
constexpr std::size_t mac_octets = 6;

unsigned version(Bytes ip) noexcept { return ip.empty() ? 0U : ip[0] >> 4U; }

void other_ipv4(CopiedFrame& frame, Bytes of, std::size_t at, Pseudonyms& pseudonyms) {
  if (const auto address = frame.whole(of, at, ipv4_octets); !address.empty()) pseudonyms.ipv4(address.data());
}

void other_ipv6(CopiedFrame& frame, Bytes of, std::size_t at, Pseudonyms& pseudonyms) {
  if (const auto address = frame.whole(of, at, ipv6_octets); !address.empty()) pseudonyms.ipv6(address.data());
}

void copy_ipv4(CopiedFrame& frame, Bytes ip, Pseudonyms& pseudonyms) {
  constexpr std::uint8_t no_operation = 1;
  frame.keep(ip, 0, 12);
  for (const std::size_t at : {12U, 16U}) other_ipv4(frame, ip, at, pseudonyms);
  // Options may hold the addresses of routers: they become as many that do nothing.
  const std::size_t header = std::min((ip[0] & 0x0FU) * std::size_t{4}, ip.size());
  if (header > ipv4_fixed && frame.holds(ip.data(), header)) {
    std::fill(frame.at(ip.data()) + ipv4_fixed, frame.at(ip.data()) + header, no_operation);
  }
}

/// An extension header: which it is, and its octets as far as they are there.
struct Extension {
  std::uint8_t kind = 0;
  Bytes octets;
};

/// Each extension header in front of what the packet carries, or in front of a fragment's octets.
template <typename Visit>
void each_extension(Bytes ip, Visit&& visit) {
  std::uint8_t kind = ip[6];
  std::size_t at = ipv6_fixed;
  constexpr std::size_t least = 8;
  for (int n = 0; n < wire::max_ipv6_extensions && at + least <= ip.size(); ++n) {
    std::size_t size = (ip[at + 1] + std::size_t{1}) * 8;
    switch (kind) {
      case wire::ip_protocol::hop_by_hop:
      case wire::ip_protocol::routing:
      case wire::ip_protocol::destination_options:
      case wire::ip_protocol::mobility:
      case wire::ip_protocol::host_identity:
      case wire::ip_protocol::shim6:
        break;
      case wire::ip_protocol::authentication:
        size = (ip[at + 1] + std::size_t{2}) * 4;
        break;
      case wire::ip_protocol::fragment:
        size = least;
        break;
      default:
        return;
    }
    visit(Extension{kind, ip.subspan(at, std::min(size, ip.size() - at))});
    if (kind == wire::ip_protocol::fragment && (wire::load_be16(ip.data() + at + 2) & 0xFFF8U) != 0) return;
    kind = ip[at];
    at += size;
  }
}

/// PadN (RFC 8200, section 4.2), as often as it takes.
void fill_options(std::span<std::uint8_t> options) {
  constexpr std::uint8_t pad_n = 1;
  constexpr std::size_t head = 2;
  while (options.size() >= head) {
    const std::size_t size = std::min<std::size_t>(options.size(), head + 255);
    options[0] = pad_n;
    options[1] = static_cast<std::uint8_t>(size - head);
    options = options.subspan(size);
  }
}

/// A routing header's addresses: where the first stands, and how many there are. Of a form that is not known: none.
struct Route {
  std::size_t first = 8;
  std::size_t count = 0;
  std::size_t last = 0;  ///< where the one stands that is the destination in the end
};

Route route_of(Bytes routing) noexcept {
  constexpr std::uint8_t source_route = 0;
  constexpr std::uint8_t home = 2;
  constexpr std::uint8_t segments = 4;
  Route out;
  const std::size_t room = (routing.size() - out.first) / ipv6_octets;
  if (routing[2] == source_route || routing[2] == home) {
    out.count = room;
    if (room != 0) out.last = out.first + (room - 1) * ipv6_octets;
  } else if (routing[2] == segments) {  // from the last to the first
    out.count = std::min<std::size_t>(room, routing[4] + 1U);
    out.last = out.first;
  }
  return out;
}

void copy_ipv6(CopiedFrame& frame, Bytes ip, Pseudonyms& pseudonyms) {
  frame.keep(ip, 0, 8);
  for (const std::size_t at : {8U, 24U}) other_ipv6(frame, ip, at, pseudonyms);
  if (ip.size() < ipv6_fixed || !frame.holds(ip.data(), ip.size())) return;
  each_extension(ip, [&](const Extension& extension) {
    const Bytes octets = extension.octets;
    frame.keep(octets, 0, 2);  // what comes next, and how long this one is
    switch (extension.kind) {
      case wire::ip_protocol::hop_by_hop:
      case wire::ip_protocol::destination_options:
        fill_options({frame.at(octets.data()) + 2, octets.size() - 2});
        break;
      case wire::ip_protocol::routing: {
        const Route route = route_of(octets);
        frame.keep(octets, 2, route.count != 0 ? 3 : 2);
        for (std::size_t i = 0; i < route.count; ++i) {
          other_ipv6(frame, octets, route.first + i * ipv6_octets, pseudonyms);
        }
        break;
      }
      case wire::ip_protocol::fragment:
        frame.keep(octets, 0, octets.size());
        break;
      default:
        break;
    }
  });
}

/// Options of neighbour discovery: addresses of the link, and of others how long they are.
void copy_discovery_options(CopiedFrame& frame, Bytes options, Pseudonyms& pseudonyms) {
  constexpr std::size_t unit = 8;
  while (options.size() >= unit && options[1] != 0 && options[1] * unit <= options.size()) {
    frame.keep(options, 0, 2);
    const bool of_link = options[0] == 1 || options[0] == 2;
    if (of_link && options[1] == 1) {
      if (const auto mac = frame.whole(options, 2, mac_octets); !mac.empty()) pseudonyms.mac(mac.data());
    }
    options = options.subspan(options[1] * unit);
  }
}

/// ICMPv6 (RFC 4443) and neighbour discovery (RFC 4861).
void copy_icmpv6(CopiedFrame& frame, Bytes icmp, Pseudonyms& pseudonyms) {
  constexpr std::size_t header = 8;
  std::size_t addresses = 0;
  switch (icmp[0]) {
    case 2:    // too big: the MTU
    case 4:    // parameter problem: where
    case 128:  // echo: identifier and number
    case 129:
    case 134:  // router advertisement: hop limit, flags, lifetime
      frame.keep(icmp, 4, 4);
      return;
    case 133:  // router solicitation
      break;
    case 136:  // neighbour advertisement: flags
      frame.keep(icmp, 4, 1);
      addresses = 1;
      break;
    case 135:  // neighbour solicitation
      addresses = 1;
      break;
    case 137:  // redirect: to whom, and for whom
      addresses = 2;
      break;
    default:
      return;
  }
  for (std::size_t i = 0; i < addresses; ++i) other_ipv6(frame, icmp, header + i * ipv6_octets, pseudonyms);
  const std::size_t options = header + addresses * ipv6_octets;
  if (icmp.size() > options) copy_discovery_options(frame, icmp.subspan(options), pseudonyms);
}

/// Octets of an option if it is one of those that every TCP has, and as long as it must be; 0: it is not.
std::size_t usual_option(Bytes options) noexcept {
  const std::size_t length = options.size() < 2 ? 0 : options[1];
  const auto if_all = [&](bool right) { return right && length <= options.size() ? length : 0; };
  switch (options[0]) {
    case 2:  // maximum segment size
      return if_all(length == 4);
    case 3:  // window scale
      return if_all(length == 3);
    case 4:  // selective acknowledgements are permitted
      return if_all(length == 2);
    case 5:
      return if_all(length > 2 && length % 8 == 2);
    case 8:  // time stamps
      return if_all(length == 10);
    default:
      return 0;
  }
}

}  // namespace

std::size_t ip_header(Bytes ip) noexcept {
  if (version(ip) == 4) {
    const std::size_t header = (ip[0] & 0x0FU) * std::size_t{4};
    return header < ipv4_fixed ? 0 : header;
  }
  const auto decoded = wire::decode_ipv6({ip, ip.size()});
  return decoded ? decoded->header_size : 0;
}

std::size_t destination_at(Bytes ip) noexcept {
  if (version(ip) == 4) return 16;
  std::size_t at = 24;
  if (ip.size() < ipv6_fixed) return at;
  each_extension(ip, [&](const Extension& extension) {
    if (extension.kind != wire::ip_protocol::routing || extension.octets[3] == 0) return;
    const Route route = route_of(extension.octets);
    if (route.count != 0) at = static_cast<std::size_t>(extension.octets.data() - ip.data()) + route.last;
  });
  return at;
}

void copy_ip(CopiedFrame& frame, Bytes ip, Pseudonyms& pseudonyms) {
  if (version(ip) == 4 && (ip[0] & 0x0FU) * std::size_t{4} >= ipv4_fixed) copy_ipv4(frame, ip, pseudonyms);
  if (version(ip) == 6) copy_ipv6(frame, ip, pseudonyms);
}

void copy_tcp(CopiedFrame& frame, Bytes tcp) {
  constexpr std::size_t fixed = 20;
  constexpr std::uint8_t end = 0;
  constexpr std::uint8_t no_operation = 1;
  const std::size_t header = tcp.size() < 13 ? fixed : (tcp[12] >> 4U) * std::size_t{4};
  if (header < fixed) return;
  frame.keep(tcp, 0, fixed);
  if (tcp.size() <= fixed || !frame.holds(tcp.data(), tcp.size())) return;
  Bytes options = tcp.subspan(fixed, std::min(header, tcp.size()) - fixed);
  while (!options.empty()) {
    if (options[0] == end) return;
    std::size_t size = usual_option(options);
    if (size != 0) {
      frame.keep(options, 0, size);
    } else {
      // One that is not known to be harmless, and one without a length is the last.
      const bool bare = options[0] == no_operation;
      size = bare ? 1 : options.size() < 2 || options[1] < 2 ? options.size() : options[1];
      size = std::min(size, options.size());
      std::fill_n(frame.at(options.data()), size, no_operation);
    }
    options = options.subspan(size);
  }
}

void copy_icmp(CopiedFrame& frame, Bytes icmp, bool v4, Pseudonyms& pseudonyms) {
  constexpr std::size_t start = 4;  // type, code, checksum
  if (icmp.empty()) return;
  frame.keep(icmp, 0, start);
  if (!v4) {
    copy_icmpv6(frame, icmp, pseudonyms);
    return;
  }
  constexpr std::uint8_t redirect = 5;
  // Identifiers and numbers, an MTU, a place, counts
  constexpr std::array<std::uint8_t, 11> numbers{0, 3, 8, 9, 11, 12, 13, 14, 15, 16, 17};
  if (icmp[0] == redirect) {
    other_ipv4(frame, icmp, start, pseudonyms);
  } else if (std::find(numbers.begin(), numbers.end(), icmp[0]) != numbers.end()) {
    frame.keep(icmp, start, 4);
  }
}

}  // namespace rpcrdma::sanitize
