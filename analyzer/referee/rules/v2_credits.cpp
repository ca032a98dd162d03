// SPDX-License-Identifier: GPL-2.0-or-later
// Credits of version 2: cumulative limits (section 4.2.1). The draft contradicts itself about what a peer puts into
// rdma_credit (what it sent, or what it received, plus what it advertises) and about the last message that fits. An
// error is only what no reading allows.
#include <algorithm>

#include <fmt/format.h>

#include "referee/pending.hpp"
#include "referee/v2/turn.hpp"

namespace rpcrdma::referee::v2 {

namespace {

constexpr TimeNs starving = 2'000'000'000;
constexpr std::size_t most_limits = 512;
/// Counters that begin a little below zero were started elsewhere; anything further away is no count at all.
constexpr std::int32_t a_little_below = -(1 << 30);

/// a - b, modulo 2^32, as a signed number.
[[nodiscard]] std::int32_t ahead(std::uint32_t a, std::uint32_t b) noexcept { return static_cast<std::int32_t>(a - b); }

[[nodiscard]] std::uint32_t limit_in(const Credits& credits, const Credits::Limit& limit) noexcept {
  if (credits.literal && ahead(limit.literal, limit.value) > 0) return limit.literal;
  return limit.value;
}

/// The most generous limit that may be in force: the newest that has arrived, or one under way.
[[nodiscard]] std::uint32_t limit_of(Connection& connection, Side side) {
  Credits& credits = connection.v2.of(side).credits;
  if (credits.limits.empty()) return 1;
  const std::uint64_t arrived = connection.of(other(side)).acknowledged;
  std::size_t newest = 0;
  for (std::size_t i = 0; i < credits.limits.size(); ++i) {
    if (credits.limits[i].ordinal <= arrived) newest = i;
  }
  if (newest > 0) {
    credits.limits.erase(credits.limits.begin(), credits.limits.begin() + static_cast<std::ptrdiff_t>(newest));
  }
  std::uint32_t best = limit_in(credits, credits.limits.front());
  for (const Credits::Limit& limit : credits.limits) {
    if (ahead(limit_in(credits, limit), best) > 0) best = limit_in(credits, limit);
  }
  return best;
}

[[nodiscard]] bool countable(const Connection& connection, const Credits& credits) noexcept {
  return all_seen(connection) && !credits.baseless;
}

void accuse_later(Connection& connection, const trace::Send& event, RuleId rule, std::uint32_t sent,
                  std::uint32_t limit, Severity severity, std::uint32_t xid) {
  Pending pending;
  pending.kind = Pending::Kind::v2_credits;
  pending.rule = rule;
  pending.side = event.side;
  pending.frame = event.frame;
  pending.evidence = connection.v2.of(event.side).credits.from;
  pending.call = connection.v2.of(event.side).first;
  pending.xid = xid;
  pending.outstanding = sent;
  pending.limit = limit;
  pending.severity = severity;
  hold_back(connection, std::move(pending));
}

/// A limit that stands earlier in the capture than an accused Send was only delivered late.
void reconsider(Connection& connection, Side side, const trace::Send& event, std::uint32_t value) {
  std::erase_if(connection.pending, [&](Pending& pending) {
    if (pending.kind != Pending::Kind::v2_credits || pending.side != side) return false;
    if (event.last.number > pending.frame.number && event.last.time >= pending.frame.time) return false;
    const std::int32_t over = ahead(static_cast<std::uint32_t>(pending.outstanding), value);
    if (over < 0) return true;
    pending.rule = RuleId::v2_credit_exceeded;
    pending.limit = value;
    pending.evidence = event.frame;
    pending.severity = over > 0 ? Severity::error : Severity::warning;
    return false;
  });
}

/// Can this limit be a count from zero? Sets what follows for the side that it binds.
void judge_base(Context& context, Connection& connection, const trace::Send& event, std::uint32_t value) {
  Credits& bound = connection.v2.of(other(event.side)).credits;
  const Credits& own = connection.v2.of(event.side).credits;
  const std::int32_t from_taken = ahead(value, bound.least_taken);
  const std::int32_t from_sent = ahead(value, own.sent - 1);  // the present one has been counted
  constexpr std::int32_t far = INT32_MAX;
  if (from_taken < 0 && from_sent >= 0 && from_sent != far) bound.literal = true;
  const bool explained = (from_taken >= 0 && from_taken != far) || (from_sent >= 0 && from_sent != far);
  if (explained || bound.baseless) return;
  bound.baseless = true;
  const bool started_elsewhere =
      std::max(from_taken, from_sent) < 0 && std::max(from_taken, from_sent) > a_little_below;
  context.book.add(
      {RuleId::v2_credit_limit_invalid,
       connection.id(),
       {event.frame},
       fmt::format("The {} lets its peer send up to message number {}; by then it had sent {} and its peer {}. {}",
                   name(event.side), value, own.sent - 1, bound.sent,
                   started_elsewhere ? "Its counters do not seem to begin at 0; credits are not judged further."
                                     : "Limits have to be less than 2^31 - 1 away; credits are not judged further."),
       started_elsewhere ? std::optional(Severity::warning) : std::nullopt,
       std::nullopt,
       party(event.side),
       std::nullopt});
}

}  // namespace

void count_send(Context& context, Connection& connection, const trace::Send& event, bool grant, RecentSend& send) {
  Credits& credits = connection.v2.of(event.side).credits;
  const std::uint32_t before = credits.sent++;
  const RuleId rule = credits.heard ? RuleId::v2_credit_exceeded : RuleId::v2_credit_initial_exceeded;
  send.credits_known = false;
  if (connection.v2.version == State::Version::refused) return;  // the server counts as version 1 does
  if (!countable(connection, credits)) {
    context.book.unchecked(rule, connection.id(),
                           credits.baseless ? "the limits of the peer do not count from 0"
                                            : "not everything since the start of the connection is in the capture");
    return;
  }
  // Delivered late: which limit had arrived by then is not known when limits may also fall.
  const bool late = connection.of(other(event.side)).last_event.number > event.frame.number;
  if (late && credits.lowered) return;
  const std::uint32_t limit = limit_of(connection, event.side);
  const std::int32_t over = ahead(before - credits.spared, limit);
  send.credits_known = true;
  send.limit = limit;
  send.in_flight = over >= 0 ? static_cast<std::uint64_t>(limit) + static_cast<std::uint64_t>(over) + 1U : limit;
  if (over < 0) return;
  if (grant && credits.spared == 0) {
    credits.spared = 1;
    send.in_flight = limit;
    return;
  }
  const bool error = over > 0 || !credits.heard;
  accuse_later(connection, event, rule, before, limit, error ? Severity::error : Severity::warning, send.xid);
}

void take_limit(Context& context, Connection& connection, const trace::Send& event, std::uint32_t value) {
  Credits& bound = connection.v2.of(other(event.side)).credits;
  const Credits& own = connection.v2.of(event.side).credits;
  if (!all_seen(connection)) return;
  judge_base(context, connection, event, value);
  if (bound.baseless) {
    std::erase_if(connection.pending,
                  [&](const Pending& p) { return p.kind == Pending::Kind::v2_credits && p.side == other(event.side); });
    bound.heard = true;
    return;
  }
  if (bound.heard && ahead(value, bound.limits.back().value) < 0) {
    bound.lowered = true;
    if (!context.book.fold_again(RuleId::v2_credit_regressed, connection.id(), event.frame)) {
      context.book.fold({RuleId::v2_credit_regressed,
                         connection.id(),
                         {event.frame, bound.from},
                         fmt::format("The {}'s credit limit went down from {} to {}.", name(event.side),
                                     bound.limits.back().value, value),
                         std::nullopt,
                         std::nullopt,
                         std::nullopt,
                         std::nullopt});
    }
  }
  if (!bound.heard || ahead(value, bound.limits.back().value) > 0) bound.spared = 0;
  if (bound.limits.size() >= most_limits) bound.limits.erase(bound.limits.begin());
  if (bound.limits.empty() || bound.limits.back().value != value) {
    bound.limits.push_back({event.ordinal, value, value - own.sent + bound.sent});
  }
  bound.heard = true;
  bound.from = event.frame;
  reconsider(connection, other(event.side), event, value);
}

void settle_credits(Context& context, Connection& connection, const Pending& pending, bool proven) {
  const bool first = pending.rule == RuleId::v2_credit_initial_exceeded;
  const bool reached = pending.outstanding == pending.limit;
  std::string message =
      first ? fmt::format(
                  "The {} sent message number {} before any message of its peer; until then only one may be "
                  "under way.",
                  name(pending.side), pending.outstanding + 1)
            : fmt::format("The {} sent its message number {}; its peer's limit was {} (frame {}).{}",
                          name(pending.side), pending.outstanding + 1, pending.limit, pending.evidence.number,
                          reached ? " By the letter of the draft this one is still allowed, by its example not." : "");
  const Severity severity = proven ? pending.severity : std::min(pending.severity, Severity::warning);
  context.book.add({pending.rule,
                    connection.id(),
                    {pending.frame, first ? pending.call : pending.evidence},
                    std::move(message),
                    severity,
                    pending.xid,
                    party(pending.side),
                    std::nullopt});
}

void watch_starvation(Context& context, Connection& connection, FrameRef now, bool over) {
  if (!all_seen(connection)) return;
  for (const Side side : {Side::active, Side::passive}) {
    SideFacts& facts = connection.v2.of(side);
    Credits& credits = facts.credits;
    if (!credits.heard || credits.baseless) continue;
    const bool waiting = ahead(limit_of(connection, side), credits.sent) <= 0 &&
                         (connection.ledger(side).outstanding == 0 || facts.continuation.open);
    if (waiting && credits.dry_since.number == 0) {
      credits.dry_since = now;
      credits.dry_from = credits.from;
      credits.dry_limit = limit_of(connection, side);
    }
    if (waiting && !over) continue;
    const FrameRef since = std::exchange(credits.dry_since, {});
    if (since.number == 0 || now.time - since.time <= starving) continue;
    context.book.add({RuleId::v2_credit_starved,
                      connection.id(),
                      {credits.dry_from, since, now},
                      fmt::format("The {} could send nothing for {:.1f} s: its peer's limit of {} was used up, and no "
                                  "RDMA2_GRANT came.",
                                  name(side), static_cast<double>(now.time - since.time) / 1e9, credits.dry_limit),
                      std::nullopt,
                      std::nullopt,
                      party(other(side)),
                      std::nullopt});
  }
}

void name_overrun(const trace::Refusal& refusal, const RecentSend& send, Suspect& suspect) {
  suspect.rule = RuleId::credit_overrun_fatal;
  suspect.proven = true;
  suspect.culprit = party(other(refusal.side));
  suspect.message = fmt::format(
      "The {}'s message in frame {} is {} above the limit of {} that its peer had given; the peer had no "
      "Receive for it (frame {}).",
      name(other(refusal.side)), send.frame.number, send.in_flight - send.limit, send.limit, refusal.frame.number);
}

void judge_missing_receive(Context& context, Connection& connection, const trace::Refusal& refusal, RecentSend* send,
                           Suspect& suspect) {
  const Side refuser = refusal.side;
  const FrameRef refused = send != nullptr ? send->frame : refusal.refused_frame;
  const bool known = send != nullptr && send->credits_known && all_seen(connection);
  const bool over = known && send->in_flight > send->limit;
  if (over) {
    name_overrun(refusal, *send, suspect);
  } else {
    suspect.message = known ? fmt::format(
                                  "The {} had no Receive for frame {} although it is within the limit of {} that it "
                                  "had given.",
                                  name(refuser), refused.number, send->limit)
                            : fmt::format(
                                  "The {} had no Receive for frame {}; whose fault that is cannot be told from this "
                                  "capture.",
                                  name(refuser), refused.number);
    suspect.rule = RuleId::rnr_nak_seen;
    if (known) suspect.culprit = party(refuser);
  }
  context.book.fold({RuleId::rnr_nak_seen,
                     connection.id(),
                     {refusal.frame, refused},
                     suspect.message,
                     std::nullopt,
                     send != nullptr ? std::optional(send->xid) : std::nullopt,
                     suspect.culprit,
                     std::nullopt});
}

}  // namespace rpcrdma::referee::v2
