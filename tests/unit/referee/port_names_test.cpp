// SPDX-License-Identifier: GPL-2.0-or-later
// Which IP addresses belong to two ports of a fabric, and who is called by them.
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "referee/mount/port_names.hpp"
#include "story.hpp"

namespace rpcrdma::referee::story {
namespace {

using Names = std::array<std::string, 2>;

const Names ports{"lid 5", "lid 7"};
const Names turned{"lid 7", "lid 5"};
const Names by_ip{"10.0.0.2", "10.0.0.1"};
const Names by_ip_turned{"10.0.0.1", "10.0.0.2"};

trace::Endpoint end(const std::string& port, const std::string& ip) {
  trace::Endpoint end;
  end.address = ip;
  if (ip != port) end.fabric = port;
  return end;
}

bool learn(PortNames& names, const Names& of, const Names& said) {
  return names.learn(end(of[0], said[0]), end(of[1], said[1]));
}

/// What an adopted connection between these ports is called.
Names called(const PortNames& names, const Names& of) {
  trace::Endpoint client = end(of[0], of[0]);
  trace::Endpoint server = end(of[1], of[1]);
  names.name(client, server);
  EXPECT_EQ(PortNames::port(client), of[0]);
  EXPECT_EQ(PortNames::port(server), of[1]);
  return {client.address, server.address};
}

TEST(PortNames, AreThoseOfTheRequestEitherWayRound) {
  PortNames names(8);
  EXPECT_EQ(called(names, ports), ports);
  EXPECT_TRUE(learn(names, ports, by_ip));
  EXPECT_EQ(called(names, ports), by_ip);
  EXPECT_EQ(called(names, turned), by_ip_turned);
  EXPECT_EQ(called(names, {"lid 5", "lid 8"}), (Names{"lid 5", "lid 8"}));
}

TEST(PortNames, AreNotGuessedWhereAPortHasSeveral) {
  PortNames names(8);
  EXPECT_TRUE(learn(names, ports, by_ip));
  EXPECT_FALSE(learn(names, turned, by_ip_turned));  // the same, by the other end
  EXPECT_FALSE(learn(names, ports, ports));          // a service without an RDMA IP CM header
  EXPECT_EQ(called(names, ports), by_ip);
  EXPECT_FALSE(learn(names, ports, {"10.0.0.3", "10.0.0.1"}));
  EXPECT_EQ(called(names, ports), ports);
}

TEST(PortNames, OfOnePortSayNothing) {
  PortNames names(8);
  EXPECT_FALSE(learn(names, {"lid 5", "lid 5"}, by_ip));
  EXPECT_EQ(called(names, {"lid 5", "lid 5"}), (Names{"lid 5", "lid 5"}));
}

TEST(PortNames, OfAnotherNetworkAreOthers) {
  PortNames names(8);
  EXPECT_TRUE(learn(names, ports, by_ip));
  trace::Endpoint client = end("lid 5", "lid 5");
  trace::Endpoint server = end("lid 7", "lid 7");
  client.network = server.network = 1;
  names.name(client, server);
  EXPECT_EQ(client.address, "lid 5");
}

TEST(PortNames, AreNoMoreThanThereIsRoomFor) {
  PortNames names(0);
  EXPECT_FALSE(learn(names, ports, by_ip));
  EXPECT_EQ(called(names, ports), ports);
}

class Fabric {
 public:
  /// A connection that is seen from its middle on.
  void adopts(trace::ConnectionId id, const Names& of) {
    trace::Adopted adopted;
    begin(adopted, id);
    adopted.transport = trace::Transport::infiniband;
    adopted.client = end(of[0], of[0]);
    adopted.server = end(of[1], of[1]);
    adopted.roles_from = trace::RolesFrom::traffic;
    referee_.on(adopted);
    says(id, Side::active, header(id, 32, 0, {}), rpc_call(id));
    says(id, Side::passive, header(id, 32, 0, {}), rpc_reply(id));
  }
  void requests(trace::ConnectionId id, const Names& of, const Names& said) {
    trace::ConnectRequest request;
    begin(request, id);
    request.transport = trace::Transport::infiniband;
    request.opened = request.frame;
    request.client = end(of[0], said[0]);
    request.server = end(of[1], said[1]);
    request.server.port = 20049;
    referee_.on(request);
  }
  void closes(trace::ConnectionId id) {
    trace::Disconnect close;
    begin(close, id);
    referee_.on(close);
  }
  Report end_of_capture() { return referee_.finish({frame_, trace::TimeNs(frame_) * 1'000'000}); }

 private:
  void begin(trace::EventBase& event, trace::ConnectionId id) {
    event.connection = id;
    event.frame = {++frame_, trace::TimeNs(frame_) * 1'000'000};
  }
  void says(trace::ConnectionId id, Side side, Octets octets, const Octets& rpc) {
    octets.insert(octets.end(), rpc.begin(), rpc.end());
    trace::Send send;
    begin(send, id);
    send.side = side;
    send.octets = octets;
    send.wire_length = static_cast<std::uint32_t>(octets.size());
    send.last = send.frame;
    send.ordinal = 1;
    referee_.on(send);
  }

  Referee referee_{Options{}};
  std::uint64_t frame_ = 0;
};

Names ends_of(const Report& report, trace::ConnectionId id) {
  for (const ConnectionFacts& facts : report.connections) {
    if (facts.id == id) return {facts.client.address, facts.server.address};
  }
  return {};
}

// Open, closed, closed so long ago that nothing but its facts is kept, and after the REQ: it is one mount, and each of
// its connections is called like it.
TEST(PortNames, ConnectionsAreCalledLikeTheirMount) {
  Fabric fabric;
  constexpr trace::ConnectionId closed = 100;  // more than are kept
  for (trace::ConnectionId id = 1; id <= closed; ++id) {
    fabric.adopts(id, ports);
    fabric.closes(id);
  }
  fabric.adopts(101, ports);
  fabric.requests(102, ports, by_ip);
  fabric.adopts(103, ports);
  const Report report = fabric.end_of_capture();
  ASSERT_EQ(report.mounts.size(), 1U);
  EXPECT_EQ(report.mounts[0].client, "10.0.0.2");
  EXPECT_EQ(report.mounts[0].server, "10.0.0.1");
  for (const trace::ConnectionId id : {1U, 50U, closed, 101U, 103U}) EXPECT_EQ(ends_of(report, id), by_ip) << id;
}

// Which end is the client was a guess, and a wrong one.
TEST(PortNames, AMountTheOtherWayRoundIsNamedAsWell) {
  Fabric fabric;
  fabric.adopts(1, turned);
  fabric.requests(2, ports, by_ip);
  fabric.adopts(3, turned);
  const Report report = fabric.end_of_capture();
  ASSERT_EQ(report.mounts.size(), 2U);
  EXPECT_EQ(report.mounts[0].client, "10.0.0.1");
  EXPECT_EQ(report.mounts[0].connections, (std::vector<trace::ConnectionId>{1, 3}));
  EXPECT_EQ(ends_of(report, 1), by_ip_turned);
}

// Two ports of a machine may serve one address: that has a mount already, and what was seen before stays what it was.
TEST(PortNames, NamesThatHaveAMountTakeNoOther) {
  Fabric fabric;
  fabric.requests(1, {"lid 6", "lid 7"}, by_ip);
  fabric.adopts(2, ports);
  fabric.requests(3, ports, by_ip);
  const Report report = fabric.end_of_capture();
  EXPECT_EQ(ends_of(report, 2), ports);
}

}  // namespace
}  // namespace rpcrdma::referee::story
