// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/mount/mounts.hpp"

#include <algorithm>
#include <tuple>

#include "referee/mount/account.hpp"
#include "referee/mount/assessment.hpp"
#include "referee/mount/lives.hpp"
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

/// Attempts that nobody can decide any more make room: what they come to is counted.
void fold_oldest(Mount& mount) {
  const Attempt oldest = mount.attempts.front();
  mount.attempts.pop_front();
  if (oldest.outcome == Outcome::other) return;
  count_attempt(mount.counted, oldest);
  if (mount.series.empty() || mount.series.back().ended_by.number != 0) {
    if (mount.series.size() >= Mount::most_series) mount.series.erase(mount.series.begin());
    mount.series.emplace_back();
  }
  add_attempt(mount.series.back(), oldest);
}

Attempt& new_attempt(Mount& mount, Attempt&& attempt) {
  if (mount.attempts.size() >= Mount::most_attempts) fold_oldest(mount);
  mount.attempts.push_back(std::move(attempt));
  return mount.attempts.back();
}

/// The newest Read of the Call's own chunks, if it waits for its answer.
[[nodiscard]] FrameRef read_in_flight(const Connection& connection, const Transaction& call) {
  if (call.requester != Side::active) return {};
  const SideState& server = connection.of(Side::passive);
  const JudgedOp* its = server.ops.newest([&](const JudgedOp& op) { return !op.writing && op.transaction == call.id; });
  if (its == nullptr) return {};
  const std::vector<ReadsInFlight::Read>& open = server.reads.open;  // in the order of their numbers
  const bool waits = std::binary_search(open.begin(), open.end(), ReadsInFlight::Read{its->op, {}},
                                        [](const auto& a, const auto& b) { return a.op < b.op; });
  return waits ? its->frame : FrameRef{};
}

/// The messages of NLM are answered by messages of their own, in the other direction.
[[nodiscard]] bool without_reply(const Transaction& call) {
  constexpr std::uint32_t test_msg = 6;
  constexpr std::uint32_t granted_res = 15;
  if (!call.procedure) return false;
  const auto [program, version, procedure] = *call.procedure;
  return program == wire::nlm_program && procedure >= test_msg && procedure <= granted_res;
}

/// Its header is broken, and still it was a Call, which its responder has to refuse: who made it waits for that.
[[nodiscard]] bool refusal_awaited(const Connection& connection, const Transaction& call) {
  return call.requester == Side::active && call.refusal == Transaction::Refusal::due &&
         connection.find(Side::passive, call.xid) == nullptr;
}

/// Of a Call whose pieces are all in the capture, as far as they were sent.
[[nodiscard]] OpenCall::Sent sent_of(const Connection& connection, const Transaction& call) {
  // What could not be read may have been its last piece.
  if (!call.v2.incomplete || connection.of(call.requester).unread.number > call.call.number) {
    return OpenCall::Sent::whole;
  }
  const v2::Credits& credits = connection.v2.of(call.requester).credits;
  if (credits.dry_to_the_end.number != 0) return OpenCall::Sent::for_want_of_credit;
  if (!v2::all_seen(connection) || credits.base != v2::Credits::Base::zero) return OpenCall::Sent::in_part_perhaps;
  // Until the peer is heard, the limit is one message.
  return credits.heard ? OpenCall::Sent::in_part : OpenCall::Sent::for_want_of_credit;
}

/// The Send that begins in this frame was refused, and that ended the connection: its receiver never had it.
[[nodiscard]] bool refused_for_good(const Connection& connection, FrameRef send) {
  const auto& closed = connection.facts.closed;
  if (!connection.over() || !closed || send.number == 0) return false;
  return std::any_of(connection.suspects.begin(), connection.suspects.end(), [&](const Suspect& suspect) {
    return suspect.refused.number == send.number && suspect.frame.number == closed->frame.number;
  });
}

/// Its responder ended the connection because of something that had come, and what that was is not told or not in the
/// capture: it may be this Call.
[[nodiscard]] bool may_be_refused(const Connection& connection, const Transaction& call) {
  const auto& closed = connection.facts.closed;
  if (!connection.over() || !closed || call.answers != 0) return false;
  return std::any_of(connection.suspects.begin(), connection.suspects.end(), [&](const Suspect& suspect) {
    const bool names_nothing = suspect.frames.size() == 1 && suspect.frames.front() == suspect.frame.number;
    return names_nothing && suspect.frame.number == closed->frame.number && suspect.by == party(other(call.requester));
  });
}

/// What came as its answer was refused by who had asked, who will ask again.
[[nodiscard]] bool answer_refused(const Connection& connection, const Transaction& call) {
  return call.answers == 1 && refused_for_good(connection, call.reply);
}

/// Its sender repeats this Send, or something in front of it, to the end, and nobody takes it.
[[nodiscard]] OpenCall::Vain sent_in_vain(const Connection& connection, Side sender, FrameRef send,
                                          std::uint64_t ordinal) {
  const SideState& state = connection.of(sender);
  const auto& sent = state.liveness;
  const auto& heard = connection.of(other(sender)).liveness;
  if (connection.over() || !sent || !heard || ordinal <= state.acknowledged || send.number > sent->last_copy.number ||
      !repeats_count(sent->copies, sent->first_copy, sent->last_copy)) {
    return OpenCall::Vain::no;
  }
  // Its acknowledgements may be missing from the capture: it says itself that it lacks it, or nothing new any more.
  const bool repeats_itself = heard->heard.number == heard->last_copy.number &&
                              heard->first_copy.number < sent->first_repeat.number &&
                              heard->acknowledging.number < sent->first_repeat.number;
  const trace::Liveness::Unheard& unheard = sent->unheard;
  const bool silent = repeats_count(unheard.copies, unheard.first, sent->last_copy) &&
                      heard->heard.number < unheard.first_repeat.number;
  if (repeats_itself || silent) return OpenCall::Vain::lost;
  const bool denied = sent->denied.number > sent->first_repeat.number &&
                      heard->heard.number <= std::max(sent->denied.number, sent->last_copy.number);
  if (!denied) return OpenCall::Vain::no;
  return sent->denial == trace::Liveness::Denial::not_ready ? OpenCall::Vain::no_receive : OpenCall::Vain::lost;
}

[[nodiscard]] OpenCall::Vain answered_in_vain(const Connection& connection, const Transaction& call) {
  if (call.answers != 1) return OpenCall::Vain::no;
  const Side responder = other(call.requester);
  const RecentSend* reply = connection.of(responder).sends.newest(
      [&](const RecentSend& send) { return send.frame.number == call.reply.number; });
  if (reply == nullptr) return OpenCall::Vain::no;
  return sent_in_vain(connection, responder, call.reply, reply->ordinal);
}

/// It had been counted as answered.
void takes_back(Connection& connection, const Transaction& call) {
  if (call.requester != Side::active) return;
  --connection.mount->waits.answered;
  forget_worst(connection.mount->waits, call.reply);
  if (connection.last_answer.number == call.reply.number) connection.last_answer = connection.answer_before;
}

/// A DREQ has no number among the packets: where the capture lost some of this side's not long before, the last Reply
/// may be another, together with its acknowledgement.
[[nodiscard]] bool last_may_be_missing(const Connection& connection, const SideState& responder) {
  constexpr TimeNs lately = 5'000'000'000;  // as long a wait as counts for one, unless --wait says otherwise
  const auto& closed = connection.facts.closed;
  return connection.facts.transport != trace::Transport::iwarp && closed && closed->how == Closed::How::disconnect &&
         responder.newest_gap.number != 0 && !trace::passed(responder.newest_gap.time, closed->frame.time, lately);
}

/// Newest gap in the other connections of its mount: one tap sees them all.
[[nodiscard]] FrameRef lack_beside(const Connection& connection) {
  FrameRef newest;
  for (const Life& life : connection.mount->lives) {
    for (const FrameRef lack : life.newest_lack) keep_later(newest, lack);
  }
  for (const auto& [id, beside] : connection.mount->alive) {
    if (beside == &connection) continue;
    for (const SideState& side : beside->sides) keep_later(newest, side.newest_lack());
  }
  return newest;
}

/// It, or something in front of it, was sent again and again, and never acknowledged: nobody had it.
[[nodiscard]] bool never_taken(const Connection& connection, const Transaction& call) {
  const SideState& requester = connection.of(call.requester);
  const auto& sent = requester.liveness;
  return sent && call.call_ordinal > requester.acknowledged && call.call.number <= sent->last_copy.number &&
         repeats_count(sent->copies, sent->first_copy, sent->last_copy);
}

/// The newest frame of its responder that has a place in its stream, or the Call itself: what would stand between is
/// known to be missing, or was not sent.
[[nodiscard]] FrameRef whole_until(const Connection& connection, const Transaction& call) {
  const SideState& responder = connection.of(other(call.requester));
  FrameRef until = call.call;
  keep_later(until, responder.last_event);
  const bool each_has = connection.facts.transport == trace::Transport::iwarp;
  if (each_has && responder.liveness) keep_later(until, responder.liveness->heard);
  return until;
}

[[nodiscard]] OpenCall open_call_of(const Connection& connection, const Transaction& call) {
  OpenCall open;
  open.connection = connection.id();
  open.xid = call.xid;
  open.requester = call.requester;
  open.first = call.first_copy.number != 0 ? call.first_copy : call.call;
  open.frame = call.call;
  if (connection.over() && connection.facts.closed) open.ended = connection.facts.closed->frame;
  const bool answered = call.answers != 0;
  open.vain = answered ? answered_in_vain(connection, call)
                       : sent_in_vain(connection, call.requester, call.call, call.call_ordinal);
  if (open.vain != OpenCall::Vain::no) {
    const Side sender = answered ? other(call.requester) : call.requester;
    open.newest_copy = connection.of(sender).liveness->last_copy;
  }
  const bool refused_last = answer_refused(connection, call);
  const bool not_taken = refused_last || (answered && open.vain != OpenCall::Vain::no);
  open.answer = not_taken ? call.reply : call.refused_answer;
  if (call.fetching.number != 0) open.fetching = {call.reply, call.fetching};
  if (refused_last || refused_for_good(connection, call.call)) open.refused = connection.facts.closed->frame;
  if (may_be_refused(connection, call)) open.perhaps_refused = connection.facts.closed->frame;
  const bool read = call.procedure.has_value() || !call.operation.empty();
  if (call.malformed()) {
    open.operation = "broken call";
  } else if (read) {
    open.operation = operation_name(call);
  }
  open.likeness = call.likeness();
  open.wire_length = call.wire_length;
  open.delivered = connection.of(call.requester).acknowledged >= call.call_ordinal;
  const SideState& responder = connection.of(other(call.requester));
  // A Call with a hole in it is read when the hole is given up; its Reply may have come before.
  const bool with_hole = !call.payload && connection.of(call.requester).newest_lack().number >= call.call.number;
  // What was cut before it says whether it is a Call, and what may be a Reply that offers itself to be read.
  const bool refused = refusal_awaited(connection, call) && connection.whole();
  const bool asked = call.lists_known && call.requester == Side::active && !call.may_be_offer();
  const bool any_call = call.procedure || asked || refused;
  // The same endpoints began anew, and what lies between is not in the capture.
  const auto& closed = connection.facts.closed;
  const bool end_unseen = closed && closed->how == Closed::How::superseded;
  // The requester's acknowledgements show answers in front of the capture, perhaps to this Call: of two taps one is
  // late.
  const bool before_capture = responder.liveness && responder.liveness->before_capture.number > call.call.number;
  const bool lacking = answer_may_be_unseen(connection, call) || before_capture || connection.facts.one_way ||
                       with_hole || end_unseen || last_may_be_missing(connection, responder);
  if (lacking || !any_call) {
    const bool perhaps_offer = !lacking && call.may_be_offer();
    open.waits = perhaps_offer ? OpenCall::Waits::perhaps_no_call : OpenCall::Waits::perhaps;
  }
  const bool never_answered = open.answer.number != 0 || open.refused.number != 0 || never_taken(connection, call);
  if (!never_answered) open.quiet_since = whole_until(connection, call);
  open.pulling = read_in_flight(connection, call);
  open.sent = sent_of(connection, call);
  const auto& requester_is = connection.of(call.requester).liveness;
  if (requester_is && !connection.over()) open.no_window = requester_is->window_closed;
  open.no_credit = connection.v2.of(other(call.requester)).credits.dry_to_the_end;
  return open;
}

/// Neither the port nor the private data of its request, nor anything that came over it, tells what it carries.
[[nodiscard]] bool cut_before_its_purpose(const Connection& connection) {
  return connection.kind == Connection::Kind::undecided && connection.request_seen() && !connection.rejected() &&
         !connection.facts.server.port && !connection.of(Side::active).private_data.known();
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

void Mounts::unreachable(Connection& connection, FrameRef frame) {
  connection.undelivered = frame;
  if (connection.mount == nullptr) return;
  Attempt* attempt = connection.mount->attempt_of(connection.id());
  if (attempt == nullptr || !attempt->waits()) return;
  attempt->outcome = Outcome::unreachable;
  attempt->answer = frame;
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
      attempt->outcome = Outcome::unreachable;
      attempt->answer = event.frame;
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

void Mounts::keeps_open_calls(Connection& connection) {
  if (connection.mount == nullptr) return;
  Mount& mount = *connection.mount;
  std::vector<OpenCall>& calls = connection.over() ? mount.lost_calls : mount.open_calls;
  std::size_t before = calls.size();
  const FrameRef beside = lack_beside(connection);
  for (const auto& [key, call] : connection.transactions) {
    const bool without_it = call.fetching.number != 0 || answer_refused(connection, call) ||
                            answered_in_vain(connection, call) != OpenCall::Vain::no;
    if (call.answers != 0 && without_it) takes_back(connection, call);
    if ((call.answers != 0 && !without_it) || call.settled_elsewhere() || without_reply(call)) continue;
    if (call.malformed() && !refusal_awaited(connection, call)) continue;  // perhaps a Reply, or dropped by rule
    if (calls.size() >= Mount::most_lost_calls) {                          // the oldest have been given up long since
      constexpr std::size_t some = Mount::most_lost_calls / 4;
      calls.erase(calls.begin(), calls.begin() + some);
      before -= std::min(before, some);
    }
    calls.push_back(open_call_of(connection, call));
    calls.back().lack_beside = beside;
  }
  std::sort(calls.begin() + static_cast<std::ptrdiff_t>(before), calls.end(),
            [](const OpenCall& a, const OpenCall& b) { return a.first.number < b.first.number; });
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
  if (mount.lives.size() >= Mount::most_lives) {
    mount.lives.pop_front();
    ++mount.forgotten_lives;
  }
  mount.lives.push_back(life_of(connection));
  mount.lives.back().open_calls = static_cast<std::uint64_t>(
      std::count_if(mount.lost_calls.begin(), mount.lost_calls.end(), [&](const OpenCall& call) {
        return call.connection == connection.id() && call.requester == Side::active && call.surely_waits();
      }));
}

void Mounts::forgets(const Connection& connection) {
  if (connection.mount != nullptr && connection.mount->alive.empty()) connection.mount->clocks.rest();
}

std::vector<trace::Disconnect> Mounts::left_behind(const Connection& begun) {
  std::vector<trace::Disconnect> ends;
  if (begun.mount == nullptr) return ends;
  for (const auto& [id, connection] : begun.mount->alive) {
    if (!connection->left_unanswered()) continue;
    trace::Disconnect& end = ends.emplace_back();
    end.connection = id;
    end.frame = begun.request_frame;
    end.how = trace::Disconnect::How::superseded;
  }
  return ends;
}

void Mounts::leave_out_strangers(const std::vector<std::uint16_t>& service_ports, const Services& services) {
  for (const auto& [ends, mount] : mounts_) {
    for (Attempt& attempt : mount->attempts) {
      const bool to_a_port = attempt.transport == trace::Transport::iwarp && attempt.server_port.has_value();
      if (!to_a_port || attempt.connection != 0) continue;
      const std::uint16_t port = *attempt.server_port;
      const bool usual = std::find(service_ports.begin(), service_ports.end(), port) != service_ports.end();
      if (!usual && !services.holds(mount->server, port)) attempt.outcome = Outcome::other;
    }
  }
}

bool Mounts::any_attempt() const noexcept {
  return std::any_of(mounts_.begin(), mounts_.end(), [](const auto& entry) {
    const Mount& mount = *entry.second;
    return std::any_of(mount.attempts.begin(), mount.attempts.end(),
                       [](const Attempt& attempt) { return attempt.outcome != Outcome::other; });
  });
}

AcrossMounts Mounts::across() const {
  AcrossMounts all{{}, presence_, services_};
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
    doubt_answers(*mount, witness.context.options.wait);
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
