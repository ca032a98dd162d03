// SPDX-License-Identifier: GPL-2.0-or-later
// Which IP addresses belong to two ports of a fabric.
#include <gtest/gtest.h>

#include "ib_peers.hpp"
#include "trace/ib/ip_names.hpp"

namespace rpcrdma::test {
namespace {

using trace::ib::IpNames;
using Names = std::array<std::string, 2>;
using Ports = std::array<trace::Address, 2>;

const Ports ports{lid_address(5), lid_address(7)};
const Ports turned{lid_address(7), lid_address(5)};
const Names by_lid{"lid 5", "lid 7"};
const Names by_ip{"10.0.0.2", "10.0.0.1"};

TEST(IbIpNames, AreThoseOfTheRequestEitherWayRound) {
  IpNames names;
  EXPECT_EQ(names.of(ports), by_lid);
  names.learn(ports, by_ip, IpNames::max_pairs);
  EXPECT_EQ(names.of(ports), by_ip);
  EXPECT_EQ(names.of(turned), (Names{"10.0.0.1", "10.0.0.2"}));
  EXPECT_EQ(names.of({lid_address(5), lid_address(8)}), (Names{"lid 5", "lid 8"}));
}

TEST(IbIpNames, AreNotGuessedWhereAPortHasSeveral) {
  IpNames names;
  names.learn(ports, by_ip, IpNames::max_pairs);
  names.learn(turned, {"10.0.0.1", "10.0.0.2"}, IpNames::max_pairs);  // the same, by the other end
  names.learn(ports, by_lid, IpNames::max_pairs);                     // a service without an RDMA IP CM header
  EXPECT_EQ(names.of(ports), by_ip);
  names.learn(ports, {"10.0.0.3", "10.0.0.1"}, IpNames::max_pairs);
  EXPECT_EQ(names.of(ports), by_lid);
}

TEST(IbIpNames, OfOnePortSayNothing) {
  IpNames names;
  names.learn({lid_address(5), lid_address(5)}, by_ip, IpNames::max_pairs);
  EXPECT_EQ(names.of({lid_address(5), lid_address(5)}), (Names{"lid 5", "lid 5"}));
}

TEST(IbIpNames, AreNoMoreThanThereIsRoomFor) {
  IpNames names;
  names.learn(ports, by_ip, 0);
  EXPECT_EQ(names.of(ports), by_lid);
}

}  // namespace
}  // namespace rpcrdma::test
