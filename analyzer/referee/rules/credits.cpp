// SPDX-License-Identifier: GPL-2.0-or-later
// Group C: credits. The ledger gives the requester every benefit of the doubt: a lower grant counts only once it is
// proven to have arrived.
#include <algorithm>

#include <fmt/format.h>

#include "referee/counted.hpp"
#include "referee/pending.hpp"
#include "referee/rules/checks.hpp"
#include "referee/v2/turn.hpp"

namespace rpcrdma::referee {

namespace {

constexpr TimeNs stall_time = 1'000'000'000;
constexpr std::size_t most_grants = 512;

void accuse_later(Connection& connection, Ledger& ledger, const trace::Send& event, const Transaction& call,
                  RuleId rule, std::uint64_t limit, Severity severity) {
  if (!ledger.over) ++ledger.episodes;
  ledger.over = true;
  Pending pending;
  pending.kind = Pending::Kind::credits;
  pending.rule = rule;
  pending.side = event.side;
  pending.frame = event.frame;
  pending.evidence = ledger.answered ? ledger.last_reply : ledger.first_call;
  pending.xid = call.xid;
  pending.outstanding = ledger.outstanding;
  pending.limit = limit;
  pending.excess = ledger.outstanding - limit;
  pending.episode = ledger.episodes;
  pending.severity = severity;
  hold_back(connection, std::move(pending));
}

}  // namespace

void credit_call(Context& context, Connection& connection, const trace::Send& event, const Transaction& call,
                 RecentSend& send) {
  Ledger& ledger = connection.ledger(event.side);
  if (ledger.outstanding == 0 && !ledger.answered && ledger.first_call.number == 0) ledger.first_call = event.frame;
  ledger.requested = call.credit;
  ++ledger.outstanding;
  ledger.peak = std::max(ledger.peak, ledger.outstanding);
  send.in_flight = ledger.outstanding;
  const std::uint64_t limit = ledger.answered ? ledger.limit() : 1;
  send.limit = limit;
  if (call.credit == 0) {
    context.book.add({RuleId::credit_request_zero,
                      connection.id(),
                      {event.frame},
                      fmt::format("The {}'s Call asks for 0 credits, which helps nobody; receivers treat it as 1.",
                                  name(event.side)),
                      std::nullopt,
                      call.xid,
                      party(event.side),
                      Role::requester});
  }
  // Delivered late (its direction was held back behind a hole): how many were outstanding when it was sent is not
  // known.
  if (ledger.last_reply.number > event.frame.number) send.credits_known = false;
  const RuleId limit_rule =
      event.side == Side::active ? RuleId::credit_limit_exceeded : RuleId::reverse_credit_exceeded;
  if (connection.version2) return;
  if (!connection.whole() || !send.credits_known) {
    context.book.unchecked(limit_rule, connection.id(),
                           connection.whole()
                               ? std::string_view("which Calls had been answered is not certain: messages were "
                                                  "delivered out of the file's order")
                               : connection.why_not_whole());
    return;
  }
  if (!ledger.answered && ledger.outstanding > 1) {
    accuse_later(connection, ledger, event, call, RuleId::credit_initial_exceeded, 1, Severity::error);
  } else if (ledger.outstanding > limit) {
    accuse_later(connection, ledger, event, call, limit_rule, limit, Severity::error);
  } else if (ledger.answered && call.credit != 0 && ledger.outstanding > call.credit) {
    // The requester's own wish binds it too (RFC 8166 section 3.3.1), but nobody is hurt: a warning.
    accuse_later(connection, ledger, event, call, limit_rule, call.credit, Severity::warning);
  } else {
    ledger.over = false;
    connection.settle_episode(event.side);
  }
  if (ledger.answered && ledger.outstanding == limit && ledger.full_since.number == 0) {
    ledger.full_since = event.frame;
    ledger.full_reported = false;
  }
}

void credit_answer(Context& context, Connection& connection, const trace::Send& event, Side requester,
                   std::optional<std::uint32_t> grant) {
  Ledger& ledger = connection.ledger(requester);
  credit_stall_check(context, connection, ledger, event.last);
  if (ledger.outstanding > 0) --ledger.outstanding;
  ledger.full_since = {};
  ledger.answered = true;
  ledger.last_reply = event.frame;
  // An answer that stands earlier in the file than an accused Call was only delivered late: the Call was counted twice.
  for (Pending& pending : connection.pending) {
    if (pending.kind == Pending::Kind::credits && pending.side == requester && pending.excess > 0 &&
        (event.last.number < pending.frame.number || event.last.time < pending.frame.time)) {
      --pending.excess;
    }
  }
  if (!grant) return;
  if (*grant == 0) {
    context.book.add(
        {RuleId::credit_grant_zero,
         connection.id(),
         {event.frame},
         fmt::format("The {}'s Reply grants 0 credits; a grant of 0 is not allowed. Linux clients take it as "
                     "1, so one request at a time is all that is left.",
                     name(event.side)),
         std::nullopt,
         std::nullopt,
         party(event.side),
         Role::responder});
  }
  if (ledger.granted && *ledger.granted != *grant) {
    if (!context.book.fold_again(RuleId::credit_grant_fluctuates, connection.id(), event.frame)) {
      context.book.fold({RuleId::credit_grant_fluctuates,
                         connection.id(),
                         {event.frame},
                         fmt::format("The {}'s grant changed from {} to {}.", name(event.side), *ledger.granted,
                                     counted(*grant, "credit")),
                         std::nullopt,
                         std::nullopt,
                         std::nullopt,
                         Role::responder});
    }
  }
  if (ledger.requested && *ledger.requested != 0 && *grant > *ledger.requested) {
    if (!context.book.fold_again(RuleId::credit_grant_above_request, connection.id(), event.frame)) {
      context.book.fold({RuleId::credit_grant_above_request,
                         connection.id(),
                         {event.frame},
                         fmt::format("The {} grants {}, the Call asked for {}; the lower number binds.",
                                     name(event.side), counted(*grant, "credit"), *ledger.requested),
                         std::nullopt,
                         std::nullopt,
                         std::nullopt,
                         Role::responder});
    }
  }
  ledger.granted = *grant;
  const std::uint32_t value = std::max<std::uint32_t>(*grant, 1);
  // A grant that is not larger than its predecessor adds nothing to the limit until it is acknowledged: equal ones
  // fold.
  if (!ledger.grants.empty() && ledger.grants.back().value == value) {
    if (ledger.grants.size() == 1) ledger.grants.back().ordinal = std::min(ledger.grants.back().ordinal, event.ordinal);
    return;
  }
  if (ledger.grants.size() >= most_grants) ledger.grants.erase(ledger.grants.begin());
  ledger.grants.push_back({event.ordinal, value});
}

void credit_acknowledged(Connection& connection, const trace::Acknowledged& event) {
  Ledger& ledger = connection.ledger(event.side);
  // Everything before the newest acknowledged grant is history.
  std::size_t newest = 0;
  for (std::size_t i = 0; i < ledger.grants.size(); ++i) {
    if (ledger.grants[i].ordinal <= event.ordinal) newest = i;
  }
  if (newest > 0)
    ledger.grants.erase(ledger.grants.begin(), ledger.grants.begin() + static_cast<std::ptrdiff_t>(newest));
  std::erase_if(connection.suspects, [&](const Suspect& suspect) {
    return suspect.refused_ordinal != 0 && suspect.sender == other(event.side) &&
           suspect.refused_ordinal <= event.ordinal;
  });
}

void credit_stall_check(Context& context, Connection& connection, Ledger& ledger, FrameRef now) {
  if (ledger.full_since.number == 0 || ledger.full_reported) return;
  ledger.full_reported = true;
  const TimeNs full = now.time - ledger.full_since.time;
  ++ledger.full.times;
  ledger.full.took(full);
  if (full <= stall_time) return;
  ++ledger.stalls;
  ++ledger.stall.times;
  ledger.stall.took(full);
  ledger.stall.finding = context.book.fold(
      {RuleId::credit_stall,
       connection.id(),
       {ledger.full_since, now},
       fmt::format("All {} granted credits were in use for {:.1f} s: the requester could not send more.",
                   ledger.limit(), static_cast<double>(full) / 1e9),
       std::nullopt,
       std::nullopt,
       std::nullopt,
       std::nullopt});
}

void judge_rnr(Context& context, Connection& connection, const trace::Refusal& refusal, RecentSend* send) {
  const Side refuser = refusal.side;
  const Side sender = other(refuser);
  Suspect suspect;
  suspect.frame = refusal.frame;
  suspect.by = party(refuser);
  suspect.sender = sender;
  suspect.refused_ordinal = refusal.refused_op;
  suspect.refused = refusal.refused_frame;
  suspect.frames = {refusal.refused_frame.number, refusal.frame.number};
  if (connection.version2) {
    v2::judge_missing_receive(context, connection, refusal, send, suspect);
    connection.suspect(std::move(suspect));
    return;
  }
  if (send != nullptr && send->reply && !send->guessed && send->unanswered == 0 && connection.trusted()) {
    HeldFinding finding = context.book.fold(
        {RuleId::requester_receives_missing,
         connection.id(),
         {refusal.frame, send->frame},
         fmt::format(
             "The {} had no Receive posted for a Reply that it had to expect: its NIC refused frame {} with an RNR "
             "NAK.",
             name(refuser), send->frame.number),
         std::nullopt,
         send->xid,
         party(refuser),
         Role::requester});
    suspect.rule = RuleId::requester_receives_missing;
    suspect.culprit = party(refuser);
    suspect.finding = std::move(finding);
    suspect.message =
        fmt::format("The {} had no Receive for the Reply in frame {}.", name(refuser), send->frame.number);
    connection.suspect(std::move(suspect));
    return;
  }
  if (send != nullptr && send->call && send->credits_known && send->frame.number < refusal.frame.number &&
      connection.whole()) {
    Ledger& ledger = connection.ledger(sender);
    if (send->in_flight > send->limit) {
      context.book.fold(
          {RuleId::rnr_nak_seen,
           connection.id(),
           {refusal.frame, send->frame},
           fmt::format("The {} had no Receive for the Call in frame {}: {} Calls were outstanding, {} were "
                       "granted.",
                       name(refuser), send->frame.number, send->in_flight, send->limit),
           std::nullopt,
           send->xid,
           party(sender),
           Role::requester});
      suspect.rule = RuleId::credit_overrun_fatal;
      suspect.proven = true;
      suspect.culprit = party(sender);
      suspect.message = fmt::format(
          "The {} had {} outstanding with {} granted; its peer ran out of Receives (frame {}).", name(sender),
          counted(send->in_flight, "Call"), counted(send->limit, "credit"), refusal.frame.number);
      connection.suspect(std::move(suspect));
      return;
    }
    // Receives that the requester's other messages took were granted as well: whether one was left cannot be told.
    if (ledger.answered && send->in_flight + send->unanswered <= send->limit) {
      HeldFinding finding = context.book.fold(
          {RuleId::credit_grant_unbacked,
           connection.id(),
           {refusal.frame, send->frame, ledger.last_reply},
           fmt::format("The {} granted {} but had no Receive for Call number {} of those outstanding (frame {}).",
                       name(refuser), counted(send->limit, "credit"), send->in_flight, send->frame.number),
           Severity::warning,
           send->xid,
           party(refuser),
           Role::responder});
      suspect.rule = RuleId::credit_grant_unbacked;
      suspect.proven = true;
      suspect.culprit = party(refuser);
      suspect.finding = std::move(finding);
      suspect.message = fmt::format("The {} had no Receive for a Call within its grant (frame {}).", name(refuser),
                                    refusal.frame.number);
      connection.suspect(std::move(suspect));
      return;
    }
  }
  context.book.fold(
      {RuleId::rnr_nak_seen,
       connection.id(),
       {refusal.frame, refusal.refused_frame},
       fmt::format("The {} had no Receive posted and answered with an RNR NAK; credits are meant to make that "
                   "impossible. Who is at fault cannot be told from this capture.",
                   name(refuser)),
       std::nullopt,
       std::nullopt,
       std::nullopt,
       std::nullopt});
  suspect.rule = RuleId::rnr_nak_seen;
  suspect.message =
      fmt::format("The {} had no Receive posted (RNR NAK, frame {}).", name(refuser), refusal.frame.number);
  connection.suspect(std::move(suspect));
}

}  // namespace rpcrdma::referee
