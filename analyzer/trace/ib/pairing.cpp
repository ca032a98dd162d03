// SPDX-License-Identifier: GPL-2.0-or-later
// Legs without a handshake: which two are one connection, and which belongs to a handshake that is only partly there.
#include <algorithm>

#include "trace/ib/flows.hpp"
#include "trace/ib/roles.hpp"

namespace rpcrdma::trace::ib {
namespace {

constexpr unsigned votes_needed = 2;
/// So many packets may pass without a sign of who opened the connection; the rest of a message gives none.
constexpr std::size_t packets_for_roles = 256;

bool low_first(const FlowKey& k) noexcept { return PairKey(k.source, k.destination).low == k.source; }

/// 0 and 1 for the two directions between two addresses; always 0 where both are the same.
std::size_t direction(const FlowKey& k) noexcept { return low_first(k) ? 0 : 1; }
std::size_t opposite(const FlowKey& k) noexcept {
  if (k.source == k.destination) return 0;
  return 1 - direction(k);
}

Side sender_of(const Connection& c, const Leg& leg) noexcept {
  return leg.key.source == c.addresses[index(Side::active)] ? Side::active : Side::passive;
}

}  // namespace

void Flows::wait(Leg& leg, const IbPacket& packet, const wire::IbHeader& header, bool crc_bad) {
  leg.waiting.keep(packet, header, crc_bad);
  leg.evidence.add(header);
  if (is_request(header.op.kind)) leg.requests_seen = true;
  // One of an earlier use of the queue pair, perhaps, agrees with others of that.
  const EpochBefore* before = epochs_before_.find(leg.key, packet.ref);
  if (before == nullptr || !before->holds(header, packet.ref)) note(leg, header);
  if (leg.connection != nullptr) {
    progress(*leg.connection);
    if (leg.connection->announced) return;
  }
  if (leg.waiting.over_bound()) return hand_over(leg);
  if (!leg.waiting.paid()) relieve(leg.key, packet.ref);
}

/// It has waited for its partner, or for the roles, as long as it may.
void Flows::hand_over(Leg& leg) {
  if (leg.connection != nullptr) {
    settle(*leg.connection);
  } else {
    settle_orphan(leg);
  }
}

/// More waits than there is room for: the oldest orphans go, as they do where there are too many of them.
void Flows::relieve(FlowKey newest, FrameRef now) {
  say_limit(now);
  for (;;) {
    Leg* leg = find(newest);  // what goes may take it along
    if (leg == nullptr || leg->waiting.pay()) return;
    Leg* oldest = orphans_.empty() ? leg : orphans_.front();
    hand_over(*oldest);
    if (oldest == leg) return;
  }
}

/// Remembers the packet's PSN, and counts where the other direction knows the same one: an answer carries the PSN of
/// what it answers.
void Flows::note(Leg& leg, const wire::IbHeader& header) {
  Pair& pair = pairs_[PairKey(leg.key.source, leg.key.destination)];
  const bool request = is_request(header.op.kind);
  auto& own = (request ? pair.requests : pair.responses)[direction(leg.key)];
  const auto& theirs = (request ? pair.responses : pair.requests)[opposite(leg.key)];
  const auto [it, fresh] = own.try_emplace(header.psn, &leg);
  if (fresh) {
    (request ? leg.noted_requests : leg.noted_responses).push_back(header.psn);
  } else if (it->second != &leg) {
    it->second = nullptr;
  }
  const auto match = theirs.find(header.psn);
  if (match != theirs.end() && match->second != nullptr && match->second != &leg) vote(leg, *match->second);
}

void Flows::forget(Leg& leg) {
  if (leg.connection == nullptr) {
    orphans_.erase(leg.place);
    leg.place = orphans_.end();
  }
  const auto it = pairs_.find(PairKey(leg.key.source, leg.key.destination));
  if (it == pairs_.end()) return;
  Pair& pair = it->second;
  std::erase(pair.orphans, &leg);
  const auto remove = [&leg](auto& map, std::vector<std::uint32_t>& psns) {
    for (const std::uint32_t psn : psns) {
      const auto entry = map.find(psn);
      if (entry != map.end() && (entry->second == &leg || entry->second == nullptr)) map.erase(entry);
    }
    psns = {};
  };
  remove(pair.requests[direction(leg.key)], leg.noted_requests);
  remove(pair.responses[direction(leg.key)], leg.noted_responses);
  for (const auto& [voted, count] : leg.votes)
    std::erase_if(voted->votes, [&leg](const auto& v) { return v.first == &leg; });
  leg.votes = {};
  if (pair.orphans.empty() && pair.incomplete.empty()) pairs_.erase(it);
}

void Flows::vote(Leg& a, Leg& b) {
  const auto count = [](Leg& from, Leg& to) -> unsigned {
    for (auto& [leg, n] : from.votes)
      if (leg == &to) return ++n;
    from.votes.emplace_back(&to, 1U);
    return 1;
  };
  const unsigned n = count(a, b);
  count(b, a);
  if (n >= votes_needed || alone(a, b)) marry(a, b);
}

/// Nothing else between these addresses could be meant.
bool Flows::alone(const Leg& a, const Leg& b) {
  const auto it = pairs_.find(PairKey(a.key.source, a.key.destination));
  if (it == pairs_.end()) return false;
  for (const Leg* leg : it->second.orphans)
    if (leg != &a && leg != &b) return false;
  for (const Connection* c : it->second.incomplete)
    if (c != a.connection && c != b.connection) return false;
  return true;
}

/// Two legs are one connection.
bool Flows::marry(Leg& a, Leg& b) {
  if (a.connection != nullptr && b.connection != nullptr) return false;
  if (a.connection == nullptr && b.connection == nullptr) {
    Leg& earlier = a.first.number <= b.first.number ? a : b;
    Leg& later = &earlier == &a ? b : a;
    Connection* c = only_incomplete(earlier);
    if (c == nullptr || only_incomplete(later) != c) {
      c = &open(earlier.transport, earlier.key.source, earlier.key.destination, earlier.first);
      c->shared.id = numbers_.next();
      join(*c, Side::active, earlier);
      join(*c, Side::passive, later);
    } else {
      join(*c, sender_of(*c, a), a);
      join(*c, sender_of(*c, b), b);
    }
    progress(*c);
    return true;
  }
  Leg& known = a.connection != nullptr ? a : b;
  Leg& orphan = &known == &a ? b : a;
  Connection& c = *known.connection;
  const Side side = other(known.sender);
  if (c.announced || c.legs[index(side)] != nullptr || c.first.number > orphan.first.number) return false;
  join(c, side, orphan);
  progress(c);
  return true;
}

/// Announces a connection as soon as both directions and the roles are known.
void Flows::progress(Connection& c) {
  if (c.announced || !c.both_legs()) return;
  if (!c.handshake()) {
    const int score = c.legs[0]->evidence.score - c.legs[1]->evidence.score;
    const bool proven = score >= role_proven / 2 || score <= -role_proven / 2;
    if (!proven && c.legs[0]->waiting.telling() + c.legs[1]->waiting.telling() < packets_for_roles) return;
  }
  announce(c);
}

Leg* Flows::only_candidate(const Connection& c, Side sender) {
  const Address& from = c.addresses[index(sender)];
  const Address& to = c.addresses[index(other(sender))];
  if (from == to) return nullptr;
  const auto it = pairs_.find(PairKey(from, to));
  if (it == pairs_.end()) return nullptr;
  Leg* found = nullptr;
  for (Leg* leg : it->second.orphans) {
    if (leg->key.source != from || leg->first.number < c.data_after()) continue;
    if (found != nullptr) return nullptr;
    found = leg;
  }
  return found != nullptr && only_incomplete(*found) == &c ? found : nullptr;
}

/// The one handshake between these addresses that still lacks this direction and began before it.
Connection* Flows::only_incomplete(const Leg& leg) {
  if (leg.key.source == leg.key.destination) return nullptr;
  const auto it = pairs_.find(PairKey(leg.key.source, leg.key.destination));
  if (it == pairs_.end()) return nullptr;
  Connection* found = nullptr;
  for (Connection* c : it->second.incomplete) {
    if (!c->handshake() || c->data_after() > leg.first.number || c->legs[index(sender_of(*c, leg))] != nullptr)
      continue;
    if (found != nullptr) return nullptr;
    found = c;
  }
  return found;
}

Leg* Flows::best_vote(const Leg& leg) {
  Leg* best = nullptr;
  unsigned most = 0;
  bool tie = false;
  for (const auto& [candidate, n] : leg.votes) {
    if (n > most) {
      best = candidate;
      most = n;
      tie = false;
    } else if (n == most) {
      tie = true;
    }
  }
  return tie ? nullptr : best;
}

void Flows::settle(Connection& c) {
  if (c.announced) return;
  for (const Side sender : {Side::active, Side::passive}) {
    if (c.legs[index(sender)] != nullptr) continue;
    if (Leg* leg = only_candidate(c, sender)) join(c, sender, *leg);
  }
  announce(c);
}

void Flows::settle_orphan(Leg& leg) {
  Leg* partner = best_vote(leg);
  if (partner != nullptr && marry(leg, *partner)) {
    if (leg.connection != nullptr) settle(*leg.connection);
    return;
  }
  if (Connection* c = only_incomplete(leg); c != nullptr && only_candidate(*c, sender_of(*c, leg)) == &leg) {
    settle(*c);
    return;
  }
  adopt_one_way(leg);
}

/// Half a connection. One that only answers has nothing to tell.
void Flows::adopt_one_way(Leg& leg) {
  if (!leg.requests_seen) {
    erase_leg(leg);
    return;
  }
  Connection& c = open(leg.transport, leg.key.source, leg.key.destination, leg.first);
  join(c, Side::active, leg);
  announce(c);
}

}  // namespace rpcrdma::trace::ib
