// SPDX-License-Identifier: GPL-2.0-or-later
// Memory that two messages of one side offer at the same time: Calls (group G) or Replies (group H).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "referee/facts.hpp"
#include "referee/rules/checks.hpp"
#include "referee/state/case.hpp"

namespace rpcrdma::referee {

/// The message that offered it first, which is not over ahead of the second.
struct OfferedFirst {
  std::uint32_t xid = 0;
  bool stale = false;  ///< so old that its sender may have given it up
  std::string then;    ///< said behind it
};
/// The words that the messages of a rule are spoken of with.
struct SharedWords {
  Role as;
  std::string_view second;  ///< "Call"
  std::string_view first;   ///< "unanswered Call"
};
/// Settles a case about such memory (Case::SharedMemory).
void settle_shared(const Witness& witness, const Case& waited, const SharedWords& words, const OfferedFirst& first);

}  // namespace rpcrdma::referee
