// SPDX-License-Identifier: GPL-2.0-or-later
// A connection on iWARP: one TCP stream with MPA, DDP and RDMAP on it.
#include <algorithm>
#include <array>

#include "connection.hpp"
#include "mpa.hpp"

namespace forge {
namespace {

constexpr std::uint8_t fin = 0x01;
constexpr std::uint8_t syn = 0x02;
constexpr std::uint8_t rst = 0x04;
constexpr std::uint8_t psh = 0x08;
constexpr std::uint8_t ack = 0x10;
constexpr std::size_t largest_segment = 1460;
constexpr std::size_t largest_payload = 1400;  ///< of one FPDU: with headers and markers it fits a segment
constexpr std::array<std::size_t, 6> odd_cuts{1000, 137, 1460, 3, 700, 4000};

class IwarpConnection final : public Connection {
 public:
  explicit IwarpConnection(const Stage& stage) : stage_(stage) {
    constexpr std::uint32_t octets_apart = 0x323B5D71;  // of two connections that one port has after another
    of(Side::client).sequence = stage.beginnings.client_isn + octets_apart * stage.life;
    of(Side::server).sequence = stage.beginnings.server_isn + octets_apart * stage.life;
    of(Side::client).port = static_cast<std::uint16_t>(40000U + stage.number);
  }

  void open(const Handshake& h) override {
    of(Side::server).port = h.port;
    const std::string part = "handshake";
    segment(Side::client, syn, {}, part);
    see(Side::server);
    segment(Side::server, syn | ack, {}, part);
    see(Side::client);
    segment(Side::client, ack, {}, part);

    mpa::Start request = start(h.client_mpa, h.client_depths, h.client_data);
    for (unsigned i = 0; i < h.attempts; ++i) {
      if (i == 0) {
        stream(Side::client, {mpa::encode(request)}, part);
      } else {
        stage_.film.wait(h.every);
        for (const Segment& s : last_sent_) again(Side::client, s, part);
      }
    }
    see(Side::server);
    segment(Side::server, ack, {}, part);
    if (!h.answered) return;

    mpa::Start reply = start(h.server_mpa, h.server_depths, h.server_data);
    reply.reply = true;
    if (h.reject) reply.flags |= mpa::flag_reject;
    stream(Side::server, {mpa::encode(reply)}, part);
    see(Side::client);
    segment(Side::client, ack, {}, part);
    if (h.reject) {
      close(Side::server, true, {});
      return;
    }
    const bool crc = h.client_mpa.crc || h.server_mpa.crc;
    // Markers go into a direction when its receiver asked for them.
    framers_.clear();
    framers_.emplace_back(h.server_mpa.markers, crc);
    framers_.emplace_back(h.client_mpa.markers, crc);
  }

  void ready() override { throw Mistake("an RTU exists on InfiniBand only"); }
  void reject(Side /*by*/, std::uint32_t /*reason*/) override { throw Mistake("a REJ exists on InfiniBand only"); }

  void knock(const Handshake& h, Knock answer) override {
    of(Side::server).port = h.port;
    const std::string part = "handshake";
    const std::uint32_t first = of(Side::client).sequence;
    Octets request;
    for (unsigned i = 0; i < h.attempts; ++i) {
      if (i > 0) stage_.film.wait(h.every);
      of(Side::client).sequence = first;
      request = segment(Side::client, syn, {}, part);
    }
    see(Side::server);
    switch (answer) {
      case Knock::unanswered:
        break;
      case Knock::acknowledged:
        throw Mistake("an MRA exists on InfiniBand only");
      case Knock::refused:
        of(Side::server).sequence = 0;
        segment(Side::server, rst | ack, {}, part);
        break;
      case Knock::unreachable:
        stage_.film.shoot(Side::server,
                          stage_.network.icmp_refusal(h.router.value_or(stage_.server), stage_.client, request), part);
        break;
      case Knock::accepted: {
        const std::uint32_t own = of(Side::server).sequence;
        for (unsigned i = 0; i < h.replies; ++i) {
          if (i > 0) stage_.film.wait(h.every);
          of(Side::server).sequence = own;
          segment(Side::server, syn | ack, {}, part);
        }
        break;
      }
      case Knock::withdrawn:
        segment(Side::server, syn | ack, {}, part);
        segment(Side::client, ack, {}, part);
        segment(Side::client, fin | ack, {}, part);
        segment(Side::server, fin | ack, {}, part);
        break;
    }
  }

  void keep_alive(Side by, bool answered) override {
    TcpHeader h = header(by, ack);
    h.sequence = of(by).sequence - 1;  // an octet that the other side has: it must say so (RFC 9293 section 3.8.4)
    frame(by, h, {}, "probe");
    if (answered) segment(other(by), ack, {}, "ack");
  }

  void window(Side by, std::uint16_t octets) override {
    of(by).window = octets;
    see(by);
    segment(by, ack, {}, "ack");
  }

  Op send(Side by, const Octets& message, std::optional<std::uint32_t> invalidate) override {
    Sent sent = begin(by, Kind::send);
    const std::uint32_t number = ++of(by).sends;
    std::vector<Octets> fpdus;
    std::size_t done = 0;
    do {
      const std::size_t count = std::min(largest_payload, message.size() - done);
      mpa::Untagged h;
      h.opcode = invalidate ? mpa::send_invalidate : mpa::send;
      h.last = done + count == message.size();
      h.invalidate = invalidate.value_or(0);
      h.message = number;
      h.offset = static_cast<std::uint32_t>(done);
      fpdus.push_back(fpdu(sent, mpa::encode(h), slice(message, done, count)));
      done += count;
    } while (done < message.size());
    return complete(std::move(sent), fpdus, "send");
  }

  void set_immediate(std::optional<std::uint32_t> value) override {
    if (value) throw Mistake("immediate data exists on InfiniBand only");
  }

  Op atomic(Side /*by*/, std::uint32_t /*handle*/, std::uint64_t /*offset*/) override {
    throw Mistake("atomic operations exist on InfiniBand only");
  }

  Op write(Side by, std::uint32_t handle, std::uint64_t offset, const Octets& data) override {
    Sent sent = begin(by, Kind::write);
    const std::vector<Octets> fpdus = tagged(sent, mpa::write, handle, offset, data);
    return complete(std::move(sent), fpdus, "write");
  }

  Op read(Side by, std::uint32_t handle, std::uint64_t offset, std::uint32_t length) override {
    Sent sent = begin(by, Kind::read);
    mpa::Untagged h;
    h.opcode = mpa::read_request;
    h.queue = 1;
    h.message = ++of(by).reads;
    mpa::ReadRequest r;
    r.sink_stag = sent.sink = 0x51000000U + 0x100U * of(by).reads + (by == Side::server ? 0x80U : 0U);
    r.length = length;
    r.source_stag = handle;
    r.source_offset = offset;
    sent.request = mpa::encode(r);
    const Octets unit = fpdu(sent, mpa::encode(h), sent.request);
    return complete(std::move(sent), {unit}, "read");
  }

  void respond(Op op, const Octets& data) override {
    const Side owner = other(sent_.at(op).by);
    see(owner);
    Sent answer = begin(owner, Kind::response);
    const std::vector<Octets> fpdus = tagged(answer, mpa::read_response, sent_.at(op).sink, 0, data);
    complete(std::move(answer), fpdus, "response");
    see(other(owner));  // what completes a Read has arrived: whatever is sent because of it acknowledges it
  }

  void acknowledge(Side by) override {
    see(by);
    segment(by, ack, {}, "ack");
  }

  void has_taken(Side by, Op op) override {
    std::uint32_t& received = of(by).received;
    for (const Segment& segment : sent_.at(op).segments) {
      const std::uint32_t end = segment.sequence + static_cast<std::uint32_t>(segment.payload.size());
      if (static_cast<std::int32_t>(end - received) > 0) received = end;
    }
  }

  void acknowledge_before(Side by, Op /*op*/) override { segment(by, ack, {}, "ack"); }

  void refuse(Op op, Refusal refusal) override {
    const Sent& sent = sent_.at(op);
    mpa::Terminate t;
    t.ddp_header = sent.header;
    t.segment_length = sent.unit_length;
    t.read_request = sent.request;
    switch (refusal) {
      case Refusal::sequence:
        throw Mistake("a sequence error cannot be refused on iWARP: TCP repairs it");
      case Refusal::rnr:
        t.layer = 1, t.type = 2, t.code = 2;  // untagged buffer, none available
        break;
      case Refusal::invalid_request:
        t.layer = 1, t.type = 2, t.code = 5;  // untagged buffer, message too long
        break;
      case Refusal::remote_access:
        if (sent.kind == Kind::write) {
          t.layer = 1, t.type = 1, t.code = 1;  // tagged buffer, base or bounds
        } else {
          t.layer = 0, t.type = 1, t.code = sent.kind == Kind::read ? 1 : 9;
        }
        break;
      case Refusal::remote_operational:
        t.layer = 0, t.type = 0, t.code = 0;  // local catastrophic error
        break;
    }
    terminate(other(sent.by), t);
  }

  void terminate(Side by, std::uint8_t layer, std::uint8_t type, std::uint8_t code) override {
    mpa::Terminate t;
    t.layer = layer;
    t.type = type;
    t.code = code;
    terminate(by, t);
  }

  void repeat(Op op) override {
    const Sent& sent = sent_.at(op);
    const std::string part = sent.kind == Kind::send ? "send" : sent.kind == Kind::write ? "write" : "read";
    for (const Segment& s : sent.segments) again(sent.by, s, part);
  }

  void close_of_another(Side /*by*/) override { throw Mistake("communication IDs exist on InfiniBand only"); }

  void close(Side by, bool answered, const Octets& data) override {
    if (!data.empty()) throw Mistake("closing a TCP stream carries no private data");
    segment(by, fin | ack, {}, "close");
    if (!answered) return;
    see(other(by));
    segment(other(by), fin | ack, {}, "close");
    see(by);
    segment(by, ack, {}, "close");
  }

  void reset(Side by) override { segment(by, rst | ack, {}, "close"); }

 private:
  enum class Kind : std::uint8_t { send, write, read, response };
  struct Party {
    std::uint16_t port = 0;
    std::uint32_t sequence = 0;  ///< of the next octet
    std::uint32_t received = 0;  ///< what its segments acknowledge
    std::uint16_t window = 0xFFFF;
    std::uint32_t sends = 0;  ///< message numbers of queue 0
    std::uint32_t reads = 0;  ///< and of queue 1
    std::size_t cut = 0;      ///< next entry of odd_cuts
  };
  struct Segment {
    std::uint32_t sequence = 0;
    Octets payload;
  };
  struct Sent {
    Side by = Side::client;
    Kind kind = Kind::send;
    std::vector<Segment> segments;
    Octets header;                  ///< of its first FPDU, for a Terminate
    std::uint16_t unit_length = 0;  ///< of that FPDU's ULPDU
    Octets request;                 ///< body of a Read Request
    std::uint32_t sink = 0;
  };

  Party& of(Side s) { return parties_.at(s == Side::client ? 0 : 1); }
  mpa::Framer& framer(Side s) {
    if (framers_.empty()) throw Mistake("data before the connection was accepted");
    return framers_.at(s == Side::client ? 0 : 1);
  }

  /// From now on this side's segments acknowledge all that the other side has sent.
  void see(Side by) { of(by).received = of(other(by)).sequence; }

  static mpa::Start start(const MpaSettings& settings, const Depths& depths, const Octets& data) {
    mpa::Start s;
    s.revision = settings.revision;
    s.flags =
        static_cast<std::uint8_t>((settings.crc ? mpa::flag_crc : 0U) | (settings.markers ? mpa::flag_markers : 0U));
    if (settings.revision >= 2) s.flags |= mpa::flag_enhanced;
    s.ird = static_cast<std::uint16_t>(depths.responder_resources);
    s.ord = static_cast<std::uint16_t>(depths.initiator_depth);
    s.private_data = data;
    return s;
  }

  static Sent begin(Side by, Kind kind) {
    Sent sent;
    sent.by = by;
    sent.kind = kind;
    return sent;
  }
  Octets fpdu(Sent& sent, const Octets& header, const Octets& payload) {
    const Octets unit = Pen().add(header).add(payload).take();
    if (sent.header.empty()) {
      sent.header = header;
      sent.unit_length = static_cast<std::uint16_t>(unit.size());
    }
    return framer(sent.by).frame(unit, spoil);
  }
  std::vector<Octets> tagged(Sent& sent, mpa::Opcode opcode, std::uint32_t stag, std::uint64_t offset,
                             const Octets& data) {
    std::vector<Octets> fpdus;
    std::size_t done = 0;
    do {
      const std::size_t count = std::min(largest_payload, data.size() - done);
      mpa::Tagged h;
      h.opcode = opcode;
      h.last = done + count == data.size();
      h.stag = stag;
      h.offset = offset + done;
      fpdus.push_back(fpdu(sent, mpa::encode(h), slice(data, done, count)));
      done += count;
    } while (done < data.size());
    return fpdus;
  }
  Op complete(Sent sent, const std::vector<Octets>& fpdus, const std::string& part) {
    // Memory is read and written because of a message that has arrived; messages may cross on their way.
    if (sent.kind == Kind::write || sent.kind == Kind::read) see(sent.by);
    stream(sent.by, fpdus, part);
    sent.segments = last_sent_;
    sent_.push_back(std::move(sent));
    return sent_.size() - 1;
  }
  void terminate(Side by, const mpa::Terminate& t) {
    mpa::Untagged h;
    h.opcode = mpa::terminate;
    h.queue = 2;
    h.message = 1;
    see(by);
    Sent sent = begin(by, Kind::send);
    stream(by, {fpdu(sent, mpa::encode(h), mpa::encode(t))}, "refusal");
  }

  /// Octets into segments: one a unit, or cut at odd places with several units in one segment.
  void stream(Side by, const std::vector<Octets>& units, const std::string& part) {
    last_sent_.clear();
    if (stage_.odd_segments) {
      Pen all;
      for (const Octets& unit : units) all.add(unit);
      const Octets octets = all.take();
      for (std::size_t done = 0; done < octets.size();) {
        const std::size_t cut = odd_cuts.at(of(by).cut++ % odd_cuts.size());
        const std::size_t count = std::min(cut, octets.size() - done);
        data(by, slice(octets, done, count), part);
        done += count;
      }
      return;
    }
    for (const Octets& unit : units) {
      for (std::size_t done = 0; done < unit.size();) {
        const std::size_t count = std::min(largest_segment, unit.size() - done);
        data(by, slice(unit, done, count), part);
        done += count;
      }
    }
  }
  void data(Side by, const Octets& payload, const std::string& part) {
    last_sent_.push_back({of(by).sequence, payload});
    segment(by, ack | psh, payload, part);
  }
  Octets segment(Side by, std::uint8_t flags, const Octets& payload, const std::string& part) {
    Party& mine = of(by);
    TcpHeader h = header(by, flags);
    h.sequence = mine.sequence;
    mine.sequence += static_cast<std::uint32_t>(payload.size());
    if ((flags & (syn | fin)) != 0) ++mine.sequence;
    return frame(by, h, payload, part);
  }
  void again(Side by, const Segment& s, const std::string& part) {
    TcpHeader h = header(by, ack | psh);
    h.sequence = s.sequence;
    frame(by, h, s.payload, part);
  }
  TcpHeader header(Side by, std::uint8_t flags) {
    TcpHeader h;
    h.source = of(by).port;
    h.destination = of(other(by)).port;
    h.flags = flags;
    h.options = (flags & syn) != 0;
    h.acknowledgement = (flags & ack) != 0 ? of(by).received : 0;
    h.window = of(by).window;
    return h;
  }
  Octets frame(Side by, const TcpHeader& h, const Octets& payload, const std::string& part) {
    const Host& source = by == Side::client ? stage_.client : stage_.server;
    const Host& target = by == Side::client ? stage_.server : stage_.client;
    stage_.film.shoot(by, stage_.network.tcp_frame(source, target, h, payload), part);
    return stage_.film.shots.back().octets;
  }

  Stage stage_;
  std::array<Party, 2> parties_;
  std::vector<mpa::Framer> framers_;  ///< client's stream, server's stream
  std::vector<Segment> last_sent_;
  std::vector<Sent> sent_;
};

}  // namespace

std::unique_ptr<Connection> make_iwarp_connection(const Stage& stage) {
  return std::make_unique<IwarpConnection>(stage);
}

}  // namespace forge
