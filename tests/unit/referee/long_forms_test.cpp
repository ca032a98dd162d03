// SPDX-License-Identifier: GPL-2.0-or-later
// A Long Call and a Reply that is offered to be read look alike, and so do a Call and a Reply with one XID: where the
// capture cut what would tell them apart.
#include <gtest/gtest.h>

#include "story.hpp"

namespace rpcrdma::referee::story {
namespace {

Chunks position_zero(std::uint32_t handle, std::uint32_t length) {
  Chunks chunks;
  chunks.reads.push_back({0, {handle, length, 0x1000}});
  return chunks;
}

/// The whole of a Call with a Reply chunk: header, then the RPC message.
Octets call_with_reply_chunk(std::uint32_t xid) {
  Chunks chunks;
  chunks.reply = wire::WriteChunk{{0xA100, 2000, 0x1000}};
  Octets octets = header(xid, 32, 0, chunks);
  const Octets rpc = rpc_call(xid);
  octets.insert(octets.end(), rpc.begin(), rpc.end());
  return octets;
}

TEST(LongForms, TheReplyToWhatMayHaveBeenALongCallMayBeOneItself) {
  Story s;
  s.connect();
  // Neither says what it is: what the server sends may be Calls of its own from here on.
  const Octets first = call_with_reply_chunk(1);
  s.cut(Side::active, first, first.size() - 38).reply(1);
  const Octets second = call_with_reply_chunk(2);
  s.cut(Side::active, second, second.size() - 38);
  Chunks offered = position_zero(0xB100, 6000);
  offered.reply = wire::WriteChunk{{0xA100, 0, 0x1000}};
  s.message(Side::passive, 2, 32, offered, {});
  // The client's next Call, with the same XID: in truth the offer was the Reply, and RDMA_DONE ends it.
  s.message(Side::active, 2, 32, position_zero(0xA200, 104), {});
  s.read(Side::active, 0xB100, 0x1000, 6000).read(Side::passive, 0xA200, 0x1000, 104);
  s.done(Side::active, 2).reply(2).call(3).reply(3).close(Side::active);
  const Report report = s.end();
  EXPECT_EQ(found(report, RuleId::done_answered).size(), 0U);
  EXPECT_EQ(found(report, RuleId::pull_completion_missing).size(), 0U);
  EXPECT_EQ(above_note(report), 0U);
  EXPECT_TRUE(unchecked(report, RuleId::reply_without_call));
}

TEST(LongForms, WhatMayBeACallbackEndsNoUseOfMemory) {
  Story s;
  s.connect();
  // The server does call. What it sends next is cut right behind its header.
  s.message(Side::passive, 900, 32, {}, rpc_call(900)).message(Side::active, 900, 32, {}, rpc_reply(900));
  Chunks chunks;
  chunks.reads.push_back({40, {0xA300, 64, 0x1000}});
  chunks.writes.push_back({{0xA400, 64, 0x2000}});
  s.call(5, chunks);
  Octets callback = header(5, 32, 0, {});
  const Octets rpc = rpc_call(5);
  callback.insert(callback.end(), rpc.begin(), rpc.end());
  s.cut(Side::passive, callback, 28);
  s.read(Side::passive, 0xA300, 0x1000, 64).write(Side::passive, 0xA400, 0x2000, 64);
  Chunks returned;
  returned.writes = chunks.writes;
  s.message(Side::active, 5, 32, {}, rpc_reply(5)).reply(5, returned).call(6).reply(6);
  s.close(Side::active);
  const Report report = s.end();
  EXPECT_EQ(above_note(report), 0U);
  EXPECT_TRUE(unchecked(report, RuleId::rdma_read_after_reply));
  EXPECT_TRUE(unchecked(report, RuleId::rdma_write_after_reply));
}

}  // namespace
}  // namespace rpcrdma::referee::story
