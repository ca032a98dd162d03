// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/state/nfs_clients.hpp"

#include <algorithm>

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
  return sessions_.emplace_back(Session{session, std::nullopt, {}});
}

const NfsClients::Session* NfsClients::find(const wire::SessionId& session) const noexcept {
  const auto at =
      std::find_if(sessions_.rbegin(), sessions_.rend(), [&](const Session& each) { return each.id == session; });
  return at == sessions_.rend() ? nullptr : &*at;
}

void NfsClients::serves(const wire::SessionId& session, FrameRef reply) { keep_later(newest(session).served, reply); }

void NfsClients::makes(const wire::SessionId& session, std::optional<std::uint64_t> client) {
  newest(session).client = client;
}

bool NfsClients::renames(std::vector<Client>& clients, const Client& client) {
  const auto at =
      std::find_if(clients.begin(), clients.end(), [&](const Client& each) { return each.owner == client.owner; });
  if (at != clients.end()) {
    const bool other = at->name != client.name;
    at->name = client.name;
    std::rotate(at, at + 1, clients.end());
    return other;
  }
  if (clients.size() >= most_clients) clients.erase(clients.begin());
  clients.push_back(client);
  return true;
}

bool NfsClients::begins_anew(std::optional<std::uint64_t> owner, const wire::ClientNamed& named) {
  const bool renamed = !owner || renames(clients_, {*owner, named.client});
  return renamed && !named.known();
}

bool NfsClients::confirms_anew() {
  if (!asked_) return true;
  return renames(older_, {asked_->owner, asked_->verifier});
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

bool NfsClients::served_since(const std::optional<wire::SessionId>& session, FrameRef sign) const {
  return later(last_served(session), sign);
}

FrameRef NfsClients::last_served(const std::optional<wire::SessionId>& session) const {
  const Session* known = session ? find(*session) : nullptr;
  return known != nullptr ? known->served : FrameRef{};
}

}  // namespace rpcrdma::referee
