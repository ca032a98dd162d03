// SPDX-License-Identifier: GPL-2.0-or-later
// Two peers that talk to an InfiniBand transport under test, and a sink that writes down what it is told.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "../wire/ib_packets.hpp"
#include "told.hpp"
#include "trace/ib_transport.hpp"
#include "wire/icrc.hpp"

namespace rpcrdma::test {

/// One line an event: connection, side, what. `facts` holds the same without frame numbers, and only what moved data.
class Recorder : public trace::EventSink {
 public:
  std::vector<std::string> lines;
  std::vector<std::string> facts;
  std::vector<std::string> private_data;
  std::vector<Octets> sends;
  std::vector<std::uint64_t> sent_by;         ///< frames, of these
  std::vector<std::uint64_t> writes_sent_by;  ///< and of the packets of Writes
  std::vector<trace::ConnectRequest> requests;
  std::vector<trace::ConnectReply> replies;
  std::vector<trace::Adopted> adopted;
  std::vector<std::string> liveness;     ///< as told.hpp has it
  std::vector<std::size_t> told_before;  ///< how many lines there were

  void on(const trace::ConnectRequest& e) override {
    requests.push_back(e);
    keep(e.private_data);
    say(e, "request {} {}", endpoint(e.client), endpoint(e.server));
  }
  void on(const trace::ConnectReply& e) override {
    replies.push_back(e);
    keep(e.private_data);
    say(e, "reply {}", endpoint(e.server));
  }
  void on(const trace::ConnectReject& e) override { say(e, "reject {}", e.reason); }
  void on(const trace::RequestReceipt& e) override { say(e, "receipt"); }
  void on(const trace::RequestUndelivered& e) override { say(e, "undelivered"); }
  void on(const trace::Sighted&) override {}
  void on(const trace::ConnectReady& e) override { say(e, "ready{}", e.message_seen ? "" : " by data"); }
  void on(const trace::Adopted& e) override {
    adopted.push_back(e);
    say(e, "adopted {} {}{}", endpoint(e.client), endpoint(e.server), e.one_way ? " one-way" : "");
  }
  void on(const trace::Disconnect& e) override {
    static constexpr const char* how[] = {"request", "reply", "fin", "reset", "superseded", "unseen"};
    say(e, "disconnect {}", how[static_cast<std::size_t>(e.how)]);
  }
  void on(const trace::SendPart&) override {}
  void on(const trace::Send& e) override {
    sends.emplace_back(e.octets.begin(), e.octets.end());
    sent_by.push_back(e.sent_by().number);
    const std::string what =
        fmt::format("send {} length {}{}{}{}", e.ordinal, e.wire_length,
                    e.octets.size() == e.wire_length ? "" : fmt::format(" captured {}", e.octets.size()),
                    e.invalidated ? fmt::format(" invalidates {:#x}", *e.invalidated) : "", e.holes ? " holes" : "");
    say(e, "{} to #{}", what, e.last.number);
    fact(e, fmt::format("{} at {:x} {}", what, e.sequence & 0xFFFFFFU, digest(e.octets)));
  }
  void on(const trace::Write& e) override {
    writes_sent_by.push_back(e.sent_by().number);
    const std::string what = fmt::format("write {} {:#x}+{:#x} length {} of {}{}{}", e.op, e.handle, e.offset, e.length,
                                         e.announced, e.first ? " first" : "", e.last ? " last" : "");
    say(e, "{}", what);
    fact(e, fmt::format("{} at {:x} {}", what, e.sequence & 0xFFFFFFU, digest(e.octets)));
  }
  void on(const trace::ReadRequest& e) override {
    const std::string what = fmt::format("read {} {:#x}+{:#x} length {}", e.op, e.handle, e.offset, e.length);
    say(e, "{}", what);
    fact(e, fmt::format("{} at {:x}", what, e.sequence & 0xFFFFFFU));
  }
  void on(const trace::ReadResponse& e) override {
    const std::string what =
        fmt::format("response {} {:#x}+{:#x} length {}{}", e.op, e.handle, e.offset, e.length, e.last ? " last" : "");
    say(e, "{}", what);
    fact(e, fmt::format("{} {}", what, digest(e.octets)));
  }
  void on(const trace::Atomic& e) override { say(e, "atomic {} {:#x}+{:#x}", e.op, e.handle, e.offset); }
  void on(const trace::Refusal& e) override {
    static constexpr const char* kind[] = {"sequence", "rnr", "invalid", "access", "operational", "other", "terminate"};
    static constexpr const char* what[] = {"unknown", "send", "write", "read", "atomic", "nothing"};
    say(e, "refuses {}: {} {} of #{} length {}", kind[static_cast<std::size_t>(e.kind)],
        what[static_cast<std::size_t>(e.refused)], e.refused_op, e.refused_frame.number, e.refused_length);
  }
  void on(const trace::Acknowledged& e) override { say(e, "acknowledges {}", e.ordinal); }
  void on(const trace::Gap& e) override { say(e, "gap {}{}", e.count, e.proven ? " proven" : ""); }
  void on(const trace::Repeated& e) override {
    static constexpr const char* kind[] = {"retransmission", "duplicate", "handshake", "handshake in the file twice"};
    say(e, "repeated {}", kind[static_cast<std::size_t>(e.kind)]);
  }
  void on(const trace::Liveness& e) override {
    told_before.push_back(lines.size());
    liveness.push_back(told_with_denial(e));
  }
  void on(const trace::Quality& e) override {
    static constexpr const char* kind[] = {"truncated", "checksum",   "reordered", "late",  "shuffled",
                                           "backwards", "input lost", "immediate", "limit", "mpa",
                                           "mpa cut",   "resent",     "unplaced"};
    say(e, "quality {}", kind[static_cast<std::size_t>(e.kind)]);
  }

  /// The lines written since the last call.
  std::vector<std::string> news() {
    std::vector<std::string> out(lines.begin() + static_cast<std::ptrdiff_t>(told_), lines.end());
    told_ = lines.size();
    return out;
  }

 private:
  template <class... Args>
  void say(const trace::EventBase& e, fmt::format_string<Args...> format, Args&&... args) {
    lines.push_back(fmt::format("{}{} #{} {}", e.connection, e.side == trace::Side::active ? 'A' : 'P', e.frame.number,
                                fmt::format(format, std::forward<Args>(args)...)));
  }
  void fact(const trace::EventBase& e, const std::string& what) {
    facts.push_back((e.side == trace::Side::active ? "A " : "P ") + what);
  }
  void keep(const trace::PrivateDataArea& area) {
    std::string s;
    for (std::size_t i = 0; i < area.octets.size() && i < 8; ++i) s += fmt::format("{:02x}", area.octets[i]);
    private_data.push_back(
        fmt::format("{} {}/{}{}", s, area.octets.size(), area.wire_length, area.exact_length ? " exact" : ""));
  }
  static std::string endpoint(const trace::Endpoint& e) {
    return fmt::format("{}:{}/{}", e.address, e.port ? std::to_string(*e.port) : "-",
                       e.qpn ? fmt::format("{:#x}", *e.qpn) : "-");
  }
  static std::string digest(wire::Bytes octets) {
    std::uint64_t h = 14695981039346656037ULL;
    for (const std::uint8_t o : octets) h = (h ^ o) * 1099511628211ULL;
    return fmt::format("{:016x}", h);
  }
  std::size_t told_ = 0;
};

inline trace::Address ipv4_address(std::uint8_t last) {
  trace::Address a;
  a.kind = trace::Address::Kind::ipv4;
  a.octets = {10, 0, 0, last};
  return a;
}
inline trace::Address lid_address(std::uint8_t lid) {
  trace::Address a;
  a.kind = trace::Address::Kind::lid;
  a.octets = {0, lid};
  return a;
}

/// The octets of one ICRC-protected packet are wrong by default; see `true_crc`.
class Peers {
 public:
  static constexpr std::uint32_t client_qpn = 0x11;
  static constexpr std::uint32_t server_qpn = 0x22;
  static constexpr std::uint32_t client_psn = 0x000100;  ///< of the client's first request
  static constexpr std::uint32_t server_psn = 0x000200;  ///< of the server's first request

  explicit Peers(bool check_crc = false, bool share = false) : options{.check_crc = check_crc, .share = share} {}

  Recorder sink;
  trace::Options options;
  trace::ConnectionNumbers numbers;
  trace::IbTransport transport{options, numbers, sink};
  trace::Transport fabric = trace::Transport::rocev2;
  trace::Address client = ipv4_address(2);
  trace::Address server = ipv4_address(1);
  std::uint64_t frame = 0;
  trace::TimeNs time = 1'700'000'000'000'000'000;
  trace::TimeNs step = 1'000'000;  ///< between frames
  std::size_t snap = 65535;        ///< octets captured from the BTH on
  bool true_crc = true;

  void put_on_wire(const trace::Address& from, const trace::Address& to, Octets octets) {
    static const Octets network = hex("45000000 00000000 40110000 0a000002 0a000001 c00012b7 00000000");
    if (true_crc && octets.size() >= 16) {
      const auto crc = wire::icrc(wire::IcrcLayout::rocev2_ipv4, network, wire::Bytes(octets).first(octets.size() - 4));
      for (unsigned i = 0; i < 4; ++i)
        octets[octets.size() - 4 + i] = static_cast<std::uint8_t>(crc.value_or(0) >> (8U * i));
    }
    trace::IbPacket p;
    p.ref = {++frame, time += step};
    p.transport = fabric;
    p.source = from;
    p.destination = to;
    p.network = network;
    p.octets = wire::Bytes(octets).first(std::min(octets.size(), snap));
    p.wire_length = static_cast<std::uint32_t>(octets.size());
    transport.packet(p);
  }
  /// ICMP about the client's REQ.
  void undelivered(std::uint32_t communication_id) {
    trace::Undelivered u;
    u.ref = {++frame, time += step};
    u.source = client;
    u.destination = server;
    u.what = trace::Undelivered::What::request;
    u.communication_id = communication_id;
    transport.undelivered(u);
  }
  void from_client(const Octets& octets) { put_on_wire(client, server, octets); }
  void from_server(const Octets& octets) { put_on_wire(server, client, octets); }

  CmFields client_cm;  ///< REQ, RTU, and DREQ of the client
  CmFields server_cm = server_fields();
  void req() { from_client(cm_packet(cm_req(client_cm))); }
  void rep() { from_server(cm_packet(cm_rep(server_cm))); }
  void rtu() {
    CmFields f = client_cm;
    f.remote_id = server_cm.local_id;
    from_client(cm_packet(cm_rtu(f)));
  }
  /// Leaves nothing to read in the sink's news.
  void handshake() {
    req();
    rep();
    rtu();
    sink.news();
  }
  void client_dreq() {
    CmFields f = client_cm;
    f.remote_id = server_cm.local_id;
    f.qpn = server_cm.qpn;
    from_client(cm_packet(cm_dreq(f)));
  }
  void server_drep() { from_server(cm_packet(cm_drep(server_cm))); }

  // Packets of the client's or the server's requests, by PSN
  void call(std::uint32_t psn, const Octets& payload = filled(64, 0xCA)) {
    from_client(ib_packet(op_send_only, server_qpn, psn, {}, payload));
  }
  void reply(std::uint32_t psn, const Octets& payload = filled(48, 0xAE)) {
    from_server(ib_packet(op_send_only, client_qpn, psn, {}, payload));
  }
  void server_acks(std::uint32_t psn, std::uint8_t syndrome = 0x1F) {
    from_server(ib_packet(op_acknowledge, client_qpn, psn, aeth(syndrome)));
  }
  void client_acks(std::uint32_t psn, std::uint8_t syndrome = 0x1F) {
    from_client(ib_packet(op_acknowledge, server_qpn, psn, aeth(syndrome)));
  }
  /// So much later that what was only exchanged in the file would have come: an ACK of something old.
  void moment() {
    time += 2'000'000;
    client_acks(server_psn - 1);
  }
  /// So long that what is awaited is missing, of whatever tap.
  void wait_in_vain() {
    time += 200'000'000;
    moment();
  }
  void server_reads(std::uint32_t psn, std::uint32_t length, std::uint64_t address = 0x10000) {
    from_server(ib_packet(op_read, client_qpn, psn, reth(address, 0xBEEF, length)));
  }
  void client_answers(std::uint8_t opcode, std::uint32_t psn, std::size_t length) {
    const bool has_aeth = opcode != op_response_middle;
    from_client(ib_packet(opcode, server_qpn, psn, has_aeth ? aeth(0x1F) : Octets{},
                          filled(length, static_cast<std::uint8_t>(psn))));
  }
  void finish() { transport.finish({frame, time}); }

 private:
  static CmFields server_fields() {
    CmFields f;
    f.local_id = 0x0B0B0B01;
    f.remote_id = 0x0A0A0A01;
    f.qpn = server_qpn;
    f.psn = client_psn;
    f.consumer = hex("f6ab0e18 01 00 03 03");
    return f;
  }

 public:
  /// Both of the client's numbers the way the constants above say.
  void set_up_fields() {
    client_cm.qpn = client_qpn;
    client_cm.psn = server_psn;
  }
};

using Lines = std::vector<std::string>;

}  // namespace rpcrdma::test
