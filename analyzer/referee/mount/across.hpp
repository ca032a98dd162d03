// SPDX-License-Identifier: GPL-2.0-or-later
// What is seen elsewhere and a mount has to know in the end.
#pragma once

#include "referee/mount/presence.hpp"
#include "referee/mount/trunks.hpp"

namespace rpcrdma::referee {

struct AcrossMounts {
  Trunks trunks;
  Presence presence;

  void join(const AcrossMounts& others) {
    trunks.join(others.trunks);
    presence.join(others.presence);
  }
};

}  // namespace rpcrdma::referee
