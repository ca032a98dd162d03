// SPDX-License-Identifier: GPL-2.0-or-later
// A Call that is sent again, with its data in other memory: both are one exchange, and each is read for itself.
#include <gtest/gtest.h>

#include "exchange.hpp"

namespace rpcrdma::payload::test {
namespace {

using Kind = MessageSeen::Kind;
using Because = Assembler::Because;
using Placing = RpcMessage::Placing;

const Octets body = counting(40, 100);
const Octets data = counting(8);

void call(Assembler& a, std::uint32_t tag, std::uint32_t handle) {
  Sent sent(Kind::call, 1, wire::Proc::msg, body);
  sent.read(40, {handle, 8, 0});
  EXPECT_FALSE(a.message(sent(), tag));
}
[[nodiscard]] std::optional<RpcMessage> read(Assembler& a, std::uint32_t handle) {
  return a.operation(moved(OperationSeen::Kind::read_response, 1, {handle, 8, 0}, data));
}
/// What its coming gives up.
[[nodiscard]] std::optional<RpcMessage> reply(Assembler& a) {
  auto given_up = a.give_up(1, Because::answered);
  Sent sent(Kind::reply, 1, wire::Proc::msg, body);
  EXPECT_TRUE(a.message(sent()));
  return given_up;
}
void expect(const std::optional<RpcMessage>& rpc, std::uint32_t tag, Placing placing) {
  ASSERT_TRUE(rpc);
  EXPECT_TRUE(rpc->call);
  EXPECT_EQ(rpc->tag, tag);
  EXPECT_EQ(rpc->placing, placing);
  EXPECT_EQ(rpc->stream.octets, placing == Placing::whole ? body + data : body);
  EXPECT_EQ(rpc->stream.wire_length, body.size() + data.size());
}

TEST(SentAgain, TheReplyToTheFirstDoesNotEndTheSecond) {
  Assembler a;
  call(a, 7, 1);
  call(a, 9, 2);
  expect(read(a, 1), 7, Placing::whole);
  EXPECT_FALSE(reply(a));
  expect(read(a, 2), 9, Placing::whole);
  EXPECT_FALSE(reply(a));
  EXPECT_TRUE(a.waiting().empty());
}

TEST(SentAgain, EitherMayBeReadFirst) {
  Assembler a;
  call(a, 7, 1);
  call(a, 9, 2);
  expect(read(a, 2), 9, Placing::whole);
  expect(read(a, 1), 7, Placing::whole);
  EXPECT_FALSE(reply(a));
  EXPECT_TRUE(a.waiting().empty());
}

TEST(SentAgain, TheReplyEndsTheFirst) {
  Assembler a;
  call(a, 7, 1);
  call(a, 9, 2);
  expect(read(a, 2), 9, Placing::whole);
  expect(reply(a), 7, Placing::missing);
  EXPECT_TRUE(a.waiting().empty());
}

TEST(SentAgain, TheSecondReplyEndsTheSecond) {
  Assembler a;
  call(a, 7, 1);
  call(a, 9, 2);
  expect(read(a, 1), 7, Placing::whole);
  EXPECT_FALSE(reply(a));
  EXPECT_EQ(a.waiting().size(), 1U);
  expect(reply(a), 9, Placing::missing);
  EXPECT_FALSE(read(a, 2));
}

TEST(SentAgain, BothAreGivenUpAtTheEnd) {
  Assembler a;
  call(a, 7, 1);
  call(a, 9, 2);
  expect(a.give_up(1), 7, Placing::missing);
  expect(a.give_up(1), 9, Placing::missing);
  EXPECT_FALSE(a.give_up(1));
}

TEST(SentAgain, InTheSameMemoryItIsOneMessage) {
  Assembler a;
  call(a, 7, 1);
  call(a, 9, 1);
  expect(read(a, 1), 7, Placing::whole);
  EXPECT_FALSE(read(a, 1));
  EXPECT_FALSE(reply(a));
}

TEST(SentAgain, HoweverOftenItIsBounded) {
  Assembler a;
  for (std::uint32_t i = 1; i <= 1000; ++i) call(a, i, i);
  expect(read(a, 1), 1, Placing::whole);
  expect(read(a, 1000), 1000, Placing::whole);
  EXPECT_FALSE(a.give_up(1));
}

}  // namespace
}  // namespace rpcrdma::payload::test
