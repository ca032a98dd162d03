// SPDX-License-Identifier: GPL-2.0-or-later
// Group C: a Send that found no Receive.
#include "referee/rules/missing_receive.hpp"

#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "referee/docket/counted.hpp"
#include "referee/rules/checks.hpp"
#include "referee/rules/rows.hpp"
#include "referee/rules/v2_turn.hpp"

namespace rpcrdma::referee {

const Row rows::credit_grant_unbacked{
    .group = 'C',
    .severity = Severity::error,
    .versions = Versions::v1,
    .repetition = Repetition::once,
    .source = "RFC 8166 section 3.3.1",
    .who = "responder",
    .title = "A call within the grant found no receive buffer",
    .explanation =
        "A responder has to post the receive buffers for a grant before it sends the reply that carries it. If it has "
        "not, a requester that keeps every rule still meets RNR NAK, and with an RNR retry count of zero loses the "
        "connection.",
    .evidence =
        "RNR NAK (or a Terminate for want of a buffer) on a Call while the Calls outstanding do not exceed the grant, "
        "with every frame present. A warning when a retry got through. Not decided when packets are missing or the "
        "capture point cannot tell what was known when.",
    .next =
        "Server: rpcrdma:svcrdma_post_recv and svcrdma_rq_post_err; adapter counters out_of_buffer (mlx5) or "
        "send_rnr_err (soft-RoCE) through rdma statistic show. A shared receive queue that is too small looks the "
        "same."};

const Row rows::credit_overrun_fatal{
    .group = 'C',
    .severity = Severity::error,
    .versions = Versions::both,
    .consequence = true,
    .source = "RFC 8166 section 3.3 (derived); version 2 draft section 4.2",
    .who = "sender",
    .title = "More calls than granted ended the connection",
    .explanation =
        "Calls beyond the grant used up the receiver's buffers. The receiving adapter refused the next message and the "
        "connection ended, with every outstanding RPC lost.",
    .evidence =
        "More Calls outstanding than granted, then RNR NAK without a successful retry or a DDP Terminate for want of a "
        "buffer, then the end of the connection. With no more Calls than granted it is credit-grant-unbacked. Not "
        "decided when packets are missing.",
    .next =
        "Requester's credit accounting first (see credit-limit-exceeded); adapter counters rnr_nak_retry_err (mlx5) or "
        "retry_rnr_exceeded_err (soft-RoCE)."};

const Row rows::rnr_nak_seen{
    .group = 'C',
    .severity = Severity::warning,
    .versions = Versions::both,
    .repetition = Repetition::once,
    .consequence = true,
    .source = "RFC 8166 section 3.3.1 (derived); IBA",
    .who = "by evidence",
    .title = "Receiver not ready (RNR NAK)",
    .explanation =
        "Credits exist so that a receive buffer is always ready; a well-behaved pair never sees RNR NAK. With a retry "
        "count above zero it only costs time, with zero the first one is fatal. Right after the connection opened it "
        "can be harmless.",
    .evidence =
        "An acknowledgement with an RNR NAK syndrome. Who is to blame follows from the calls outstanding and the "
        "grant.",
    .next =
        "rdma statistic show on both hosts: out_of_buffer and rnr_nak_retry_err on mlx5, send_rnr_err and rcvd_rnr_err "
        "on soft-RoCE. Then see credit-limit-exceeded and credit-grant-unbacked."};

const Row rows::requester_receives_missing{
    .group = 'C',
    .severity = Severity::warning,
    .versions = Versions::v1,
    .repetition = Repetition::once,
    .source = "RFC 8166 section 3.3.1",
    .who = "requester",
    .title = "A reply found no receive buffer at the requester",
    .explanation =
        "A requester has to keep a receive buffer ready for every reply it expects. Without one its adapter answers "
        "RNR NAK to the reply; Linux clients announce an RNR retry count of zero, so the first one ends the "
        "connection.",
    .evidence =
        "RNR NAK (or a Terminate for want of a buffer) by the requester on a Reply. Not decided when packets are "
        "missing.",
    .next =
        "Client: rpcrdma:xprtrdma_post_recvs (how many are active) and xprtrdma_post_recvs_err; where it was a "
        "callback "
        "that was answered, the server: rpcrdma:svcrdma_post_recv and svcrdma_rq_post_err. Adapter counter "
        "out_of_buffer "
        "(mlx5) or send_rnr_err (soft-RoCE)."};

namespace {

/// What a Reply lacked: its sender's own Calls take Receives as well, and those that are granted for them.
[[nodiscard]] Lacked behind_own_calls(Connection& connection, Side sender, const RecentSend& reply) {
  const Ledger& own = connection.ledger(sender);
  std::uint64_t later = own.uncertain;
  for (const RecentSend& send : connection.of(sender).sends) {
    if (send.call() && send.ordinal > reply.ordinal) ++later;
  }
  const auto above = [&](const Ledger::Bound& calls) { return calls.outstanding > calls.limit + later; };
  if (above(own.answered ? own.widest() : Ledger::Bound{own.outstanding, 1})) return Lacked::reply_behind_calls;
  return own.outstanding > 1 && own.above_one() ? Lacked::cannot_tell : Lacked::reply;
}

}  // namespace

Lacked what_lacked(const Witness& witness, const trace::Refusal& refusal, const RecentSend& send) {
  Connection& connection = witness.connection;
  if (!connection.whole()) return Lacked::cannot_tell;
  if (send.reply()) {
    if (send.guessed || send.unanswered != 0) return Lacked::cannot_tell;
    return behind_own_calls(connection, other(refusal.side), send);
  }
  if (!send.call() || !send.credits_known() || send.frame.number >= refusal.frame.number) return Lacked::cannot_tell;
  if (send.in_flight > send.limit) return Lacked::call_above_grant;
  // Receives that the requester's other messages took were granted as well: whether one was left cannot be told.
  const bool granted = connection.ledger(other(refusal.side)).answered;
  return granted && send.in_flight + send.unanswered <= send.limit ? Lacked::call_within_grant : Lacked::cannot_tell;
}

bool blames_sender(Lacked lacked) noexcept {
  return lacked == Lacked::call_above_grant || lacked == Lacked::reply_behind_calls;
}

void blame(Suspect& suspect, Lacked lacked, const trace::Refusal& refusal, const RecentSend& send) {
  const Side refuser = refusal.side;
  const std::string_view notice = refusal.kind == trace::Refusal::Kind::terminate ? "Terminate" : "RNR NAK";
  switch (lacked) {
    case Lacked::cannot_tell:
      return;
    case Lacked::call_above_grant:
      suspect.rule = RuleId::credit_overrun_fatal;
      suspect.proven = true;
      suspect.culprit = other(refuser);
      suspect.message =
          fmt::format("The {} had {} outstanding with {} allowed; its peer ran out of Receives ({}, frame {}).",
                      name(other(refuser)), counted(send.in_flight, send.version == 2 ? "message" : "Call"),
                      grouped(send.limit), notice, refusal.frame.number);
      return;
    case Lacked::call_within_grant:
      suspect.rule = RuleId::credit_grant_unbacked;
      suspect.proven = true;
      suspect.culprit = refuser;
      suspect.message = fmt::format(
          "The {} granted {} but had no Receive for Call number {} of those outstanding (frame {}; {}, frame {}).",
          name(refuser), counted(send.limit, "credit"), send.in_flight, send.frame.number, notice,
          refusal.frame.number);
      return;
    case Lacked::reply:
      suspect.rule = RuleId::requester_receives_missing;
      suspect.culprit = refuser;
      suspect.message = fmt::format("The {} had no Receive for a Reply that it had to expect (frame {}; {}, frame {}).",
                                    name(refuser), send.frame.number, notice, refusal.frame.number);
      return;
    case Lacked::reply_behind_calls:
      suspect.rule = RuleId::credit_overrun_fatal;
      suspect.proven = true;
      suspect.culprit = other(refuser);
      suspect.message = fmt::format(
          "The {} had more Calls of its own outstanding than its peer granted, and had used up its Receives: none was "
          "left for a Reply (frame {}; {}, frame {}).",
          name(other(refuser)), send.frame.number, notice, refusal.frame.number);
      return;
  }
}

HeldFinding say_lack(const Witness& witness, const Suspect& suspect, Lacked lacked, const trace::Refusal& refusal,
                     const RecentSend& send, Severity at_most) {
  const bool above = blames_sender(lacked);
  const bool within = lacked == Lacked::call_within_grant;
  // An RNR NAK ends nothing by itself: where it does, credit-overrun-fatal is said then.
  const bool fatal = above && refusal.kind == trace::Refusal::Kind::terminate;
  const FrameRef grant = within ? witness.connection.ledger(other(refusal.side)).last_reply : FrameRef{};
  return witness.say(above && !fatal ? RuleId::rnr_nak_seen : suspect.rule,
                     {.frames = {fatal ? send.frame : refusal.frame, fatal ? refusal.frame : send.frame, grant},
                      .by = suspect.culprit,
                      .as = within ? Role::responder : Role::requester,
                      .xid = send.xid,
                      .at_most = at_most,
                      .what = suspect.message});
}

namespace {

/// What takes no Receive; empty: a Send, or it is not known.
[[nodiscard]] std::string_view takes_none(trace::Refusal::Refused refused) noexcept {
  using Refused = trace::Refusal::Refused;
  if (refused == Refused::read) return "RDMA Read";
  if (refused == Refused::write) return "RDMA Write";
  return refused == Refused::atomic ? "atomic operation" : "";
}

/// Nobody's, as far as it shows. `kept`: what is known of the refused Send.
void not_ready(const Witness& witness, const trace::Refusal& refusal, bool kept, Suspect& suspect) {
  suspect.rule = RuleId::rnr_nak_seen;
  std::string what;
  if (const std::string_view refused = takes_none(refusal.refused); !refused.empty()) {
    suspect.message = fmt::format(
        "The {} was not ready for an {} (frame {}) and answered with an RNR NAK (frame {}). That takes no Receive "
        "and no credit: it is the adapter or its memory that was not ready.",
        name(refusal.side), refused, refusal.refused_frame.number, refusal.frame.number);
    what = suspect.message;
  } else {
    suspect.message =
        fmt::format("The {} had no Receive posted (RNR NAK, frame {}).", name(refusal.side), refusal.frame.number);
    // The refused Send is among the newest of its sender that are remembered, or was never seen whole.
    const bool forgotten = !kept && refusal.refused == trace::Refusal::Refused::send &&
                           witness.connection.of(other(refusal.side)).sends.full();
    what = fmt::format(
        "The {} had no Receive posted and answered with an RNR NAK; credits are meant to make that impossible. {}",
        name(refusal.side),
        forgotten ? "More messages followed the refused one than the analyzer remembers: who is at fault is not known."
                  : "Who is at fault cannot be told from this capture.");
  }
  witness.say(suspect.rule, {.frames = {refusal.frame, refusal.refused_frame}, .what = std::move(what)});
}

}  // namespace

void judge_rnr(const Witness& witness, const trace::Refusal& refusal, RecentSend* send) {
  Connection& connection = witness.connection;
  Suspect suspect;
  suspect.frame = refusal.frame;
  suspect.by = party(refusal.side);
  suspect.sender = other(refusal.side);
  // What is acknowledged behind an RDMA operation shows that it got through.
  const bool of_send = refusal.refused == trace::Refusal::Refused::send;
  suspect.refused_ordinal = of_send ? refusal.refused_op : connection.of(suspect.sender).sent + 1;
  suspect.refused = refusal.refused_frame;
  if (send != nullptr) suspect.xid = send->known_xid();
  suspect.frames = {refusal.refused_frame.number, refusal.frame.number};
  const Lacked lacked = send == nullptr ? Lacked::cannot_tell : what_lacked(witness, refusal, *send);
  if (connection.version2()) {
    v2::judge_missing_receive(witness, refusal, send, suspect);
  } else if (lacked == Lacked::cannot_tell) {
    not_ready(witness, refusal, send != nullptr, suspect);
  } else {
    blame(suspect, lacked, refusal, *send);
    const HeldFinding said = say_lack(witness, suspect, lacked, refusal, *send, Severity::warning);
    if (!blames_sender(lacked)) suspect.finding = said;
  }
  connection.suspect(std::move(suspect));
}

}  // namespace rpcrdma::referee
