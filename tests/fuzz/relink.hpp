// SPDX-License-Identifier: GPL-2.0-or-later
// The same packet on another link: recorded captures are mostly Ethernet, and each link type has headers of its own.
#pragma once

#include <array>
#include <optional>

#include "records.hpp"
#include "trace/frame.hpp"

namespace rpcrdma::fuzz {

enum class Carrier : std::uint8_t {
  ethernet,
  linux_sll,
  linux_sll2,
  raw_ip,
  null_loopback,
  loop,
  erf_ethernet,
  rocev1,          ///< Ethernet, GRH
  infiniband,      ///< LRH
  infiniband_grh,  ///< LRH and GRH
  erf_infiniband,  ///< ERF, LRH
};
inline constexpr std::array carriers{Carrier::ethernet,       Carrier::linux_sll,     Carrier::linux_sll2,
                                     Carrier::raw_ip,         Carrier::null_loopback, Carrier::loop,
                                     Carrier::erf_ethernet,   Carrier::rocev1,        Carrier::infiniband,
                                     Carrier::infiniband_grh, Carrier::erf_infiniband};

[[nodiscard]] trace::LinkType link_of(Carrier carrier) noexcept;
/// Is it for packets of InfiniBand alone?
[[nodiscard]] bool without_ip(Carrier carrier) noexcept;

/// The packet in `frame`, carried by `carrier`. Lengths and checksums are left to repair. nullopt: there is no IP in
/// it, or for a carrier without IP no BTH.
[[nodiscard]] std::optional<Octets> relinked(const trace::Frame& frame, Carrier carrier);

}  // namespace rpcrdma::fuzz
