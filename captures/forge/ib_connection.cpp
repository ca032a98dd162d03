// SPDX-License-Identifier: GPL-2.0-or-later
// A reliable connection on InfiniBand or RoCE.
#include <algorithm>
#include <array>

#include "cm.hpp"
#include "connection.hpp"
#include "ib.hpp"

namespace forge {
namespace {

constexpr std::uint32_t psn_mask = 0xFFFFFF;
constexpr std::uint32_t psns_apart = 0x323B5D;  // of two connections that one queue pair has after another

std::uint32_t mtu_code(std::uint32_t mtu) {
  for (std::uint32_t code = 1; code <= 5; ++code) {
    if (mtu == 128U << code) return code;
  }
  throw Mistake("the path MTU is 256, 512, 1024, 2048 or 4096");
}

class IbConnection final : public Connection {
 public:
  explicit IbConnection(const Stage& stage) : stage_(stage) {
    of(Side::client).psn = (stage.beginnings.client_psn + psns_apart * stage.life) & psn_mask;
    of(Side::server).psn = (stage.beginnings.server_psn + psns_apart * stage.life) & psn_mask;
    const std::uint32_t own = 0x100 * stage.story + stage.number;
    of(Side::client).qpn = 0x000011 + own;
    of(Side::server).qpn = 0x000081 + own;
    of(Side::client).id = 0xC1000000U + own + 0x10000 * stage.life;
    of(Side::server).id = 0x5E000000U + own + 0x10000 * stage.life;
    of(Side::client).udp_source = static_cast<std::uint16_t>(0xC000U + stage.number);
    of(Side::server).udp_source = static_cast<std::uint16_t>(0xD000U + stage.number);
    transaction_ = 0x4E00000000ULL + 16ULL * own + 0x100000ULL * stage.life;
  }

  void open(const Handshake& h) override {
    const Link link = stage_.network.link();
    cm::Request req;
    req.transaction = transaction_;
    req.communication_id = of(Side::client).id;
    req.service_id = 0x0000000001060000ULL | h.port;
    req.guid = stage_.client.guid;
    req.qpn = of(Side::client).qpn;
    req.responder_resources = h.client_depths.responder_resources;
    req.initiator_depth = h.client_depths.initiator_depth;
    req.starting_psn = of(Side::server).psn;
    req.mtu_code = mtu_code(stage_.mtu);
    req.rnr_retry = h.client_depths.rnr_retry;
    req.local_lid = link == Link::infiniband ? stage_.client.lid : 0xFFFF;
    req.remote_lid = link == Link::infiniband ? stage_.server.lid : 0xFFFF;
    req.local_gid = stage_.client.gid(link);
    req.remote_gid = stage_.server.gid(link);
    req.source_port = static_cast<std::uint16_t>(40000U + stage_.number);
    req.ipv6 = stage_.client.uses_ipv6(link);
    req.source_address = stage_.client.cm_address(link);
    req.destination_address = stage_.server.cm_address(link);
    req.private_data = h.client_data;
    for (unsigned i = 0; i < h.attempts; ++i) {
      if (i > 0) stage_.film.wait(h.every);
      const Octets sent = datagram(Side::client, cm::request(req), "handshake");
      if (h.undelivered) {
        const Host by = h.router.value_or(stage_.server);
        stage_.film.shoot(Side::server, stage_.network.icmp_refusal(by, stage_.client, sent), "handshake");
      }
      if (h.receipt) datagram(Side::server, cm::receipt(transaction_, of(Side::client).id), "handshake");
    }
    if (!h.answered) return;
    if (h.reject) {
      datagram(Side::server, cm::reject(transaction_, 0, of(Side::client).id, *h.reject, h.server_data), "handshake");
      return;
    }
    cm::Reply rep;
    rep.transaction = transaction_;
    rep.communication_id = of(Side::server).id;
    rep.remote_id = of(Side::client).id;
    rep.qpn = of(Side::server).qpn;
    rep.starting_psn = of(Side::client).psn;
    rep.responder_resources = h.server_depths.responder_resources;
    rep.initiator_depth = h.server_depths.initiator_depth;
    rep.rnr_retry = h.server_depths.rnr_retry;
    rep.guid = stage_.server.guid;
    rep.private_data = h.server_data;
    ready_data_ = h.ready_data;
    for (unsigned i = 0; i < h.replies; ++i) {
      if (i > 0) stage_.film.wait(h.every);
      datagram(Side::server, cm::reply(rep), "handshake");
      if (h.ready && (h.ready_each || i + 1 == h.replies)) ready();
    }
  }

  void ready() override {
    datagram(Side::client, cm::ready(transaction_, of(Side::client).id, of(Side::server).id, ready_data_), "handshake");
  }

  void reject(Side by, std::uint32_t reason) override {
    const cm::Rejected what = by == Side::client ? cm::Rejected::reply : cm::Rejected::other;
    datagram(by, cm::reject(transaction_, of(by).id, of(other(by)).id, reason, {}, what), "close");
  }

  void knock(const Handshake& h, Knock answer) override {
    constexpr std::uint32_t invalid_service_id = 8;  // nobody listens
    if (answer == Knock::unreachable && !stage_.network.over_ip()) throw Mistake("ICMP answers IP only");
    if (answer == Knock::withdrawn) throw Mistake("only TCP is opened before anybody asks for anything");
    Handshake vain = h;
    vain.answered = answer == Knock::refused || answer == Knock::accepted;
    vain.undelivered = answer == Knock::unreachable;
    vain.receipt = answer == Knock::acknowledged;
    vain.ready = false;
    if (answer == Knock::refused) {
      vain.reject = invalid_service_id;
      vain.server_data.clear();
    }
    open(vain);
  }

  Op send(Side by, const Octets& message, std::optional<std::uint32_t> invalidate) override {
    Sent sent = begin(by, Kind::send);
    const std::size_t count = packets(message.size());
    for (std::size_t i = 0; i < count; ++i) {
      const bool last = i + 1 == count;
      ib::Packet p = request(by, last);
      p.payload = part_of(message, i);
      if (last && invalidate) {
        p.invalidate = invalidate;
        p.opcode = count == 1 ? ib::send_only_invalidate : ib::send_last_invalidate;
      } else if (last && immediate_) {
        p.immediate = immediate_;
        p.opcode = count == 1 ? ib::send_only_immediate : ib::send_last_immediate;
      } else if (count == 1) {
        p.opcode = ib::send_only;
      } else {
        p.opcode = i == 0 ? ib::send_first : last ? ib::send_last : ib::send_middle;
      }
      p.solicited = last;
      emit(sent, p, "send");
    }
    return complete(std::move(sent));
  }

  void set_immediate(std::optional<std::uint32_t> value) override { immediate_ = value; }

  Op atomic(Side by, std::uint32_t handle, std::uint64_t offset) override {
    Sent sent = begin(by, Kind::atomic);
    ib::Packet p = request(by, true);
    p.opcode = ib::compare_swap;
    p.payload = Pen().u64(offset).u32(handle).u64(1).u64(0).take();  // AtomicETH and nothing behind it
    emit(sent, p, "atomic");
    ib::Packet a;
    a.opcode = ib::atomic_acknowledge;
    a.destination_qp = of(by).qpn;
    a.psn = sent.first_psn;
    a.aeth = aeth(ib::ack_no_credits, of(by).messages + 1);
    a.payload = Pen().u64(0).take();
    const Op op = complete(std::move(sent));
    frame(other(by), ib::encode(a), "atomic");
    return op;
  }

  Op write(Side by, std::uint32_t handle, std::uint64_t offset, const Octets& data) override {
    Sent sent = begin(by, Kind::write);
    const std::size_t count = packets(data.size());
    for (std::size_t i = 0; i < count; ++i) {
      const bool last = i + 1 == count;
      ib::Packet p = request(by, last);
      p.payload = part_of(data, i);
      p.opcode = count == 1 ? ib::write_only : i == 0 ? ib::write_first : last ? ib::write_last : ib::write_middle;
      if (i == 0) p.reth = {offset, handle, static_cast<std::uint32_t>(data.size())};
      emit(sent, p, "write");
    }
    return complete(std::move(sent));
  }

  Op read(Side by, std::uint32_t handle, std::uint64_t offset, std::uint32_t length) override {
    Sent sent = begin(by, Kind::read);
    ib::Packet p = request(by, true);
    p.opcode = ib::read_request;
    p.reth = {offset, handle, length};
    const auto consumed = static_cast<std::uint32_t>(packets(length));
    of(by).psn = (of(by).psn + consumed - 1) & psn_mask;
    emit(sent, p, "read");
    return complete(std::move(sent));
  }

  void respond(Op op, const Octets& data) override {
    const Sent& sent = sent_.at(op);
    const Side owner = other(sent.by);
    const std::size_t count = packets(data.size());
    for (std::size_t i = 0; i < count; ++i) {
      const bool last = i + 1 == count;
      ib::Packet p;
      p.destination_qp = of(sent.by).qpn;
      p.psn = (sent.first_psn + static_cast<std::uint32_t>(i)) & psn_mask;
      p.payload = part_of(data, i);
      p.opcode = count == 1 ? ib::response_only
                 : i == 0   ? ib::response_first
                 : last     ? ib::response_last
                            : ib::response_middle;
      if (i == 0 || last) p.aeth = aeth(ib::ack_no_credits, sent.msn);
      frame(owner, ib::encode(p), "response");
    }
  }

  void acknowledge(Side by) override {
    const Party& peer = of(other(by));
    answer(by, (peer.psn + psn_mask) & psn_mask, aeth(ib::ack_no_credits, peer.messages), "ack");
  }

  void acknowledge_before(Side by, Op op) override {
    const Sent& sent = sent_.at(op);
    answer(by, (sent.first_psn + psn_mask) & psn_mask, aeth(ib::ack_no_credits, sent.msn - 1), "ack");
  }

  void refuse(Op op, Refusal refusal) override {
    const Sent& sent = sent_.at(op);
    std::uint8_t syndrome = ib::nak_remote_access;
    std::uint32_t psn = sent.first_psn;
    switch (refusal) {
      case Refusal::sequence:
        syndrome = ib::nak_sequence;
        break;
      case Refusal::rnr:
        syndrome = ib::rnr_nak | 0x0EU;
        break;
      case Refusal::invalid_request:
        syndrome = ib::nak_invalid_request;
        psn = sent.last_psn;  // the packet that no longer fitted
        break;
      case Refusal::remote_access:
        break;
      case Refusal::remote_operational:
        syndrome = ib::nak_remote_operational;
        psn = sent.last_psn;
        break;
    }
    answer(other(sent.by), psn, aeth(syndrome, (sent.msn - 1) & psn_mask), "refusal");
  }

  void terminate(Side /*by*/, std::uint8_t /*layer*/, std::uint8_t /*type*/, std::uint8_t /*code*/) override {
    throw Mistake("a Terminate exists on iWARP only");
  }

  void repeat(Op op) override {
    const Sent& sent = sent_.at(op);
    const std::string part = sent.kind == Kind::send ? "send" : sent.kind == Kind::write ? "write" : "read";
    for (const Octets& packet : sent.packets) frame(sent.by, packet, part);
  }

  void close(Side by, bool answered, const Octets& data) override {
    const std::uint64_t transaction = ++transaction_;
    const Party& mine = of(by);
    const Party& peer = of(other(by));
    datagram(by, cm::disconnect_request(transaction, mine.id, peer.id, peer.qpn, data), "close");
    if (answered) datagram(other(by), cm::disconnect_reply(transaction, peer.id, mine.id, {}), "close");
  }

  void close_of_another(Side by) override {
    constexpr std::uint32_t elsewhere = 0x5a000000;  // no communication ID of this connection
    const Party& peer = of(other(by));
    datagram(by, cm::disconnect_request(++transaction_, of(by).id ^ elsewhere, peer.id ^ elsewhere, peer.qpn, {}),
             "close");
  }

  void keep_alive(Side /*by*/, bool /*answered*/) override { throw Mistake("keep-alive probes exist on iWARP only"); }
  void window(Side /*by*/, std::uint16_t /*octets*/) override { throw Mistake("a TCP window exists on iWARP only"); }

  void reset(Side /*by*/) override {}

 private:
  enum class Kind : std::uint8_t { send, write, read, atomic };
  struct Party {
    std::uint32_t qpn = 0;
    std::uint32_t psn = 0;  ///< of the next request packet
    std::uint32_t id = 0;
    std::uint16_t udp_source = 0;
    std::uint32_t messages = 0;  ///< requests sent so far: the peer's MSN when it has them all
  };
  struct Sent {
    Side by = Side::client;
    Kind kind = Kind::send;
    std::uint32_t first_psn = 0;
    std::uint32_t last_psn = 0;
    std::uint32_t msn = 0;
    std::vector<Octets> packets;
  };

  Party& of(Side s) { return parties_.at(s == Side::client ? 0 : 1); }
  [[nodiscard]] std::size_t packets(std::size_t length) const {
    return std::max<std::size_t>(1, (length + stage_.mtu - 1) / stage_.mtu);
  }
  [[nodiscard]] Octets part_of(const Octets& all, std::size_t index) const {
    const std::size_t start = index * stage_.mtu;
    return slice(all, start, std::min<std::size_t>(stage_.mtu, all.size() - start));
  }
  static std::uint32_t aeth(std::uint8_t syndrome, std::uint32_t msn) {
    return static_cast<std::uint32_t>(syndrome) << 24U | (msn & psn_mask);
  }

  Sent begin(Side by, Kind kind) {
    Sent sent;
    sent.by = by;
    sent.kind = kind;
    sent.first_psn = of(by).psn;
    return sent;
  }
  ib::Packet request(Side by, bool ask) {
    ib::Packet p;
    p.destination_qp = of(other(by)).qpn;
    p.psn = of(by).psn;
    p.ack_request = ask;
    of(by).psn = (of(by).psn + 1) & psn_mask;
    return p;
  }
  void emit(Sent& sent, const ib::Packet& p, const std::string& part) {
    sent.packets.push_back(ib::encode(p));
    frame(sent.by, sent.packets.back(), part);
  }
  Op complete(Sent sent) {
    sent.last_psn = (of(sent.by).psn + psn_mask) & psn_mask;
    sent.msn = ++of(sent.by).messages;
    sent_.push_back(std::move(sent));
    return sent_.size() - 1;
  }

  void answer(Side by, std::uint32_t psn, std::uint32_t aeth, const std::string& part) {
    ib::Packet p;
    p.opcode = ib::acknowledge;
    p.destination_qp = of(other(by)).qpn;
    p.psn = psn;
    p.aeth = aeth;
    frame(by, ib::encode(p), part);
  }
  /// Its frame.
  Octets datagram(Side from, const Octets& mad, const std::string& part) {
    ib::Packet p;
    p.opcode = ib::ud_send_only;
    p.destination_qp = 1;
    p.source_qp = 1;
    p.psn = datagrams_++;
    p.payload = mad;
    return frame(from, ib::encode(p), part);
  }
  Octets frame(Side from, const Octets& packet, const std::string& part) {
    const Host& source = from == Side::client ? stage_.client : stage_.server;
    const Host& target = from == Side::client ? stage_.server : stage_.client;
    Octets sent = stage_.network.ib_frame(source, target, of(from).udp_source, packet, spoil);
    stage_.film.shoot(from, sent, part);
    return sent;
  }

  Stage stage_;
  std::array<Party, 2> parties_;
  std::vector<Sent> sent_;
  std::uint64_t transaction_ = 0;
  Octets ready_data_;
  std::uint32_t datagrams_ = 0;
  std::optional<std::uint32_t> immediate_;
};

}  // namespace

std::unique_ptr<Connection> make_ib_connection(const Stage& stage) { return std::make_unique<IbConnection>(stage); }

}  // namespace forge
