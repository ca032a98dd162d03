// SPDX-License-Identifier: GPL-2.0-or-later
#include <gtest/gtest.h>

#include <cstdint>
#include <utility>

#include "referee/state/mount.hpp"

namespace {

using rpcrdma::referee::Connection;
using rpcrdma::referee::keep_unheard;
using rpcrdma::referee::Life;
using rpcrdma::referee::may_be_repetition;
using rpcrdma::referee::Mount;
using rpcrdma::referee::Transaction;
using rpcrdma::referee::Transactions;
using rpcrdma::trace::Side;

Transaction call_with(std::uint32_t xid, std::uint64_t frame) {
  Transaction call;
  call.xid = xid;
  call.requester = Side::active;
  call.call = {frame, 0};
  call.id = {Transactions::key(Side::active, xid), xid};
  return call;
}

/// A connection is lost with so many open Calls, the first of which comes again on the next.
void lose(Mount& mount, std::uint32_t calls) {
  Connection lost;
  lost.mount = &mount;
  for (std::uint32_t xid = 1; xid <= calls; ++xid) {
    lost.transactions.enter(Transactions::key(Side::active, xid), call_with(xid, xid));
  }
  keep_unheard(lost);
}

bool repeats(Mount& mount, std::uint64_t opened, std::uint64_t calls) {
  Connection next;
  next.mount = &mount;
  next.facts.opened = {opened, 0};
  next.facts.handshake_seen = true;
  next.facts.messages.calls = calls;
  return may_be_repetition(next, call_with(77'777, opened + 1));
}

TEST(Repetition, whatWasOpenAndIsForgottenMayComeAgain) {
  constexpr std::uint64_t behind = 10'000;
  Mount mount;
  lose(mount, Mount::most_unheard);
  EXPECT_FALSE(repeats(mount, behind, 1)) << "all are known, and this is none of them";
  Mount full;
  lose(full, Mount::most_unheard + 1);
  EXPECT_TRUE(repeats(full, behind, 1));
  EXPECT_TRUE(repeats(full, behind, 1024));
  EXPECT_FALSE(repeats(full, behind, 1025)) << "what was open is sent right away";
  EXPECT_FALSE(repeats(full, 1, 1)) << "it began before";
}

TEST(Repetition, whatAConnectionLacksMayComeAgainOnTheNext) {
  struct Before {
    const char* what;
    void (*lacks)(Life&);
    bool perhaps;
  };
  constexpr std::uint64_t behind = 10'000;
  for (const Before& before : {
           Before{"seen whole", [](Life&) {}, false},
           Before{"its beginning", [](Life& life) { life.seen = Life::Seen::in_part; }, true},
           Before{"one direction", [](Life& life) { life.one_way = true; }, true},
           Before{"frames of the client",
                  [](Life& life) {
                    life.newest_lack[0] = {500, 0};
                  },
                  true},
           Before{"frames of the server",
                  [](Life& life) {
                    life.newest_lack[1] = {500, 0};
                  },
                  true},
       }) {
    SCOPED_TRACE(before.what);
    Mount mount;
    Life life;
    life.opened = {100, 0};
    before.lacks(life);
    mount.lives.push_back(life);
    EXPECT_EQ(repeats(mount, behind, 1), before.perhaps);
    EXPECT_FALSE(repeats(mount, behind, 1025)) << "what was open is sent right away";
    EXPECT_FALSE(repeats(mount, 100, 1)) << "it began with it";
  }
}

}  // namespace
