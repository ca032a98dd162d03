// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/state/nfs_watch.hpp"

#include <algorithm>
#include <utility>

#include "referee/state/connection.hpp"
#include "referee/state/mount.hpp"
#include "trace/spans.hpp"
#include "wire/nfs_status.hpp"

namespace rpcrdma::referee {

namespace {

using wire::StateId;

[[nodiscard]] bool same_state(const StateId& a, const StateId& b) noexcept { return a.other == b.other; }

void end_copy(NfsWatch& nfs, const StateId& state, FrameRef frame) {
  nfs.copies_over.add({state, frame});
  for (AsyncCopy& copy : nfs.copies) {
    if (copy.ended.number == 0 && same_state(copy.state, state)) copy.ended = frame;
  }
}

void end_recalls(NfsWatch& nfs, Recall::Of of, const std::optional<StateId>& state, FrameRef frame) {
  for (Recall& recall : nfs.recalls) {
    const bool meant = !state || !recall.state || same_state(*recall.state, *state);
    if (recall.of == of && recall.ended.number == 0 && meant) recall.ended = frame;
  }
}

/// The return was on its way already. A delegation is gone with it; of a layout a part may be given back at any time,
/// so that only counts while its answer is awaited.
[[nodiscard]] bool crosses_its_return(const NfsWatch& nfs, const Recall& recall) {
  const auto same = [&](const StateOver& given) { return recall.state && same_state(given.state, *recall.state); };
  if (recall.of == Recall::Of::delegation) return nfs.returned.newest(same) != nullptr;
  const StateOver* file = nfs.layouts_returned.newest(same);
  FrameRef given = file != nullptr ? file->frame : FrameRef{};
  keep_later(given, nfs.all_layouts_returned);
  return std::any_of(nfs.layouts_returning.begin(), nfs.layouts_returning.end(),
                     [&](FrameRef call) { return call.number == given.number; });
}

/// `place`: which operation of its CB_COMPOUND it is, from 0.
void begin_recall(Connection& connection, const Transaction& call, std::size_t place, Recall::Of of,
                  std::optional<StateId> state) {
  NfsWatch& nfs = connection.mount->nfs;
  if (call.call.number < nfs.forgotten_before.number) return;  // read late, behind a hole
  if (nfs.recalls.size() >= NfsWatch::most_recalls) {
    // Of what is over, what was over soonest: a long wait is told at the end.
    const auto wait = [](const Recall& recall) {
      return recall.ended.number != 0 ? trace::elapsed(recall.callback.time, recall.ended.time) : INT64_MAX;
    };
    const auto shortest = std::min_element(nfs.recalls.begin(), nfs.recalls.end(),
                                           [&](const Recall& a, const Recall& b) { return wait(a) < wait(b); });
    if (shortest->ended.number == 0) return;
    nfs.recalls.erase(shortest);
  }
  Recall recall;
  recall.of = of;
  recall.state = state;
  recall.callback = call.call;
  recall.xid = call.xid;
  recall.connection = connection.id();
  recall.place = place;
  if (crosses_its_return(nfs, recall)) recall.ended = call.call;
  nfs.recalls.push_back(recall);
}

void react(NfsWatch& nfs, FrameRef frame) {
  keep_later(nfs.channel_made, frame);
  if (nfs.channel.empty()) return;
  FlagEpisode& episode = nfs.channel.back();
  if (episode.cleared.number == 0 && episode.reaction.number == 0) episode.reaction = frame;
}

/// A server that has lost its state knows nothing of what it had promised, or asked for, before this connection; a
/// client that makes itself known anew has none of it, and waits for none of it, any more.
void forget_promises(NfsWatch& nfs, const Connection& on) {
  const FrameRef opened = on.facts.opened;
  // Whether a connection whose beginning is not in the capture is a new one is not known.
  if (!on.facts.handshake_seen) {
    if (later(opened, nfs.perhaps_forgotten.before)) nfs.perhaps_forgotten = {opened, on.id()};
    return;
  }
  keep_later(nfs.forgotten_before, opened);
  std::erase_if(nfs.copies,
                [&](const AsyncCopy& copy) { return copy.ended.number == 0 && copy.reply.number < opened.number; });
  std::erase_if(nfs.recalls, [&](const Recall& recall) {
    return recall.ended.number == 0 && recall.callback.number < opened.number;
  });
}

/// The server agrees with how the client makes itself known.
void take_introduction(Connection& connection, Transaction& call) {
  NfsWatch& nfs = connection.mount->nfs;
  const auto how = std::exchange(call.introduces, Transaction::Introduces::nobody);
  if (how != Transaction::Introduces::client && how != Transaction::Introduces::confirmed) return;
  if (how == Transaction::Introduces::confirmed) {
    const bool anew = nfs.verifier != nfs.asked_verifier || !nfs.verifier;
    nfs.verifier = nfs.asked_verifier;
    if (!anew) return;
  }
  forget_promises(nfs, connection);
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

void take_session(NfsWatch& nfs, const wire::SessionId& session) {
  if (!nfs.sessions.empty() && nfs.sessions.back() == session) return;  // as always but once
  std::erase(nfs.sessions, session);
  if (nfs.sessions.size() >= NfsWatch::most_sessions) nfs.sessions.erase(nfs.sessions.begin());
  nfs.sessions.push_back(session);
}

/// What an operation of the client asks for.
void take_step(Connection& connection, Transaction& call, const wire::CallStep& step) {
  NfsWatch& nfs = connection.mount->nfs;
  const auto* state = std::get_if<StateId>(&step.arguments);
  switch (step.operation) {
    case wire::operation::delegreturn:
    case wire::operation::free_stateid:
      if (state == nullptr) break;
      end_recalls(nfs, Recall::Of::delegation, *state, call.call);
      nfs.returned.add({*state, call.call});
      break;
    case wire::operation::layoutreturn:
      if (const auto* layouts = std::get_if<wire::Layouts>(&step.arguments)) {
        const bool file = layouts->of == wire::Layouts::Of::file;
        if (file) {
          nfs.layouts_returned.add({layouts->state, call.call});
        } else {
          keep_later(nfs.all_layouts_returned, call.call);
        }
        end_recalls(nfs, Recall::Of::layout, file ? std::optional(layouts->state) : std::nullopt, call.call);
        nfs.layouts_returning.push_back(call.call);
        if (nfs.layouts_returning.size() > NfsWatch::most_returning) nfs.layouts_returning.pop_front();
      }
      break;
    case wire::operation::offload_cancel:
      if (state != nullptr) end_copy(nfs, *state, call.call);
      break;
    case wire::operation::offload_status:
      if (state != nullptr) call.asked_of = *state;
      break;
    case wire::operation::bind_conn_to_session:
      if (const auto* bound = std::get_if<wire::BoundConnection>(&step.arguments)) take_session(nfs, bound->session);
      react(nfs, call.call);
      break;
    case wire::operation::create_session:
      react(nfs, call.call);
      break;
    case wire::operation::exchange_id:
      call.introduces = Transaction::Introduces::client;
      break;
    case wire::operation::setclientid:
      nfs.asked_verifier.reset();
      if (const auto* client = std::get_if<wire::ClientBegun>(&step.arguments)) nfs.asked_verifier = client->verifier;
      break;
    case wire::operation::setclientid_confirm:
      call.introduces = Transaction::Introduces::confirmed;
      break;
    default:
      break;
  }
}

/// What the server's callback says or wants.
/// `place`: which operation of the CB_COMPOUND it is, from 0.
void take_callback_step(Connection& connection, const Transaction& call, const wire::CallStep& step,
                        std::size_t place) {
  NfsWatch& nfs = connection.mount->nfs;
  // A server of NFSv4.0 connects to its client to call it. What the client returns goes the other way: in another
  // mount.
  const bool returned_here = call.requester == trace::Side::passive;
  switch (step.operation) {
    case wire::operation::cb_sequence:
      if (const auto* session = std::get_if<wire::SessionId>(&step.arguments)) take_session(nfs, *session);
      break;
    case wire::operation::cb_offload:
      if (const auto* done = std::get_if<wire::OffloadDone>(&step.arguments)) end_copy(nfs, done->state, call.call);
      break;
    case wire::operation::cb_recall:
      if (!returned_here) break;
      if (const auto* state = std::get_if<StateId>(&step.arguments)) {
        begin_recall(connection, call, place, Recall::Of::delegation, *state);
      }
      break;
    case wire::operation::cb_layoutrecall:
      if (!returned_here) break;
      if (const auto* layouts = std::get_if<wire::Layouts>(&step.arguments)) {
        const bool file = layouts->of == wire::Layouts::Of::file;
        begin_recall(connection, call, place, Recall::Of::layout, file ? std::optional(layouts->state) : std::nullopt);
      }
      break;
    default:
      break;
  }
}

constexpr std::uint32_t channel_down =
    wire::seq4_cb_path_down | wire::seq4_cb_path_down_session | wire::seq4_backchannel_fault;
constexpr std::uint32_t state_lost = wire::seq4_expired_all_state_revoked | wire::seq4_expired_some_state_revoked |
                                     wire::seq4_admin_state_revoked | wire::seq4_recallable_state_revoked;

void take_flags(std::vector<FlagEpisode>& episodes, std::uint32_t flags, FrameRef frame, ConnectionId connection) {
  const bool going_on = !episodes.empty() && episodes.back().cleared.number == 0;
  if (flags == 0) {
    if (going_on) episodes.back().cleared = frame;
    return;
  }
  if (!going_on) {
    if (episodes.size() >= NfsWatch::most_episodes) episodes.erase(episodes.begin());
    episodes.emplace_back();
    episodes.back().first = frame;
    episodes.back().connection = connection;
  }
  FlagEpisode& episode = episodes.back();
  episode.flags |= flags;
  ++episode.replies;
  episode.last = frame;
}

void take_restart(NfsWatch& nfs, std::uint32_t status, FrameRef frame, const Connection& on) {
  const ConnectionId connection = on.id();
  forget_promises(nfs, on);
  NfsWatch::Restart& restart = nfs.restart;
  if (restart.replies++ == 0) {
    restart.status = status;
    restart.first = frame;
    restart.connection = connection;
  }
  restart.last = frame;
}

void take_status(Connection& connection, const Transaction& call, const std::string& operation, std::uint32_t status,
                 bool version_3, FrameRef frame) {
  NfsWatch& nfs = connection.mount->nfs;
  const bool later =
      version_3 ? status == wire::nfs3err_jukebox : status == wire::nfs4err_delay || status == wire::nfs4err_grace;
  const NfsWatch::DelayKey key_of_run{operation, version_3};
  const auto run = nfs.delays.find(key_of_run);
  const bool going_on = run != nfs.delays.end() && run->second.over.number == 0;
  if (!later && going_on) {  // another answer, be it an error
    constexpr std::uint64_t worth_keeping = 3;
    run->second.over = frame;
    const auto before = nfs.delays_over.find(key_of_run);
    const bool worse = before == nfs.delays_over.end() || before->second.lasted() < run->second.lasted();
    const bool room = before != nfs.delays_over.end() || nfs.delays_over.size() < NfsWatch::most_errors;
    if (run->second.times >= worth_keeping && worse && room) nfs.delays_over[key_of_run] = run->second;
    nfs.delays.erase(run);
  }
  if (status == 0) return;
  if (later && (going_on || nfs.delays.size() < NfsWatch::most_errors)) {
    DelayRun& delay = nfs.delays[key_of_run];
    if (delay.times++ == 0) {
      delay.status = status;
      delay.first = frame;
      delay.connection = connection.id();
    }
    delay.last = frame;
  }
  NfsWatch::ErrorKey key{operation, status, version_3};
  if (nfs.errors.size() < NfsWatch::most_errors || nfs.errors.contains(key)) {
    NfsWatch::ErrorCount& error = nfs.errors[std::move(key)];
    ++error.times;
    error.newest = frame;
    error.connection = connection.id();
  }
  const bool restarted = !version_3 && (status == wire::nfs4err_stale_clientid || status == wire::nfs4err_badsession ||
                                        status == wire::nfs4err_stale_stateid || status == wire::nfs4err_grace);
  if (restarted && call.requester == trace::Side::active) take_restart(nfs, status, frame, connection);
}

void take_copy(Connection& connection, const Transaction& call, const wire::Copied& copied, FrameRef frame) {
  NfsWatch& nfs = connection.mount->nfs;
  if (copied.synchronous || !copied.callback) return;
  if (frame.number < nfs.forgotten_before.number) return;  // read late, behind a hole
  if (nfs.copies.size() >= NfsWatch::most_copies) {
    const auto ended = std::find_if(nfs.copies.begin(), nfs.copies.end(),
                                    [](const AsyncCopy& copy) { return copy.ended.number != 0; });
    if (ended == nfs.copies.end()) return;
    nfs.copies.erase(ended);
  }
  AsyncCopy copy;
  copy.state = *copied.callback;
  copy.call = call.call;
  copy.reply = frame;
  copy.xid = call.xid;
  copy.connection = connection.id();
  // It may have been done before its Reply came.
  const bool done = nfs.copies_over.newest(
      [&](const StateOver& over) { return same_state(over.state, copy.state) && later(over.frame, copy.call); });
  if (done) copy.ended = frame;
  nfs.copies.push_back(copy);
}

/// The client's answer to each recall of a CB_COMPOUND: an error that says it has nothing to give back ends it, and so
/// does one in front of it, with which it did not come to the recall.
void take_recall_answer(NfsWatch& nfs, const Transaction& call, const wire::ReplySteps& reply, FrameRef frame) {
  for (Recall& recall : nfs.recalls) {
    if (recall.callback.number != call.call.number) continue;
    const std::uint32_t status =
        recall.place < reply.steps.size() ? reply.steps[recall.place].status : reply.status.value_or(0);
    recall.answer = frame;
    recall.answered = status == wire::nfs4err_delay ? Recall::Answered::later : Recall::Answered::agreed;
    if (status != 0 && status != wire::nfs4err_delay && recall.ended.number == 0) recall.ended = frame;
  }
}

[[nodiscard]] Denial denial(std::uint32_t status, bool version_3) noexcept {
  return {version_3 ? Denial::By::nfs3 : Denial::By::nfs4, status, std::nullopt};
}

[[nodiscard]] bool keeps_lease(std::uint32_t operation) noexcept {
  return operation == wire::operation::sequence || operation == wire::operation::renew;
}

/// The COMPOUND has no other result. `results`: from its status on.
[[nodiscard]] bool lease_alone(wire::Bytes results) noexcept {
  if (results.size() < 8) return false;
  const std::size_t at = 8 + (std::size_t{wire::load_be32(results.data() + 4)} + 3) / 4 * 4;
  if (at > results.size() || results.size() - at < 8) return false;
  return wire::load_be32(results.data() + at) == 1 && keeps_lease(wire::load_be32(results.data() + at + 4));
}

/// Of a Reply whose first operation is SEQUENCE, without reading the rest. `results`: from the COMPOUND's status on.
[[nodiscard]] std::optional<wire::Sequenced> sequenced(wire::Bytes results) noexcept {
  constexpr std::size_t words_before_tag = 8;
  constexpr std::size_t most_tag = 1024;
  if (results.size() < words_before_tag) return std::nullopt;
  const std::size_t tag = wire::load_be32(results.data() + 4);
  if (tag > most_tag) return std::nullopt;
  const std::size_t at = words_before_tag + (tag + 3) / 4 * 4;
  // number of results, operation, its status, session id, sequence id, three slots, flags
  constexpr std::size_t operation_at = 4;
  constexpr std::size_t session_at = 12;
  constexpr std::size_t flags_at = 44;
  if (results.size() < at + flags_at + 4) return std::nullopt;
  const std::uint8_t* p = results.data() + at;
  if (wire::load_be32(p + operation_at) != wire::operation::sequence || wire::load_be32(p + operation_at + 4) != 0) {
    return std::nullopt;
  }
  wire::Sequenced said;
  std::copy_n(p + session_at, said.session.octets.size(), said.session.octets.begin());
  said.flags = wire::load_be32(p + flags_at);
  return said;
}

/// Where the results of an accepted Reply with an empty verifier and SUCCESS begin, as most are; 0: it is another.
[[nodiscard]] std::size_t plain_results(wire::Bytes message) noexcept {
  constexpr std::size_t body = 24;  // XID, REPLY, MSG_ACCEPTED, flavor, length, SUCCESS
  if (message.size() < body) return 0;
  const std::uint8_t* p = message.data();
  const bool plain = wire::load_be32(p + 4) == 1 && wire::load_be32(p + 8) == 0 && wire::load_be32(p + 16) == 0 &&
                     wire::load_be32(p + 20) == 0;
  return plain ? body : 0;
}

void take_sequence(Connection& connection, const wire::Sequenced& said, FrameRef frame) {
  NfsWatch& nfs = connection.mount->nfs;
  take_session(nfs, said.session);
  const std::uint32_t flags = said.flags;
  if (flags == 0 && nfs.channel.empty() && nfs.revoked.empty()) return;  // as a healthy server always says
  take_flags(nfs.channel, flags & channel_down, frame, connection.id());
  take_flags(nfs.revoked, flags & state_lost, frame, connection.id());
  if ((flags & wire::seq4_restart_reclaim_needed) != 0) take_restart(nfs, 0, frame, connection);
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

void read_results(Connection& connection, Transaction& call, FrameRef frame, wire::Bytes message,
                  std::size_t wire_length, const std::vector<wire::WriteChunk>* writes) {
  const auto [program, version, procedure] = *call.procedure;
  const bool callback = wire::callback_program(program);
  NfsWatch& nfs = connection.mount->nfs;
  wire::ReplySteps& reply = nfs.read->reply;
  wire::read_reply_steps(message, wire_length,
                         {program, version, procedure, call.protection.value_or(wire::Protection::none)},
                         result_places(connection, *call.procedure, message, wire_length, writes), reply);
  for (const wire::ReplyStep& step : reply.steps) {
    if (!callback) {
      take_status(connection, call, std::string(wire::nfs4_operation_name(step.operation, false)), step.status, false,
                  frame);
    }
    const auto* said = std::get_if<wire::Sequenced>(&step.result);
    if (said != nullptr && call.protection == wire::Protection::integrity) take_sequence(connection, *said, frame);
    if (const auto* made = std::get_if<wire::CreatedSession>(&step.result)) take_session(nfs, made->session);
    if (const auto* copied = std::get_if<wire::Copied>(&step.result)) take_copy(connection, call, *copied, frame);
    if (const auto* progress = std::get_if<wire::OffloadProgress>(&step.result)) {
      if (progress->complete && call.asked_of) end_copy(nfs, *call.asked_of, frame);
    }
  }
  if (call.introduces != Transaction::Introduces::nobody && introduction_refused(call.introduces, reply)) {
    call.introduces = Transaction::Introduces::nobody;
  }
  if (!reply.status) return;
  if (callback) {
    take_recall_answer(nfs, call, reply, frame);
  } else if (call.protection == wire::Protection::integrity && call.requester == trace::Side::active) {
    const bool lease = reply.steps.size() == 1 && keeps_lease(reply.steps.begin()->operation);
    take_outcome(nfs, call, denial(*reply.status, version == 3), lease, {frame, connection.id()});
  }
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
  for (std::size_t place = 0; place < steps.steps.size(); ++place) {
    const wire::CallStep& step = steps.steps[place];
    if (callback) {
      take_callback_step(connection, call, step, place);
    } else {
      take_step(connection, call, step);
    }
    call.watched = call.watched || watches(step.operation, callback);
  }
  if (!steps.whole()) watch_unread(connection, call.call);
}

void watch_unread(Connection& connection, FrameRef frame) {
  if (connection.mount == nullptr) return;
  FrameRef& unread = connection.mount->nfs.unread;
  keep_later(unread, frame);
}

bool reads_to_the_end(Connection& connection, wire::Bytes message, std::size_t wire_length,
                      const wire::DataPlaces& places) {
  if (connection.mount == nullptr) return true;
  wire::CallSteps& steps = connection.mount->nfs.read->asked;
  wire::read_call_steps(message, wire_length, places, steps);
  return steps.whole();
}

void watch_answered(Connection& connection, Transaction& call) {
  if (connection.mount == nullptr) return;
  take_introduction(connection, call);
  std::erase_if(connection.mount->nfs.layouts_returning,
                [&](FrameRef returning) { return returning.number == call.call.number; });
  // A Long Call of which the capture has not what was read, or one that was cut before it says what it asks for.
  if (!call.procedure) watch_unread(connection, call.call);
}

void watch_orphan(Connection& connection, FrameRef reply) {
  if (connection.mount == nullptr) return;
  for (Recall& recall : connection.mount->nfs.recalls) {
    const bool before = recall.callback.number < reply.number;
    if (before && recall.perhaps_returned.number == 0) recall.perhaps_returned = reply;
  }
}

void watch_unseen_reply(Connection& connection, Transaction& call) {
  if (connection.mount == nullptr) return;
  watch_answered(connection, call);
  std::erase_if(connection.mount->nfs.recalls, [&](const Recall& recall) {
    return recall.callback.number == call.call.number && recall.ended.number == 0;
  });
}

void watch_reply(Connection& connection, Transaction& call, FrameRef frame, wire::Bytes message,
                 std::size_t wire_length, const std::vector<wire::WriteChunk>* writes) {
  if (connection.mount == nullptr || !call.procedure) return;
  const auto [program, version, procedure] = *call.procedure;
  const bool of_client = call.requester == trace::Side::active;
  std::size_t body = plain_results(message);
  if (body == 0) {
    const auto rpc = wire::decode_rpc_reply(message, wire_length);
    if (!rpc) return;
    if (!rpc->succeeded()) {
      if (of_client) take_refusal(connection.mount->nfs, call, *rpc, message, {frame, connection.id()});
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
    const bool lease = version == 4 && lease_alone(results);
    take_outcome(connection.mount->nfs, call, denial(status, version == 3), lease, {frame, connection.id()});
  }
  if (version == 3 && !callback) {
    take_status(connection, call, operation_name(call), status, true, frame);
    return;
  }
  if (!callback) {
    if (const std::optional<wire::Sequenced> said = sequenced(results)) take_sequence(connection, *said, frame);
  }
  const bool delayed = !callback && status == 0 && !connection.mount->nfs.delays.empty();
  if (status != 0 || call.watched || callback || delayed)
    read_results(connection, call, frame, message, wire_length, writes);
}

}  // namespace rpcrdma::referee
