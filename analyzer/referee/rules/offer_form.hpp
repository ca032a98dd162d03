// SPDX-License-Identifier: GPL-2.0-or-later
// Of an offer that is known to be a Reply: may it be there, does it look as it has to, and had it to be?
#pragma once

#include "referee/docket/witness.hpp"
#include "referee/state/offers.hpp"

namespace rpcrdma::referee {

void judge_offer_form(const Witness& witness, const Offer& offer);
/// Would the Reply have fitted elsewhere?
void judge_offer_needed(const Witness& witness, const Offer& offer);

}  // namespace rpcrdma::referee
