// SPDX-License-Identifier: GPL-2.0-or-later
// Steps around the messages of a connection: many exchanges in one step, a TCP stream's own life, and frames that
// belong to no connection of RPC-over-RDMA.
#include "story.hpp"

namespace forge {
namespace {

constexpr std::uint16_t nfs_port = 2049;
constexpr std::uint8_t stranger_host = 3;
constexpr std::uint8_t tcp_syn = 0x02;
constexpr std::uint8_t tcp_ack = 0x10;
constexpr std::uint8_t tcp_push_ack = 0x18;

}  // namespace

/// Call and reply, again and again.
void Story::exchange(const Step& step, Words& words) {
  const auto times = words.get<unsigned>("times", 1);
  const std::int64_t every = nanoseconds(words.get<double>("every", 0));
  const std::int64_t after = nanoseconds(words.get<double>("after", 0));
  const YAML::Node asking = words.node("call");
  const YAML::Node answering = words.node("reply");
  for (unsigned i = 0; i < times; ++i) {
    if (i > 0) film_.wait(every);
    Words question(asking, step.where + " call");
    call(step, question);
    question.done();
    film_.wait(after);
    Words said(answering, step.where + " reply");
    if (said.has("to") || said.has("unasked")) {
      reply(step, said);
    } else {
      answer(step, said, line().calls.back(), said.get<bool>("reverse", false));
    }
    said.done();
  }
}

void Story::keep_alive(const Step& /*step*/, Words& words) {
  const Side by = words.side("by").value_or(Side::client);
  const auto times = words.get<unsigned>("times", 1);
  const std::int64_t every = nanoseconds(words.get<double>("every", 1));
  const auto answered = words.get<bool>("answer", true);
  for (unsigned i = 0; i < times; ++i) {
    if (i > 0) film_.wait(every);
    line().wire->keep_alive(by, answered);
  }
}

void Story::window(const Step& /*step*/, Words& words) {
  line().wire->window(words.side("by").value_or(Side::server), words.need<std::uint16_t>("octets"));
}

void Story::noise(const Step& /*step*/, Words& words) {
  const auto frames = words.get<unsigned>("frames", 1);
  const std::int64_t every = nanoseconds(words.get<double>("every", 1));
  const Host stranger = Host::number(stranger_host, number_);
  for (unsigned i = 0; i < frames; ++i) {
    if (i > 0) film_.wait(every);
    film_.shoot(Side::client, network_.arp_frame(stranger, stranger), noise_part);
  }
}

void Story::ping(const Step& /*step*/, Words& words) {
  if (network_.link() == Link::infiniband) throw Mistake("ping needs an Ethernet");
  const Side by = words.side("by").value_or(Side::client);
  const auto times = words.get<unsigned>("times", 1);
  const std::int64_t every = nanoseconds(words.get<double>("every", 1));
  const auto answered = words.get<bool>("answer", true);
  const Host client = Host::number(client_host, number_);
  const Host server = Host::number(server_host, number_);
  const Host& asking = by == Side::client ? client : server;
  const Host& asked = by == Side::client ? server : client;
  for (unsigned i = 0; i < times; ++i) {
    if (i > 0) film_.wait(every);
    film_.shoot(by, network_.icmp_echo(asking, asked, Network::Echo::request), noise_part);
    if (answered) film_.shoot(other(by), network_.icmp_echo(asked, asking, Network::Echo::reply), noise_part);
  }
}

/// Records of RFC 5531 section 11, Calls and Replies in turn, each in a segment of its own that acknowledges the one
/// before.
void Story::nfs_over_tcp(const Step& /*step*/, Words& words) {
  if (network_.link() == Link::infiniband) throw Mistake("NFS over TCP needs an Ethernet");
  const auto frames = words.get<unsigned>("frames", 2);
  const std::int64_t every = nanoseconds(words.get<double>("every", 0));
  const auto opened = words.get<bool>("handshake", true);
  const auto port = words.get<std::uint16_t>("port", nfs_port);
  Procedure procedure = Procedure::nfs3(words.get<std::string>("nfs3", "getattr"));
  procedure.octets = words.get<std::size_t>("octets", procedure.octets);
  const Host client = Host::number(client_host, number_);
  const Host server = Host::number(server_host, number_);
  const auto own = static_cast<std::uint16_t>(700 + streams_++);  // a reserved port, as Linux takes
  std::array<std::uint32_t, 2> next{0x30000000, 0xB0000000};
  const auto segment = [&](Side by, std::uint8_t flags, const Octets& payload) {
    const bool from_client = by == Side::client;
    TcpHeader h;
    h.source = from_client ? own : port;
    h.destination = from_client ? port : own;
    h.flags = flags;
    h.options = (flags & tcp_syn) != 0;
    h.sequence = next.at(from_client ? 0 : 1);
    h.acknowledgement = (flags & tcp_ack) != 0 ? next.at(from_client ? 1 : 0) : 0;
    next.at(from_client ? 0 : 1) += static_cast<std::uint32_t>(payload.size() + (h.options ? 1 : 0));
    film_.shoot(by, network_.tcp_frame(from_client ? client : server, from_client ? server : client, h, payload),
                "tcp");
  };
  if (opened) {
    segment(Side::client, tcp_syn, {});
    segment(Side::server, tcp_syn | tcp_ack, {});
    segment(Side::client, tcp_ack, {});
  }
  for (unsigned i = 0; i < frames; ++i) {
    if (i > 0) film_.wait(every);
    const bool asks = i % 2 == 0;
    const std::uint32_t xid = 0x0AC00001 + i / 2;
    const Octets message = asks ? rpc_call(procedure, xid).octets : rpc_reply(procedure, xid, 0).octets;
    constexpr std::uint32_t last_fragment = 0x80000000;
    segment(asks ? Side::client : Side::server, tcp_push_ack,
            Pen().u32(last_fragment | message.size()).add(message).take());
  }
}

}  // namespace forge
