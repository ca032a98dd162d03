// SPDX-License-Identifier: GPL-2.0-or-later
// The first octet of an input that holds whole frames. seeds.py writes the same numbers: append only.
#pragma once

#include <array>
#include <cstdint>

#include "trace/frame.hpp"

namespace rpcrdma::fuzz {

[[nodiscard]] inline trace::LinkType link_type(std::uint8_t octet) noexcept {
  using trace::LinkType;
  constexpr auto opened_by_nobody = static_cast<LinkType>(147);
  constexpr std::array types{
      LinkType::ethernet, LinkType::infiniband, LinkType::erf,  LinkType::linux_sll,     LinkType::linux_sll2,
      LinkType::raw_ip,   LinkType::ipv4,       LinkType::ipv6, LinkType::null_loopback, LinkType::loop,
      opened_by_nobody,   LinkType::dsa,        LinkType::edsa, LinkType::dsa_brcm,      LinkType::dsa_brcm_prepend};
  return types.at(octet % types.size());
}

}  // namespace rpcrdma::fuzz
