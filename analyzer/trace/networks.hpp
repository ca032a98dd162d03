// SPDX-License-Identifier: GPL-2.0-or-later
// Inside trace: networks that use the same addresses, in VLANs or tunnels of their own. What is the same in two of them
// is one network seen twice; what goes there in one and back in another is one network too.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "trace/link/open_frame.hpp"
#include "trace/packet.hpp"
#include "wire/ib.hpp"

namespace rpcrdma::trace {

class Networks {
 public:
  /// Writes the number of the network into both addresses of what was opened, and into a packet what it is called,
  /// which stays where it is. A VLAN or key that is new between two
  /// addresses makes another network of them when it begins with the opening of a connection (REQ, SYN) that no other
  /// has shown, and another has packets of the same direction.
  /// False: from now on there are too many to keep them apart. Answered once.
  bool place(Opened& opened) {
    const bool told_apart = any_ || opened.network.id() != 0;
    if (!told_apart && !may_open(opened)) [[likely]] {
      return true;
    }
    return place_in_networks(opened);
  }

 private:
  /// Asked for each packet, as the question before it is: they stand here for speed.
  [[nodiscard]] static bool may_open(const Opened& opened) noexcept {
    if (opened.content == Content::infiniband) {
      return !opened.ib.octets.empty() && opened.ib.octets[0] == wire::ud_send_only;
    }
    return opened.content == Content::tcp && (opened.tcp.flags & TcpSegment::syn) != 0;
  }
  static constexpr std::size_t most_pairs = 65536;
  static constexpr std::size_t most_ways = 8;       // of one pair: further ones are the first network, without a name
  static constexpr std::size_t most_openings = 64;  // that come before the copy of the first: nconnect, a boot
  static constexpr std::size_t most_names = 65536;  // further networks have none

  /// A VLAN or key.
  struct Way {
    std::uint64_t network = 0;  ///< its path's id
    const std::string* name = nullptr;
    std::uint8_t number = 0;
    std::uint8_t directions = 0;  ///< 1: from the lower address, 2: from the higher one
  };
  struct Placed {
    std::uint8_t number = 0;
    const std::string* name = nullptr;
  };
  struct Opening {
    std::uint64_t mark = 0;  ///< 0: none
    std::uint8_t number = 0;
  };
  struct Pair {
    std::vector<Way> ways;
    std::vector<Opening> openings;  ///< the last ones
    std::size_t next_opening = 0;   ///< the oldest of them, once there are so many
    std::uint8_t last_number = 0;

    [[nodiscard]] std::uint8_t number_of_new(std::uint8_t direction, std::uint64_t opening) noexcept;
  };

  bool place_in_networks(Opened& opened);
  /// `service`: what tells the service's packets from others between the two, which may come first.
  [[nodiscard]] Placed placed(const Address& source, const Address& destination, std::uint16_t service,
                              const NetworkPath& path, std::uint64_t opening);
  [[nodiscard]] const std::string* name(const NetworkPath& path);

  std::map<std::tuple<Address, Address, std::uint16_t>, Pair> pairs_;
  std::map<std::uint64_t, std::string> names_;  ///< by path: shares read them while others are added
  bool full_ = false;                           ///< a bound was met
  bool full_told_ = false;
  bool any_ = false;  ///< a VLAN or key was seen: until then only openings are looked at
};

}  // namespace rpcrdma::trace
