// SPDX-License-Identifier: GPL-2.0-or-later
// What rests on a close in good order, and on nothing else: that nothing is missing in front of it.
#pragma once

#include "referee/docket/witness.hpp"

namespace rpcrdma::referee {

/// A DREQ has no place among the packets of its side: what was said last, with its acknowledgement, may be missing
/// without a gap. Another connection of the mount may show that the tap lost frames just then, and later than the
/// close. `held`, of this rule, is taken back then. `lacking`: whose last messages would tell.
void rests_on_close(const Witness& witness, RuleId rule, trace::Side lacking, const HeldFinding& held);
/// Frames of `side` are missing, as `frame` shows.
void doubt_closes_beside(const Witness& witness, Side side, FrameRef frame);

}  // namespace rpcrdma::referee
