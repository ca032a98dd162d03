// SPDX-License-Identifier: GPL-2.0-or-later
// What an RC packet tells of the connection that it belongs to.
#pragma once

#include <compare>
#include <cstdint>

#include "trace/packet.hpp"

namespace rpcrdma::trace::ib {

struct FlowKey {
  Address source;
  Address destination;
  std::uint32_t qpn = 0;  ///< of the destination

  friend bool operator==(const FlowKey&, const FlowKey&) = default;
  friend auto operator<=>(const FlowKey&, const FlowKey&) = default;  // NOLINT(modernize-use-nullptr): clang-tidy 14
};

}  // namespace rpcrdma::trace::ib
