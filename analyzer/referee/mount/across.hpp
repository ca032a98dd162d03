// SPDX-License-Identifier: GPL-2.0-or-later
// What is seen elsewhere and a mount has to know in the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "referee/mount/presence.hpp"
#include "referee/mount/trunks.hpp"

namespace rpcrdma::referee {

/// Addresses and TCP ports where a connection was one for RPC-over-RDMA.
class Services {
 public:
  /// Those that come later are not noted.
  static constexpr std::size_t most = 4096;

  void add(const std::string& address, std::uint16_t port) {
    if (all_.size() < most) all_.emplace(address, port);
  }
  void join(const Services& others) {
    for (const auto& [address, port] : others.all_) add(address, port);
  }
  [[nodiscard]] bool holds(const std::string& address, std::uint16_t port) const {
    return all_.contains({address, port});
  }

 private:
  std::set<std::pair<std::string, std::uint16_t>> all_;
};

struct AcrossMounts {
  Trunks trunks;
  Presence presence;
  Services services;
  FrameRef clock_set;  ///< newest frame before which the capture's clock was set back; number 0: it never was

  void join(const AcrossMounts& others) {
    trunks.join(others.trunks);
    presence.join(others.presence);
    services.join(others.services);
    keep_later(clock_set, others.clock_set);
  }
};

}  // namespace rpcrdma::referee
