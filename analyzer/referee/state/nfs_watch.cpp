// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/state/nfs_watch.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "referee/state/connection.hpp"
#include "referee/state/flag_episodes.hpp"
#include "referee/state/mount.hpp"
#include "wire/nfs_files.hpp"
#include "wire/nfs_reply_start.hpp"
#include "wire/nfs_status.hpp"

namespace rpcrdma::referee {

namespace {

using wire::StateId;

/// A callback channel is made anew, by BIND_CONN_TO_SESSION or CREATE_SESSION.
template <class Matches>
void react(NfsWatch& nfs, FrameRef frame, Matches matches) {
  keep_later(nfs.channel_made, frame);
  FlagEpisode* episode = lasting_episode(nfs.channel, matches);
  if (episode != nullptr && episode->reaction.number == 0) episode->reaction = frame;
}

/// `bound`: null: it was not read.
void take_bound(NfsWatch& nfs, FrameRef frame, const wire::BoundConnection* bound) {
  if (bound != nullptr) nfs.clients.uses(bound->session);
  react(nfs, frame, [&](const wire::SessionId& session) { return bound == nullptr || session == bound->session; });
}

/// What the server said of the client's session, it says of the new one from now on.
void take_made_session(Connection& connection, const Transaction& call, const wire::SessionId& session,
                       FrameRef reply) {
  NfsWatch& nfs = connection.mount->nfs;
  const auto of_client = [&](const wire::SessionId& old) { return nfs.clients.may_be_made_by(old, call.client); };
  for (std::vector<FlagEpisode>* episodes : {&nfs.channel, &nfs.revoked}) {
    if (FlagEpisode* episode = lasting_episode(*episodes, of_client)) episode->session = session;
  }
  const bool begun_here = connection.facts.handshake_seen;
  nfs.clients.makes(session, call.client, {begun_here ? connection.facts.opened : FrameRef{}, reply});
}

/// Who makes himself known with an EXCHANGE_ID.
[[nodiscard]] std::optional<wire::ClientBegun> begun_by(const Transaction& call) {
  return call.client ? std::optional(wire::ClientBegun{call.verifier, *call.client}) : std::nullopt;
}

/// The server agrees with how the client makes itself known.
void take_introduction(Connection& connection, Transaction& call, FrameRef reply) {
  NfsWatch& nfs = connection.mount->nfs;
  const auto how = std::exchange(call.introduces, Transaction::Introduces::nobody);
  if (how != Transaction::Introduces::client && how != Transaction::Introduces::confirmed) return;
  const bool of_4_0 = how == Transaction::Introduces::confirmed;
  if (of_4_0 && !nfs.clients.confirms_anew()) return;
  nfs.promises.forget(connection.facts, reply, nfs.clients, of_4_0 ? std::nullopt : call.client);
}

[[nodiscard]] std::uint32_t introducing_operation(Transaction::Introduces how) noexcept {
  return how == Transaction::Introduces::client ? wire::operation::exchange_id : wire::operation::setclientid_confirm;
}

/// Its Reply refuses it: the operation failed, or one before it.
[[nodiscard]] bool introduction_refused(Transaction::Introduces how, const wire::ReplySteps& reply) noexcept {
  const auto said = std::find_if(reply.steps.begin(), reply.steps.end(), [&](const wire::ReplyStep& step) {
    return step.operation == introducing_operation(how);
  });
  if (said != reply.steps.end()) return said->status != 0;
  return reply.whole() && reply.status.value_or(0) != 0;
}

/// What an operation of the client asks for, the one at this `place` of the Call.
void take_step(Connection& connection, Transaction& call, const wire::CallStep& step, std::size_t place) {
  NfsWatch& nfs = connection.mount->nfs;
  const Operation by{call.call, place};
  const auto* state = std::get_if<StateId>(&step.arguments);
  switch (step.operation) {
    case wire::operation::delegreturn:
    case wire::operation::free_stateid:
      if (state != nullptr) nfs.promises.give_back_delegation(*state, by);
      break;
    case wire::operation::layoutreturn:
      if (const auto* layouts = std::get_if<wire::Layouts>(&step.arguments)) {
        nfs.promises.give_back_layouts(*layouts, by);
      }
      break;
    case wire::operation::putfh:
      if (const auto* named = std::get_if<wire::FileNamed>(&step.arguments)) call.file = named->file;
      break;
    case wire::operation::offload_cancel:
      if (state != nullptr) nfs.promises.end_copy(*state, by);
      break;
    case wire::operation::offload_status:
      if (state != nullptr) call.asked_of = *state;
      break;
    case wire::operation::bind_conn_to_session:
      take_bound(nfs, call.call, std::get_if<wire::BoundConnection>(&step.arguments));
      break;
    case wire::operation::create_session:
      if (const auto* wanted = std::get_if<wire::SessionWanted>(&step.arguments)) call.client = wanted->client;
      react(nfs, call.call,
            [&](const wire::SessionId& session) { return nfs.clients.may_be_made_by(session, call.client); });
      break;
    case wire::operation::destroy_clientid:
      if (const auto* gone = std::get_if<wire::ClientGone>(&step.arguments)) call.client = gone->client;
      break;
    case wire::operation::exchange_id:
      call.introduces = Transaction::Introduces::client;
      if (const auto* client = std::get_if<wire::ClientBegun>(&step.arguments)) {
        call.client = client->owner;
        call.verifier = client->verifier;
      }
      break;
    case wire::operation::setclientid: {
      const auto* client = std::get_if<wire::ClientBegun>(&step.arguments);
      nfs.clients.asks(client != nullptr ? std::optional(*client) : std::nullopt);
      react(nfs, call.call, [](const wire::SessionId& session) { return session == no_session; });
      break;
    }
    case wire::operation::setclientid_confirm:
      call.introduces = Transaction::Introduces::confirmed;
      break;
    default:
      break;
  }
}

/// Where in a CB_COMPOUND an operation stands: which of them it is, from 0, and the session that is called.
struct CalledAt {
  std::size_t place = 0;
  std::optional<wire::SessionId> session;
};

[[nodiscard]] Recall recall_of(const Connection& connection, const Transaction& call, const CalledAt& at, Recall::Of of,
                               const std::optional<StateId>& state) {
  Recall recall;
  recall.of = of;
  recall.state = state;
  recall.callback = call.call;
  recall.xid = call.xid;
  recall.connection = connection.id();
  recall.place = at.place;
  recall.session = at.session;
  return recall;
}

/// What the server's callback says or wants.
void take_callback_step(Connection& connection, const Transaction& call, const wire::CallStep& step, CalledAt& at) {
  NfsWatch& nfs = connection.mount->nfs;
  // A server of NFSv4.0 connects to its client to call it. What the client returns goes the other way: in another
  // mount.
  const bool returned_here = call.requester == trace::Side::passive;
  switch (step.operation) {
    case wire::operation::cb_sequence:
      if (const auto* session = std::get_if<wire::SessionId>(&step.arguments)) {
        nfs.clients.uses(*session);
        at.session = *session;
      }
      break;
    case wire::operation::cb_offload:
      if (const auto* done = std::get_if<wire::OffloadDone>(&step.arguments)) {
        nfs.promises.end_copy(done->state, {call.call, at.place});
      }
      break;
    case wire::operation::cb_recall:
      if (!returned_here) break;
      if (const auto* state = std::get_if<StateId>(&step.arguments)) {
        nfs.promises.begin_recall(recall_of(connection, call, at, Recall::Of::delegation, *state));
      }
      break;
    case wire::operation::cb_layoutrecall:
      if (!returned_here) break;
      if (const auto* layouts = std::get_if<wire::Layouts>(&step.arguments)) {
        const bool file = layouts->of == wire::Layouts::Of::file;
        const auto state = file ? std::optional(layouts->state) : std::nullopt;
        nfs.promises.begin_recall(recall_of(connection, call, at, Recall::Of::layout, state));
      }
      break;
    default:
      break;
  }
}

constexpr std::uint32_t state_lost = wire::seq4_expired_all_state_revoked | wire::seq4_expired_some_state_revoked |
                                     wire::seq4_admin_state_revoked | wire::seq4_recallable_state_revoked;

/// What the server has said of the client of a session, and not taken back.
[[nodiscard]] std::uint32_t state_lost_before(NfsWatch& nfs, const wire::SessionId& of) {
  const FlagEpisode* episode = lasting_episode(
      nfs.revoked, [&](const wire::SessionId& session) { return nfs.clients.same_client(session, of); });
  return episode != nullptr ? episode->flags : 0;
}

void take_restart(NfsWatch& nfs, std::uint32_t status, FrameRef frame, const Connection& on) {
  const ConnectionId connection = on.id();
  nfs.promises.forget(on.facts, frame, nfs.clients, std::nullopt);
  NfsWatch::Restart& restart = nfs.restart;
  if (restart.replies++ == 0) {
    restart.status = status;
    restart.first = frame;
    restart.connection = connection;
  }
  restart.last = frame;
}

/// Another answer, be it an error, or "later" in other words.
void end_delay(NfsWatch& nfs, const NfsWatch::ErrorKey& key, const Transaction& call, FrameRef frame,
               DelayRun::Then then) {
  constexpr std::uint64_t worth_keeping = 3;
  const auto run = nfs.delays.find(key);
  if (run == nfs.delays.end()) return;
  if (run->second.files == DelayRun::Files::one && call.file && *call.file != run->second.file) return;
  run->second.over = frame;
  run->second.then = then;
  const auto before = nfs.delays_over.find(key);
  const bool worse = before == nfs.delays_over.end() || before->second.lasted() < run->second.lasted();
  const bool room = before != nfs.delays_over.end() || nfs.delays_over.size() < NfsWatch::most_errors;
  if (run->second.times >= worth_keeping && worse && room) nfs.delays_over[key] = run->second;
  nfs.delays.erase(run);
}

void count_delay(DelayRun& delay, const Transaction& call, FrameRef frame, ConnectionId connection) {
  if (delay.times++ == 0) {
    delay.first = frame;
    delay.connection = connection;
  }
  delay.last = frame;
  if (!call.file) return;
  if (delay.files == DelayRun::Files::not_known) {
    delay.files = DelayRun::Files::one;
    delay.file = *call.file;
  } else if (delay.file != *call.file) {
    delay.files = DelayRun::Files::several;
  }
}

void take_delay(Connection& connection, const Transaction& call, std::string_view operation, std::uint32_t status,
                bool version_3, FrameRef frame) {
  NfsWatch& nfs = connection.mount->nfs;
  constexpr std::array<std::uint32_t, 1> later_3 = {wire::nfs3err_jukebox};
  constexpr std::array<std::uint32_t, 2> later_4 = {wire::nfs4err_delay, wire::nfs4err_grace};
  const auto take = [&](const auto& words) {
    const bool delays = std::find(words.begin(), words.end(), status) != words.end();
    const auto then = status == 0 ? DelayRun::Then::success
                      : delays    ? DelayRun::Then::other_delay
                                  : DelayRun::Then::failure;
    for (const std::uint32_t word : words) {
      if (word != status && !nfs.delays.empty()) end_delay(nfs, {operation, word, version_3}, call, frame, then);
    }
    if (!delays) return;
    const NfsWatch::ErrorKey key{operation, status, version_3};
    if (nfs.delays.size() >= NfsWatch::most_errors && !nfs.delays.contains(key)) return;
    nfs.files = NfsWatch::Files::read;
    count_delay(nfs.delays[key], call, frame, connection.id());
  };
  if (version_3) {
    take(later_3);
  } else {
    take(later_4);
  }
}

void take_status(Connection& connection, const Transaction& call, std::string_view operation, std::uint32_t status,
                 bool version_3, FrameRef frame) {
  NfsWatch& nfs = connection.mount->nfs;
  take_delay(connection, call, operation, status, version_3, frame);
  if (status == 0) return;
  const NfsWatch::ErrorKey key{operation, status, version_3};
  if (nfs.errors.size() < NfsWatch::most_errors || nfs.errors.contains(key)) {
    NfsWatch::ErrorCount& error = nfs.errors[key];
    ++error.times;
    error.newest = frame;
    error.connection = connection.id();
  }
  if (!version_3 && status == wire::nfs4err_badsession && call.session) nfs.clients.denies(*call.session, frame);
  const bool restarted = !version_3 && (status == wire::nfs4err_stale_clientid || status == wire::nfs4err_badsession ||
                                        status == wire::nfs4err_stale_stateid || status == wire::nfs4err_grace);
  if (restarted && call.requester == trace::Side::active) take_restart(nfs, status, frame, connection);
}

/// `session`: of the SEQUENCE in front of it.
void take_copy(Connection& connection, const Transaction& call, const wire::Copied& copied, FrameRef frame,
               const std::optional<wire::SessionId>& session) {
  if (copied.synchronous || !copied.callback) return;
  AsyncCopy copy;
  copy.state = *copied.callback;
  copy.call = call.call;
  copy.reply = frame;
  copy.xid = call.xid;
  copy.connection = connection.id();
  copy.session = session;
  connection.mount->nfs.promises.begin_copy(copy);
}

[[nodiscard]] Denial denial(std::uint32_t status, bool version_3) noexcept {
  return {version_3 ? Denial::By::nfs3 : Denial::By::nfs4, status, std::nullopt};
}

void take_sequence(Connection& connection, const wire::Sequenced& said, FrameRef frame) {
  NfsWatch& nfs = connection.mount->nfs;
  const bool first = nfs.clients.served(said.session).number == 0;
  nfs.clients.serves(said.session, frame);
  if (said.flags == 0 && nfs.channel.empty() && nfs.revoked.empty()) return;  // as a healthy server always says
  take_flags(nfs.channel, said, channel_down, frame, connection.id());
  // Of the first one that the capture shows it is not known since when they stand there.
  const std::uint32_t lost_before = first ? state_lost : state_lost_before(nfs, said.session);
  nfs.promises.revoke(said.flags & state_lost & ~lost_before, frame, said.session, nfs.clients);
  take_flags(nfs.revoked, said, state_lost, frame, connection.id());
  if ((said.flags & wire::seq4_restart_reclaim_needed) != 0) take_restart(nfs, 0, frame, connection);
}

/// Where a Reply's data stand, as its Write list says; of protected results nothing may be moved.
[[nodiscard]] wire::DataPlaces result_places(Connection& connection, const ProcedureId& asked, wire::Bytes message,
                                             std::size_t wire_length, const std::vector<wire::WriteChunk>* writes) {
  if (writes == nullptr) return {};
  ChunkScratch& scratch = connection.scratch;
  scratch.lengths.clear();
  for (const wire::WriteChunk& chunk : *writes) scratch.lengths.push_back(wire::chunk_length(chunk));
  if (std::all_of(scratch.lengths.begin(), scratch.lengths.end(), [](std::uint64_t length) { return length == 0; })) {
    return wire::NothingMoved();
  }
  const auto [program, version, procedure] = asked;
  wire::list_reply_items(message, wire_length, program, version, procedure, scratch.lengths, scratch.items);
  return wire::ItemsListed(&scratch.items);
}

/// Not now: what was asked for has not been done, and may be asked for again (RFC 8881 section 15.1.1.3).
[[nodiscard]] bool says_later(std::uint32_t status) noexcept {
  return status == wire::nfs4err_delay || status == wire::nfs4err_grace;
}

/// There is no state of that name.
[[nodiscard]] bool knows_no_state(std::uint32_t status) noexcept {
  return status == wire::nfs4err_bad_stateid || status == wire::nfs4err_stale_stateid ||
         status == wire::nfs4err_expired || status == wire::nfs4err_admin_revoked;
}

/// What an operation of the client came to, as far as somebody waits for what it had promised: the one at this `place`.
void take_end(NfsWatch& nfs, const Transaction& call, const wire::ReplyStep& step, std::size_t place, FrameRef frame) {
  // What stands behind it was not reached.
  if (says_later(step.status)) nfs.promises.not_done({call.call, place});
  if (step.operation == wire::operation::destroy_clientid && step.status == 0 && call.client) {
    nfs.promises.client_gone(*call.client, frame, nfs.clients);
  }
  if (step.operation != wire::operation::offload_status || !call.asked_of) return;
  const auto* progress = std::get_if<wire::OffloadProgress>(&step.result);
  // Of a copy that the server does not know no CB_OFFLOAD comes either (RFC 7862 section 15.9).
  if ((progress != nullptr && progress->complete) || knows_no_state(step.status)) {
    nfs.promises.end_copy(*call.asked_of, {frame, place});
  }
}

void read_results(Connection& connection, Transaction& call, FrameRef frame, wire::Bytes message,
                  std::size_t wire_length, const std::vector<wire::WriteChunk>* writes) {
  const auto [program, version, procedure] = *call.procedure;
  const bool callback = wire::callback_program(program);
  NfsWatch& nfs = connection.mount->nfs;
  wire::ReplySteps& reply = nfs.read->reply;
  wire::read_reply_steps(message, wire_length,
                         {program, version, procedure, call.protection.value_or(wire::Protection::none)},
                         result_places(connection, *call.procedure, message, wire_length, writes), reply);
  std::optional<wire::SessionId> session;
  std::size_t place = 0;
  for (const wire::ReplyStep& step : reply.steps) {
    if (!callback) {
      take_status(connection, call, wire::nfs4_operation_name(step.operation, false), step.status, false, frame);
    }
    const auto* said = std::get_if<wire::Sequenced>(&step.result);
    if (said != nullptr) session = said->session;
    if (said != nullptr && call.protection == wire::Protection::integrity) take_sequence(connection, *said, frame);
    if (const auto* made = std::get_if<wire::CreatedSession>(&step.result)) {
      take_made_session(connection, call, made->session, frame);
    }
    if (const auto* named = std::get_if<wire::ClientNamed>(&step.result)) {
      if (!nfs.clients.begins_anew(begun_by(call), *named)) call.introduces = Transaction::Introduces::nobody;
    }
    if (const auto* copied = std::get_if<wire::Copied>(&step.result)) {
      take_copy(connection, call, *copied, frame, session);
    }
    if (!callback) take_end(nfs, call, step, place, frame);
    ++place;
  }
  if (call.introduces != Transaction::Introduces::nobody && introduction_refused(call.introduces, reply)) {
    call.introduces = Transaction::Introduces::nobody;
  }
  if (!reply.status) return;
  if (callback) {
    nfs.promises.answer_callback(call.call, reply, frame);
  } else if (call.protection == wire::Protection::integrity && call.requester == trace::Side::active) {
    const auto alone = reply.steps.size() == 1 ? std::optional(reply.steps.begin()->operation) : std::nullopt;
    take_outcome(nfs, call, denial(*reply.status, version == 3), alone, {frame, connection.id()});
    take_renewal(nfs.channel, alone, *reply.status, frame, connection.id());
  }
}

/// NFSv2. Of protected results nothing is read: they may have done something.
void take_outcome2(Connection& connection, Transaction& call, wire::Bytes results, FrameRef frame) {
  constexpr std::uint32_t root = 3;
  constexpr std::uint32_t write_cache = 7;
  const std::uint32_t procedure = std::get<2>(*call.procedure);
  const bool has_status = procedure != 0 && procedure != root && procedure != write_cache;
  const bool plain = call.protection.value_or(wire::Protection::none) == wire::Protection::none;
  if (!has_status || !plain || results.size() < 4) return;
  const Denial said{Denial::By::nfs2, wire::load_be32(results.data()), std::nullopt};
  take_outcome(connection.mount->nfs, call, said, std::nullopt, {frame, connection.id()});
}

}  // namespace

bool watches(std::uint32_t operation, bool callback) noexcept {
  using namespace wire::operation;
  if (callback) return operation == cb_offload || operation == cb_recall || operation == cb_layoutrecall;
  switch (operation) {
    case copy:
    case delegreturn:
    case free_stateid:
    case layoutreturn:
    case offload_cancel:
    case offload_status:
    case bind_conn_to_session:
    case create_session:
    case destroy_clientid:
    case exchange_id:
    case setclientid:
    case setclientid_confirm:
      return true;
    default:
      return false;
  }
}

void watch_call(Connection& connection, Transaction& call, wire::Bytes message, std::size_t wire_length,
                const wire::DataPlaces& places) {
  if (connection.mount == nullptr || !call.procedure) return;
  const auto [program, version, procedure] = *call.procedure;
  const bool callback = wire::callback_program(program);
  if (callback) connection.mount->nfs.newest_callback = call.call;
  wire::CallSteps& steps = connection.mount->nfs.read->asked;
  wire::read_call_steps(message, wire_length, places, steps);
  CalledAt at;
  for (; at.place < steps.steps.size(); ++at.place) {
    const wire::CallStep& step = steps.steps[at.place];
    if (callback) {
      take_callback_step(connection, call, step, at);
    } else {
      take_step(connection, call, step, at.place);
    }
    call.watched = call.watched || watches(step.operation, callback);
  }
  if (!steps.whole()) watch_unread(connection, call, call.call);
}

namespace {

/// Neither NFSv4 nor one of its callbacks. Of several copies the first was read.
[[nodiscard]] bool asks_something_else(const Transaction& call) noexcept {
  if (!call.procedure || call.copies > 1) return false;
  const auto [program, version, procedure] = *call.procedure;
  return (program != wire::nfs_program || version != 4) && !wire::callback_program(program);
}

}  // namespace

bool watches_files(const Connection& connection) noexcept {
  return connection.mount != nullptr && connection.mount->nfs.files == NfsWatch::Files::read;
}

void watch_file(const Connection& connection, Transaction& call, wire::Bytes arguments) {
  if (!watches_files(connection)) return;
  if (const auto handle = wire::leading_handle3(arguments)) call.file = wire::hash_of(*handle);
}

void watch_unread(Connection& connection, const Transaction& call, FrameRef frame) {
  if (connection.mount == nullptr || asks_something_else(call)) return;
  constexpr std::uint32_t first_with_copies = 2;
  UnreadMessages& unread = connection.mount->nfs.unread;
  const bool either = !connection.roles_known();
  const bool of_server = call.requester == trace::Side::passive;
  keep_later(unread.any, frame);
  if (of_server || either) keep_later(unread.recall, frame);
  if (call.minor.value_or(first_with_copies) < first_with_copies) return;
  keep_later(unread.of_copies, frame);
  if (!of_server || either) keep_later(unread.copy, frame);
}

bool reads_to_the_end(Connection& connection, wire::Bytes message, std::size_t wire_length,
                      const wire::DataPlaces& places) {
  if (connection.mount == nullptr) return true;
  wire::CallSteps& steps = connection.mount->nfs.read->asked;
  wire::read_call_steps(message, wire_length, places, steps);
  return steps.whole();
}

void watch_answered(Connection& connection, Transaction& call, FrameRef reply) {
  if (connection.mount == nullptr) return;
  take_introduction(connection, call, reply);
  connection.mount->nfs.promises.layouts_answered(call.call);
  // A Long Call of which the capture has not what was read, or one that was cut before it says what it asks for.
  if (!call.procedure) watch_unread(connection, call, call.call);
}

void watch_orphan(Connection& connection, FrameRef reply) {
  if (connection.mount != nullptr) connection.mount->nfs.promises.perhaps_given_back(reply);
}

void watch_unseen_reply(Connection& connection, Transaction& call) {
  if (connection.mount == nullptr) return;
  watch_answered(connection, call, call.call);
  connection.mount->nfs.promises.recalls_answered_unseen(call.call);
}

void watch_reply(Connection& connection, Transaction& call, FrameRef frame, wire::Bytes message,
                 std::size_t wire_length, const std::vector<wire::WriteChunk>* writes) {
  if (connection.mount == nullptr || !call.procedure) return;
  const auto [program, version, procedure] = *call.procedure;
  const bool of_client = call.requester == trace::Side::active;
  std::size_t body = wire::plain_results(message);
  if (body == 0) {
    const auto rpc = wire::decode_rpc_reply(message, wire_length);
    if (!rpc) return;
    if (!rpc->succeeded()) {
      if (of_client) take_refusal(connection.mount->nfs, call, *rpc, message, {frame, connection.id()});
      // Whoever has failed itself may have done some of it.
      const bool not_begun = !rpc->accepted || rpc->status != wire::accept_stat::system_err;
      Promises& promises = connection.mount->nfs.promises;
      if (not_begun && of_client) promises.not_done({call.call, 0});
      if (not_begun && !of_client) promises.refuse_callback(call.call, frame);
      call.introduces = Transaction::Introduces::nobody;
      return;
    }
    body = rpc->body;
  }
  if (of_client && call.asks_context()) {
    const wire::Bytes results = body < message.size() ? message.subspan(body) : wire::Bytes();
    take_context(connection.mount->nfs, call, results, {frame, connection.id()});
  } else if (of_client && procedure == 0) {
    take_null(connection.mount->nfs, call);
  }
  if (program == wire::nfs_program && version == 2) {
    if (of_client) take_outcome2(connection, call, message.subspan(std::min(body, message.size())), frame);
    return;
  }
  const bool nfs = program == wire::nfs_program && (version == 3 || version == 4) && procedure != 0;
  const bool callback = !nfs && wire::callback_program(program);
  if (!nfs && !callback) return;
  if (call.protection == wire::Protection::privacy) return;
  const bool protects = call.protection == wire::Protection::integrity;
  if (body + 4 > message.size()) return;
  if (protects) {
    read_results(connection, call, frame, message, wire_length, writes);
    return;
  }
  const wire::Bytes results = message.subspan(body);
  const std::uint32_t status = wire::load_be32(results.data());
  if (!callback && of_client) {
    const auto alone = version == 4 ? wire::only_operation(results) : std::nullopt;
    take_outcome(connection.mount->nfs, call, denial(status, version == 3), alone, {frame, connection.id()});
    take_renewal(connection.mount->nfs.channel, alone, status, frame, connection.id());
  }
  if (version == 3 && !callback) {
    take_status(connection, call, call.operation, status, true, frame);
    return;
  }
  if (!callback) {
    if (const auto said = wire::leading_sequence(results)) take_sequence(connection, *said, frame);
  }
  const bool delayed = !callback && status == 0 && !connection.mount->nfs.delays.empty();
  if (status != 0 || call.watched || callback || delayed)
    read_results(connection, call, frame, message, wire_length, writes);
}

}  // namespace rpcrdma::referee
