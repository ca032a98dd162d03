// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/mount/mounts.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "referee/mount/account.hpp"
#include "referee/mount/assessment.hpp"
#include "referee/mount/lives.hpp"
#include "referee/mount/lost_input.hpp"
#include "referee/mount/open_calls.hpp"
#include "referee/mount/series.hpp"
#include "referee/mount/words.hpp"
#include "referee/rules/checks.hpp"
#include "referee/rules/symptoms.hpp"
#include "referee/rules/v2_turn.hpp"
#include "referee/state/lifetime.hpp"
#include "trace/spans.hpp"
#include "wire/rpc_numbers.hpp"

namespace rpcrdma::referee {

namespace {

using Outcome = Attempt::Outcome;

void cannot_be_reached(Attempt& attempt, FrameRef frame, trace::ReportBy says) {
  attempt.outcome = Outcome::unreachable;
  attempt.answer = frame;
  attempt.says = says;
}

[[nodiscard]] bool holds(const std::vector<std::uint16_t>& ports, std::uint16_t port) {
  return std::find(ports.begin(), ports.end(), port) != ports.end();
}

/// The port of an attempt over TCP of which nothing has come that would show what it is for.
[[nodiscard]] std::optional<std::uint16_t> bare_port(const Attempt& attempt) {
  const bool bare = attempt.transport == trace::Transport::iwarp && attempt.connection == 0;
  return bare ? attempt.server_port : std::nullopt;
}

/// The same, or what has come of it does not show it so far.
[[nodiscard]] std::optional<std::uint16_t> undecided_port(const Mount& mount, const Attempt& attempt) {
  const auto of_it = mount.alive.find(attempt.connection);
  if (of_it == mount.alive.end()) return bare_port(attempt);
  const Connection& connection = *of_it->second;
  if (connection.kind == Connection::Kind::rpcrdma || connection.of(Side::active).private_data.fields)
    return bare_port(attempt);
  return attempt.transport == trace::Transport::iwarp ? attempt.server_port : std::nullopt;
}

[[nodiscard]] bool serves(const Mount& mount, std::uint16_t port) {
  return std::any_of(mount.alive.begin(), mount.alive.end(), [&](const auto& entry) {
    const Connection& connection = *entry.second;
    return connection.kind == Connection::Kind::rpcrdma && connection.facts.server.port == port;
  });
}

/// Whether others use this port for something else shows at the end (Mounts::leave_out_strangers).
void fold_undecided(Mount& mount, const Attempt& attempt, std::uint16_t port) {
  const bool room = mount.undecided.size() < Mount::most_series || mount.undecided.contains(port);
  if (!room) return;
  FoldedAttempts& folded = mount.undecided[port];
  count_attempt(folded.counted, attempt);
  add_attempt(folded.series, attempt);
}

/// What was undecided is for this mount: as if it had been known when it was folded.
void count_folded(Mount& mount, FoldedAttempts&& folded) {
  mount.counted.add(folded.counted);
  for (const AttemptSeries& series : mount.series) {
    if (folded.series.ended_by.number == 0 && later(series.ended_by, folded.series.last)) {
      folded.series.ended_by = series.ended_by;
    }
  }
  mount.series.push_back(std::move(folded.series));
  std::stable_sort(mount.series.begin(), mount.series.end(),
                   [](const AttemptSeries& a, const AttemptSeries& b) { return a.first.number < b.first.number; });
}

}  // namespace

/// Attempts that nobody can decide any more make room: what they come to is counted.
void Mounts::fold_oldest(Mount& mount) const {
  const Attempt oldest = mount.attempts.front();
  mount.attempts.pop_front();
  if (oldest.outcome == Outcome::other) return;
  const auto port = undecided_port(mount, oldest);
  if (port && !holds(service_ports_, *port) && !services_.holds(mount.server, *port) && !serves(mount, *port)) {
    fold_undecided(mount, oldest, *port);
    return;
  }
  count_attempt(mount.counted, oldest);
  if (mount.series.empty() || mount.series.back().ended_by.number != 0) {
    if (mount.series.size() >= Mount::most_series) mount.series.erase(mount.series.begin());
    mount.series.emplace_back();
  }
  add_attempt(mount.series.back(), oldest);
}

Attempt& Mounts::new_attempt(Mount& mount, Attempt&& attempt) const {
  if (mount.attempts.size() >= Mount::most_attempts) fold_oldest(mount);
  mount.attempts.push_back(std::move(attempt));
  return mount.attempts.back();
}

namespace {

/// Neither the port nor the private data of its request, nor anything that came over it, tells what it carries.
[[nodiscard]] bool cut_before_its_purpose(const Connection& connection) {
  return connection.kind == Connection::Kind::undecided && connection.request_seen() && !connection.rejected() &&
         !connection.awaits_answer() && !connection.facts.server.port &&
         !connection.of(Side::active).private_data.known();
}

/// Of a connection over GIDs or LIDs the addresses are known with its request.
[[nodiscard]] bool addressed(const trace::Endpoint& client, const trace::Endpoint& server) {
  return !client.address.empty() && !server.address.empty();
}

}  // namespace

Mount* Mounts::between(const trace::Endpoint& client, const trace::Endpoint& server) {
  if (!addressed(client, server)) return nullptr;
  const Key key{client.address, server.address, client.network};
  const auto at = mounts_.find(key);
  if (at != mounts_.end()) return at->second.get();
  if (mounts_.size() >= turned_away_.room) return nullptr;
  auto mount = std::make_unique<Mount>();
  mount->id = static_cast<std::uint32_t>(mounts_.size()) + 1;
  known_.push_back(book_.now());
  mount->client = client.address;
  mount->server = server.address;
  mount->nfs.read = &steps_read_;
  mount->input_lost = input_lost_;
  return mounts_.emplace(key, std::move(mount)).first->second.get();
}

void Mounts::names(const trace::ConnectRequest& request, Finished& finished) {
  if (!ports_.learn(request.client, request.server)) return;
  rename(request.client, request.server, finished);
  rename(request.server, request.client, finished);  // which end is the client may have been a guess
}

/// What is known by the ports of these two ends, and its connections with it. Where their names have a mount already
/// there are two, and each keeps its own.
void Mounts::rename(const trace::Endpoint& client, const trace::Endpoint& server, Finished& finished) {
  Key key{client.address, server.address, client.network};
  if (mounts_.count(key) != 0) return;
  auto renamed = mounts_.extract(Key{PortNames::port(client), PortNames::port(server), client.network});
  if (renamed.empty()) return;
  Mount& mount = *renamed.mapped();
  mount.client = client.address;
  mount.server = server.address;
  const auto put = [&](ConnectionFacts& facts) {
    PortNames::put(facts.client, client);
    PortNames::put(facts.server, server);
  };
  for (const auto& [id, connection] : mount.alive) put(connection->facts);
  finished.change(mount.connections, put);
  renamed.key() = std::move(key);
  mounts_.insert(std::move(renamed));
}

void Mounts::join(Connection& connection, Mount* mount) {
  if (connection.mount != nullptr) {
    connection.mount->alive.erase(connection.id());
    connection.mount->calling.erase(connection.id());
  }
  connection.mount = mount;
  if (mount == nullptr) return;
  mount->alive[connection.id()] = &connection;
  if (!connection.transactions.empty()) mount->calling[connection.id()] = &connection;
}

void Mounts::requests(Connection& connection, Attempt::Port port) {
  const ConnectionFacts& facts = connection.facts;
  join(connection, between(facts.client, facts.server));
  if (connection.mount == nullptr) {
    if (addressed(facts.client, facts.server)) turned_away_.add(facts.opened);
    return;
  }
  Mount& mount = *connection.mount;
  const auto same = std::find_if(mount.attempts.rbegin(), mount.attempts.rend(), [&](const Attempt& attempt) {
    return attempt.connection == 0 && attempt.first.number == facts.opened.number;
  });
  Attempt& attempt = same != mount.attempts.rend() ? *same : new_attempt(mount, Attempt{});
  attempt.connection = connection.id();
  attempt.transport = facts.transport;
  attempt.client_port = facts.client.port;
  attempt.server_port = facts.server.port;
  attempt.port = port;
  if (attempt.first.number == 0) attempt.first = facts.opened;
  attempt.last = connection.request_frame;
  attempt.copies = 0;
  attempt.outcome = Outcome::open;  // TCP took it: what counts now is what the other end says to the request
}

void Mounts::adopts(Connection& connection) {
  ConnectionFacts& facts = connection.facts;
  ports_.name(facts.client, facts.server);
  join(connection, between(facts.client, facts.server));
  if (connection.mount == nullptr) {
    if (addressed(facts.client, facts.server)) turned_away_.add(facts.opened);
    return;
  }
  // Its SYN may be in the capture, and only what MPA said first is not.
  Attempt* attempt = connection.mount->open_attempt(facts.client.port, facts.server.port);
  if (attempt == nullptr || attempt->connection != 0 || attempt->answered_no() || !connection.roles_known()) return;
  attempt->connection = connection.id();
  attempt->outcome = Outcome::established;
  attempt->answer = facts.opened;
}

void Mounts::repeats_request(const Connection& connection, FrameRef frame) {
  if (connection.mount == nullptr) return;
  Attempt* attempt = connection.mount->attempt_of(connection.id());
  if (attempt == nullptr || !attempt->undecided()) return;
  ++attempt->copies;
  attempt->last = frame;
}

void Mounts::acknowledges(Connection& connection, FrameRef frame) {
  connection.receipt = frame;
  if (connection.mount == nullptr) return;
  Attempt* attempt = connection.mount->attempt_of(connection.id());
  if (attempt != nullptr && attempt->waits()) attempt->receipt = frame;
}

void Mounts::unreachable(Connection& connection, const trace::RequestUndelivered& event) {
  connection.undelivered = event.frame;
  if (connection.mount == nullptr) return;
  Attempt* attempt = connection.mount->attempt_of(connection.id());
  if (attempt == nullptr || !attempt->waits()) return;
  cannot_be_reached(*attempt, event.frame, event.by);
}

void Mounts::establishes(const Connection& connection, FrameRef frame) {
  if (connection.mount == nullptr) return;
  Attempt* attempt = connection.mount->attempt_of(connection.id());
  if (attempt == nullptr || !attempt->undecided()) return;
  attempt->outcome = Outcome::established;
  attempt->answer = frame;
}

void Mounts::leaves(const Connection& connection, FrameRef frame) {
  if (connection.mount == nullptr) return;
  Attempt* attempt = connection.mount->attempt_of(connection.id());
  if (attempt == nullptr) return;
  attempt->outcome = Outcome::given_up;
  attempt->left = frame;
  if (const auto& sent = connection.of(Side::active).liveness; sent && sent->copies > attempt->copies) {
    attempt->copies = sent->copies;
    if (sent->last_copy.number > attempt->last.number) attempt->last = sent->last_copy;
  }
}

void Mounts::rejects(const Connection& connection, FrameRef frame, Attempt::Outcome outcome,
                     std::optional<std::uint16_t> reason) {
  if (connection.mount == nullptr) return;
  Attempt* attempt = connection.mount->attempt_of(connection.id());
  if (attempt == nullptr) return;
  if (outcome == Outcome::given_up) {  // it is the client's own, and answers nothing
    if (attempt->outcome != Outcome::unreachable) attempt->outcome = outcome;
    attempt->last = frame;
    return;
  }
  attempt->outcome = outcome;
  attempt->answer = frame;
  if (reason && *reason != 0) attempt->reason = reason;  // iWARP has none, and a capture may be cut before it
}

void Mounts::said(const Connection& connection, HeldFinding finding) {
  if (connection.mount == nullptr) return;
  if (Attempt* attempt = connection.mount->attempt_of(connection.id())) attempt->single = std::move(finding);
}

namespace {

/// TCP's answer to the SYN, or the SYN behind it.
void comes_again(Attempt& attempt, const trace::TcpAttempt& event) {
  ++attempt.copies;
  if (event.side == Side::active) {
    attempt.last = event.frame;
  } else {
    Attempt::Acceptance& acceptance = attempt.acceptance;
    attempt.answer = event.frame;
    if (acceptance.copies++ == 0) acceptance.first_repeat = event.frame;
    acceptance.last = event.frame;
  }
  if (repeats_count(attempt.copies, attempt.first, event.frame)) attempt.outcome = Outcome::unheard;
}

}  // namespace

void Mounts::attempts(const trace::TcpAttempt& event) {
  using Step = trace::TcpAttempt::Step;
  Mount* mount = between(event.client, event.server);
  if (mount == nullptr) {
    const bool begins = event.step == Step::request && addressed(event.client, event.server);
    if (begins) turned_away_.add(event.frame);
    return;
  }
  if (event.step == Step::request) {
    Attempt attempt;
    attempt.transport = trace::Transport::iwarp;
    attempt.client_port = event.client.port;
    attempt.server_port = event.server.port;
    attempt.first = attempt.last = event.frame;
    new_attempt(*mount, std::move(attempt));
    return;
  }
  Attempt* attempt = mount->open_attempt(event.client.port, event.server.port);
  if (attempt == nullptr || attempt->connection != 0) return;
  switch (event.step) {
    case Step::request:
      break;
    case Step::repeated:
      ++attempt->copies;
      attempt->last = event.frame;
      break;
    case Step::accepted:
      if (attempt->outcome == Outcome::open || attempt->outcome == Outcome::unheard) {
        attempt->outcome = Outcome::accepted;
      }
      attempt->answer = event.frame;
      attempt->acceptance = {event.frame, {}, {}, 0};
      break;
    case Step::unheard:
      comes_again(*attempt, event);
      break;
    case Step::refused:
      attempt->outcome = Outcome::refused;
      attempt->answer = event.frame;
      break;
    case Step::unreachable:
      cannot_be_reached(*attempt, event.frame, event.by);
      break;
    case Step::unreadable:
      attempt->outcome = Outcome::unreadable;
      attempt->answer = event.frame;
      break;
    case Step::withdrawn:
      attempt->outcome = Outcome::other;  // nobody asked for a mount
      break;
  }
}

void Mounts::without_rdma(const trace::NfsOverTcp& event) {
  if (Mount* mount = between(event.client, event.server)) {
    mount->nfs_over_tcp = MountFacts::NfsOverTcp{event.frames, event.frame};
  }
}

namespace {

/// A connection that is in no report came of it.
void leave(Attempt& attempt, const Connection& connection) {
  const bool told = connection.kind == Connection::Kind::other || connection.facts.sends_unrecognised != 0;
  if (told || connection.request_seen()) {
    attempt.outcome = Outcome::other;
    return;
  }
  // Its SYN went to a service, and the capture has too little of what followed to say any more.
  attempt.connection = 0;
  attempt.outcome = Outcome::unreadable;
}

/// Which of them says least of the mount: one that came to nothing, or is over, or the first.
void forget_life(Mount& mount) {
  auto least = std::find_if(mount.lives.begin(), mount.lives.end(),
                            [](const Life& life) { return life.answer == Life::Answer::none; });
  if (least == mount.lives.end()) {
    least =
        std::find_if(mount.lives.begin(), mount.lives.end(), [](const Life& life) { return life.closed.has_value(); });
  }
  if (least == mount.lives.end()) least = mount.lives.begin();
  for (const FrameRef& lack : least->newest_lack) keep_later(mount.forgotten_lack, lack);
  mount.lives.erase(least);
  ++mount.forgotten_lives;
}

}  // namespace

namespace {

/// What a client says as it leaves: nobody misses its answer.
[[nodiscard]] bool farewell(const OpenCall& call, const Life& life) {
  constexpr TimeNs a_moment = 1'000'000'000;
  return call.leaves == OpenCall::Leaves::state && life.orderly() && life.closed->by == Party::client &&
         life.last_reply.number != 0 && trace::elapsed(call.first.time, call.ended.time) < a_moment;
}

}  // namespace

void Mounts::ends(const Connection& connection, bool reported) {
  if (connection.mount == nullptr) return;
  Mount& mount = *connection.mount;
  mount.alive.erase(connection.id());
  mount.calling.erase(connection.id());
  Attempt* attempt = mount.attempt_of(connection.id());
  if (!reported) {
    if (attempt != nullptr) leave(*attempt, connection);
    if (cut_before_its_purpose(connection)) keep_later(mount.unrecognised, connection.facts.opened);
    const auto of_it = [&](const OpenCall& call) { return call.connection == connection.id(); };
    std::erase_if(mount.lost_calls, of_it);
    std::erase_if(mount.open_calls, of_it);
    return;
  }
  if (attempt != nullptr && attempt->outcome == Outcome::established && connection.accepts_in_vain()) {
    attempt->outcome = Outcome::unheard;
  }
  mount.connections.push_back(connection.id());
  if (connection.facts.server.port) services_.add(mount.server, *connection.facts.server.port);
  if (connection.roles_known()) mount.told = MountFacts::Roles::known;
  if (mount.lives.size() >= Mount::most_lives) forget_life(mount);
  mount.lives.push_back(life_of(connection));
  Life& life = mount.lives.back();
  for (OpenCall& call : mount.lost_calls) {
    if (answer_behind_close_may_be_missing(connection, call)) call.waits = OpenCall::Waits::perhaps;
    if (call.connection != connection.id() || call.requester != Side::active || !call.surely_waits()) continue;
    if (farewell(call, life)) continue;
    ++life.open_calls;
    if (call.frame.number <= call.ended.number) continue;
    if (life.behind_close.calls++ == 0) life.behind_close.first = call.frame;
  }
}

void Mounts::forgets(const Connection& connection) {
  if (connection.mount != nullptr && connection.mount->alive.empty()) connection.mount->clocks.rest();
}

std::vector<trace::Disconnect> Mounts::left_behind(const Connection& begun) {
  std::vector<trace::Disconnect> ends;
  if (begun.mount == nullptr || !std::exchange(begun.mount->left_unanswered, false)) return ends;
  for (const auto& [id, connection] : begun.mount->alive) {
    if (!connection->left_unanswered()) continue;
    trace::Disconnect& end = ends.emplace_back();
    end.connection = id;
    end.frame = begun.request_frame;
    end.how = trace::Disconnect::How::superseded;
  }
  return ends;
}

void Mounts::leave_out_strangers(const Services& services) {
  for (const auto& [ends, mount] : mounts_) {
    for (Attempt& attempt : mount->attempts) {
      const auto port = bare_port(attempt);
      if (port && !holds(service_ports_, *port) && !services.holds(mount->server, *port)) {
        attempt.outcome = Outcome::other;
      }
    }
    for (auto& [port, folded] : mount->undecided) {
      if (services.holds(mount->server, port)) count_folded(*mount, std::move(folded));
    }
    mount->undecided.clear();
  }
}

bool Mounts::any_attempt() const noexcept {
  return std::any_of(mounts_.begin(), mounts_.end(), [](const auto& entry) {
    const Mount& mount = *entry.second;
    return mount.counted.made != 0 ||
           std::any_of(mount.attempts.begin(), mount.attempts.end(),
                       [](const Attempt& attempt) { return attempt.outcome != Outcome::other; });
  });
}

void Mounts::input_lost(FrameRef frame) {
  keep_later(input_lost_, frame);
  for (const auto& [ends, mount] : mounts_) {
    keep_later(mount->input_lost, frame);
    outcomes_missing(mount->nfs);
  }
}

AcrossMounts Mounts::across() const {
  AcrossMounts all{{}, presence_, services_, clock_set_};
  for (const auto& [ends, mount] : mounts_) all.trunks.add(mount->nfs);
  return all;
}

std::vector<Said<MountFacts>> Mounts::finish(const MountWitness& witness, FrameRef first, FrameRef last,
                                             const AcrossMounts& across, trace::Moment& now) {
  std::vector<Mount*> mounts;
  for (const auto& [ends, mount] : mounts_) mounts.push_back(mount.get());
  std::sort(mounts.begin(), mounts.end(), [](const Mount* a, const Mount* b) { return a->id < b->id; });
  std::vector<Said<MountFacts>> facts;
  for (Mount* mount : mounts) {
    now = {trace::Moment::Step::mounts, mount->id};
    across.trunks.tell(mount->nfs);
    mount->present = {across.presence.newest(mount->client), across.presence.newest(mount->server)};
    mount->clock_set = across.clock_set;
    if (last.number != 0 && last.time == 0 && first.time == 0) mount->times = Mount::Times::none;
    doubt_answers(*mount, witness.context.options.wait);
    end_calls_of_the_gone(*mount);
    doubt_attempts(*mount, witness.context.options.wait);
    Assessment assessment = assess(*mount, last, witness.context.options.wait);
    if (first.number != 0) assessment.begin = first;
    const bool guessed = assessment.roles == MountFacts::Roles::guessed;
    judge_mount({witness.context, when(guessed, names_of_ends(*mount))}, *mount, assessment);
    const bool rdma = !mount->connections.empty() || assessment.attempts.made > 0;
    if (rdma) facts.push_back({account(*mount, assessment), known_[mount->id - 1]});
    mount->clocks = {};  // of many mounts the report holds all of this a second time
  }
  mounts_.clear();
  return facts;
}

}  // namespace rpcrdma::referee
