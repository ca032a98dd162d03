// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/peers.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace rpcrdma::referee {

namespace {

constexpr std::size_t most_lost_xids = 256;
constexpr std::size_t most_pairs = 4096;

[[nodiscard]] bool same(const std::optional<PrivateData>& a, const std::optional<PrivateData>& b) noexcept {
  if (a.has_value() != b.has_value()) return false;
  if (!a) return true;
  return a->remote_invalidation == b->remote_invalidation && a->send_size == b->send_size &&
         a->receive_size == b->receive_size && a->reserved == b->reserved;
}

}  // namespace

std::string Peers::key(const Connection& connection) {
  return fmt::format("{}>{}:{}", connection.facts.client.address, connection.facts.server.address,
                     connection.facts.server.port.value_or(0));
}

Peers::Pair& Peers::of(const Connection& connection) {
  if (pairs_.size() >= most_pairs) {
    pairs_.clear();
    lost_xids_ = 0;
  }
  return pairs_[key(connection)];
}

void Peers::connects(Context& context, const Connection& connection, FrameRef request) {
  Pair& pair = of(connection);
  pair.newest_request = request;
  if (!pair.stale) return;
  Finding& refused = context.book.at(pair.stale);
  refused.severity = Severity::note;
  refused.message += fmt::format(" The client tried again (frame {}), as it should.", request.number);
  pair.stale.reset();
}

FrameRef Peers::newest_request(const Connection& connection) const {
  const auto pair = pairs_.find(key(connection));
  return pair != pairs_.end() ? pair->second.newest_request : FrameRef{};
}

void Peers::remember_open_calls(const Connection& connection) {
  Pair& pair = of(connection);
  for (const auto& [id, call] : connection.transactions) {
    if (call.answers == 0 && call.requester == Side::active && pair.lost_xids.size() < most_lost_xids) {
      pair.lost_xids.emplace_back(call.xid, call.call);
      ++lost_xids_;
    }
  }
}

void Peers::judge_retransmission(Context& context, Connection& connection, const trace::Send& event) {
  if (lost_xids_ == 0 || event.side != Side::active || event.octets.size() < 4) return;
  const auto at = pairs_.find(key(connection));
  if (at == pairs_.end() || at->second.lost_xids.empty()) return;
  const std::uint32_t xid = wire::load_be32(event.octets.data());
  auto& lost = at->second.lost_xids;
  const auto same_xid = std::find_if(lost.begin(), lost.end(), [&](const auto& entry) { return entry.first == xid; });
  if (same_xid == lost.end()) return;
  context.book.add(
      {RuleId::retransmit_after_reconnect,
       connection.id(),
       {event.frame, same_xid->second},
       fmt::format(
           "The client sent XID {:#010x} again after a reconnect; the first Call (frame {}) got no Reply before "
           "its connection ended.",
           xid, same_xid->second.number),
       std::nullopt,
       xid,
       std::nullopt,
       Role::requester});
  connection.repeated_xids.push_back(xid);
  lost.erase(same_xid);
  --lost_xids_;
}

void Peers::judge_version_refusal(Context& context, Connection& connection, FrameRef now) {
  v2::State& state = connection.v2;
  if (!state.refusal_told) {
    state.refusal_told = true;
    const FrameRef before = std::exchange(of(connection).refused_version_2, state.refusal);
    if (before.number == 0 || !connection.facts.handshake_seen) return;
    context.book.add({RuleId::version_negotiation_loop,
                      connection.id(),
                      {state.probe, state.refusal, before},
                      fmt::format("The client probed version 2 although the server had refused it on the connection "
                                  "before (frame {}), which then ended.",
                                  before.number),
                      std::nullopt,
                      std::nullopt,
                      Party::client,
                      std::nullopt});
  } else if (!state.went_on && connection.facts.version == 1) {
    state.went_on = true;
    connection.facts.negotiation.went_on = now;
    of(connection).refused_version_2 = {};
  }
}

void Peers::judge_private_data_change(Context& context, const Connection& connection) {
  Pair& pair = of(connection);
  const ConnectionFacts& facts = connection.facts;
  if (pair.handshake.number != 0 && connection.of(Side::active).private_data.known() &&
      connection.of(Side::passive).private_data.known() &&
      !(same(pair.client, facts.private_data_client) && same(pair.server, facts.private_data_server))) {
    context.book.add(
        {RuleId::private_data_changed,
         connection.id(),
         {connection.reply_frame, pair.handshake},
         "The private data differs from that of the previous connection of these peers: thresholds are per "
         "connection.",
         std::nullopt,
         std::nullopt,
         std::nullopt,
         std::nullopt});
  }
  pair.client = facts.private_data_client;
  pair.server = facts.private_data_server;
  pair.handshake = connection.reply_frame;
}

}  // namespace rpcrdma::referee
