// SPDX-License-Identifier: GPL-2.0-or-later
// Group C: credits. The ledger gives the requester every benefit of the doubt: a lower grant counts only once it is
// proven to have arrived.
#include <algorithm>

#include <fmt/format.h>

#include "referee/docket/cases.hpp"
#include "referee/docket/counted.hpp"
#include "referee/rules/checks.hpp"
#include "referee/rules/rows.hpp"
#include "referee/rules/v2_turn.hpp"
#include "referee/state/lifetime.hpp"
#include "trace/spans.hpp"

namespace rpcrdma::referee {

namespace {

constexpr TimeNs stall_time = 1'000'000'000;
constexpr std::size_t most_grants = 512;
/// An adapter acknowledges what its host takes a little later.
constexpr TimeNs taken_within = 100'000;

/// Calls above the grant without a pause are one finding, with all their frames.
void settle_calls(const Witness& witness, const Case& waited) {
  const Case::CallsAboveGrant& calls = *waited.is<Case::CallsAboveGrant>();
  if (calls.excess == 0) return;
  if (!waited.proven() && !waited.orderly) {
    leave_unproven(witness, waited);  // the answer that freed a credit
    return;
  }
  Ledger& ledger = witness.connection.ledger(waited.accused);
  if (ledger.reported_episode == calls.episode && witness.context.book.stands(ledger.episode_finding)) {
    witness.conclude_as(waited, ledger.episode_finding);
    return;
  }
  ledger.reported_episode = calls.episode;
  std::string message;
  if (waited.rule == RuleId::credit_initial_exceeded) {
    message = fmt::format("The {} sent Call number {} before the first Reply; until then only one may be outstanding.",
                          name(waited.accused), calls.outstanding);
  } else if (waited.severity == Severity::warning) {
    message = fmt::format("The {} has {} outstanding; it asked for {} only.", name(waited.accused),
                          counted(calls.outstanding, "Call"), counted(calls.limit, "credit"));
  } else {
    message = fmt::format("The {} has {} Calls outstanding; its peer granted {}{} (frame {}).", name(waited.accused),
                          calls.outstanding, calls.limit, calls.limit == 0 ? ", which counts as 1" : "",
                          waited.evidence.number);
  }
  ledger.episode_finding = witness.conclude(waited, {.frames = {waited.frame, waited.evidence},
                                                     .by = waited.accused,
                                                     .as = Role::requester,
                                                     .xid = waited.xid,
                                                     .at_most = waited.severity,
                                                     .what = std::move(message)});
}

void accuse_later(const Witness& witness, Ledger& ledger, const trace::Send& event, const Transaction& call,
                  RuleId rule, std::uint64_t limit, std::uint64_t excess, Severity severity) {
  if (!ledger.over) ++ledger.episodes;
  ledger.over = true;
  witness.wait({.rule = rule,
                .accused = event.side,
                .frame = event.frame,
                .evidence = ledger.answered ? ledger.last_reply : ledger.first_call,
                .xid = call.xid,
                .severity = severity,
                .about = Case::CallsAboveGrant{ledger.outstanding, limit, excess, ledger.episodes},
                .settle = settle_calls});
}

/// What a message grants that its receiver may take, or drop: it has to keep to nothing less because of it.
void take_grant(Ledger& ledger, std::uint64_t ordinal, std::uint32_t grant, Granted how) {
  if (how != Granted::surely && std::max(grant, 1U) < ledger.limit()) return;
  if (how != Granted::in_words) ledger.granted = grant;
  // A grant that is not larger than its predecessor adds nothing to the limit until it is acknowledged: equal ones
  // fold.
  if (!ledger.grants.empty() && ledger.grants.back().stated == grant) {
    if (ledger.grants.size() == 1) ledger.grants.back().ordinal = std::min(ledger.grants.back().ordinal, ordinal);
    return;
  }
  if (ledger.grants.size() >= most_grants) ledger.grants.erase(ledger.grants.begin());
  ledger.grants.push_back({ordinal, grant, ledger.ended, {}});
}

/// Everything before the newest grant that the requester had surely taken by then is history.
void forget_grants_before(Ledger& ledger, FrameRef now, bool in_order) {
  std::size_t newest = 0;
  for (std::size_t i = 0; i < ledger.grants.size(); ++i) {
    const FrameRef& received = ledger.grants[i].acknowledged;
    if (received.number == 0) continue;
    const bool neighbours = !in_order && received.number + 1 >= now.number;
    if (trace::passed(received.time, now.time, neighbours ? trace::change_of_places : taken_within)) newest = i;
  }
  if (newest == 0) return;
  ledger.grants.erase(ledger.grants.begin(), ledger.grants.begin() + static_cast<std::ptrdiff_t>(newest));
}

}  // namespace

const Row rows::credit_limit_exceeded{
    .group = 'C',
    .severity = Severity::error,
    .versions = Versions::v1,
    .needs = {.past = Needs::Past::whole},
    .source = "RFC 8166 section 3.3.1",
    .who = "requester",
    .title = "More calls outstanding than the responder granted",
    .explanation =
        "Each reply grants the requester a number of calls that may be unanswered at once. More calls than that can "
        "find no receive buffer: the responder's adapter answers RNR NAK (on iWARP it terminates), and when retries "
        "run out the connection is lost.",
    .evidence =
        "Unanswered Calls of one direction against the newest grant the requester is proven to have received; a "
        "lowered grant counts only once it was acknowledged, or where the Call is too many by the grant before it as "
        "well, with the Call open that the Reply answers. Exceeding only what the requester itself asked for is a "
        "warning. Where it takes an RDMA_DONE to be too many, until the next message of the responder, it is a note: "
        "the "
        "draft leaves open how that is counted. Not decided when the capture has gaps or begins in the middle.",
    .next =
        "Linux client: rpcrdma:xprtrdma_reply shows the credits of each reply; "
        "/proc/sys/sunrpc/rdma_slot_table_entries is what it asks for. Linux server: "
        "/proc/sys/sunrpc/svc_rdma/max_requests is what it grants."};

const Row rows::credit_initial_exceeded{
    .group = 'C',
    .severity = Severity::error,
    .versions = Versions::v1,
    .needs = {.past = Needs::Past::whole},
    .source = "RFC 8166 section 3.3.3",
    .who = "requester",
    .title = "More than one call before the first reply",
    .explanation =
        "A new connection starts with a single credit: the second call has to wait for the first reply, because the "
        "responder need not have more receive buffers ready. A burst at the start can meet an unprepared responder and "
        "kill the connection before it was ever used.",
    .evidence =
        "A second Call on the connection before any Reply or RDMA_ERROR in the other direction. Counted for each "
        "direction apart. Not decided when the start of the connection was not captured or packets are missing.",
    .next =
        "Linux client: rpcrdma:xprtrdma_connect, then the order of xprtrdma_post_send and xprtrdma_reply. Typical for "
        "user-space clients that fill their pipeline at once. Where the server did it, with callbacks: "
        "whether it waits for the client's answer to the first one on each new connection."};

const Row rows::credit_request_zero{
    .group = 'C',
    .severity = Severity::note,
    .versions = Versions::v1,
    .source = "RFC 8166 section 3.3.1 (derived)",
    .who = "requester",
    .title = "A call requests no credits",
    .explanation =
        "Nothing forbids a request for zero credits, but it is useless: the responder may grant as little as one.",
    .evidence = "A Call with credit value 0. Some stacks do this in reverse-direction calls.",
    .next =
        "If throughput is poor, see what the requester should have asked for: on Linux "
        "/proc/sys/sunrpc/rdma_slot_table_entries."};

const Row rows::reverse_credit_exceeded{
    .group = 'C',
    .severity = Severity::error,
    .versions = Versions::v1,
    .needs = {.past = Needs::Past::whole},
    .source = "RFC 8167 section 4.1",
    .who = "server",
    .title = "More reverse calls outstanding than the client granted",
    .explanation =
        "Callbacks run in the other direction and have a credit count of their own, granted by the client. A server "
        "that sends more finds no receive buffer at the client, whose RNR retry count is usually zero: the connection "
        "is lost.",
    .evidence =
        "As credit-limit-exceeded, for Calls from the server to the client. Not decided with gaps or without the start "
        "of the connection.",
    .next =
        "Client: rpcrdma:xprtrdma_cb_setup (how many it is ready for), xprtrdma_cb_call. Server: "
        "/proc/sys/sunrpc/svc_rdma/max_bc_requests."};

namespace {

/// Who asks for less than is granted limits itself (RFC 8166 section 3.3.1: the lower number binds). `before`: what it
/// is held to, as a lowered wish binds from the next Call on.
void note_full(Ledger& ledger, FrameRef now, std::uint32_t wish, std::uint64_t before, std::uint64_t limit) {
  if (ledger.full_of_wish != 0) ledger.full_since = {};  // it goes on
  const bool own = wish != 0 && wish < limit;
  const bool full =
      own ? ledger.outstanding >= wish && ledger.outstanding <= std::min(before, limit) : ledger.outstanding == limit;
  if (!ledger.answered || !full || ledger.full_since.number != 0) return;
  ledger.full_since = now;
  ledger.full_of_wish = own ? wish : 0;
  ledger.full_reported = false;
}

[[nodiscard]] std::string all_credits(const Ledger& ledger) {
  if (ledger.full_of_wish == 1) return "The one credit that the requester asks for was";
  if (ledger.full_of_wish != 0)
    return fmt::format("All {} credits that the requester asks for were", ledger.full_of_wish);
  if (ledger.limit() == 1) return "The one granted credit was";
  return fmt::format("All {} granted credits were", ledger.limit());
}

/// Calls alone are within the grant, and with an RDMA_DONE that nothing has come behind yet they are not: the draft
/// leaves open how that is counted.
void note_above_with_done(const Witness& witness, const trace::Send& event, std::uint32_t xid) {
  const Ledger& ledger = witness.connection.ledger(event.side);
  const Ledger::Bound bound = ledger.widest();
  const bool above = bound.outstanding <= bound.limit && bound.outstanding + ledger.dones > bound.limit;
  if (!ledger.answered || ledger.dones == 0 || !above || !witness.may(RuleId::credit_limit_exceeded)) return;
  witness.say(RuleId::credit_limit_exceeded,
              {.frames = {event.frame, ledger.last_reply},
               .xid = xid,
               .at_most = Severity::note,
               .habit = true,
               .what = fmt::format("The {} had {} outstanding with {} granted, and RDMA_DONE takes a Receive as well "
                                   "until the next message of its peer: how that is counted the draft leaves open.",
                                   name(event.side), counted(bound.outstanding, "Call"), grouped(bound.limit))});
}

}  // namespace

void credit_done(const Witness& witness, const trace::Send& event, std::uint32_t xid) {
  Ledger& ledger = witness.connection.ledger(event.side);
  ++ledger.unanswered;
  ++ledger.dones;
  if (event.side == Side::active) note_above_with_done(witness, event, xid);
}

void credit_call(const Witness& witness, const trace::Send& event, Transaction& call, RecentSend& send) {
  Connection& connection = witness.connection;
  Ledger& ledger = connection.ledger(event.side);
  if (ledger.outstanding == 0 && !ledger.answered && ledger.first_call.number == 0) ledger.first_call = event.frame;
  // A lower wish binds from the next Call on: the Calls that are out went by the one before.
  const std::uint32_t wish = std::max(call.credit, ledger.requested.value_or(0));
  ledger.requested = call.credit;
  count_outstanding(connection, call);
  if (call.says_call == Transaction::SaysCall::cut) ++ledger.uncertain;
  const FrameRef sent = event.sent_by();
  const bool over_tcp = connection.facts.transport == trace::Transport::iwarp;  // there the trace has seen to it
  forget_grants_before(ledger, sent, over_tcp);
  const Ledger::Bound bound = ledger.answered ? ledger.widest() : Ledger::Bound{ledger.outstanding, 1};
  send.in_flight = bound.outstanding;
  send.limit = bound.limit;
  if (call.credit == 0) {
    witness.say(RuleId::credit_request_zero,
                {.frames = {event.frame},
                 .by = event.side,
                 .as = Role::requester,
                 .xid = call.xid,
                 .what = fmt::format("The {}'s Call asks for 0 credits, which helps nobody: the responder may grant as "
                                     "little as 1, or as much as to any other request.",
                                     name(event.side))});
  }
  // Delivered late (its direction was held back behind a hole): how many were outstanding when it was sent is not
  // known.
  // The same where what it had sent before stands behind it: one of both has changed places, with others perhaps. Over
  // TCP each says itself what its sender had by then, wherever it stands.
  const bool displaced = !over_tcp && connection.of(event.side).last_event.number > event.frame.number;
  if (ledger.last_reply.number > sent.number || displaced) send.credits = RecentSend::Credits::uncertain;
  const RuleId limit_rule =
      event.side == Side::active ? RuleId::credit_limit_exceeded : RuleId::reverse_credit_exceeded;
  if (connection.version2()) return;
  if (!witness.may(limit_rule)) return;
  const bool too_many = bound.outstanding > bound.limit;
  const std::uint64_t excess = too_many ? bound.outstanding - bound.limit : 0;
  if (too_many && excess <= ledger.uncertain) {
    send.credits = RecentSend::Credits::uncertain;
    witness.unchecked(ledger.answered ? limit_rule : RuleId::credit_initial_exceeded,
                      "whether every message is a Call cannot be told: the capture cut some before they say");
    return;
  }
  if (!send.credits_known()) {
    witness.unchecked(limit_rule,
                      "which Calls had been answered is not certain: messages were delivered out of the file's order");
    return;
  }
  if (!ledger.answered && ledger.outstanding > 1 && witness.context.unplaced.number > ledger.first_call.number) {
    witness.unchecked(RuleId::credit_initial_exceeded, "a packet whose header the capture cut may be the first Reply");
  } else if (!ledger.answered && ledger.outstanding > 1) {
    accuse_later(witness, ledger, event, call, RuleId::credit_initial_exceeded, 1, excess, Severity::error);
  } else if (too_many) {
    accuse_later(witness, ledger, event, call, limit_rule, ledger.grants.empty() ? 1 : ledger.grants.back().stated,
                 excess, Severity::error);
  } else if (ledger.answered && call.credit != 0 && ledger.outstanding > wish) {
    // The requester's own wish binds it too (RFC 8166 section 3.3.1), but nobody is hurt: a warning.
    accuse_later(witness, ledger, event, call, limit_rule, wish, ledger.outstanding - wish, Severity::warning);
    send.credits = RecentSend::Credits::above_own_request;
  } else {
    ledger.over = false;
    connection.settle_episode(event.side);
    if (ledger.answered && ledger.above_one()) send.credits = RecentSend::Credits::above_one_grant;
    if (event.side == Side::active) note_above_with_done(witness, event, call.xid);
  }
  note_full(ledger, event.frame, call.credit, wish, ledger.answered ? ledger.limit() : 1);
}

const Row rows::credit_grant_zero{
    .group = 'C',
    .severity = Severity::error,
    .versions = Versions::v1,
    .source = "RFC 8166 section 3.3.1",
    .who = "responder",
    .title = "A reply grants no credits",
    .explanation =
        "A grant of zero would leave the requester unable ever to send again, so it is forbidden. Linux takes it as "
        "one, which looks like a mount that works but is very slow: one RPC at a time.",
    .evidence =
        "A message known to be a Reply with credit value 0. Not decided for messages whose direction is not known "
        "(RDMA_ERROR, RDMA_NOMSG with unseen payload).",
    .next =
        "Look at the server's credit setting; a Linux client shows the value in rpcrdma:xprtrdma_reply, and a growing "
        "backlog (bklog_u) in the xprt line of /proc/self/mountstats."};

const Row rows::credit_grant_above_request{
    .group = 'C',
    .severity = Severity::note,
    .versions = Versions::v1,
    .repetition = Repetition::once,
    .source = "RFC 8166 section 3.3.1",
    .who = "nobody",
    .title = "The grant is larger than the request",
    .explanation =
        "Legal: the smaller of the two numbers counts. A server that grants whatever it likes may have fewer receive "
        "buffers than it says.",
    .evidence = "A Reply's credit value above that of the newest Call of the requester.",
    .next =
        "Only interesting together with rnr-nak-seen; on a Linux server compare "
        "/proc/sys/sunrpc/svc_rdma/max_requests."};

const Row rows::credit_grant_fluctuates{
    .group = 'C',
    .severity = Severity::note,
    .versions = Versions::v1,
    .repetition = Repetition::once,
    .source = "RFC 8166 section 3.3.1",
    .who = "responder",
    .title = "The grant changes from reply to reply",
    .explanation =
        "A responder may raise and lower its grant at any time. A requester that does not follow a lowered grant "
        "overruns it.",
    .evidence = "Replies of one connection carry different credit values.",
    .next =
        "Informational; Linux servers grant a constant. See whether credit-limit-exceeded follows a lowered grant."};

void credit_answer(const Witness& witness, const trace::Send& event, Side requester, std::optional<std::uint32_t> grant,
                   Granted how) {
  Connection& connection = witness.connection;
  Ledger& ledger = connection.ledger(requester);
  credit_stall_check(witness, ledger, event.last);
  ledger.full_since = {};
  ledger.answered = true;
  ledger.last_reply = event.frame;
  // An answer that stands earlier in the file than an accused Call was only delivered late: the Call was counted twice.
  // One that stands behind what was sent after it has changed places, and how far is not known.
  const bool displaced = event.sent_by().number < event.frame.number;
  for (Case& waited : connection.cases) {
    auto* calls = std::get_if<Case::CallsAboveGrant>(&waited.about);
    if (calls == nullptr || waited.accused != requester || calls->excess == 0) continue;
    const bool perhaps_before =
        displaced && !trace::passed(waited.frame.time, event.frame.time, trace::change_of_places);
    if (event.last.number < waited.frame.number || event.last.time < waited.frame.time || perhaps_before) {
      --calls->excess;
    }
  }
  if (!grant) return;
  const std::uint32_t xid = wire::load_be32(event.octets.data());  // who has read a grant has read that
  if (*grant == 0) {
    witness.say(
        RuleId::credit_grant_zero,
        {.frames = {event.frame},
         .by = event.side,
         .as = Role::responder,
         .xid = xid,
         .what = fmt::format("The {}'s Reply grants 0 credits; a grant of 0 is not allowed. Linux clients take it as "
                             "1, so one request at a time is all that is left.",
                             name(event.side))});
  }
  if (ledger.granted && *ledger.granted != *grant) {
    if (!witness.again(RuleId::credit_grant_fluctuates, event.frame)) {
      witness.say(RuleId::credit_grant_fluctuates,
                  {.frames = {event.frame},
                   .as = Role::responder,
                   .xid = xid,
                   .what = fmt::format("The {}'s grant changed from {} to {}.", name(event.side), *ledger.granted,
                                       counted(*grant, "credit"))});
    }
  }
  if (ledger.requested && *ledger.requested != 0 && *grant > *ledger.requested) {
    if (!witness.again(RuleId::credit_grant_above_request, event.frame)) {
      witness.say(
          RuleId::credit_grant_above_request,
          {.frames = {event.frame},
           .as = Role::responder,
           .xid = xid,
           .what = fmt::format("The {} grants {}, the newest Call of the {} asked for {}; the lower number "
                               "binds.",
                               name(event.side), counted(*grant, "credit"), name(requester), *ledger.requested)});
    }
  }
  take_grant(ledger, event.ordinal, *grant, how);
}

void credit_refusal(Connection& connection, const trace::Send& event, Side requester,
                    std::optional<std::uint32_t> grant, Granted how) {
  Ledger& ledger = connection.ledger(requester);
  ledger.answered = true;
  ledger.last_reply = event.frame;
  if (grant) take_grant(ledger, event.ordinal, *grant, how);
}

void credit_acknowledged(Connection& connection, const trace::Acknowledged& event) {
  Ledger& ledger = connection.ledger(event.side);
  for (auto grant = ledger.grants.rbegin(); grant != ledger.grants.rend(); ++grant) {
    if (grant->ordinal > event.ordinal) continue;
    if (grant->acknowledged.number != 0) break;
    grant->acknowledged = event.frame;
  }
  std::erase_if(connection.suspects, [&](const Suspect& suspect) {
    return suspect.refused_ordinal != 0 && suspect.sender == other(event.side) &&
           suspect.refused_ordinal <= event.ordinal;
  });
}

const Row rows::credit_stall{
    .group = 'C',
    .severity = Severity::note,
    .versions = Versions::v1,
    .repetition = Repetition::once,
    .source = "RFC 8166 section 3.3.1",
    .who = "nobody",
    .title = "All credits were in use for a while",
    .explanation =
        "The requester had as many calls outstanding as it was allowed, or as it asks for itself, and had to wait. "
        "Under load that is normal; when it lasts, the server's grant or the client's own request limits throughput, "
        "or the server is slow.",
    .evidence =
        "Calls outstanding equal the grant, or the newest request where that is lower, for longer than a second. Not "
        "decided across a gap in the capture.",
    .next =
        "Linux client: bklog_u in the xprt line of /proc/self/mountstats. Raise /proc/sys/sunrpc/svc_rdma/max_requests "
        "on the server if its grant is the limit, /proc/sys/sunrpc/rdma_slot_table_entries if the client's request "
        "is."};

void credit_stall_check(const Witness& witness, Ledger& ledger, FrameRef now) {
  if (ledger.full_since.number == 0 || ledger.full_reported) return;
  ledger.full_reported = true;
  const TimeNs full = now.time - ledger.full_since.time;
  ++ledger.full.times;
  ledger.full.took(full);
  if (full <= stall_time) return;
  ++ledger.stalls;
  ++ledger.stall.times;
  ledger.stall.took(full);
  ledger.stall.finding = witness.say(
      RuleId::credit_stall,
      {.frames = {ledger.full_since, now},
       .what = fmt::format("{} in use for {:.1f} s: the requester could not send more{}.", all_credits(ledger),
                           static_cast<double>(full) / 1e9,
                           ledger.full_of_wish == 0 ? "" : fmt::format(", though {} were granted", ledger.limit()))});
}

}  // namespace rpcrdma::referee
