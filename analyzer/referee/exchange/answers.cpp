// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/exchange/answers.hpp"

#include <utility>

#include "referee/rules/v2_turn.hpp"
#include "referee/state/lifetime.hpp"
#include "referee/state/mount.hpp"
#include "referee/state/nfs_watch.hpp"
#include "referee/state/possible_calls.hpp"
#include "referee/state/procedures.hpp"

namespace rpcrdma::referee {

namespace {

/// An RDMA_ERROR for an open Call ends it. `grant`: what its credit word says, if that is a grant.
void refuse_call(const Witness& witness, const trace::Send& event, std::optional<std::uint32_t> grant,
                 Transaction& call) {
  Connection& connection = witness.connection;
  call.reply_body.clear();  // what the responder may have left in the Reply chunk is no reply
  call.introduces = Transaction::Introduces::nobody;
  if (call.malformed()) {
    credit_refusal(connection, event, call.requester, grant);
    ++call.answers;
    call.reply = event.frame;
    remember_finished(connection, call);
  } else {
    credit_answer(witness, event, call.requester, grant);
    end_outstanding(connection, call);
    if (call.answers == 0) call.ended_by = Transaction::EndedBy::error;
    finish_answer(witness, event, call, nullptr);
  }
  if (call.answered()) retire(connection, call, event.frame);
  complete_one(connection);
}

void answer_nothing_open(const Witness& witness, const trace::Send& event, std::uint32_t xid) {
  Connection& connection = witness.connection;
  if (judge_answer_to_done(witness, event, xid)) return;
  const Side requester = other(event.side);
  const Transaction* call = connection.find(requester, xid);
  if (call == nullptr && judge_answer_to_answer(witness, event, xid)) return;
  if (call != nullptr && connection.trusted()) {
    judge_duplicate(witness, event, *call);
  } else if (event.side == Side::passive) {
    judge_orphan(witness, event, requester, xid, AnswerIs::by_its_form);
  } else if (possible_empty_call(connection, requester, xid)) {
    witness.unchecked(RuleId::error_from_requester, "the message that it refuses does not say whether it is a Call");
    witness.unchecked(RuleId::reply_without_call, "a message that was refused does not say whether it is a Call");
  } else {
    judge_error_later(witness, event, xid);
  }
}

/// Looks at what came by RDMA Read (a Long Call) or went by RDMA Write (a Long Reply), when the Reply comes.
void look_at_heads(const Witness& witness, Transaction& call, FrameRef reply, Side responder,
                   const std::vector<wire::WriteChunk>* writes) {
  Connection& connection = witness.connection;
  const wire::Bytes asked = call.call_body.octets();
  if (asked.size() >= 8) {
    note_procedure(connection, call, asked, std::max<std::size_t>(asked.size(), call.body_length));
    const bool said = call.refusal == Transaction::Refusal::due;  // when it was pulled
    if (connection.trusted() && !said) {
      judge_xid_by_rdma(witness, call.call, call.requester, Role::requester, call.xid, wire::load_be32(asked.data()),
                        reply, &call);
    }
  }
  const wire::Bytes answer = call.reply_body.octets();
  if (answer.size() >= 8 && call.copies == 1 && connection.trusted()) {
    judge_rpc_status(witness, reply, responder, answer, answer.size(), call);
    judge_xid_by_rdma(witness, reply, responder, Role::responder, call.xid, wire::load_be32(answer.data()), call.call,
                      &call);
    if (wire::load_be32(answer.data()) == call.xid) {
      watch_reply(connection, call, reply, answer, answer.size(), writes);
      judge_direction_by_rdma(witness, reply, call, Role::responder, wire::load_be32(answer.data() + 4), call.call);
    }
  }
  call.call_body.clear();
  call.reply_body.clear();
}

}  // namespace

void finish_answer(const Witness& witness, const trace::Send& event, Transaction& call,
                   const std::vector<wire::WriteChunk>* writes) {
  if (std::exchange(call.says_call, Transaction::SaysCall::yes) == Transaction::SaysCall::cut) {
    witness.connection.ledger(call.requester).one_was_a_call();
  }
  Connection& connection = witness.connection;
  ++call.answers;
  const bool first = call.answers == 1;
  if (first) {
    call.reply = event.frame;
    const TimeNs took = event.last.time - call.call.time;
    look_at_heads(witness, call, event.frame, event.side, writes);
    watch_answered(connection, call, event.frame);
    count_wait(connection, call, event, witness.context.options.wait);
    const auto procedure = call.procedure ? connection.procedures.find(*call.procedure) : connection.procedures.end();
    const bool counted = procedure != connection.procedures.end();
    if (call.requester == Side::active) {
      (counted ? procedure->second.latency : connection.other_latency).add(took);
    } else if (counted) {
      procedure->second.reverse.add(took);
    }
  }
  if (first || call.answered()) remember_finished(connection, call);
}

void take_error(const Witness& witness, const trace::Send& event, const wire::HeaderV1& header, RecentSend& send) {
  Connection& connection = witness.connection;
  const std::uint32_t xid = header.fixed.xid;
  Transaction* call = connection.open_call(other(event.side), xid);
  refused_doubtful(connection, other(event.side), xid);
  if (call != nullptr && header.fixed.version != call->version && (call->copies > 1 || !connection.trusted())) {
    // It refuses another message with that XID, which had that version.
    send.exchange = call->id;
    refuse_call(witness, event, std::nullopt, *call);
    connection.diary.errors.add({xid, event.side, event.frame});
    return;
  }
  judge_error_fields(witness, event, header, call);
  const bool refused_probe = v2::refuse_in_version_1(witness, event, header);
  const bool grants = event.side == Side::passive && header.fixed.credit != 0;
  const std::optional<std::uint32_t> grant = grants ? std::optional(header.fixed.credit) : std::nullopt;
  if (call != nullptr) {
    send.direction = Direction::reply;
    send.exchange = call->id;
    if (!refused_probe) judge_reply_version(witness, event, header.fixed.version, *call);
    judge_pulled_call(witness, *call, event.frame);
    if (header.error == wire::err_chunk) {
      judge_error_reply(witness, event, *call);
      if (!call->malformed()) call->answer = Transaction::Answer::refusal;
    }
    refuse_call(witness, event, grant, *call);
  } else if (refused_probe) {
    send.direction = Direction::reply;
    credit_refusal(connection, event, other(event.side), grant);
  } else {
    answer_nothing_open(witness, event, xid);
  }
  connection.diary.errors.add({xid, event.side, event.frame});
}

void drop_answer(const Witness& witness, const trace::Send& event, std::optional<std::uint32_t> grant,
                 Transaction& call) {
  Connection& connection = witness.connection;
  credit_answer(witness, event, call.requester, grant, Granted::perhaps);
  end_outstanding(connection, call);
  call.answer = Transaction::Answer::dropped;
  retire(connection, call, event.frame);
}

void take_undecodable_error(const Witness& witness, const trace::Send& event, const wire::FixedWords& fixed,
                            const wire::DecodeError& error, RecentSend& send) {
  Connection& connection = witness.connection;
  const bool unknown_code = error.field == "error code" && event.octets.size() >= wire::error_code_at + 4;
  if (unknown_code) {
    judge_error_code(witness, event, fixed, wire::load_be32(event.octets.data() + wire::error_code_at));
  } else {
    judge_undecodable(witness, event, fixed, error);
  }
  if (Transaction* call = connection.open_call(other(event.side), fixed.xid)) {
    send.exchange = call->id;
    // What has to be refused was refused, however badly.
    const bool refused = unknown_code || call->malformed() || call->refusal != Transaction::Refusal::not_due;
    if (refused) {
      refuse_call(witness, event, std::nullopt, *call);
    } else {
      drop_answer(witness, event, std::nullopt, *call);
    }
  } else if (unknown_code && fixed.version == 1) {
    answer_nothing_open(witness, event, fixed.xid);  // whatever the code means, it is a refusal
  }
  connection.diary.errors.add({fixed.xid, event.side, event.frame});
}

}  // namespace rpcrdma::referee
