// SPDX-License-Identifier: GPL-2.0-or-later
// A Terminate without a copied header names nothing: what it may be about.
#pragma once

#include <cstdint>

#include "referee/state/connection.hpp"
#include "trace/events.hpp"

namespace rpcrdma::referee {

/// What the peer of a Terminate's sender sent and that one is not proven to have taken: it was not answered, and its
/// receiver has sent nothing since it had it, nor let it lie for long. An adapter refuses what comes at once, and
/// nothing comes behind that.
class NotTaken {
 public:
  NotTaken(Connection& connection, const trace::Refusal& terminate);

  /// The oldest of those for which `wanted` holds; null: there is none.
  template <class Predicate>
  [[nodiscard]] RecentSend* oldest_send(Predicate wanted) const {
    RecentSend* oldest = nullptr;
    for (RecentSend& send : sender_.sends) {
      if (send.ordinal > taken_ && wanted(send) && (oldest == nullptr || send.ordinal < oldest->ordinal)) {
        oldest = &send;
      }
    }
    return oldest;
  }
  /// Where it is the only message, and no Read waits, which a Terminate about untagged buffers may mean as well.
  [[nodiscard]] RecentSend* only_send() const;
  /// The RDMA operation that a refused access may be about: the oldest that stands accused, or else the only one.
  [[nodiscard]] JudgedOp* access() const;

 private:
  [[nodiscard]] bool open(const JudgedOp& op) const;

  SideState& sender_;
  const SideState& refuser_;
  std::uint64_t taken_;  ///< ordinal of the newest Send that was; with it all that stands in front of it
};

}  // namespace rpcrdma::referee
