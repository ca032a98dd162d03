// SPDX-License-Identifier: GPL-2.0-or-later
// Two directions that no PSN pairs.
#include <gtest/gtest.h>

#include "ib_peers.hpp"

namespace rpcrdma::test {
namespace {

constexpr std::uint32_t first_call = 0x7000;
constexpr std::uint32_t first_reply = 0x9000;

/// RDMA_MSG without chunks that carries an NFS Call or Reply.
Octets message(std::uint32_t xid, bool call) {
  const Octets header = be32(xid) + be32(1) + be32(32) + be32(0) + filled(12);
  const Octets body = call ? be32(2) + be32(100003) + be32(4) + be32(1) + filled(16) : filled(16);
  return header + be32(xid) + be32(call ? 0 : 1) + body;
}

/// RDMA_NOMSG whose RPC message was written into the Reply chunk.
Octets in_reply_chunk(std::uint32_t xid) {
  return be32(xid) + be32(1) + be32(32) + be32(1) + filled(8) + be32(1) + be32(1) + be32(0xAB) + be32(5000) +
         be64(0x1000);
}

constexpr trace::TimeNs long_apart = 1'000'000'000;

// Saved with a filter perhaps: no PSN answers another. What answers a Call has its XID.
TEST(IbPairingByXid, ACallAndItsReplyAreOneConnection) {
  for (const Octets& answer : {message(7, false), in_reply_chunk(7)}) {
    Peers peers;
    peers.set_up_fields();
    peers.call(first_call, message(7, true));
    peers.reply(first_reply, answer);
    peers.finish();
    ASSERT_EQ(peers.sink.adopted.size(), 1U);
    EXPECT_FALSE(peers.sink.adopted.at(0).one_way);
    EXPECT_EQ(peers.sink.news().front(), "1A #1 adopted 10.0.0.2:-/0x11 10.0.0.1:-/0x22");
  }
}

// The least that speaks against it: then they stay two halves.
TEST(IbPairingByXid, ACallAndAReplyThatMayBeOthersAreTwoHalves) {
  const auto more_client = [](Peers& peers, std::uint32_t qpn, std::uint32_t xid) {
    peers.from_client(ib_packet(4, qpn, 0x4000, {}, message(xid, true)));
  };
  const auto more_server = [](Peers& peers, std::uint32_t qpn, std::uint32_t xid) {
    peers.from_server(ib_packet(4, qpn, 0x5000, {}, message(xid, false)));
  };
  struct Row {
    const char* what;
    std::size_t connections;
    void (*tell)(Peers&, decltype(more_client), decltype(more_server));
  };
  const Row rows[] = {
      {"another XID", 2,
       [](Peers& peers, auto, auto) {
         peers.call(first_call, message(7, true));
         peers.reply(first_reply, message(8, false));
       }},
      {"two Calls", 2,
       [](Peers& peers, auto, auto) {
         peers.call(first_call, message(7, true));
         peers.reply(first_reply, message(7, true));
       }},
      {"another connection sent the same Call", 3,
       [](Peers& peers, auto client, auto) {
         peers.call(first_call, message(7, true));
         client(peers, 0xA1, 7);
         peers.reply(first_reply, message(7, false));
       }},
      {"another connection sent the same Reply", 3,
       [](Peers& peers, auto, auto server) {
         peers.call(first_call, message(7, true));
         peers.reply(first_reply, message(7, false));
         server(peers, 0xA2, 7);
       }},
      {"two connections' Replies", 3,
       [](Peers& peers, auto, auto server) {
         peers.call(first_call, message(7, true));
         peers.call(first_call + 1, message(8, true));
         peers.reply(first_reply, message(7, false));
         server(peers, 0xA2, 8);
       }},
      {"a Reply long in front of the Call", 2,
       [](Peers& peers, auto, auto) {
         peers.reply(first_reply, message(7, false));
         peers.time += long_apart;
         peers.call(first_call, message(7, true));
       }},
      {"acknowledgements of another connection's PSNs", 2,
       [](Peers& peers, auto, auto) {
         peers.call(first_call, message(7, true));
         peers.reply(first_reply, message(7, false));
         peers.client_acks(first_reply + 0x400000);
       }},
  };
  for (const Row& row : rows) {
    Peers peers;
    peers.set_up_fields();
    row.tell(peers, more_client, more_server);
    peers.finish();
    EXPECT_EQ(peers.sink.adopted.size(), row.connections) << row.what;
    for (const trace::Adopted& each : peers.sink.adopted) EXPECT_TRUE(each.one_way) << row.what;
  }
}

}  // namespace
}  // namespace rpcrdma::test
