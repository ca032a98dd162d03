// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/state/nfs_clients.hpp"

#include <algorithm>
#include <utility>

#include "trace/spans.hpp"

namespace rpcrdma::referee {

NfsClients::Session& NfsClients::newest(const wire::SessionId& session) {
  if (!sessions_.empty() && sessions_.back().id == session) return sessions_.back();  // as nearly always
  const auto at =
      std::find_if(sessions_.begin(), sessions_.end(), [&](const Session& each) { return each.id == session; });
  if (at != sessions_.end()) {
    std::rotate(at, at + 1, sessions_.end());
    return sessions_.back();
  }
  if (sessions_.size() >= most_sessions) {
    sessions_.erase(sessions_.begin());
    ++forgotten_;
  }
  Session& added = sessions_.emplace_back();
  added.id = session;
  return added;
}

const NfsClients::Session* NfsClients::find(const wire::SessionId& session) const noexcept {
  const auto at =
      std::find_if(sessions_.rbegin(), sessions_.rend(), [&](const Session& each) { return each.id == session; });
  return at == sessions_.rend() ? nullptr : &*at;
}

void NfsClients::serves(const wire::SessionId& session, FrameRef reply) { keep_later(newest(session).served, reply); }

NfsClients::Request NfsClients::takes(const wire::SessionId& session, std::uint32_t slot, const Request& request) {
  Session& of = newest(session);
  const auto at = of.slots.find(slot);
  if (at == of.slots.end()) {
    // A new slot begins with 1 (RFC 8881 section 2.10.6.1).
    const bool first = of.made.number != 0 && request.sequence == 1;
    if (of.slots.size() < most_slots) of.slots.emplace(slot, request);
    return first ? Request{} : request;
  }
  const Request before = std::exchange(at->second, request);
  if (before.sequence == request.sequence) return before;
  return before.sequence + 1 == request.sequence ? Request{} : request;
}

NfsClients::Whose NfsClients::whose(const std::optional<wire::SessionId>& session, std::uint64_t client) const {
  const Session* known = session ? find(*session) : nullptr;
  if (known == nullptr || !known->client) return Whose::perhaps_this_client;
  return known->client == client ? Whose::this_client : Whose::another;
}

void NfsClients::makes(const wire::SessionId& session, std::optional<std::uint64_t> client, const Made& made) {
  Session& fresh = newest(session);
  fresh.slots.clear();
  fresh.client = client;
  fresh.made = made.reply;
  const auto maker = std::find_if(clients_.begin(), clients_.end(),
                                  [&](const Client& each) { return client && each.name == *client; });
  if (maker == clients_.end()) return;
  fresh.maker = *maker;
  ends_older(fresh, made);
}

void NfsClients::ends_older(const Session& made, const Made& by) {
  const auto succeeds = [&](const Session& old) {
    if (old.client) return old.maker && old.maker->owner == made.maker->owner && old.maker->name != made.maker->name;
    const bool lost = later(old.denied, old.served) && later(by.reply, old.denied);
    return lost && made.maker->named == Client::Named::anew;
  };
  for (Session& old : sessions_) {
    if (&old == &made || old.successor.reply.number != 0 || !later(by.reply, old.made) || !succeeds(old)) continue;
    old.successor = by;
    const bool begun_anew = old.maker && old.maker->verifier != made.maker->verifier;
    old.next = begun_anew ? Session::Next::next_life : Session::Next::same_life;
  }
}

bool NfsClients::renames(std::vector<Client>& clients, const Client& client) {
  const auto at =
      std::find_if(clients.begin(), clients.end(), [&](const Client& each) { return each.owner == client.owner; });
  if (at != clients.end()) {
    const bool other = at->name != client.name;
    const Client::Named named = other ? client.named : at->named;
    *at = client;
    at->named = named;
    std::rotate(at, at + 1, clients.end());
    return other;
  }
  if (clients.size() >= most_clients) clients.erase(clients.begin());
  clients.push_back(client);
  return true;
}

bool NfsClients::begins_anew(const std::optional<wire::ClientBegun>& begun, const wire::ClientNamed& named) {
  const auto known = named.known() ? Client::Named::before : Client::Named::anew;
  const bool renamed = !begun || renames(clients_, {begun->owner, named.client, begun->verifier, known});
  return renamed && !named.known();
}

bool NfsClients::confirms_anew() {
  if (!asked_) return true;
  return renames(older_, {asked_->owner, asked_->verifier, asked_->verifier});
}

bool NfsClients::may_be_of(const std::optional<wire::SessionId>& session, std::uint64_t owner) const {
  const Session* known = session ? find(*session) : nullptr;
  if (known == nullptr || !known->client) return true;
  const auto of = std::find_if(clients_.begin(), clients_.end(),
                               [&](const Client& client) { return client.name == *known->client; });
  return of == clients_.end() || of->owner == owner;
}

bool NfsClients::may_be_made_by(const wire::SessionId& session, std::optional<std::uint64_t> client) const {
  const Session* known = find(session);
  return known == nullptr || !known->client || !client || known->client == client;
}

bool NfsClients::same_client(const std::optional<wire::SessionId>& session, const wire::SessionId& other) const {
  if (!session || *session == other) return session.has_value();
  const Session* one = find(*session);
  const Session* two = find(other);
  return one != nullptr && two != nullptr && one->client && one->client == two->client;
}

bool NfsClients::served_since(const std::optional<wire::SessionId>& session, FrameRef sign) const {
  return later(served(session), sign);
}

FrameRef NfsClients::served(const std::optional<wire::SessionId>& session) const {
  const Session* known = session ? find(*session) : nullptr;
  return known != nullptr ? known->served : FrameRef{};
}

bool NfsClients::over_since(const std::optional<wire::SessionId>& session, FrameRef then) const {
  const Session* known = session ? find(*session) : nullptr;
  return known != nullptr && known->standing() != Session::Standing::kept && later(known->successor.reply, then);
}

FrameRef NfsClients::user_gone(const std::optional<wire::SessionId>& session) const {
  const Session* known = session ? find(*session) : nullptr;
  const bool gone = known != nullptr && known->standing() == Session::Standing::left;
  return gone ? known->successor.opened : FrameRef{};
}

}  // namespace rpcrdma::referee
