// SPDX-License-Identifier: GPL-2.0-or-later
// Group L: what was refused, why a connection ended.
#pragma once

#include <vector>

#include "referee/facts.hpp"
#include "referee/rules/checks.hpp"

namespace rpcrdma::referee {

// --- refusals.cpp
void judge_refusal(const Witness& witness, const trace::Refusal& refusal);

// --- refused_access.cpp
/// NAK 0x62 or a protection Terminate.
void judge_access_refused(const Witness& witness, const trace::Refusal& refusal);

// --- consequences.cpp
/// At the end, with all findings in their order: which of them follow from another.
void link_consequences(std::vector<Finding>& findings);

// --- lost.cpp
void judge_close(const Witness& witness, const trace::Disconnect& event);
void judge_lost(const Witness& witness, FrameRef noticed, FrameRef superseded_by);
/// Traffic stopped: retransmissions that nobody answered. True when that is proven enough to speak of a loss.
[[nodiscard]] bool retries_exhausted(const Connection& connection, FrameRef successor);

}  // namespace rpcrdma::referee
