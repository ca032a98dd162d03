// SPDX-License-Identifier: GPL-2.0-or-later
#include <arpa/inet.h>

#include <array>

#include <fmt/compile.h>

#include "trace/packet.hpp"

namespace rpcrdma::trace {

std::string Address::text() const {
  switch (kind) {
    case Kind::ipv4:
      return fmt::format(FMT_COMPILE("{}.{}.{}.{}"), octets[0], octets[1], octets[2], octets[3]);
    case Kind::ipv6:
    case Kind::gid: {
      std::array<char, INET6_ADDRSTRLEN> buffer{};
      return inet_ntop(AF_INET6, octets.data(), buffer.data(), buffer.size());
    }
    case Kind::lid:
      return fmt::format("lid {}", wire::load_be16(octets.data()));
    case Kind::none:
      break;
  }
  return {};
}

}  // namespace rpcrdma::trace
