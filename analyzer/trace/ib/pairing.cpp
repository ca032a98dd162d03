// SPDX-License-Identifier: GPL-2.0-or-later
// Legs without a handshake: which two are one connection, and which belongs to a handshake that is only partly there.
#include <algorithm>

#include "trace/ib/flows.hpp"
#include "trace/ib/roles.hpp"
#include "trace/role_signs.hpp"
#include "trace/spans.hpp"
#include "wire/rpcrdma.hpp"

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

/// By the first packet of a Send.
std::optional<ExchangePart> exchange_part(const wire::IbHeader& h) {
  if (h.op.kind != wire::IbKind::send || !wire::begins(h.op.part)) return std::nullopt;
  const auto fixed = wire::decode_fixed_words(h.payload, h.payload_length);
  if (!fixed) return std::nullopt;
  switch (role_sign(h.payload, h.payload_length)) {
    case RoleSign::service_call:
    case RoleSign::callback_call:
    case RoleSign::foreign_call:
      return ExchangePart{fixed->xid, true, false};
    case RoleSign::unread_call:
    case RoleSign::long_form:
      return ExchangePart{fixed->xid, true, true};
    case RoleSign::reply:
      return ExchangePart{fixed->xid, false, true};
    case RoleSign::done:
      return std::nullopt;
    case RoleSign::none:
      break;
  }
  wire::HeaderV1 header;  // a Reply in the Reply chunk
  if (fixed->version != 1 || fixed->proc != static_cast<std::uint32_t>(wire::Proc::nomsg)) return std::nullopt;
  if (!wire::decode_header_v1(h.payload, h.payload_length, header) || !header.reply) return std::nullopt;
  return ExchangePart{fixed->xid, false, true};
}

/// These answers are not to those requests: no sender has so many PSNs under way.
bool far_apart(const Leg& answers, const Leg& requests) noexcept {
  constexpr std::int32_t near = 1 << 16;
  if (answers.noted_responses.empty() || requests.noted_requests.empty()) return false;
  const auto far = [](std::uint32_t a, std::uint32_t b) {
    const std::int32_t distance = psn_distance(a, b);
    return distance > near || distance < -near;
  };
  return far(answers.noted_responses.front(), requests.noted_requests.front()) &&
         far(answers.noted_responses.back(), requests.noted_requests.back());
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
  const EpochBefore* before = epochs_before_.find(leg.key);
  if (before == nullptr || !before->holds(header, packet.ref)) note(leg, header, packet.ref);
  if (leg.connection != nullptr) {
    progress(*leg.connection);
    if (leg.connection->announced) return;
  }
  if (leg.waiting.over_bound()) return hand_over(leg);
  if (!leg.waiting.paid()) relieve(leg.key, packet.ref);
}

/// A Send that has come to its end, if it did not bring about what it waits for.
void Flows::tell_waiting(const FlowKey& key, const IbPacket& packet, const wire::IbHeader& header) {
  if (header.op.kind != wire::IbKind::send || !wire::ends(header.op.part)) return;
  const Leg* leg = find(key);
  if (leg == nullptr || (leg->connection != nullptr && leg->connection->announced)) return;
  HeldSend held;
  held.frame = packet.ref;
  held.flow = leg->number;
  if (header.op.part == wire::IbPart::only) {
    held.octets = header.payload;
    held.wire_length = header.payload_length;
    return sink_.on(held);
  }
  const std::optional<std::vector<std::uint8_t>> whole = leg->waiting.newest_send();
  if (!whole) return;
  held.octets = *whole;
  const std::size_t cut = header.payload_length - std::min<std::size_t>(header.payload_length, header.payload.size());
  held.wire_length = static_cast<std::uint32_t>(whole->size() + cut);
  sink_.on(held);
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
void Flows::note(Leg& leg, const wire::IbHeader& header, FrameRef frame) {
  Pair& pair = pairs_[PairKey(leg.key.source, leg.key.destination)];
  note_message(pair, leg, header, frame);
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
  for (auto* map : {&pair.calls[direction(leg.key)], &pair.replies[direction(leg.key)]}) {
    for (const ExchangePart& message : leg.noted_messages) {
      const auto entry = map->find(message.xid);
      if (entry != map->end() && (entry->second.leg == &leg || entry->second.leg == nullptr)) map->erase(entry);
    }
  }
  leg.noted_messages = {};
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

void Flows::note_message(Pair& pair, Leg& leg, const wire::IbHeader& header, FrameRef frame) {
  const std::optional<ExchangePart> message = exchange_part(header);
  if (!message) return;
  const auto add = [&](std::map<std::uint32_t, Pair::Speaker>& map) {
    const auto [it, fresh] = map.try_emplace(message->xid, Pair::Speaker{&leg, frame});
    if (!fresh && it->second.leg != &leg) it->second.leg = nullptr;
  };
  if (message->call) add(pair.calls[direction(leg.key)]);
  if (message->reply) add(pair.replies[direction(leg.key)]);
  leg.noted_messages.push_back(*message);
}

/// PSNs tell what belongs together, and where they do not, because hardly anything was captured: a Call and its Reply.
Leg* Flows::partner_of(const Leg& leg) {
  if (!leg.votes.empty()) return best_vote(leg);
  Leg* partner = answered_by(leg);
  const bool each_other = partner != nullptr && partner->votes.empty() && answered_by(*partner) == &leg;
  return each_other && !far_apart(leg, *partner) && !far_apart(*partner, leg) ? partner : nullptr;
}

/// The one leg that has the other message of exchanges of this one; nullptr where there are several, or where a Reply
/// stands so far in front of the Call that it answers another one.
Leg* Flows::answered_by(const Leg& leg) {
  const auto it = pairs_.find(PairKey(leg.key.source, leg.key.destination));
  if (it == pairs_.end()) return nullptr;
  const Pair& pair = it->second;
  const std::size_t own = direction(leg.key);
  const std::size_t peer = opposite(leg.key);
  Leg* found = nullptr;
  for (const ExchangePart& message : leg.noted_messages) {
    for (const bool call : {true, false}) {
      if (!(call ? message.call : message.reply)) continue;
      const auto& theirs = call ? pair.replies[peer] : pair.calls[peer];
      const auto other_part = theirs.find(message.xid);
      if (other_part == theirs.end()) continue;
      const auto& ours = call ? pair.calls[own] : pair.replies[own];
      const auto own_part = ours.find(message.xid);
      const Pair::Speaker& speaker = other_part->second;
      const bool ambiguous = own_part == ours.end() || own_part->second.leg != &leg || speaker.leg == nullptr;
      if (ambiguous || speaker.leg == &leg) return nullptr;
      const FrameRef asked = call ? own_part->second.frame : speaker.frame;
      const FrameRef answered = call ? speaker.frame : own_part->second.frame;
      if (answered.number < asked.number && passed(answered.time, asked.time, ProvenOrder::patience)) return nullptr;
      if (found != nullptr && found != speaker.leg) return nullptr;
      found = speaker.leg;
    }
  }
  return found;
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
  Leg* partner = partner_of(leg);
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
