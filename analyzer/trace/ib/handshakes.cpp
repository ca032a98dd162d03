// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/ib/handshakes.hpp"

#include "trace/spans.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace rpcrdma::trace::ib {

using wire::CmKind;
using wire::CmMessage;

namespace {

CommKey sender_key(const IbPacket& p, std::uint32_t id) { return {p.source, p.destination, id}; }
CommKey receiver_key(const IbPacket& p, std::uint32_t id) { return {p.destination, p.source, id}; }

SavedArea save(const CmMessage& m) { return {{m.consumer.begin(), m.consumer.end()}, m.consumer_length}; }

PrivateDataArea area(const CmMessage& m) { return {m.consumer, m.consumer_length, false}; }

Depths depths(const CmMessage& m) {
  Depths d;
  d.responder_resources = m.responder_resources;
  d.initiator_depth = m.initiator_depth;
  d.rnr_retry = m.rnr_retry;
  d.retry_count = m.retry_count;
  return d;
}

/// An address of the RDMA IP CM header; the fabric's own (GID, LID) where there is none.
std::string address_text(const Address& fabric, const CmMessage& m, bool source) {
  if (fabric.kind == Address::Kind::ipv4 || fabric.kind == Address::Kind::ipv6 || !m.ip) return fabric.text();
  const auto& octets = source ? m.ip->source : m.ip->destination;
  Address a;
  if (m.ip->ip_version == 4) {
    a.kind = Address::Kind::ipv4;
    std::copy_n(octets.begin() + 12, 4, a.octets.begin());
  } else if (m.ip->ip_version == 6) {
    a.kind = Address::Kind::ipv6;
    a.octets = octets;
  }
  const bool given = std::any_of(a.octets.begin(), a.octets.end(), [](std::uint8_t o) { return o != 0; });
  return given ? a.text() : fabric.text();
}

/// What the REQ calls this end, and what the fabric calls it where that is something else.
void name_end(Endpoint& end, const Address& fabric, const CmMessage& m, bool source) {
  end.address = address_text(fabric, m, source);
  if (std::string own = fabric.text(); own != end.address) end.fabric = std::move(own);
}

Side side_of(const Connection& c, const IbPacket& p, const CmMessage& m) {
  const auto& client = c.comm[index(Side::active)];
  const auto& server = c.comm[index(Side::passive)];
  if (client && *client == sender_key(p, *m.local_id)) return Side::active;
  if (server && *server == sender_key(p, *m.local_id)) return Side::passive;
  if (m.remote_id && client && *client == receiver_key(p, *m.remote_id)) return Side::passive;
  if (m.remote_id && server && *server == receiver_key(p, *m.remote_id)) return Side::active;
  return p.source == c.addresses[index(Side::active)] ? Side::active : Side::passive;
}

/// Has only the queue pair's number in common with this connection: one of its communication IDs is known, and another.
/// A communication ID of 0 says nothing.
bool of_another(const Connection& c, const IbPacket& p, const CmMessage& m) {
  const auto differs = [](const std::optional<CommKey>& known, const CommKey& key) {
    return known && !(*known == key);
  };
  const Side sender = side_of(c, p, m);
  return (*m.local_id != 0 && differs(c.comm[index(sender)], sender_key(p, *m.local_id))) ||
         (m.remote_id && *m.remote_id != 0 && differs(c.comm[index(other(sender))], receiver_key(p, *m.remote_id)));
}

/// A DREQ names its receiver's queue pair; who has another drops it, as if it had not come.
bool to_another_pair(const Connection& c, const IbPacket& p, const CmMessage& m) {
  if (m.kind != CmKind::dreq || !m.remote_qpn || *m.remote_qpn == 0) return false;
  const auto& receiver = c.qpns[index(other(side_of(c, p, m)))];
  return receiver && *receiver != *m.remote_qpn;
}

}  // namespace

void Handshakes::message(const IbPacket& packet, const CmMessage& m) {
  switch (m.kind) {
    case CmKind::req:
      return request(packet, m);
    case CmKind::rep:
      return reply(packet, m);
    case CmKind::rtu:
      return ready(packet, m);
    case CmKind::rej:
      return reject(packet, m);
    case CmKind::dreq:
    case CmKind::drep:
      return disconnect(packet, m);
    case CmKind::mra:
    case CmKind::lap:
    case CmKind::apr:
      return other_message(packet, m);
    case CmKind::sidr_req:
    case CmKind::sidr_rep:
      return;  // of no connection
  }
}

Connection* Handshakes::find(const IbPacket& packet, const CmMessage& m) const {
  if (m.remote_id && *m.remote_id != 0)
    if (Connection* c = flows_.by_comm(receiver_key(packet, *m.remote_id))) return c;
  if (*m.local_id != 0) return flows_.by_comm(sender_key(packet, *m.local_id));
  return nullptr;
}

void Handshakes::request(const IbPacket& packet, const CmMessage& m) {
  if (m.service_type && *m.service_type != 0) return;  // not a reliable connection
  const CommKey key = sender_key(packet, *m.local_id);
  if (Connection* c = flows_.by_comm(key)) {
    // A copy may be cut before some of it, and so may the first one.
    const auto agree = [](const std::optional<std::uint32_t>& one, const std::optional<std::uint32_t>& other) {
      return !one || !other || *one == *other;
    };
    const bool same = c->request && c->transaction == m.transaction && agree(m.starting_psn, c->request_psn) &&
                      agree(m.local_qpn, c->qpns[index(Side::active)]);
    if (same) {
      c->repeated_message(Side::active, packet.ref, c->hears(Side::active, packet, m.kind));
      return;
    }
  }

  Connection* const answered = answered_before(key, packet.ref);
  Connection& c =
      answered != nullptr ? *answered : flows_.open(packet.transport, packet.source, packet.destination, packet.ref);
  // First, for an older epoch may get its number only now.
  if (m.local_qpn) flows_.attach(c, Side::passive, {packet.destination, packet.source, *m.local_qpn}, packet.ref);
  if (answered == nullptr) c.shared.id = numbers_.next();
  c.hears(Side::active, packet, m.kind);
  flows_.set_comm(c, Side::active, key);
  c.roles_known = true;
  c.transaction = m.transaction;
  c.request_psn = m.starting_psn;
  c.qpns[index(Side::active)] = m.local_qpn;
  if (m.path_mtu) c.shared.mtu = wire::mtu_octets(*m.path_mtu);
  if (m.starting_psn) flows_.begins(c, Side::passive, *m.starting_psn);

  ConnectRequest& r = c.request.emplace();
  c.shared.fill(r, Side::active, packet.ref);
  r.transport = packet.transport;
  name_end(r.client, packet.source, m, true);
  name_end(r.server, packet.destination, m, false);
  r.client.network = r.server.network = packet.source.network;
  if (m.ip) r.client.port = m.ip->source_port;
  if (m.service_id && wire::is_ip_cm_service(*m.service_id)) r.server.port = wire::ip_cm_port(*m.service_id);
  r.opened = packet.ref;
  r.depths = depths(m);
  r.service_id = m.service_id;
  c.request_area = save(m);
  if (answered != nullptr && c.both_legs()) flows_.settle(c);
  if (answered == nullptr && !early_rejects_.empty()) refuse_early(c, key);
}

/// The REP to this REQ stands in front of it: two taps, or two queues of one.
Connection* Handshakes::answered_before(const CommKey& client, FrameRef ref) const {
  Connection* const c = flows_.by_comm(client);
  return c != nullptr && !c->announced && c->request_may_come(ref) ? c : nullptr;
}

void Handshakes::reply(const IbPacket& packet, const CmMessage& m) {
  if (!m.remote_id) return;  // cut: whose REQ it answers is not known
  Connection* c = flows_.by_comm(receiver_key(packet, *m.remote_id));
  if (c != nullptr && c->reply) {
    const auto& known = c->comm[index(Side::passive)];
    if (known && *known == sender_key(packet, *m.local_id)) {
      c->repeated_message(Side::passive, packet.ref, c->hears(Side::passive, packet, m.kind));
      return;
    }
    if (c->announced) c = nullptr;  // another epoch, whose REQ is not in the capture
  }
  if (c == nullptr) {
    c = &flows_.open(packet.transport, packet.destination, packet.source, packet.ref);
    c->shared.id = numbers_.next();
    c->roles_known = true;
    flows_.set_comm(*c, Side::active, receiver_key(packet, *m.remote_id));
  }
  c->hears(Side::passive, packet, m.kind);
  flows_.set_comm(*c, Side::passive, sender_key(packet, *m.local_id));
  c->qpns[index(Side::passive)] = m.local_qpn;
  if (m.starting_psn) flows_.begins(*c, Side::active, *m.starting_psn);

  ConnectReply& r = c->reply.emplace();
  c->shared.fill(r, Side::passive, packet.ref);
  r.server.address = packet.source.text();
  r.server.network = packet.source.network;
  r.depths = depths(m);
  c->reply_area = save(m);

  if (m.local_qpn) flows_.attach(*c, Side::active, {packet.destination, packet.source, *m.local_qpn}, packet.ref);
  if (c->announced) {
    c->emit_reply();
    c->replay();
  } else if (c->both_legs()) {
    flows_.settle(*c);
  }
}

void Handshakes::ready(const IbPacket& packet, const CmMessage& m) {
  Connection* c = find(packet, m);
  if (c == nullptr) return;
  const FrameRef before = c->hears(Side::active, packet, m.kind);
  // Data may have told it already, when the RTU comes late; a second RTU is a repetition.
  if (c->ready && c->ready_message) return c->repeated_message(Side::active, packet.ref, before);
  c->ready = true;
  ConnectReady& r = c->ready_message.emplace();
  c->shared.fill(r, Side::active, packet.ref);
  r.message_seen = true;
  if (!c->announced) {
    c->ready_area = save(m);
    return;
  }
  r.private_data = area(m);
  sink_.on(r);
  r.private_data = {};
}

void Handshakes::reject(const IbPacket& packet, const CmMessage& m) {
  Connection* c = find(packet, m);
  if (c != nullptr) {
    refuse(*c, side_of(*c, packet, m), packet, m.reason.value_or(0), area(m));
  } else if (m.remote_id) {
    constexpr std::size_t plenty = 64;
    if (early_rejects_.size() >= plenty) early_rejects_.pop_front();
    early_rejects_.push_back({receiver_key(packet, *m.remote_id), packet, m.reason.value_or(0), save(m)});
    early_rejects_.back().packet.octets = {};
  }
}

/// The REJ to this REQ stands in front of it.
void Handshakes::refuse_early(Connection& c, const CommKey& client) {
  for (auto it = early_rejects_.begin(); it != early_rejects_.end(); ++it) {
    if (!(it->client == client) || passed(it->packet.ref.time, c.first.time, ProvenOrder::patience)) continue;
    const EarlyReject early = std::move(*it);
    early_rejects_.erase(it);
    refuse(c, Side::passive, early.packet, early.reason, early.private_data.area());
    return;
  }
}

void Handshakes::refuse(Connection& c, Side side, const IbPacket& packet, std::uint16_t reason,
                        const PrivateDataArea& private_data) {
  flows_.announce(c);  // no data belongs to it
  const FrameRef before = c.hears(side, packet, CmKind::rej);
  if (c.rejected) {
    c.repeated_message(side, packet.ref, before);
    return;
  }
  if (!c.took_part(side)) {
    c.rejected = true;
    flows_.close(c, packet.ref);
    c.tell_liveness(packet.ref);
  }
  ConnectReject r;
  c.shared.fill(r, side, packet.ref);
  r.reason = reason;
  r.private_data = private_data;
  sink_.on(r);
}

/// Nothing about what the connection may do: only that its sender is there, and, an MRA, that it has got what it will
/// answer later.
void Handshakes::other_message(const IbPacket& packet, const CmMessage& m) {
  Connection* c = find(packet, m);
  if (c == nullptr) return;
  const Side side = side_of(*c, packet, m);
  c->hears(side, packet, m.kind);
  if (m.kind != CmKind::mra) return;
  c->received[index(other(side))] = true;
  if (side == Side::active || !c->request || c->reply || c->rejected || c->receipt) return;
  c->shared.fill(c->receipt.emplace(), side, packet.ref);
  if (c->announced) sink_.on(*c->receipt);
}

/// The client repeats its REQ all the same, and the first report says it.
void Handshakes::undelivered(const Undelivered& request) {
  Connection* c = flows_.by_comm({request.source, request.destination, request.communication_id});
  if (c == nullptr || !c->request || c->reply || c->rejected || c->undelivered) return;
  c->shared.fill(c->undelivered.emplace(), Side::passive, request.ref);
  if (request.by == Undelivered::By::another) c->undelivered->by = ReportBy::another;
  if (c->announced) sink_.on(*c->undelivered);
}

void Handshakes::disconnect(const IbPacket& packet, const CmMessage& m) {
  Connection* c = find(packet, m);
  if (c != nullptr && to_another_pair(*c, packet, m)) return;
  if (c == nullptr && m.remote_qpn) {
    c = flows_.by_leg({packet.source, packet.destination, *m.remote_qpn});
    if (c != nullptr && of_another(*c, packet, m)) return;
  }
  if (c == nullptr) return;
  // The whole conversation may stand in front of its REQ, and all that the client said in front of the REP.
  const bool may_come =
      c->request_may_come(packet.ref) || (side_of(*c, packet, m) == Side::active && c->reply_may_come(packet.ref));
  if (!may_come) flows_.settle(*c);
  Side side = side_of(*c, packet, m);  // who is the client may have been found out by that
  if (m.kind == CmKind::dreq && c->addresses[0] == c->addresses[1] && m.remote_qpn && c->both_legs())
    side = c->legs[index(Side::active)]->key.qpn == *m.remote_qpn ? Side::active : Side::passive;
  // Found by its queue pair: from now on also by its communication IDs, for the DREP.
  if (!c->comm[index(side)]) flows_.set_comm(*c, side, sender_key(packet, *m.local_id));

  const FrameRef before = c->hears(side, packet, m.kind);
  bool& seen = (m.kind == CmKind::dreq ? c->dreq_seen : c->drep_seen)[index(side)];
  if (seen) {
    c->repeated_message(side, packet.ref, before);
    return;
  }
  seen = true;
  flows_.close(*c, packet.ref);
  c->says_farewell(side, m.kind == CmKind::dreq ? Disconnect::How::request : Disconnect::How::reply, packet.ref,
                   save(m));
}

}  // namespace rpcrdma::trace::ib
