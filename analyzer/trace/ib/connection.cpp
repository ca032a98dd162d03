// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/ib/connection.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <utility>

#include "trace/ib/roles.hpp"

namespace rpcrdma::trace::ib {

using wire::IbKind;

Connection::Connection(EventSink& sink, Budget& budget, Transport t, const Address& client, const Address& server)
    : shared{sink, budget},
      streams{Stream(shared, Side::active), Stream(shared, Side::passive)},
      transport(t),
      addresses{client, server},
      early_{EarlyPackets(budget), EarlyPackets(budget)} {}

/// Makes leg 0 that of the active side.
void Connection::choose_roles() {
  const auto evidence = [](const Leg* leg) { return leg != nullptr ? &leg->evidence : nullptr; };
  const Verdict verdict = weigh(evidence(legs[0]), evidence(legs[1]));
  if (!verdict.sender_active) {
    std::swap(legs[0], legs[1]);
    std::swap(addresses[0], addresses[1]);
  }
  for (const Side side : {Side::active, Side::passive})
    if (legs[index(side)] != nullptr) legs[index(side)]->sender = side;
  roles_known = verdict.sure;
}

void Connection::announce(ConnectionNumbers& numbers) {
  if (announced) return;
  if (!handshake()) choose_roles();
  for (const Side side : {Side::active, Side::passive}) {
    const Leg* towards = legs[index(other(side))];
    if (towards != nullptr) qpns[index(side)] = towards->key.qpn;
  }
  announced = true;
  if (shared.id == 0) shared.id = numbers.next();

  if (request) {
    request->connection = shared.id;
    request->client.qpn = qpns[index(Side::active)];
    request->server.qpn = reply ? std::nullopt : qpns[index(Side::passive)];
    request->private_data = request_area.area();
    shared.sink.on(*request);
  } else {
    announce_adopted();
  }
  if (receipt) {
    receipt->connection = shared.id;
    shared.sink.on(*receipt);
  }
  if (undelivered) {
    undelivered->connection = shared.id;
    shared.sink.on(*undelivered);
  }
  if (reply) emit_reply();
  if (ready_message) {
    ready_message->connection = shared.id;
    ready_message->private_data = ready_area.area();
    shared.sink.on(*ready_message);
  }
  for (const RepeatedMessage& m : repeated_messages) shared.repeated(m.side, m.frame, m.kind);
  repeated_messages = {};
  const bool answered_before = request && reply && reply->frame.number < request->frame.number;
  if (answered_before) shared.say_late(Side::active, request->frame);
  const bool ready_before = reply && ready_message && ready_message->frame.number < reply->frame.number;
  if (ready_before) shared.say_late(Side::passive, reply->frame);
  replay();
}

void Connection::emit_reply() {
  reply->connection = shared.id;
  reply->server.qpn = qpns[index(Side::passive)];
  if (request) {
    reply->server.address = request->server.address;
    reply->server.network = request->server.network;
    reply->server.port = request->server.port;
  }
  reply->private_data = reply_area.area();
  shared.sink.on(*reply);
}

FrameRef Connection::hears(Side sender, const IbPacket& packet, wire::CmKind kind) {
  shared.heard[index(sender)].see(packet.ref);
  networks[index(sender)].add(packet.seen_in);
  const auto number = static_cast<std::size_t>(kind) - static_cast<std::size_t>(wire::CmKind::req);
  if (number >= message_kinds) return {};
  return std::exchange(newest_message[index(sender)][number], packet.ref);
}

void Connection::repeated_message(Side side, FrameRef ref, FrameRef before) {
  constexpr std::size_t plenty = 64;
  const bool copied = before.number != 0 && close_together(before.time, ref.time);
  const Repeated::Kind kind = copied ? Repeated::Kind::handshake_copy : Repeated::Kind::handshake;
  if (copied) shared.not_heard(side, ref);
  if (!copied && unanswered_handshake(side).number != 0) {
    ++handshake_copies[index(side)].count;
    handshake_copies[index(side)].last = ref;
  }
  if (announced) {
    shared.repeated(side, ref, kind);
  } else if (repeated_messages.size() < plenty) {
    repeated_messages.push_back({side, ref, kind});
  }
}

/// The REQ or REP of this side, as long as nobody has said that it arrived.
FrameRef Connection::unanswered_handshake(Side side) const noexcept {
  if (rejected || received[index(side)]) return {};
  if (side == Side::active) return request && !reply && !ready ? request->frame : FrameRef{};
  return reply && !ready ? reply->frame : FrameRef{};
}

void Connection::tell_liveness(FrameRef frame) {
  if (liveness_told || !announced) return;
  liveness_told = true;
  for (const Side side : {Side::active, Side::passive}) {
    const std::size_t i = index(side);
    Liveness e;
    shared.fill(e, side, frame);
    e.heard = shared.heard[i].frame();
    e.acknowledging = shared.acknowledging[i].frame();
    e.amount = shared.packets[i].seen;
    e.missing = shared.packets[i].missing;
    e.places = shared.packets[i].places;
    networks[i].tell(e.networks);
    if (legs[i] != nullptr) legs[i]->networks.tell(e.networks);
    streams[i].tell(e);
    if (handshake()) e.before_capture = {};  // what is that old belongs to an earlier use of the queue pair
    if (const FrameRef waits = unanswered_handshake(side); waits.number != 0) {
      e.unacknowledged = waits;
      if (handshake_copies[i].count != 0) {
        e.first_copy = e.first_repeat = waits;
        e.last_copy = handshake_copies[i].last;
        e.copies = handshake_copies[i].count;
        e.unheard = {waits, waits, {}, e.copies};
      }
    }
    shared.sink.on(e);
  }
}

void Connection::announce_adopted() {
  Adopted a;
  shared.fill(a, Side::active, first);
  a.transport = transport;
  a.client = {addresses[0].text(), std::nullopt, qpns[0], addresses[0].network, {}};
  a.server = {addresses[1].text(), std::nullopt, qpns[1], addresses[1].network, {}};
  if (handshake()) {
    a.roles_from = RolesFrom::handshake;
  } else {
    a.roles_from = roles_known ? RolesFrom::traffic : RolesFrom::unknown;
    a.one_way = !both_legs();
    if (legs[0] == nullptr) a.side = Side::passive;
  }
  shared.sink.on(a);
}

/// Where the starting PSN is not known, the lowest one that waits is where the stream begins, whatever came first in
/// the file. In an epoch whose beginning was seen, an answer to an older PSN tells of a request that the capture lost.
void Connection::find_start(Side side) {
  constexpr std::int32_t plausible = 1 << 14;
  if (handshake()) streams[index(side)].opened_here();
  std::optional<std::uint32_t> lowest;
  const auto consider = [&lowest](std::uint32_t psn) {
    const std::int32_t d = lowest ? psn_distance(*lowest, psn) : -1;
    if (d < 0 && d > -plausible) lowest = psn;
  };
  if (const Leg* leg = legs[index(side)]) {
    for (const WaitingPacket& p : leg->waiting.all())
      if (const auto h = wire::decode_ib(p.octets, p.wire_length); h && is_request(h->op.kind)) consider(h->psn);
    start_known_[index(side)] = lowest.has_value();
  }
  if (const Leg* leg = legs[index(other(side))]; leg != nullptr && handshake()) {
    for (const WaitingPacket& p : leg->waiting.all()) {
      const auto h = wire::decode_ib(p.octets, p.wire_length);
      const bool nak = h && h->op.kind == IbKind::acknowledge && wire::aeth_type(h->syndrome) != wire::AethType::ack;
      if (h && !is_request(h->op.kind) && !nak) consider(h->psn);
    }
  }
  if (lowest) streams[index(side)].start_at(*lowest);
}

void Connection::replay() {
  find_start(Side::active);
  find_start(Side::passive);
  std::array<std::vector<WaitingPacket>, 2> waiting;
  for (std::size_t i = 0; i < 2; ++i)
    if (legs[i] != nullptr) waiting[i] = legs[i]->waiting.take();
  for (const Side sender : {Side::active, Side::passive}) {
    if (!before[index(sender)]) continue;
    std::erase_if(waiting[index(sender)], [&](const WaitingPacket& p) {
      const auto h = wire::decode_ib(p.octets, p.wire_length);
      return h && of_epoch_before(sender, *h, p.ref);
    });
  }
  // Before the REP a client does not know to which queue pair it sends.
  const std::vector<WaitingPacket>& of_client = waiting[index(Side::active)];
  const bool used_before = reply && !of_client.empty() && of_client.front().ref.number < reply->frame.number;
  if (used_before) shared.say_late(Side::passive, reply->frame);
  const std::array<Newest, 2> newest = shared.heard;                // handshake messages were not held back
  std::vector<Farewell> farewells = std::exchange(farewells_, {});  // behind all of this
  std::array<std::size_t, 2> at{};
  while (at[0] < waiting[0].size() || at[1] < waiting[1].size()) {
    const std::size_t i = at[1] >= waiting[1].size() || (at[0] < waiting[0].size() &&
                                                         waiting[0][at[0]].ref.number < waiting[1][at[1]].ref.number)
                              ? 0
                              : 1;
    const WaitingPacket p = std::move(waiting[i][at[i]++]);  // and then no longer, for it may be copied to wait again
    if (const auto h = wire::decode_ib(p.octets, p.wire_length))
      deliver(legs[i]->sender, {p.ref, p.octets, p.wire_length, p.crc_bad, *h});
  }
  for (std::size_t i = 0; i < 2; ++i)
    if (newest[i].frame().number > shared.heard[i].frame().number) shared.heard[i] = newest[i];
  for (Farewell& farewell : farewells) hear_out(std::move(farewell));
}

/// The connection before may have sent it, and this one cannot.
bool Connection::of_epoch_before(Side sender, const wire::IbHeader& header, FrameRef ref) const noexcept {
  const std::optional<EpochBefore>& epoch = before[index(sender)];
  if (!epoch || !epoch->holds(header, ref)) return false;
  const Side requester = is_request(header.op.kind) ? sender : other(sender);
  return first_psn_told[index(requester)] && !streams[index(requester)].may_use(header.psn);
}

bool Connection::foreign(const Leg& leg, FrameRef ref, const wire::IbHeader& header) const noexcept {
  constexpr TimeNs reused_after = 60 * second;
  if (!passed(last_used.time, ref.time, reused_after)) return false;
  const Side requester = is_request(header.op.kind) ? leg.sender : other(leg.sender);
  return streams[index(requester)].far_off(header.psn);
}

void Connection::pass(Side sender, const Captured& packet) {
  const FrameRef ref = packet.ref;
  const wire::IbHeader& header = packet.header;
  if (packet.crc_bad) shared.quality(sender, ref, Quality::Kind::checksum_bad);
  if (!ready && sender == Side::active && handshake()) {
    ready = true;
    ConnectReady event;
    shared.fill(event, Side::active, ref);
    shared.sink.on(event);
  }
  const Arrival arrival{ref, header, fingerprint(packet.octets, packet.wire_length)};
  if (is_request(header.op.kind)) {
    streams[index(sender)].request(arrival);
  } else {
    // In an epoch whose beginning was seen, an answer that nothing went before tells of a request that is missing.
    if (handshake()) streams[index(other(sender))].start_at(header.psn);
    streams[index(other(sender))].response(arrival);
  }
}

void Connection::finish(FrameRef last) {
  if (!announced) return;
  rest_if_over(last);
  ProvenOrder::release_all(*this, last_used);
  tell_farewells(true, last_used);
  for (Stream& s : streams) s.finish(last);
  tell_liveness(last);
}

}  // namespace rpcrdma::trace::ib
