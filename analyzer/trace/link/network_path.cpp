// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/link/network_path.hpp"

#include <algorithm>
#include <string_view>

namespace rpcrdma::trace {
namespace {

constexpr std::string_view name(NetworkPath::Kind kind) noexcept {
  switch (kind) {
    case NetworkPath::Kind::none:
      break;
    case NetworkPath::Kind::vlan:
      return "VLAN ";
    case NetworkPath::Kind::vxlan:
      return "VXLAN ";
    case NetworkPath::Kind::geneve:
      return "Geneve ";
    case NetworkPath::Kind::gre:
      return "GRE ";
    case NetworkPath::Kind::nvgre:
      return "NVGRE ";
  }
  return "";
}

}  // namespace

std::string NetworkPath::text() const {
  constexpr std::size_t usual = 12;  // "VLAN 4095, "
  std::string out;
  out.reserve(std::min(size_, most) * usual);
  for (std::size_t i = 0; i < std::min(size_, most); ++i) {
    if (i != 0) out += ", ";
    out += name(steps_[i].kind);
    out += std::to_string(steps_[i].number);
  }
  return out;
}

}  // namespace rpcrdma::trace
