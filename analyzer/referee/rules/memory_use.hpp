// SPDX-License-Identifier: GPL-2.0-or-later
// An operation on memory, as it is held back and told.
#pragma once

#include <string>

#include "referee/docket/witness.hpp"
#include "referee/state/operations.hpp"

namespace rpcrdma::referee {

[[nodiscard]] Case::Use use_of(const JudgedOp& op);
/// The beginning of a sentence: who did what to which memory. Offsets and lengths are octets.
[[nodiscard]] std::string use_text(Side side, const Case::Use& use);

}  // namespace rpcrdma::referee
