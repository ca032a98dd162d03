// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/rules/peers.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "referee/rules/rows.hpp"

namespace rpcrdma::referee {

namespace {

constexpr std::size_t most_pairs = 4096;
constexpr std::size_t most_loops = 8;  // of two hosts

[[nodiscard]] bool same(const std::optional<PrivateData>& a, const std::optional<PrivateData>& b) noexcept {
  if (a.has_value() != b.has_value()) return false;
  if (!a) return true;
  return a->remote_invalidation == b->remote_invalidation && a->send_size == b->send_size &&
         a->receive_size == b->receive_size && a->reserved == b->reserved;
}

}  // namespace

std::string Peers::hosts_key(const trace::Endpoint& client, const trace::Endpoint& server) {
  return fmt::format("{}>{}@{}", client.address, server.address, client.network);
}

std::string Peers::key(const Connection& connection) {
  const ConnectionFacts& facts = connection.facts;
  return fmt::format("{}:{}", hosts_key(facts.client, facts.server), facts.server.port.value_or(0));
}

Peers::Pair& Peers::of(const Connection& connection) {
  if (pairs_.size() >= most_pairs) pairs_.clear();
  return pairs_[key(connection)];
}

Peers::Hosts& Peers::hosts_of(const Connection& connection) {
  if (hosts_.size() >= most_pairs) hosts_.clear();
  return hosts_[hosts_key(connection.facts.client, connection.facts.server)];
}

FrameRef Peers::newest_portless(const Connection& connection) const {
  FrameRef newest = nameless_request_;
  const trace::Endpoint& a = connection.facts.client;
  const trace::Endpoint& b = connection.facts.server;
  for (const std::string& direction : {hosts_key(a, b), hosts_key(b, a)}) {
    const auto at = hosts_.find(direction);
    if (at != hosts_.end() && at->second.portless.number > newest.number) newest = at->second.portless;
  }
  return newest;
}

void Peers::connects(const Witness& witness, FrameRef request) {
  Connection& connection = witness.connection;
  Pair& pair = of(connection);
  pair.requests.add(FrameRef(request));
  const trace::Endpoint& server = connection.facts.server;
  const bool by_gid = connection.facts.transport == trace::Transport::rocev1 ||
                      connection.facts.transport == trace::Transport::infiniband;
  if (!server.port || (by_gid && server.fabric.empty())) nameless_request_ = request;
  if (pair.refused_version_2.by.number != 0 && pair.refused_version_2.next.number == 0) {
    pair.refused_version_2.next = request;
  }
  if (!pair.stale) return;
  Finding& refused = witness.context.book.at(pair.stale);
  refused.severity = Severity::note;
  refused.message += fmt::format(" The client tried again (frame {}), as it should.", request.number);
  pair.stale.reset();
}

FrameRef Peers::next_request(const Connection& connection) const {
  const auto pair = pairs_.find(key(connection));
  if (pair == pairs_.end()) return {};
  FrameRef since = connection.request_frame;
  for (const SideState& side : connection.sides) keep_later(since, side.last_repeat);
  FrameRef next;
  for (const FrameRef request : pair->second.requests) {
    if (later(request, since) && (next.number == 0 || later(next, request))) next = request;
  }
  return next;
}

const Row rows::version_negotiation_loop{
    .group = 'K',
    .severity = Severity::warning,
    .versions = Versions::v2,
    .source = "draft-ietf-nfsv4-rpcrdma-version-two section 4.3",
    .who = "client",
    .title = "The client probes version 2 again after it was refused",
    .explanation =
        "A server that speaks version 1 only has refused version 2, and the connection ended without going on in "
        "version 1. A client that begins each connection with version 2 never gets anywhere.",
    .evidence =
        "Two connections in a row of the same peers with ERR_VERS as the answer to version 2, and no message of "
        "version 1 on the first, which was over before the second began. Not decided when the start of the second or "
        "the end of the first is missing, or another connection may have been between them.",
    .next = "Let the client begin with version 1 when a connection ended right after ERR_VERS."};

void Peers::judge_version_refusal(const Witness& witness, FrameRef now) {
  Connection& connection = witness.connection;
  v2::State& state = connection.v2;
  if (!state.refusal_told) {
    state.refusal_told = true;
    // The client could know of it only when that connection was over before it asked for this one.
    const Pair::Refused before = std::exchange(of(connection).refused_version_2, {});
    if (before.by.number == 0 || connection.request_frame.number < before.ended.number) return;
    if (before.next.number != connection.request_frame.number) return;  // another was between them
    if (newest_portless(connection).number > before.by.number) return;  // perhaps likewise
    std::vector<Loop>& loops = hosts_of(connection).loops;
    if (loops.size() >= most_loops) loops.erase(loops.begin());
    HeldFinding finding = witness.say(
        RuleId::version_negotiation_loop,
        {.frames = {state.probe, state.refusal, before.by},
         .by = Side::active,
         .what = fmt::format("The client probed version 2 although the server had refused it on the connection "
                             "before (frame {}), which then ended.",
                             before.by.number)});
    loops.push_back({std::move(finding), state.probe});
  } else if (!state.went_on && connection.facts.version == 1) {
    state.went_on = true;
    connection.facts.negotiation.went_on = now;
  }
}

void Peers::stands_between(const Connection& connection) {
  if (connection.facts.handshake_seen && connection.facts.server.port) {
    const auto at = pairs_.find(key(connection));
    if (at != pairs_.end()) at->second.refused_version_2 = {};
  } else {  // the request is missing, or cut before it names the port
    hosts_of(connection).portless = connection.last_frame;
  }
}

void Peers::speaks_version_1(const Witness& witness) {
  const Connection& connection = witness.connection;
  stands_between(connection);
  const auto at = hosts_.find(hosts_key(connection.facts.client, connection.facts.server));
  if (at == hosts_.end()) return;
  const FrameRef began = connection.of(Side::passive).first_event;
  std::erase_if(at->second.loops, [&](const Loop& loop) {
    if (began.number >= loop.probe.number) return false;
    // Delivered late, behind a hole: it was between the two.
    Finding& finding = witness.context.book.at(loop.finding);
    finding.severity = Severity::note;
    finding.message += fmt::format(" Another connection was between them, in version 1 (frame {}).", began.number);
    return true;
  });
}

void Peers::remember_refusal(const Connection& connection, const trace::Disconnect& close) {
  const v2::State& state = connection.v2;
  if (state.refusal.number == 0) {
    stands_between(connection);  // it stands between those that were refused, whatever it was used for
    return;
  }
  const bool rest_seen = state.probe.number != 0 && !by_what_follows(close.how) &&
                         connection.of(Side::active).newest_lack().number < state.refusal.number;
  if (state.went_on || !rest_seen) return;
  of(connection).refused_version_2 = {state.refusal, close.frame, {}};
}

const Row rows::private_data_changed{
    .group = 'A',
    .severity = Severity::note,
    .versions = Versions::v1,
    .source = "RFC 8797 section 4",
    .who = "nobody",
    .title = "Settings differ from those of the previous connection",
    .explanation =
        "Sizes and the R bit belong to one connection and may be different on the next one. A peer that keeps using "
        "the old values after a reconnect sends too large messages.",
    .evidence =
        "Two connections of the same two addresses carry blocks with different fields. Not decided when either "
        "handshake was not captured.",
    .next =
        "Usually a sysctl was changed or a failover moved the address: compare /proc/sys/sunrpc/rdma_max_inline_* on "
        "the client and /proc/sys/sunrpc/svc_rdma/max_req_size on the server."};

void Peers::judge_private_data_change(const Witness& witness) {
  Connection& connection = witness.connection;
  Pair& pair = of(connection);
  const ConnectionFacts& facts = connection.facts;
  if (pair.handshake.number != 0 && connection.of(Side::active).private_data.known() &&
      connection.of(Side::passive).private_data.known() &&
      !(same(pair.client, facts.private_data_client) && same(pair.server, facts.private_data_server))) {
    witness.say(
        RuleId::private_data_changed,
        {.frames = {connection.reply_frame, pair.handshake},
         .what = "The private data differs from that of the previous connection of these peers: thresholds are per "
                 "connection."});
  }
  pair.client = facts.private_data_client;
  pair.server = facts.private_data_server;
  pair.handshake = connection.reply_frame;
}

}  // namespace rpcrdma::referee
