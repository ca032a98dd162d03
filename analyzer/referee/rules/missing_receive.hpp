// SPDX-License-Identifier: GPL-2.0-or-later
// Why a Send of version 1 found no Receive: RNR NAK on InfiniBand and RoCE, a Terminate on iWARP.
#pragma once

#include <cstdint>

#include "referee/docket/witness.hpp"
#include "referee/state/connection.hpp"

namespace rpcrdma::referee {

/// What it lacked the Receive for.
enum class Lacked : std::uint8_t {
  cannot_tell,
  call_above_grant,   ///< the requester's fault
  call_within_grant,  ///< the responder's, which has granted it
  reply,              ///< the requester's, which had to expect it
  reply_behind_calls  ///< the responder's, whose own Calls above their grant have taken Receives
};
[[nodiscard]] bool blames_sender(Lacked lacked) noexcept;
[[nodiscard]] Lacked what_lacked(const Witness& witness, const trace::Refusal& refusal, const RecentSend& send);

/// Whom that blames, in words. Not of what cannot be told.
void blame(Suspect& suspect, Lacked lacked, const trace::Refusal& refusal, const RecentSend& send);
/// The same as a finding.
HeldFinding say_lack(const Witness& witness, const Suspect& suspect, Lacked lacked, const trace::Refusal& refusal,
                     const RecentSend& send, Severity at_most = Severity::error);

}  // namespace rpcrdma::referee
