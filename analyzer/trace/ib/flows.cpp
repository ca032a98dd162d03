// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/ib/flows.hpp"

#include <algorithm>
#include <tuple>

#include "trace/spans.hpp"
#include "wire/icrc.hpp"

namespace rpcrdma::trace::ib {
namespace {

constexpr unsigned crc_checked_packets = 4;
constexpr unsigned rested_each = 2;  // new connection: more than are closed meanwhile

/// For a cache of 256. Queue pair numbers and addresses that are in use together differ in few bits.
std::size_t slot(const FlowKey& k) noexcept {
  const auto& to = k.destination.octets;
  return ((k.qpn ^ to[3] * 0x101U ^ to[15] * 0x1001U ^ to[1] * 0x10001U) * 0x9E3779B1U) >> 24U;
}

}  // namespace

Leg* Flows::find(const FlowKey& key) noexcept {
  Leg*& cached = cache_[slot(key)];
  if (cached != nullptr && cached->key == key) return cached;
  const auto it = legs_.find(key);
  if (it == legs_.end()) return nullptr;
  cached = it->second.get();
  return cached;
}

/// What waits for its partner does so no longer.
void Flows::say_limit(FrameRef now) {
  Quality q;
  q.frame = now;
  q.kind = Quality::Kind::limit_reached;
  sink_.on(q);
}

Leg& Flows::new_orphan(const FlowKey& key, Transport transport, FrameRef first) {
  if (orphans_.size() >= options_.room(max_orphans)) {
    Leg& oldest = *orphans_.front();
    say_limit(first);
    adopt_one_way(oldest);
  }
  auto owned = std::make_unique<Leg>(budget_);
  Leg& leg = *owned;
  leg.key = key;
  leg.number = ++orphans_ever_;
  leg.transport = transport;
  leg.first = first;
  legs_[key] = std::move(owned);
  leg.place = orphans_.insert(orphans_.end(), &leg);
  pairs_[PairKey(key.source, key.destination)].orphans.push_back(&leg);
  return leg;
}

bool Flows::crc_bad(const IbPacket& packet, Leg& leg) const {
  if (leg.crc_checked >= crc_checked_packets && !options_.check_crc) return false;
  if (packet.octets.size() < packet.wire_length) return false;
  if (leg.crc_checked < crc_checked_packets) ++leg.crc_checked;
  return !wire::icrc_matches(icrc_layout(packet), packet.network, packet.octets);
}

void Flows::packet(const IbPacket& packet, const wire::IbHeader& header) {
  const FlowKey key{packet.source, packet.destination, header.destination_qp};
  Leg* leg = find(key);
  if (leg != nullptr && leg->connection != nullptr && leg->connection->announced &&
      leg->connection->foreign(*leg, packet.ref, header)) {
    retire(*leg->connection, packet.ref, Disconnect::How::unseen);
    leg = nullptr;
  }
  if (leg == nullptr) leg = &new_orphan(key, packet.transport, packet.ref);
  leg->networks.add(packet.seen_in);
  const bool bad = crc_bad(packet, *leg);
  if (leg->connection != nullptr && leg->connection->announced) {
    leg->connection->rest_if_over(packet.ref);
    leg->connection->deliver(leg->sender, {packet.ref, packet.octets, packet.wire_length, bad, header});
    await_rest(*leg->connection);
  } else {
    wait(*leg, packet, header, bad);
    tell_waiting(key, packet, header);
  }
}

void Flows::copy(const IbPacket& packet, const wire::IbHeader& header) {
  Leg* leg = find({packet.source, packet.destination, header.destination_qp});
  if (leg == nullptr) return;
  leg->networks.add(packet.seen_in);
  if (leg->connection == nullptr || !leg->connection->announced) return;
  leg->connection->shared.repeated(leg->sender, packet.ref, Repeated::Kind::capture_duplicate);
}

void Flows::notified(const IbPacket& packet, const wire::IbHeader& header) {
  const Leg* leg = find({packet.source, packet.destination, header.destination_qp});
  if (leg == nullptr || leg->connection == nullptr || !leg->connection->announced) return;
  leg->connection->shared.heard[index(leg->sender)].see(packet.ref);
}

Connection& Flows::open(Transport transport, const Address& client, const Address& server, FrameRef first) {
  if (connections_.size() >= options_.room(max_connections) && !finishing_) make_room(first);
  rest_closed(first);
  connections_.push_back(std::make_unique<Connection>(sink_, budget_, transport, client, server));
  Connection& c = *connections_.back();
  c.place = std::prev(connections_.end());
  c.first = first;
  c.opened = numbers_.now();
  c.last_used = first;
  pairs_[PairKey(client, server)].incomplete.push_back(&c);
  return c;
}

/// Closed connections go first, then those whose client waits for nothing, and of these who was quiet for longest.
void Flows::make_room(FrameRef ref) {
  std::vector<Connection*> all;
  all.reserve(connections_.size());
  for (const auto& c : connections_) all.push_back(c.get());
  const std::size_t n = std::max<std::size_t>(all.size() / 8, 1);
  std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n - 1), all.end(),
                   [](const Connection* a, const Connection* b) {
                     return std::tuple(!a->closed, a->answer_due(), a->last_used.number) <
                            std::tuple(!b->closed, b->answer_due(), b->last_used.number);
                   });
  for (std::size_t i = 0; i < n; ++i) {
    Connection& c = *all[i];
    announce(c);
    if (!c.closed) c.shared.quality(Side::active, ref, Quality::Kind::limit_reached);
    c.finish(ref);
    if (!c.closed) end(c, ref, Disconnect::How::unseen);  // what still comes is another connection's
    erase(c);
  }
}

/// By what follows.
void Flows::end(const Connection& connection, FrameRef ref, Disconnect::How how) {
  Disconnect d;
  connection.shared.fill(d, Side::active, ref);
  d.how = how;
  sink_.on(d);
}

void Flows::close(Connection& connection, FrameRef ref) {
  if (connection.closed) return;
  connection.closed = true;
  connection.closed_in = ref.number;
  connection.to_rest = closed_.insert(closed_.end(), &connection);
  await_rest(connection);
}

/// Where it is closed, nobody else may ever come to move on what still waits in it.
void Flows::await_rest(Connection& connection) {
  if (!connection.closed || connection.unsaid || (connection.announced && connection.all_said())) return;
  connection.unsaid = unsaid_.insert(unsaid_.end(), &connection);
}

/// All that are due, not the oldest alone: when one of them is may not depend on another one.
void Flows::time_passed(FrameRef now) {
  for (auto it = unsaid_.begin(); it != unsaid_.end();) {
    Connection& c = **it++;
    numbers_.at({Moment::Step::frame, now.number - 1, c.closed_in});
    if (!c.announced) {
      if (c.handshake_may_come(now)) continue;
      settle(c);
    }
    c.time_passed(now);
    if (!c.all_said()) continue;
    unsaid_.erase(*c.unsaid);
    c.unsaid.reset();
  }
}

/// Who opens another connection cannot know what is said of these: nothing that is said may depend on it.
void Flows::rest_closed(FrameRef now) {
  for (unsigned n = 0; n < rested_each && !closed_.empty(); ++n) {
    Connection& c = *closed_.front();
    if (!c.all_said() || !c.long_quiet(now)) {
      closed_.splice(closed_.end(), closed_, closed_.begin());
      continue;
    }
    c.rest();
    closed_.pop_front();
    c.to_rest.reset();
    c.at_rest = rested_.insert(rested_.end(), &c);
  }
  while (rested_.size() > options_.room(max_rested)) {
    Connection& oldest = *rested_.front();
    oldest.finish(now);
    erase(oldest);
  }
}

Connection* Flows::by_comm(const CommKey& key) const {
  const auto it = by_comm_.find(key);
  return it == by_comm_.end() ? nullptr : it->second;
}

void Flows::drop_comm(Connection& connection, Side side) {
  auto& key = connection.comm[index(side)];
  if (!key) return;
  const auto it = by_comm_.find(*key);
  if (it != by_comm_.end() && it->second == &connection) by_comm_.erase(it);
  key.reset();
}

void Flows::set_comm(Connection& connection, Side side, const CommKey& key) {
  drop_comm(connection, side);
  const auto [it, fresh] = by_comm_.try_emplace(key, &connection);
  if (!fresh && it->second != &connection) {
    for (auto& k : it->second->comm)
      if (k == key) k.reset();
    it->second = &connection;
  }
  connection.comm[index(side)] = key;
}

Connection* Flows::by_leg(const FlowKey& key) {
  Leg* leg = find(key);
  if (leg == nullptr) return nullptr;
  if (leg->connection == nullptr) {
    settle_orphan(*leg);
    leg = find(key);
  }
  return leg == nullptr ? nullptr : leg->connection;
}

void Flows::attach(Connection& connection, Side sender, const FlowKey& key, FrameRef ref) {
  attach_leg(connection, sender, key, ref);
  if (const EpochBefore* before = epochs_before_.find(key)) connection.before[index(sender)] = *before;
}

void Flows::attach_leg(Connection& connection, Side sender, const FlowKey& key, FrameRef ref) {
  connection.last_used = ref;  // making room must not take this one
  if (Leg* before = connection.legs[index(sender)]; before != nullptr && !(before->key == key)) {
    connection.legs[index(sender)] = nullptr;  // a guess, or an earlier answer: this message knows better
    erase_leg(*before);
  }
  if (Leg* leg = find(key)) {
    if (leg->connection == &connection) return;
    // The handshake message stands behind the first data, and where that side is late, behind all of it.
    const bool begins_with_it = leg->first.number >= connection.first.number ||
                                !passed(leg->first.time, connection.first.time, ProvenOrder::patience);
    if (leg->connection == nullptr && begins_with_it) {
      join(connection, sender, *leg);
      return;
    }
    if (leg->connection == nullptr) settle_orphan(*leg);
    leg = find(key);
    if (leg != nullptr && leg->connection != nullptr && leg->connection != &connection)
      retire(*leg->connection, ref, Disconnect::How::superseded);
  }
  auto owned = std::make_unique<Leg>(budget_);
  Leg& leg = *owned;
  leg.key = key;
  leg.transport = connection.transport;
  leg.first = ref;
  legs_[key] = std::move(owned);
  leg.connection = &connection;
  leg.sender = sender;
  connection.legs[index(sender)] = &leg;
}

/// An orphan becomes one direction of a connection.
void Flows::join(Connection& connection, Side sender, Leg& leg) {
  if (leg.connection == nullptr) {
    orphans_.erase(leg.place);
    auto& orphans = pairs_[PairKey(leg.key.source, leg.key.destination)].orphans;
    std::erase(orphans, &leg);
  }
  leg.connection = &connection;
  leg.sender = sender;
  connection.legs[index(sender)] = &leg;
}

void Flows::announce(Connection& connection) {
  if (connection.announced) return;
  for (Leg* leg : connection.legs)
    if (leg != nullptr) forget(*leg);
  const auto pair = pairs_.find(PairKey(connection.addresses[0], connection.addresses[1]));
  if (pair != pairs_.end()) {
    std::erase(pair->second.incomplete, &connection);
    if (pair->second.orphans.empty() && pair->second.incomplete.empty()) pairs_.erase(pair);
  }
  connection.announce(numbers_);
}

/// Another epoch took one of its queue pairs, or may have.
void Flows::retire(Connection& connection, FrameRef ref, Disconnect::How how) {
  settle(connection);
  connection.finish(ref);
  if (!connection.closed) end(connection, ref, how);
  for (const Side sender : {Side::active, Side::passive}) {
    const Leg* leg = connection.legs[index(sender)];
    if (leg == nullptr) continue;
    epochs_before_.keep(
        {leg->key, ref, connection.streams[index(sender)].used(), connection.streams[index(other(sender))].used()});
  }
  erase(connection);
}

void Flows::begins(Connection& connection, Side requester, std::uint32_t psn) {
  connection.streams[index(requester)].start_at(psn);
  connection.first_psn_told[index(requester)] = true;
}

void Flows::erase_leg(Leg& leg) {
  forget(leg);
  const FlowKey key = leg.key;
  if (Leg*& cached = cache_[slot(key)]; cached == &leg) cached = nullptr;
  const auto it = legs_.find(key);
  if (it != legs_.end() && it->second.get() == &leg) legs_.erase(it);
}

void Flows::erase(Connection& connection) {
  for (Leg*& leg : connection.legs) {
    if (leg != nullptr) erase_leg(*leg);
    leg = nullptr;
  }
  drop_comm(connection, Side::active);
  drop_comm(connection, Side::passive);
  if (connection.unsaid) unsaid_.erase(*connection.unsaid);
  if (connection.to_rest) closed_.erase(*connection.to_rest);
  if (connection.at_rest) rested_.erase(*connection.at_rest);
  connections_.erase(connection.place);
}

void Flows::finish(FrameRef last) {
  // Pair what can be paired, then announce in the order of appearance.
  finishing_ = true;
  std::vector<Leg*> left(orphans_.begin(), orphans_.end());
  for (Leg* leg : left) {
    if (leg->connection != nullptr) continue;
    numbers_.at({Moment::Step::infiniband_pairs, leg->first.number});
    Leg* partner = partner_of(*leg);
    if (partner != nullptr) marry(*leg, *partner);
  }
  std::vector<Connection*> unannounced;
  for (const auto& c : connections_)
    if (!c->announced) unannounced.push_back(c.get());
  for (Connection* c : unannounced) {
    if (!c->handshake()) continue;
    for (const Side s : {Side::active, Side::passive}) {
      if (c->legs[index(s)] != nullptr) continue;
      if (Leg* leg = only_candidate(*c, s)) join(*c, s, *leg);
    }
  }
  struct Waiting {
    std::uint64_t frame;
    Connection* connection;
    Leg* orphan;
  };
  std::vector<Waiting> all;
  all.reserve(unannounced.size() + orphans_.size());
  for (Connection* c : unannounced) all.push_back({c->first.number, c, nullptr});
  for (Leg* leg : orphans_) all.push_back({leg->first.number, nullptr, leg});
  std::sort(all.begin(), all.end(), [](const Waiting& a, const Waiting& b) { return a.frame < b.frame; });
  for (const Waiting& w : all) {
    numbers_.at({Moment::Step::infiniband_announced, w.frame});
    if (w.connection != nullptr) {
      announce(*w.connection);
    } else {
      adopt_one_way(*w.orphan);
    }
  }
  for (const auto& c : connections_) {
    numbers_.at({Moment::Step::infiniband_over, c->opened.order()});
    c->finish(last);
  }
  closed_.clear();
  unsaid_.clear();
  rested_.clear();
  connections_.clear();
  by_comm_.clear();
  pairs_.clear();
  orphans_.clear();
  cache_.fill(nullptr);
  legs_.clear();
  finishing_ = false;
}

}  // namespace rpcrdma::trace::ib
