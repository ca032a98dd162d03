// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/networks.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace rpcrdma::test {
namespace {

using namespace trace;  // NOLINT(google-build-using-namespace): the names under test

constexpr Address client{{10, 0, 0, 2}, Address::Kind::ipv4};
constexpr Address server{{10, 0, 0, 1}, Address::Kind::ipv4};

struct Step {
  std::uint32_t network;
  bool to_server;
  std::uint8_t flags;
  std::uint32_t sequence;
  int number;  ///< expected
};
constexpr std::uint8_t syn = TcpSegment::syn;
constexpr std::uint8_t answer = TcpSegment::syn | TcpSegment::ack;
constexpr std::uint8_t data = TcpSegment::ack;

struct Case {
  const char* name;
  std::vector<Step> steps;
};

TEST(Networks, WhichOfThem) {
  const Case cases[] = {
      {"none", {{0, true, syn, 100, 0}, {0, false, answer, 7, 0}, {0, true, data, 101, 0}}},
      {"one VLAN", {{10, true, syn, 100, 0}, {10, false, answer, 7, 0}, {10, true, syn, 900, 0}}},
      {"two, each with its own opening",
       {{10, true, syn, 100, 0},
        {20, true, syn, 900, 1},
        {20, false, answer, 7, 1},
        {10, false, answer, 8, 0},
        {30, true, syn, 500, 2}}},
      {"one of them untagged", {{0, true, syn, 100, 0}, {20, true, syn, 900, 1}, {0, false, answer, 7, 0}}},
      {"there in one, back in the other",
       {{10, true, syn, 100, 0}, {20, false, answer, 7, 0}, {10, true, data, 101, 0}, {20, false, syn, 300, 0}}},
      {"two of these",
       {{10, true, syn, 100, 0},
        {11, false, answer, 7, 0},
        {20, true, syn, 900, 1},
        {21, false, answer, 8, 1},
        {11, false, data, 9, 0}}},
      {"the same packets in both", {{10, true, syn, 100, 0}, {20, true, syn, 100, 0}, {20, true, data, 101, 0}}},
      {"the same packets in both networks, mirrored with a tag more",
       {{10, true, syn, 100, 0}, {20, true, syn, 900, 1}, {30, true, syn, 900, 1}, {30, false, answer, 7, 1}}},
      {"one that begins in the middle", {{10, true, syn, 100, 0}, {20, true, data, 900, 0}, {20, true, syn, 901, 0}}},
  };
  for (const auto& c : cases) {
    Networks networks;
    for (std::size_t i = 0; i < c.steps.size(); ++i) {
      const Step& step = c.steps[i];
      Opened opened;
      opened.content = Content::tcp;
      opened.network = step.network;
      opened.tcp.source = step.to_server ? client : server;
      opened.tcp.destination = step.to_server ? server : client;
      opened.tcp.source_port = step.to_server ? 700 : 20049;
      opened.tcp.destination_port = step.to_server ? 20049 : 700;
      opened.tcp.flags = step.flags;
      opened.tcp.sequence = step.sequence * 2;
      networks.place(opened);
      EXPECT_EQ(opened.tcp.source.network, step.number) << c.name << ", step " << i;
      EXPECT_EQ(opened.tcp.destination.network, step.number) << c.name << ", step " << i;
    }
  }
}

TEST(Networks, AnotherServiceDecidesNothing) {
  Networks networks;
  Opened opened;
  opened.content = Content::tcp;
  opened.tcp.source = client;
  opened.tcp.destination = server;
  const auto placed = [&](std::uint32_t vlan, std::uint16_t port, std::uint8_t flags, std::uint32_t sequence) {
    opened.network = vlan;
    opened.tcp.source_port = 40000;
    opened.tcp.destination_port = port;
    opened.tcp.flags = flags;
    opened.tcp.sequence = sequence;
    networks.place(opened);
    return opened.tcp.source.network;
  };
  EXPECT_EQ(placed(10, 20049, syn, 100), 0);
  EXPECT_EQ(placed(20, 22, data, 5), 0);
  EXPECT_EQ(placed(20, 20049, syn, 900), 1);
}

TEST(Networks, NoMoreThanAreKept) {
  Networks networks;
  for (std::uint32_t vlan = 1; vlan < 1000; ++vlan) {
    Opened opened;
    opened.content = Content::tcp;
    opened.network = vlan;
    opened.tcp.source = client;
    opened.tcp.destination = server;
    opened.tcp.flags = syn;
    opened.tcp.sequence = vlan * 2;
    EXPECT_EQ(networks.place(opened), vlan != 9) << vlan << ": it is said once";
    EXPECT_EQ(opened.tcp.source.network, vlan <= 8 ? vlan - 1 : 0U) << vlan;
  }
}

}  // namespace
}  // namespace rpcrdma::test
