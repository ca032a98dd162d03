// SPDX-License-Identifier: GPL-2.0-or-later
// Calls and Replies of version 1: the walk of one whose direction is known, or guessed.
#pragma once

#include <cstdint>

#include "referee/docket/turn.hpp"
#include "referee/message/direction.hpp"
#include "trace/events.hpp"
#include "wire/rpcrdma.hpp"

namespace rpcrdma::referee::v1 {

/// One message of version 1 in the hands of the checks.
struct Turn : TurnOf<wire::HeaderV1> {
  const Reading& reading;
  enum class Lists : std::uint8_t { complete, cut } lists;  ///< of chunks, as captured

  [[nodiscard]] bool is(wire::Proc proc) const noexcept { return static_cast<wire::Proc>(header.fixed.proc) == proc; }
  [[nodiscard]] bool lists_complete() const noexcept { return lists == Lists::complete; }
  /// ... and it is known whose they are.
  [[nodiscard]] bool lists_known() const noexcept { return lists_complete() && !reading.guessed; }
  [[nodiscard]] bool has_payload() const noexcept { return lists_complete() && event.octets.size() > header.length; }
};

void take_call(const Turn& turn);
void take_reply(const Turn& turn);

}  // namespace rpcrdma::referee::v1
