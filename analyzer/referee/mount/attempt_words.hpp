// SPDX-License-Identifier: GPL-2.0-or-later
// A row of attempts to connect, said in the sentence about the mount.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "referee/state/mount.hpp"

namespace rpcrdma::referee {

/// "7 attempts to connect were not answered"; `port`: that the attempts are to this one is said as well.
[[nodiscard]] std::string attempts_text(const AttemptSeries& series, std::optional<std::uint16_t> port = {});

}  // namespace rpcrdma::referee
