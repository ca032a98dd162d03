// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/answers.hpp"

#include "referee/lifetime.hpp"
#include "referee/procedures.hpp"
#include "referee/v2/take.hpp"

namespace rpcrdma::referee {

namespace {

/// An RDMA_ERROR for an open Call ends it. `grant`: what its credit word says, if that is a grant.
void refuse_call(Context& context, Connection& connection, const trace::Send& event, std::optional<std::uint32_t> grant,
                 Transaction& call) {
  call.reply_body.clear();  // what the responder may have left in the Reply chunk is no reply
  if (call.malformed) {
    ++call.answers;
    call.reply = event.frame;
    remember_finished(connection, call.id);
  } else {
    credit_answer(context, connection, event, call.requester, grant);
    finish_answer(context, connection, event, call);
  }
  retire(connection, call, event.frame);
  complete_one(connection);
}

void answer_nothing_open(Context& context, Connection& connection, const trace::Send& event, std::uint32_t xid) {
  if (judge_answer_to_done(context, connection, event, xid)) return;
  const Side requester = other(event.side);
  const Transaction* call = connection.find(requester, xid);
  if (call == nullptr && judge_answer_to_answer(context, connection, event, xid)) return;
  if (call != nullptr && connection.trusted()) {
    judge_duplicate(connection, event, *call);
    return;
  }
  if (event.side == Side::passive) {
    judge_orphan(context, connection, event, requester, xid);
  } else if (!connection.whole()) {
    context.book.unchecked(RuleId::error_from_requester, connection.id(),
                           "a reverse Call may be missing from the capture");
  } else {
    judge_error_later(connection, event, xid);
  }
}

}  // namespace

void finish_answer(Context& context, Connection& connection, const trace::Send& event, Transaction& call) {
  ++call.answers;
  const bool first = call.answers == 1;
  if (first) {
    call.reply = event.frame;
    const TimeNs took = event.last.time - call.call.time;
    if (call.requester == Side::active) connection.latency.add(took);
    look_at_heads(context, connection, call, event.frame, event.side);
    if (call.procedure) {
      const auto at = connection.procedures.find(*call.procedure);
      if (at != connection.procedures.end()) at->second.latency.add(took);
    }
    remember_finished(connection, call.id);
  }
}

void take_error(Context& context, Connection& connection, const trace::Send& event, const wire::HeaderV1& header,
                RecentSend& send) {
  const std::uint32_t xid = header.fixed.xid;
  Transaction* call = connection.open_call(other(event.side), xid);
  refused_doubtful(connection, other(event.side), xid);
  if (call != nullptr && header.fixed.version != call->version && (call->copies > 1 || !connection.trusted())) {
    // It refuses another message with that XID, which had that version.
    send.exchange = call->id;
    refuse_call(context, connection, event, std::nullopt, *call);
    connection.diary.errors.add({xid, event.side, event.frame});
    return;
  }
  judge_error_fields(context, connection, event, header, call);
  const bool refused_probe = v2::refuse_in_version_1(context, connection, event, header);
  if (call != nullptr) {
    send.reply = true;
    send.exchange = call->id;
    if (!refused_probe) judge_reply_version(context, connection, event, header.fixed.version, *call);
    judge_pulled_call(context, connection, *call, event.frame);
    if (header.error == wire::err_chunk) {
      judge_error_reply(context, connection, event, *call);
      call->refused_by_error = !call->malformed;
    }
    const bool grant = event.side == Side::passive && header.fixed.credit != 0;
    refuse_call(context, connection, event, grant ? std::optional(header.fixed.credit) : std::nullopt, *call);
  } else if (refused_probe) {
    send.reply = true;
  } else {
    answer_nothing_open(context, connection, event, xid);
  }
  connection.diary.errors.add({xid, event.side, event.frame});
}

void take_undecodable_error(Context& context, Connection& connection, const trace::Send& event,
                            const wire::FixedWords& fixed, const wire::DecodeError& error, RecentSend& send) {
  constexpr std::size_t code_at = 16;
  if (error.field == "error code" && event.octets.size() >= code_at + 4) {
    judge_error_code(context, connection, event, fixed, wire::load_be32(event.octets.data() + code_at));
  } else {
    judge_undecodable(context, connection, event, fixed, error);
  }
  if (Transaction* call = connection.open_call(other(event.side), fixed.xid)) {
    send.exchange = call->id;
    refuse_call(context, connection, event, std::nullopt, *call);
  }
  connection.diary.errors.add({fixed.xid, event.side, event.frame});
}

}  // namespace rpcrdma::referee
