// SPDX-License-Identifier: GPL-2.0-or-later
// The two sides of a connection, and what people call them.
#pragma once

#include <cstddef>

#include "referee/facts.hpp"
#include "trace/events.hpp"

namespace rpcrdma::referee {

using trace::Side;

[[nodiscard]] constexpr std::size_t index(Side side) noexcept { return static_cast<std::size_t>(side); }
[[nodiscard]] constexpr Party party(Side side) noexcept { return side == Side::active ? Party::client : Party::server; }

[[nodiscard]] constexpr Side side(Party party) noexcept {
  return party == Party::client ? Side::active : Side::passive;
}

[[nodiscard]] constexpr const char* name(Side side) noexcept { return side == Side::active ? "client" : "server"; }

}  // namespace rpcrdma::referee
