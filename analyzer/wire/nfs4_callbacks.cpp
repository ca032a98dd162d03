// SPDX-License-Identifier: GPL-2.0-or-later
// The operations of the back channel, as sequences of items (RFC 7531, 5662, 7863).
#include "wire/nfs4_walker.hpp"

namespace rpcrdma::wire::nfs4 {

namespace {

/// notify4: which, and what they say.
bool notification(Walker& w) { return w.shape("b") && w.shape("o"); }

bool callback_layout_recall(Walker& w) {
  std::uint32_t type = 0;
  if (!w.shape("www") || !w.word(type)) return false;
  switch (type) {
    case 1:  // LAYOUTRECALL4_FILE
      return w.shape("oddi");
    case 2:  // FSID
      return w.shape("dd");
    case 3:  // ALL
      return true;
    default:
      return false;
  }
}

bool callback_offload(Walker& w) {
  std::uint32_t status = 0;
  if (!w.shape("oi") || !w.word(status)) return false;
  return status == 0 ? w.shape("Idwd") : w.shape("d");
}

}  // namespace

bool step_over_callback_arguments(Walker& w, std::uint32_t operation) {
  switch (operation) {
    case 3:  // CB_GETATTR
      return w.shape("ob");
    case 4:  // CB_RECALL
      return w.shape("iwo");
    case 5:
      return callback_layout_recall(w);
    case 6:  // CB_NOTIFY
      return w.shape("io") && w.each([&w] { return notification(w); });
    case 8:  // CB_RECALL_ANY, CB_RECALLABLE_OBJ_AVAIL
    case 9:
      return w.shape("wb");
    case 10:  // CB_RECALL_SLOT
      return w.shape("w");
    case 11:  // CB_SEQUENCE, with the lists of calls it refers to
      return w.shape("nwwww") && w.each([&w] { return w.shape("n") && w.array(8); });
    case 12:  // CB_WANTS_CANCELLED
      return w.shape("ww");
    case 13:  // CB_NOTIFY_LOCK
      return w.shape("odo");
    case 14:  // CB_NOTIFY_DEVICEID
      return w.each([&w] { return notification(w); });
    case 15:
      return callback_offload(w);
    case 10044:  // CB_ILLEGAL
      return true;
    default:
      return false;  // CB_PUSH_DELEG carries a whole delegation
  }
}

bool step_over_callback_results(Walker& w, std::uint32_t operation, bool& ok) {
  std::uint32_t status = 0;
  ok = false;
  if (!w.word(status)) return false;
  ok = status == 0;
  if (operation == 3 && ok) return w.shape("bo");      // CB_GETATTR
  if (operation == 11 && ok) return w.shape("nwwww");  // CB_SEQUENCE
  return (operation >= 3 && operation <= 15) || operation == 10044;
}

}  // namespace rpcrdma::wire::nfs4
