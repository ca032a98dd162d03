// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/state/transactions.hpp"

#include <gtest/gtest.h>

namespace rpcrdma::referee {
namespace {

Transaction with_xid(std::uint32_t xid) {
  Transaction call;
  call.xid = xid;
  return call;
}

TEST(Transactions, KeysAreOfOneRequesterAndHoldTheXid) {
  EXPECT_NE(Transactions::key(Side::active, 7), Transactions::key(Side::passive, 7));
  EXPECT_EQ(Transactions::xid(Transactions::key(Side::passive, 0x12345678)), 0x12345678U);
}

TEST(Transactions, WhatWasErasedIsNotFoundAgain) {
  Transactions transactions;
  // More than are remembered as used lately, in an order that is neither that of the XIDs nor of the keys.
  for (std::uint32_t i = 0; i < 1000; ++i) {
    const std::uint32_t xid = i * 0x9E3779B1U;
    transactions.enter(Transactions::key(Side::active, xid), with_xid(xid));
  }
  EXPECT_EQ(transactions.find(Transactions::key(Side::passive, 0x9E3779B1U)), nullptr);
  for (std::uint32_t i = 0; i < 1000; ++i) {
    const std::uint64_t key = Transactions::key(Side::active, i * 0x9E3779B1U);
    ASSERT_NE(transactions.find(key), nullptr);
    EXPECT_EQ(transactions.find(key)->xid, i * 0x9E3779B1U);
    transactions.erase(key);
    EXPECT_EQ(transactions.find(key), nullptr);
  }
  EXPECT_TRUE(transactions.empty());
}

TEST(Transactions, NothingIsFoundOnceAllAreForgotten) {
  Transactions transactions;
  const std::uint64_t key = Transactions::key(Side::active, 0);
  EXPECT_EQ(transactions.find(key), nullptr);
  transactions.enter(key, with_xid(0));
  transactions.clear();
  EXPECT_EQ(transactions.find(key), nullptr);
}

}  // namespace
}  // namespace rpcrdma::referee
