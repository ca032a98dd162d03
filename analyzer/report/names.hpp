// SPDX-License-Identifier: GPL-2.0-or-later
// The words of the outside contract for the enumerations of facts.hpp. Scripts rely on them.
#pragma once

#include <string_view>

#include "referee/facts.hpp"

namespace rpcrdma::report {

[[nodiscard]] std::string_view name(trace::Transport transport) noexcept;  ///< "rocev2", ...
[[nodiscard]] std::string_view name(referee::Party party) noexcept;
[[nodiscard]] std::string_view name(referee::Role role) noexcept;
[[nodiscard]] std::string_view name(referee::Basis basis) noexcept;
[[nodiscard]] std::string_view name(referee::Closed::How how) noexcept;
[[nodiscard]] std::string_view name(trace::RolesFrom from) noexcept;  ///< empty for unknown
[[nodiscard]] std::string_view name(referee::FindingKind kind) noexcept;
[[nodiscard]] std::string_view name(referee::Owes owes) noexcept;

}  // namespace rpcrdma::report
