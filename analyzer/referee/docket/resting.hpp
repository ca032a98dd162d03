// SPDX-License-Identifier: GPL-2.0-or-later
// What rests on nothing being missing from where a gap may still turn out to lie: it is taken back then.
#pragma once

#include "referee/docket/witness.hpp"

namespace rpcrdma::referee {

/// On a close in good order, and on nothing else: that nothing is missing in front of it. A DREQ has no place among the
/// packets of its side: what was said last, with its acknowledgement, may be missing without a gap. What crosses the
/// close, or another connection of the mount, may show that the tap lost frames just then, and later than the close.
/// `lacking`: whose last messages would tell. What cases come to is handed over where they are concluded (witness.cpp);
/// this is for what is no case.
void rests_on_close(const Witness& witness, RuleId rule, trace::Side lacking, const HeldFinding& held);
/// On the Call being the first copy of itself, while an earlier connection of its mount is still there, which may show
/// later that packets of the client are missing from before. Those that were known of before are asked for with
/// `may_be_repetition`.
void rests_on_first_copy(const Witness& witness, RuleId rule, const Transaction& call, const HeldFinding& held);
/// Frames of `side` are missing, as `frame` shows: behind its newest Send in the order of its stream.
void take_back_what_rests(const Witness& witness, Side side, FrameRef frame);

}  // namespace rpcrdma::referee
