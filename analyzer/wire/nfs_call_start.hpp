// SPDX-License-Identifier: GPL-2.0-or-later
// What the first words of most NFSv4.1 Calls say, for whoever does not need the rest: no walk.
#pragma once

#include <optional>

#include "wire/bytes.hpp"
#include "wire/nfs_steps.hpp"

namespace rpcrdma::wire {

/// The session that a COMPOUND or CB_COMPOUND names first, with SEQUENCE or CB_SEQUENCE (RFC 8881 sections 18.46 and
/// 20.9). `arguments`: behind the RPC header. nullopt: it begins with another operation, or is cut.
[[nodiscard]] std::optional<SessionId> leading_session(Bytes arguments, bool callback) noexcept;

}  // namespace rpcrdma::wire
