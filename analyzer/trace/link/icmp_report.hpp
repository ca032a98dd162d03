// SPDX-License-Identifier: GPL-2.0-or-later
// Inside trace: what ICMP says of packets that matter here.
#pragma once

#include "trace/packet.hpp"
#include "wire/layer.hpp"

namespace rpcrdma::trace {

/// ICMP, or ICMPv6 by the kind of its addresses, that quotes a TCP segment or a REQ. False: it says something else, or
/// quotes less. All but `ref` is filled.
[[nodiscard]] bool read_report(Address::Kind kind, const wire::Layer& icmp, Undelivered& out) noexcept;

/// Neighbour discovery (RFC 4861): like ARP, a switch answers it in a machine's place.
[[nodiscard]] bool answers_for_others(Address::Kind kind, const wire::Layer& icmp) noexcept;

}  // namespace rpcrdma::trace
