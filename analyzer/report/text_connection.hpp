// SPDX-License-Identifier: GPL-2.0-or-later
// One connection in full, as the text report tells it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/layout.hpp"
#include "report/quantity.hpp"
#include "report/report.hpp"

namespace rpcrdma::report {

void connection_block(Page& page, const referee::ConnectionFacts& connection, Epoch epoch, const TextStyle& style);

/// It came to be, by what is known of its end.
[[nodiscard]] bool established(const referee::ConnectionFacts& connection) noexcept;

[[nodiscard]] std::string_view spoken(trace::Transport transport);  ///< "RoCEv2"
[[nodiscard]] std::string spoken(const trace::Endpoint& end);       ///< "192.168.77.2:43180 (QP 0x000011)"
/// ", in VLAN 10 and VLAN 20"; nothing where there is no name.
[[nodiscard]] std::string in_networks(const std::vector<std::string>& names);
/// "closed in good order by the client, frame 40, +1.200000 s"
[[nodiscard]] std::string ending(const referee::ConnectionFacts& connection, Epoch epoch);

}  // namespace rpcrdma::report
