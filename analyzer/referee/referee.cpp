// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/referee.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "referee/cause/causes.hpp"
#include "referee/docket/cases.hpp"
#include "referee/docket/witness.hpp"
#include "referee/exchange/beginning.hpp"
#include "referee/exchange/messages.hpp"
#include "referee/exchange/observation.hpp"
#include "referee/message/queue.hpp"
#include "referee/mount/account.hpp"
#include "referee/mount/across.hpp"
#include "referee/mount/mounts.hpp"
#include "referee/mount/open_calls.hpp"
#include "referee/rules/checks.hpp"
#include "referee/rules/peers.hpp"
#include "referee/shares.hpp"
#include "referee/state/connection_table.hpp"
#include "referee/state/finished.hpp"
#include "referee/state/sums.hpp"
#include "wire/cm.hpp"

namespace rpcrdma::referee {

struct Referee::Impl {
  Impl(Options o, Observer* watcher, Listener* hears)
      : options(std::move(o)), context{options, book, bodies, watcher}, listener(hears) {
    book.leave_out(options.without);
    book.tell_to(listener);
  }

  Options options;
  FindingBook book;
  BodyStore bodies;  // outlives the connections
  Context context;
  Listener* listener;
  ConnectionTable connections{options.share ? ConnectionTable::Room{most_of_share, RegionRoom::most_of_share}
                                            : ConnectionTable::Room{most_connections, RegionRoom::most}};
  Finished finished;
  Peers peers;
  Mounts mounts{book, options};
  trace::Moment now;  ///< at the end, or of what is said as if it had come
  trace::Moment frames;
  const trace::Moment* before_the_end = &frames;
  MessageQueue queue{take_message, judge_read};
  std::uint64_t rdma_messages = 0;
  bool any_rpcrdma = false;
  bool judged = false;

  [[nodiscard]] Witness on(Connection& connection) { return {context, connection}; }

  [[nodiscard]] bool service_port(const Connection& connection) const {
    const auto& port = connection.facts.server.port;
    return port &&
           std::find(options.service_ports.begin(), options.service_ports.end(), *port) != options.service_ports.end();
  }

  /// The direction that seemed not to be captured comes after all: what it lacks is what stood in front of this.
  void find_direction(Connection& connection, const trace::EventBase& event) {
    connection.facts.one_way = false;
    trace::Gap before;
    static_cast<trace::EventBase&>(before) = event;
    before.overtaken_in = {};
    queue.disturbed(on(connection));
    judge_gap(on(connection), before);
  }

  /// Everything common to what one side did: who is alive, and what may be settled now.
  Connection* seen(const trace::EventBase& event, bool in_order) {
    Connection* connection = connections.find(event.connection);
    if (connection == nullptr) return nullptr;
    const bool late = connection->of(event.side).events == 0 && connection->of(other(event.side)).events != 0;
    if (late && connection->facts.one_way && !connection->over()) find_direction(*connection, event);
    note(*connection, event, in_order);
    return connection;
  }

  static void note(Connection& connection, const trace::EventBase& event, bool in_order) {
    SideState& state = connection.of(event.side);
    ++state.events;
    if (state.first_event.number == 0) state.first_event = event.frame;
    if (in_order && event.frame.number > state.last_event.number) state.last_event = event.frame;
    SideState& peer = connection.of(other(event.side));
    if (in_order && peer.acknowledged_in.number <= event.frame.number) peer.taken = peer.acknowledged;
    connection.last_frame = event.frame;
    peer.answered_by(event.frame);
  }

  void after(Connection& connection, const trace::EventBase& event) {
    if (connection.cases.empty() && connection.about_answers.empty()) return;
    settle_cases(on(connection), event.side, event.sent_by());
  }

  [[nodiscard]] HeldFinding reject(Connection& connection, const trace::ConnectReject& event) {
    const Attempt::Outcome outcome = outcome_of(connection, event);
    mounts.rejects(connection, event.frame, outcome, event.reason);
    return judge_reject(on(connection), event, outcome);
  }

  void note_close(Connection& connection) {
    if (!connection.over()) return;
    // One side is silent because nobody captured it: what it was asked is not waited for.
    connection.notice_one_way();
    // Now: how long its state is kept depends on how many others are over.
    if (connection.facts.one_way) say_one_way(connection);
    keep_unheard(connection);
    keep_open_calls(connection);
    connection.transactions.clear();
    if (connection.mount != nullptr) connection.mount->calling.erase(connection.id());
    connection.finished.clear();
    connection.answered_in_part.clear();
    for (SideState& side : connection.sides) {
      side.memory.clear();
      side.sends = {};
      side.ops = {};
      side.doubtful = {};
    }
    dismiss_suspects(on(connection));
    make_room(connection);
  }

  void say_one_way(Connection& connection) {
    if (!reported(connection)) return;
    judge_one_way(on(connection), connection.sides[0].events > 0 ? Side::active : Side::passive);
  }

  /// This one is over: the state of an older one is dropped for it, its facts are kept. What is said of that has its
  /// place at the end of the capture, as if there had been room.
  void make_room(const Connection& over) {
    Connection* oldest = connections.keep_newest(over);
    if (oldest == nullptr) return;
    now = {trace::Moment::Step::connections_facts, oldest->id()};
    book.follow(now);
    finish_connection(*oldest);
    book.follow(*before_the_end);
    Mounts::forgets(*oldest);
    connections.drop(oldest->id());
  }

  [[nodiscard]] static bool reported(const Connection& connection) {
    if (connection.kind == Connection::Kind::other) return false;
    if (connection.messages > 0 || connection.rpcrdma()) return true;
    return connection.facts.private_data_client || connection.facts.private_data_server;
  }

  void finish_connection(Connection& connection) {
    ConnectionFacts& facts = connection.facts;
    doubt_left_offers(on(connection), std::nullopt);
    word_cause(connection);
    mounts.ends(connection, reported(connection));
    if (!reported(connection)) {
      book.conclude(facts.id, false);
      return;
    }
    any_rpcrdma = true;
    rdma_messages += connection.messages;
    if ((connection.messages_read > 0 && !facts.one_way) || connection.rejected()) judged = true;
    performance_at_end(on(connection));
    if (connection.ready_by_data.number != 0) judge_missing_ready(on(connection), connection.ready_by_data);
    sum_up(connection);
    if (listener != nullptr) {
      listener->connection(facts);
      book.conclude(facts.id, true);
    } else {
      finished.add(facts);
      // The next attempt may put what is said of one that failed in another light; who looks on reads all as it comes.
      if (!connection.rejected() && connection.messages > 0 && context.observer == nullptr) book.rest(facts.id);
    }
  }

  /// Whatever comes, this connection will be in the report.
  [[nodiscard]] bool certain(ConnectionId id) const {
    const Connection* connection = connections.find(id);
    return connection != nullptr && (connection->messages > 0 || connection->rejected()) && reported(*connection);
  }

  void tell_handshake(const Connection& connection, const trace::EventBase& event) {
    if (context.observer == nullptr || !connection.rpcrdma()) return;
    context.observer->handshake(connection.facts, event.side, event.frame);
  }

  template <class Event>
  void hear(const Event& event) const {
    if (context.observer != nullptr) context.observer->heard(event);
  }

  /// RDMA Write, RDMA Read and its answer. `initiator`: whose Write or Read it is.
  template <class Event>
  void tell_operation(Connection& connection, OperationSeen::Kind kind, const Event& event, wire::Bytes octets,
                      Side initiator) {
    if (context.observer == nullptr) return;  // asked for each packet
    const OperationSeen seen{kind,         event.side, event.frame, event.handle, event.offset,
                             event.length, octets,     {},          false,        event.op};
    observe_operation(on(connection), seen, initiator);
  }

  void end_of_capture(Connection& connection, FrameRef last) {
    queue.release_all(on(connection));
    connection.notice_one_way();  // with one direction only nothing that needs both can be judged
    judge_end(connection, last);
    if (connection.messages > 0 && !connection.transactions.empty()) keep_open_calls(connection);
  }

  void judge_end(Connection& connection, FrameRef last) {
    if (connection.facts.one_way) {
      connection.cases.clear();
      if (!connection.over()) say_one_way(connection);
      return;
    }
    settle_all_cases(on(connection), Stop::cut_off, Side::active);
    if (connection.over() || connection.rejected() || connection.kind == Connection::Kind::other) return;
    if (connection.awaits_answer()) {
      if (reported(connection)) mounts.said(connection, judge_unanswered_request(on(connection), last));
      return;
    }
    if (connection.accepts_in_vain() && reported(connection)) {
      mounts.said(connection, judge_unconfirmed_reply(on(connection)));
      return;
    }
    if (connection.rpcrdma()) judge_still_open(on(connection), last, peers.next_request(connection));
  }
};

Referee::Referee(Options options, Observer* observer, Listener* listener)
    : impl_(std::make_unique<Impl>(std::move(options), observer, listener)) {}
Referee::~Referee() = default;

void Referee::on(const trace::ConnectRequest& event) {
  Connection* connection = impl_->connections.open(event);
  if (connection == nullptr) return;
  impl_->hear(event);
  ConnectionFacts& facts = connection->facts;
  facts.transport = event.transport;
  facts.client = event.client;
  facts.server = event.server;
  facts.roles_from = trace::RolesFrom::handshake;
  facts.opened = event.opened.number != 0 ? event.opened : event.frame;
  facts.handshake_seen = true;
  connection->request_frame = event.frame;
  SideState& client = connection->of(Side::active);
  client.depths = event.depths;
  distrust_cut_handshake(*connection, event.depths, event.private_data);
  client.mpa_revision = event.mpa_revision;
  ++client.events;
  client.last_event = event.frame;
  judge_private_data(impl_->on(*connection), Side::active, event.private_data, event.frame);
  if (facts.private_data_client || impl_->service_port(*connection)) connection->kind = Connection::Kind::rpcrdma;
  const bool unusual = facts.server.port && !impl_->service_port(*connection);
  if (connection->rpcrdma() && unusual) judge_service_port(impl_->on(*connection), event.frame);
  impl_->peers.connects(impl_->on(*connection), event.frame);
  impl_->mounts.names(event, impl_->finished);
  impl_->mounts.requests(*connection, unusual ? Attempt::Port::unusual : Attempt::Port::usual);
  for (const trace::Disconnect& end : Mounts::left_behind(*connection)) on(end);
  impl_->tell_handshake(*connection, event);
}

void Referee::on(const trace::ConnectReply& event) {
  Connection* connection = impl_->seen(event, true);
  if (connection == nullptr) return;
  impl_->hear(event);
  ConnectionFacts& facts = connection->facts;
  if (event.server.qpn) facts.server.qpn = event.server.qpn;
  if (!facts.server.port && event.server.port) facts.server.port = event.server.port;
  if (facts.server.address.empty()) {
    facts.server.address = event.server.address;
    facts.server.network = event.server.network;
  }
  impl_->mounts.establishes(*connection, event.frame);
  const bool first = !connection->reply_seen();
  connection->reply_frame = event.frame;
  SideState& server = connection->of(Side::passive);
  server.depths = event.depths;
  distrust_cut_handshake(*connection, event.depths, event.private_data);
  server.mpa_revision = event.mpa_revision;
  judge_private_data(impl_->on(*connection), Side::passive, event.private_data, event.frame);
  if (facts.private_data_server && connection->kind == Connection::Kind::undecided) {
    connection->kind = Connection::Kind::rpcrdma;
  }
  settle_thresholds(*connection);
  if (connection->rpcrdma()) {
    if (first) judge_handshake(impl_->on(*connection));
    impl_->peers.judge_private_data_change(impl_->on(*connection));
  }
  impl_->tell_handshake(*connection, event);
}

void Referee::on(const trace::ConnectReject& event) {
  Connection* connection = impl_->seen(event, true);
  if (connection == nullptr) return;
  impl_->hear(event);
  // What carries messages came through: that is about another attempt, or nothing. But who refuses need not have heard
  // them.
  const bool heard = connection->of(event.side).sent != 0 || connection->of(other(event.side)).acknowledged != 0;
  if (connection->rpcrdma() && (connection->messages == 0 || !heard)) {
    HeldFinding finding = impl_->reject(*connection, event);
    impl_->book.reconsider(connection->id());
    if (event.reason == wire::reject_reason::stale) {  // it believes in an earlier one; clients try again
      impl_->peers.refused_as_stale(*connection, std::move(finding));
    } else {
      impl_->mounts.said(*connection, std::move(finding));
    }
    judge_stray_private_data(impl_->on(*connection), event.side, event.private_data, event.frame);
  }
  // Who is turned away may try again for days.
  if (connection->rejected()) impl_->make_room(*connection);
}

void Referee::on(const trace::RequestReceipt& event) {
  if (Connection* connection = impl_->seen(event, true)) impl_->mounts.acknowledges(*connection, event.frame);
}

void Referee::on(const trace::RequestUndelivered& event) {
  if (Connection* connection = impl_->connections.find(event.connection)) impl_->mounts.unreachable(*connection, event);
}

void Referee::on(const trace::Sighted& event) {
  if (event.address.empty()) {
    impl_->mounts.sees_others(event.frame);
  } else {
    impl_->mounts.sees(event.address, event.frame, Presence::Noted::all);
  }
}

void Referee::on(const trace::ConnectReady& event) {
  Connection* connection = impl_->connections.find(event.connection);
  if (connection == nullptr) return;
  impl_->seen(event, false);  // it has no place among packets: what was sent in front of it may be missing
  impl_->hear(event);
  connection->ready_seen = true;
  if (!connection->rpcrdma()) return;
  judge_stray_private_data(impl_->on(*connection), event.side, event.private_data, event.frame);
  const bool may_have_one = connection->facts.transport != trace::Transport::iwarp;
  connection->ready_by_data = may_have_one && !event.message_seen ? event.frame : FrameRef{};
}

void Referee::on(const trace::Adopted& event) {
  Connection* connection = impl_->connections.open(event);
  if (connection == nullptr) return;
  begin_in_the_middle(*connection, event);
  impl_->mounts.adopts(*connection);
}

void Referee::on(const trace::Disconnect& event) {
  Connection* connection = impl_->connections.find(event.connection);
  if (connection == nullptr) return;
  if (!by_what_follows(event.how)) {  // that one is of its successor
    impl_->hear(event);
    connection->of(event.side).leaves(event.frame);
  }
  if (connection->rpcrdma()) {
    judge_stray_private_data(impl_->on(*connection), event.side, event.private_data, event.frame);
  }
  if (!connection->over()) {
    impl_->queue.release_all(impl_->on(*connection));
    if (event.how == trace::Disconnect::How::reply) judge_missing_farewell(impl_->on(*connection), event);
    if (!by_what_follows(event.how)) settle_all_cases(impl_->on(*connection), stop_of(event.how), event.side);
    if (!connection->rejected() && (connection->messages > 0 || connection->reply_seen() || connection->ready_seen)) {
      judge_close(impl_->on(*connection), event);
      if (connection->over()) {
        judge_live_chunks(impl_->on(*connection), event.frame);
        impl_->peers.remember_refusal(*connection, event);
        impl_->note_close(*connection);
      }
    } else if (closed_in_place_of_reply(*connection, event)) {
      impl_->mounts.rejects(*connection, event.frame, Attempt::Outcome::rejected);
      impl_->mounts.said(*connection, judge_close_in_place_of_reply(impl_->on(*connection), event));
    } else if (give_up_over_tcp(*connection, event)) {
      impl_->mounts.leaves(*connection, event.frame);
    }
  }
  Impl::note(*connection, event, !event.shown_by_peer);
}

void Referee::on(const trace::Send& event) {
  Connection* connection = impl_->seen(event, true);
  if (connection == nullptr) return;
  connection->of(event.side).sent = event.ordinal;
  ConnectionFacts::Operations& operations = connection->facts.operations;
  ++operations.sends;
  if (event.invalidated) ++operations.sends_with_invalidate;
  const std::uint64_t before = connection->messages;
  doubt_beginning(*connection);
  // Behind a later frame of its own direction a hole was filled. Over TCP each says what its sender had by then.
  if (connection->facts.transport != trace::Transport::iwarp) connection->of(event.side).doubt_credits(event.frame);
  if (!impl_->queue.send(impl_->on(*connection), event)) return;
  if (connection->v2.refusal.number != 0) impl_->peers.judge_version_refusal(impl_->on(*connection), event.frame);
  if (before == 0 && connection->messages != 0) {
    impl_->book.reconsider(connection->id());
    if (connection->facts.version == 1) impl_->peers.speaks_version_1(impl_->on(*connection));
    if (!connection->facts.handshake_seen) judge_missing_start(impl_->on(*connection), event.frame);
  }
  if (!connection->offers.empty() && !connection->over()) {
    offers_overdue(impl_->on(*connection), event.side, event.frame);
  }
}

void Referee::on(const trace::Write& event) {
  Connection* connection = impl_->seen(event, true);
  if (connection == nullptr) return;
  doubt_beginning(*connection);
  ConnectionFacts::Operations& operations = connection->facts.operations;
  if (event.first) ++operations.writes;
  operations.write_bytes += event.length;
  if (!connection->over() && connection->rpcrdma()) {
    impl_->queue.written(impl_->on(*connection), event.side, event.handle);
    impl_->after(*connection, event);
    judge_write(impl_->on(*connection), event);
  }
  impl_->tell_operation(*connection, OperationSeen::Kind::write, event, event.octets, event.side);
}

void Referee::on(const trace::Atomic& event) {
  Connection* connection = impl_->seen(event, true);
  if (connection == nullptr || connection->over() || !connection->rpcrdma()) return;
  impl_->queue.written(impl_->on(*connection), event.side, event.handle);
  impl_->after(*connection, event);
  judge_atomic(impl_->on(*connection), event);
}

void Referee::on(const trace::ReadRequest& event) {
  Connection* connection = impl_->seen(event, true);
  if (connection == nullptr) return;
  doubt_beginning(*connection);
  ConnectionFacts::Operations& operations = connection->facts.operations;
  ++operations.reads;
  operations.read_bytes += event.length;
  if (!connection->over() && connection->rpcrdma()) {
    impl_->queue.used(impl_->on(*connection), event.side, event.handle);
    impl_->after(*connection, event);
    if (!impl_->queue.read(impl_->on(*connection), event)) {
      judge_read(impl_->on(*connection), event);
    }
  }
  impl_->tell_operation(*connection, OperationSeen::Kind::read_request, event, {}, event.side);
}

void Referee::on(const trace::ReadResponse& event) {
  Connection* connection = impl_->seen(event, false);
  if (connection == nullptr) return;
  if (!connection->over() && connection->rpcrdma()) {
    impl_->queue.pulled(impl_->on(*connection), event);
    judge_read_response(impl_->on(*connection), event);
  }
  impl_->tell_operation(*connection, OperationSeen::Kind::read_response, event, event.octets, other(event.side));
}

void Referee::on(const trace::Refusal& event) {
  Connection* connection = impl_->seen(event, false);
  if (connection == nullptr) return;
  impl_->hear(event);
  ConnectionFacts::Operations& operations = connection->facts.operations;
  if (event.kind == trace::Refusal::Kind::rnr) {
    ++operations.rnr_naks;
  } else if (event.kind != trace::Refusal::Kind::terminate) {
    ++operations.naks;
  }
  if (connection->over() || !connection->rpcrdma()) return;
  impl_->queue.disturbed(impl_->on(*connection));
  // A Terminate has its place in the stream. A NAK says what its sender has received, not what it has sent.
  if (event.kind == trace::Refusal::Kind::terminate) {
    settle_cases(impl_->on(*connection), event.side, event.frame);
  }
  judge_refusal(impl_->on(*connection), event);
}

void Referee::on(const trace::Acknowledged& event) {
  Connection* connection = impl_->seen(event, false);
  if (connection == nullptr) return;
  SideState& sender = connection->of(other(event.side));
  sender.acknowledged = event.ordinal;
  sender.acknowledged_in = event.frame;
  if (!connection->cases.empty()) received(*connection, event.side, event.ordinal, event.frame);
  if (!connection->over()) credit_acknowledged(*connection, event);
}

void Referee::on(const trace::Gap& event) {
  Connection* connection = impl_->connections.find(event.connection);
  if (connection == nullptr || connection->kind == Connection::Kind::other) return;
  if (connection->over()) {
    judge_gap_behind_close(impl_->on(*connection), event);
    return;
  }
  impl_->hear(event);
  impl_->queue.disturbed(impl_->on(*connection));
  judge_gap(impl_->on(*connection), event);
}

void Referee::on(const trace::Repeated& event) {
  Connection* connection = impl_->connections.find(event.connection);
  if (connection == nullptr || connection->kind == Connection::Kind::other) return;
  if (event.side == trace::Side::active && !event.rest && !connection->reply_seen() && connection->messages == 0 &&
      event.kind != trace::Repeated::Kind::capture_duplicate && event.kind != trace::Repeated::Kind::handshake_copy) {
    impl_->mounts.repeats_request(*connection, event.frame);
  }
  impl_->hear(event);
  judge_repeat(impl_->on(*connection), event);
}

void Referee::on(const trace::TcpAttempt& event) { impl_->mounts.attempts(event); }

void Referee::on(const trace::NfsOverTcp& event) { impl_->mounts.without_rdma(event); }

void Referee::on(const trace::Liveness& event) {
  Connection* connection = impl_->connections.find(event.connection);
  if (connection == nullptr) return;
  connection->keep(event);
  const trace::Endpoint& end = event.side == Side::active ? connection->facts.client : connection->facts.server;
  impl_->mounts.sees(end.address, event.heard, Presence::Noted::some);
}

void Referee::on(const trace::Quality& event) {
  if (event.kind == trace::Quality::Kind::time_backwards) impl_->mounts.clock_set_back(event.frame);
  if (event.kind == trace::Quality::Kind::input_lost) {
    impl_->mounts.input_lost(event.frame);
    for (const ConnectionId id : impl_->connections.ids()) {
      Connection& each = *impl_->connections.find(id);
      if (each.over() || each.kind == Connection::Kind::other) continue;
      impl_->queue.disturbed(impl_->on(each));
      lose_input(impl_->on(each), event.frame);
    }
  }
  Connection* connection = event.connection == 0 ? nullptr : impl_->connections.find(event.connection);
  if (connection != nullptr && connection->kind == Connection::Kind::other) return;
  judge_quality(impl_->context, connection, event);
}

std::size_t Referee::findings() const noexcept { return impl_->book.size(); }

const Finding& Referee::finding(std::size_t number) const { return impl_->book.finding(number); }

void Referee::tell() {
  if (!impl_->book.anything_settled()) return;
  impl_->book.tell_settled([&](ConnectionId id) { return impl_->certain(id); });
}

void Referee::follow(const trace::Moment& now) {
  impl_->before_the_end = &now;
  impl_->book.follow(now);
}

Report Referee::finish(FrameRef last, FrameRef first) {
  const AcrossMounts across = finish_connections(last);
  std::vector<Share> all;
  all.push_back(finish_share(last, first, across));
  return put_together(std::move(all));
}

AcrossMounts Referee::finish_connections(FrameRef last) {
  Impl& impl = *impl_;
  using Step = trace::Moment::Step;
  impl.book.follow(impl.now);
  const std::vector<ConnectionId> ids = impl.connections.ids();
  for (const ConnectionId id : ids) {
    impl.now = {Step::connections_over, id};
    impl.end_of_capture(*impl.connections.find(id), last);
  }
  for (const ConnectionId id : ids) {
    impl.now = {Step::connections_facts, id};
    impl.finish_connection(*impl.connections.find(id));
  }
  impl.connections.drop_all();
  impl.peers = {};
  return impl.mounts.across();
}

Share Referee::finish_share(FrameRef last, FrameRef first, const AcrossMounts& across) {
  Impl& impl = *impl_;
  Share share;
  impl.mounts.leave_out_strangers(across.services);
  if (impl.mounts.any_attempt()) impl.any_rpcrdma = true;
  share.mounts = impl.mounts.finish({impl.context}, first, last, across, impl.now);
  share.mounts_known = impl.mounts.known();
  impl.book.conclude_all();
  share.connections = impl.finished.take();
  // What was found on connections that turned out to carry something else accuses nobody.
  const auto known = [&](ConnectionId id) { return id == 0 || impl.finished.holds(id); };
  share.findings = impl.book.take_findings(
      [&](const Finding& finding) { return finding.rule == RuleId::not_rpcrdma || known(finding.connection); });
  share.unchecked = impl.book.take_unchecked();
  std::erase_if(share.unchecked, [&](const Said<Unchecked>& said) { return !known(said.what.connection); });
  share.told = impl.book.breaches();
  share.connections_turned_away = impl.connections.turned_away();
  share.regions_turned_away = impl.connections.regions_turned_away();
  share.mounts_turned_away = impl.mounts.turned_away();
  share.rdma_messages = impl.rdma_messages;
  share.any_rpcrdma = impl.any_rpcrdma;
  share.judged = impl.judged;
  return share;
}

}  // namespace rpcrdma::referee
