// SPDX-License-Identifier: GPL-2.0-or-later
// Who has to move, where a mount is not served.
#pragma once

#include <cstdint>

#include "referee/state/mount.hpp"

namespace rpcrdma::referee {

/// The state, the newest connection and all that waits are known. `wait`: the shortest wait that counts.
[[nodiscard]] Owes owes_of(const Assessment& a, const Mount& mount, TimeNs wait);

/// Why the oldest Call that waits cannot be answered, where that is known: no service is to blame for it.
enum class Blocked : std::uint8_t {
  no,
  never_whole,
  rest_without_credit,
  answer_without_credit,
  answer_without_window,  ///< of TCP
};
[[nodiscard]] Blocked blocked(const Assessment& a) noexcept;

}  // namespace rpcrdma::referee
