// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/networks.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
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
NetworkPath in_vlan(std::uint32_t vlan) {
  NetworkPath path;
  if (vlan != 0) path.add(NetworkPath::Kind::vlan, vlan);
  return path;
}
std::string name_of(const Opened& opened) {
  return opened.tcp.seen_in == nullptr ? std::string() : *opened.tcp.seen_in;
}

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
      {"mirrored with a tag, and the first copy behind six openings",
       {{0, true, syn, 100, 0},
        {0, true, syn, 101, 0},
        {0, true, syn, 102, 0},
        {0, true, syn, 103, 0},
        {0, true, syn, 104, 0},
        {0, true, syn, 105, 0},
        {10, true, syn, 100, 0},
        {10, true, syn, 105, 0}}},
      {"one that begins in the middle", {{10, true, syn, 100, 0}, {20, true, data, 900, 0}, {20, true, syn, 901, 0}}},
  };
  for (const auto& c : cases) {
    Networks networks;
    for (std::size_t i = 0; i < c.steps.size(); ++i) {
      const Step& step = c.steps[i];
      Opened opened;
      opened.content = Content::tcp;
      opened.network = in_vlan(step.network);
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
    opened.network = in_vlan(vlan);
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
    opened.network = in_vlan(vlan);
    opened.tcp.source = client;
    opened.tcp.destination = server;
    opened.tcp.flags = syn;
    opened.tcp.sequence = vlan * 2;
    EXPECT_EQ(networks.place(opened), vlan != 9) << vlan << ": it is said once";
    EXPECT_EQ(opened.tcp.source.network, vlan <= 8 ? vlan - 1 : 0U) << vlan;
    EXPECT_EQ(name_of(opened), vlan <= 8 ? "VLAN " + std::to_string(vlan) : "") << vlan;
  }
}

// A bound for all together, which is said once too.
TEST(Networks, NoMoreNamesThanAreKept) {
  constexpr std::uint32_t most = 65536;
  Networks networks;
  Opened opened;
  opened.content = Content::tcp;
  opened.tcp.destination = server;
  const auto place = [&](std::uint32_t number) {
    opened.network.clear();
    opened.network.add(NetworkPath::Kind::vxlan, number);
    opened.tcp.source = client;
    opened.tcp.source.octets[1] = static_cast<std::uint8_t>(number >> 11U);
    opened.tcp.source.octets[2] = static_cast<std::uint8_t>(number >> 3U);
    return networks.place(opened);
  };
  for (std::uint32_t number = 0; number < most + 5000; ++number) {
    ASSERT_EQ(place(number), number != most) << number;
    ASSERT_EQ(name_of(opened), number < most ? "VXLAN " + std::to_string(number) : "");
  }
  place(12345);
  EXPECT_EQ(name_of(opened), "VXLAN 12345");
}

// Each packet bears the name of its own way, also where two ways are one network.
TEST(Networks, WhatTheyAreCalled) {
  Networks networks;
  Opened opened;
  opened.content = Content::tcp;
  const auto placed = [&](std::uint32_t vlan, const Address& from, const Address& to) {
    opened.network = in_vlan(vlan);
    opened.tcp.source = from;
    opened.tcp.destination = to;
    networks.place(opened);
    return name_of(opened);
  };
  EXPECT_EQ(placed(0, client, server), "");
  EXPECT_EQ(placed(10, client, server), "VLAN 10");
  const std::string* const kept = opened.tcp.seen_in;
  EXPECT_EQ(placed(20, server, client), "VLAN 20");
  EXPECT_EQ(placed(0, server, client), "");
  for (std::uint32_t host = 1; host < 500; ++host) {
    Address other = client;
    other.octets[3] = static_cast<std::uint8_t>(host % 250);
    placed(100 + host, other, server);
  }
  EXPECT_EQ(placed(10, client, server), "VLAN 10");
  EXPECT_EQ(opened.tcp.seen_in, kept) << "it stays where it is";
}

// The kind and the order of what is on the way are part of it, and no number is too large.
TEST(Networks, PathsThatDiffer) {
  using Kind = NetworkPath::Kind;
  const std::vector<std::vector<std::pair<Kind, std::uint32_t>>> paths = {
      {},
      {{Kind::vlan, 7}},
      {{Kind::vxlan, 7}},
      {{Kind::geneve, 7}},
      {{Kind::gre, 7}},
      {{Kind::nvgre, 7}},
      {{Kind::gre, 0xFFFFFFFF}},
      {{Kind::vlan, 7}, {Kind::vlan, 7}},
      {{Kind::vlan, 7}, {Kind::vxlan, 7}},
      {{Kind::vxlan, 7}, {Kind::vlan, 7}},
      {{Kind::vlan, 1}, {Kind::vlan, 2}, {Kind::vlan, 3}, {Kind::vlan, 4}},
      {{Kind::vlan, 257}, {Kind::vlan, 2}, {Kind::vlan, 3}, {Kind::vlan, 4}},
  };
  std::set<std::uint64_t> ids;
  std::set<std::string> names;
  for (const auto& steps : paths) {
    NetworkPath path;
    for (const auto& [kind, number] : steps) path.add(kind, number);
    ids.insert(path.id());
    names.insert(path.text());
    EXPECT_EQ(path.id() == 0, steps.empty());
    path.clear();
    EXPECT_EQ(path.id(), 0U);
    EXPECT_EQ(path.text(), "");
  }
  EXPECT_EQ(ids.size(), paths.size());
  EXPECT_EQ(names.size(), paths.size());
  EXPECT_TRUE(names.contains("VLAN 7, VXLAN 7"));
  EXPECT_TRUE(names.contains("GRE 4294967295"));

  NetworkPath endless;
  std::set<std::uint64_t> lengths;
  for (std::size_t i = 0; i < 3 * NetworkPath::most; ++i) {
    endless.add(Kind::vlan, 4095);
    lengths.insert(endless.id());
  }
  EXPECT_EQ(lengths.size(), 3 * NetworkPath::most);
  EXPECT_EQ(endless.text().size(), NetworkPath::most * std::string("VLAN 4095, ").size() - 2);
}

}  // namespace
}  // namespace rpcrdma::test
