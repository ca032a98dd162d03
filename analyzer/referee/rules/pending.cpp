// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/rules/pending.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "referee/docket/counted.hpp"
#include "referee/rules/v2_turn.hpp"

namespace rpcrdma::referee {

namespace {

void settle_stray_error(const Witness& witness, const Pending& pending, bool proven) {
  std::string message;
  Role role = Role::requester;
  switch (pending.rule) {
    case RuleId::error_to_error:
      message = fmt::format("The {} answered the RDMA_ERROR in frame {} with an RDMA_ERROR (XID {:#010x}).",
                            name(pending.side), pending.evidence.number, pending.xid);
      break;
    case RuleId::error_to_reply:
      message = fmt::format(
          "The {} answered the Reply in frame {} with RDMA_ERROR (XID {:#010x}); what it cannot use of a "
          "Reply it has to drop silently.",
          name(pending.side), pending.evidence.number, pending.xid);
      break;
    default:
      message = fmt::format(
          "The {} sent RDMA_ERROR for XID {:#010x} although no Call with that XID had come to it: only a responder "
          "may.",
          name(pending.side), pending.xid);
      break;
  }
  if (pending.rule == RuleId::error_to_error && pending.call.number == 0) role = Role::responder;
  witness.say(pending.rule, {.frames = {pending.frame, pending.evidence, pending.call},
                             .by = pending.side,
                             .as = role,
                             .xid = pending.xid,
                             .at_most = proven ? Severity::error : Severity::warning,
                             .what = std::move(message)});
}

void settle_done_answered(const Witness& witness, const Pending& pending, bool proven) {
  if (!proven) {
    witness.unchecked(RuleId::done_answered, "a Call with the same XID may be missing from the capture");
    return;
  }
  witness.say(RuleId::done_answered,
              {.frames = {pending.frame, pending.evidence},
               .by = pending.side,
               .as = Role::responder,
               .xid = pending.xid,
               .what = fmt::format("The {} answered an RDMA_DONE (frame {}); it has to be taken, or dropped, silently.",
                                   name(pending.side), pending.evidence.number)});
}

void settle_repeated_xid(const Witness& witness, const Pending& pending, bool proven) {
  Connection& connection = witness.connection;
  const Transaction* first = connection.find(pending.transaction);
  if (first != nullptr && first->answers != 0 && first->reply.number < pending.frame.number) return;  // delivered late
  if (!proven) {
    witness.unchecked(RuleId::xid_duplicate_outstanding, "the Reply in between may be missing from the capture");
    return;
  }
  witness.say(RuleId::xid_duplicate_outstanding,
              {.frames = {pending.frame, pending.evidence},
               .by = pending.side,
               .as = Role::requester,
               .xid = pending.xid,
               .what = fmt::format(
                   "The {} sent a different Call with XID {:#010x} while the one in frame {} is unanswered: their "
                   "Replies cannot be told apart.",
                   name(pending.side), pending.xid, pending.evidence.number)});
}

/// `proven`: something later of the other side was delivered without a hole, so that nothing can be missing in between.
/// At the end of a capture the last packets may be, and then an accusation is a warning.
void settle(const Witness& witness, const Pending& pending, bool proven) {
  Connection& connection = witness.connection;
  switch (pending.kind) {
    case Pending::Kind::unknown_handle:
      settle_unknown_handle(witness, pending, proven);
      return;
    case Pending::Kind::v2_credits:
      v2::settle_credits(witness, pending, proven);
      return;
    case Pending::Kind::v2_said:
      if (!proven || !v2::all_seen(connection)) {
        witness.unchecked(pending.rule, "a message that it rests on may be missing");
        return;
      }
      witness.say(pending.rule, {.frames = {pending.frame, pending.evidence},
                                 .by = pending.side,
                                 .as = pending.role,
                                 .xid = pending.xid,
                                 .at_most = pending.severity,
                                 .what = pending.message});
      return;
    case Pending::Kind::v2_size:
      v2::settle_size(witness, pending, proven);
      return;
    case Pending::Kind::v2_stray_error:
      v2::settle_stray_error(witness, pending, proven);
      return;
    case Pending::Kind::reply_without_call:
      if (pending.rule == RuleId::done_answered) {
        settle_done_answered(witness, pending, proven);
        return;
      }
      witness.say(RuleId::reply_without_call,
                  {.frames = {pending.frame},
                   .by = pending.side,
                   .as = Role::responder,
                   .xid = pending.xid,
                   .at_most = proven ? Severity::error : Severity::warning,
                   .what = fmt::format("The {} answered XID {:#010x}, with which no Call was sent to it.",
                                       name(pending.side), pending.xid)});
      return;
    case Pending::Kind::duplicate_reply:
      witness.say(RuleId::duplicate_reply,
                  {.frames = {pending.frame, pending.evidence, pending.call},
                   .by = pending.side,
                   .as = Role::responder,
                   .xid = pending.xid,
                   .at_most = proven ? Severity::error : Severity::warning,
                   .what = fmt::format("The {} answered XID {:#010x} a second time (first: frame {}).",
                                       name(pending.side), pending.xid, pending.evidence.number)});
      return;
    case Pending::Kind::error_from_requester:
      settle_stray_error(witness, pending, proven);
      return;
    case Pending::Kind::before_ready:
      settle_before_ready(witness, pending, proven);
      return;
    case Pending::Kind::done:
      settle_done(witness, {pending.side, pending.frame, pending.xid, pending.invalidated});
      return;
    case Pending::Kind::access:
      settle_access(witness, pending);
      return;
    case Pending::Kind::handle_reused:
      if (pending.rule == RuleId::xid_duplicate_outstanding) {
        settle_repeated_xid(witness, pending, proven);
      } else {
        settle_handle_reused(witness, pending);
      }
      return;
    case Pending::Kind::credits: {
      if (pending.excess == 0) return;
      Ledger& ledger = connection.ledger(pending.side);
      if (ledger.reported_episode == pending.episode) {
        Finding& finding = witness.context.book.at(ledger.episode_finding);
        witness.context.book.evidence(ledger.episode_finding, pending.frame);
        finding.severity = std::max(finding.severity, std::min(pending.severity, rule(finding.rule).severity));
        ++finding.occurrences;
        return;
      }
      ledger.reported_episode = pending.episode;
      std::string message;
      if (pending.rule == RuleId::credit_initial_exceeded) {
        message =
            fmt::format("The {} sent Call number {} before the first Reply; until then only one may be outstanding.",
                        name(pending.side), pending.outstanding);
      } else if (pending.severity == Severity::warning) {
        message = fmt::format("The {} has {} outstanding; it asked for {} only.", name(pending.side),
                              counted(pending.outstanding, "Call"), counted(pending.limit, "credit"));
      } else {
        message = fmt::format("The {} has {} Calls outstanding; its peer granted {} (frame {}).", name(pending.side),
                              pending.outstanding, pending.limit, pending.evidence.number);
      }
      ledger.episode_finding = witness.say(pending.rule, {.frames = {pending.frame, pending.evidence},
                                                          .by = pending.side,
                                                          .as = Role::requester,
                                                          .xid = pending.xid,
                                                          .at_most = pending.severity,
                                                          .what = std::move(message)});
      return;
    }
  }
}

}  // namespace

void settle_pending(const Witness& witness, Side side, std::uint64_t before_frame) {
  Connection& connection = witness.connection;
  if (connection.pending.empty()) return;
  // The accused side's opposite has now sent something later: nothing earlier of it can still be on its way here.
  std::vector<Pending> ready;
  std::erase_if(connection.pending, [&](const Pending& pending) {
    if (pending.side == side || pending.frame.number >= before_frame) return false;
    ready.push_back(pending);
    return true;
  });
  for (const Pending& pending : ready) settle(witness, pending, true);
  connection.settle_episode(other(side));
}

void hold_back(Connection& connection, Pending pending) {
  if (connection.pending.size() < most_held_back) {
    connection.pending.push_back(std::move(pending));
  } else {
    connection.not_held.insert(pending.rule);
  }
}

void settle_all_pending(const Witness& witness, std::optional<Side> complete) {
  Connection& connection = witness.connection;
  const std::vector<Pending> all = std::exchange(connection.pending, {});
  // A client's Read of memory that was never offered, and an RDMA_DONE with it: what is missing is rather the offer.
  const auto pulls = [](const Pending& p) {
    return p.kind == Pending::Kind::unknown_handle && !p.writing && p.rule == RuleId::rdma_by_requester;
  };
  const auto reads = [](const Pending& p) { return p.kind == Pending::Kind::unknown_handle && !p.writing; };
  const auto pulled = [&](Side side) {
    return std::any_of(all.begin(), all.end(), [&](const Pending& p) { return p.side == side && reads(p); });
  };
  const auto finished = [&](Side side) {
    return std::any_of(all.begin(), all.end(),
                       [&](const Pending& p) { return p.side == side && p.kind == Pending::Kind::done; });
  };
  for (const Pending& pending : all) {
    const bool proven = complete == other(pending.side);
    const bool done = pending.kind == Pending::Kind::done;
    const bool offer_missing =
        pulls(pending) || (done && pulled(pending.side)) || (reads(pending) && finished(pending.side));
    if (!proven && offer_missing && witness.context.options.profile != Profile::rfc8166) {
      witness.unchecked(done ? RuleId::rdma_done_sent : pending.rule,
                        "the last messages of the peer may be missing from the capture");
      continue;
    }
    settle(witness, pending, proven);
  }
  for (const RuleId rule : std::exchange(connection.not_held, {})) {
    witness.unchecked(rule, "more accusations than can be kept were waiting for their proof");
  }
}

}  // namespace rpcrdma::referee
