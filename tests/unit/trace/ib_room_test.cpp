// SPDX-License-Identifier: GPL-2.0-or-later
// More connections than there is room for: whose client waits for nothing goes first.
#include <gtest/gtest.h>

#include <algorithm>

#include "ib_peers.hpp"

namespace rpcrdma::test {
namespace {

constexpr std::uint32_t room_of_a_share = 2048;
constexpr std::uint32_t go_at_once = room_of_a_share / 8;

struct ManyConnections {
  Peers p{false, true};
  std::uint32_t opened = 0;

  ManyConnections() { p.true_crc = false; }
  void open(bool answered) {
    ++opened;
    p.client_cm.local_id = 0x1000 + opened;
    p.client_cm.transaction = opened;
    p.client_cm.qpn = 0x10000 + opened;
    p.client_cm.psn = Peers::server_psn;
    p.server_cm.remote_id = p.client_cm.local_id;
    p.server_cm.local_id = 0x800000 + opened;
    p.server_cm.qpn = 0x20000 + opened;
    p.handshake();
    p.from_client(ib_packet(op_send_only, p.server_cm.qpn, Peers::client_psn, {}, filled(64)));
    p.from_server(ib_packet(op_acknowledge, p.client_cm.qpn, Peers::client_psn, aeth(0x1F)));
    if (!answered) return;
    p.from_server(ib_packet(op_send_only, p.client_cm.qpn, Peers::server_psn, {}, filled(48)));
    p.from_client(ib_packet(op_acknowledge, p.server_cm.qpn, Peers::server_psn, aeth(0x1F)));
  }
  [[nodiscard]] std::ptrdiff_t told(const std::string& what) const {
    return std::count_if(p.sink.lines.begin(), p.sink.lines.end(),
                         [&](const std::string& line) { return line.find(what) != std::string::npos; });
  }
  [[nodiscard]] bool ended(std::uint32_t connection) const {
    const std::string begin = std::to_string(connection) + "A ";
    return std::any_of(p.sink.lines.begin(), p.sink.lines.end(), [&](const std::string& line) {
      return line.rfind(begin, 0) == 0 && line.find("disconnect unseen") != std::string::npos;
    });
  }
};

TEST(IbRoom, WhoWaitsStays) {
  ManyConnections many;
  many.open(false);
  while (many.opened < room_of_a_share) many.open(true);
  EXPECT_EQ(many.told("disconnect"), 0);
  many.open(true);
  EXPECT_EQ(many.told("disconnect unseen"), go_at_once);
  EXPECT_EQ(many.told("quality limit"), go_at_once);
  EXPECT_FALSE(many.ended(1));
  EXPECT_TRUE(many.ended(2));
  EXPECT_TRUE(many.ended(1 + go_at_once));
  EXPECT_FALSE(many.ended(2 + go_at_once));
}

// Whether its Call is answered cannot be known then.
TEST(IbRoom, WhereAllWaitTheOldestGoes) {
  ManyConnections many;
  while (many.opened <= room_of_a_share) many.open(false);
  EXPECT_EQ(many.told("disconnect unseen"), go_at_once);
  EXPECT_TRUE(many.ended(1));
  EXPECT_FALSE(many.ended(1 + go_at_once));
}

}  // namespace
}  // namespace rpcrdma::test
