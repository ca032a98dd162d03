// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/rules/shared_memory.hpp"

#include <fmt/format.h>

#include "referee/docket/cases.hpp"
#include "referee/docket/counted.hpp"

namespace rpcrdma::referee {

void settle_shared(const Witness& witness, const Case& waited, const SharedWords& words, const OfferedFirst& first) {
  if (!waited.proven() && !waited.orderly) {
    leave_unproven(witness, waited);  // what gave the memory back
    return;
  }
  const Case::SharedMemory& shared = *waited.is<Case::SharedMemory>();
  witness.conclude(
      waited,
      {.frames = {waited.frame, waited.evidence},
       .by = waited.accused,
       .as = words.as,
       .xid = waited.xid,
       .at_most = first.stale ? Severity::note : Severity::error,
       .what = fmt::format("The {}'s {} with XID {:#010x} offers {} at {:#x} of handle {:#010x}, which the {} "
                           "with XID {:#010x} (frame {}) offers too{}.",
                           name(waited.accused), words.second, waited.xid, counted(shared.length, "octet"),
                           shared.offset, shared.handle, words.first, first.xid, waited.evidence.number, first.then)});
}

}  // namespace rpcrdma::referee
