// SPDX-License-Identifier: GPL-2.0-or-later
// Credits of version 2: cumulative limits (section 4.2.1). The draft contradicts itself about what a peer puts into
// rdma_credit (what it sent, or what it received, plus what it advertises) and about the last message that fits. An
// error is only what no reading allows.
#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "referee/docket/cases.hpp"
#include "referee/docket/counted.hpp"
#include "referee/rules/rows.hpp"
#include "referee/rules/v2_turn.hpp"

namespace rpcrdma::referee::v2 {

namespace {

constexpr TimeNs starving = 2'000'000'000;
constexpr std::size_t most_limits = 512;
/// Counters that begin a little below zero were started elsewhere; anything further away is no count at all.
constexpr std::int32_t a_little_below = -(1 << 30);

/// a - b, modulo 2^32, as a signed number.
[[nodiscard]] std::int32_t ahead(std::uint32_t a, std::uint32_t b) noexcept { return static_cast<std::int32_t>(a - b); }

/// The most generous limits that may be in force, the newest that has arrived or one under way, in both readings.
[[nodiscard]] Credits::Limit limit_of(Connection& connection, Side side) {
  Credits& credits = connection.v2.of(side).credits;
  if (credits.limits.empty()) return {0, 1, 1};
  const std::uint64_t arrived = connection.of(other(side)).acknowledged;
  std::size_t newest = 0;
  for (std::size_t i = 0; i < credits.limits.size(); ++i) {
    if (credits.limits[i].ordinal <= arrived) newest = i;
  }
  if (newest > 0) {
    credits.limits.erase(credits.limits.begin(), credits.limits.begin() + static_cast<std::ptrdiff_t>(newest));
  }
  Credits::Limit best = credits.limits.front();
  for (const Credits::Limit& limit : credits.limits) {
    if (ahead(limit.value, best.value) > 0) best.value = limit.value;
    if (ahead(limit.literal, best.literal) > 0) best.literal = limit.literal;
  }
  return best;
}

/// How far a count of Sends is beyond a limit; below 0: within it.
struct Beyond {
  std::int32_t resolved = 0;  ///< in the resolved reading, or in the one that is left
  std::int32_t least = 0;     ///< in every reading
  std::uint32_t limit = 0;    ///< the one that `resolved` speaks of
  std::uint32_t literal = 0;

  [[nodiscard]] bool readings_differ() const noexcept { return resolved >= 0 && least < 0; }
  [[nodiscard]] Severity severity() const noexcept {
    if (least < 0) return Severity::note;
    return least > 0 ? Severity::error : Severity::warning;
  }
};

[[nodiscard]] Beyond beyond(const Credits& credits, const Credits::Limit& limit, std::uint32_t sent) noexcept {
  const std::int32_t by_received = ahead(sent, limit.value);
  const std::int32_t by_sent = ahead(sent, limit.literal);
  const bool literal = by_sent < by_received;
  const std::int32_t least = std::min(by_received, by_sent);
  switch (credits.counted) {
    case Credits::Counted::from_received:
      return {by_received, by_received, limit.value, limit.literal};
    case Credits::Counted::from_sent:
      return {least, least, literal ? limit.literal : limit.value, limit.literal};
    default:
      return {by_received, least, limit.value, limit.literal};
  }
}

/// Why Sends cannot be held against the limits; empty: they can.
[[nodiscard]] std::string_view uncountable(const Connection& connection, const Credits& credits) noexcept {
  if (!all_seen(connection)) return "not everything since the start of the connection is in the capture";
  // With the limit that it brought.
  if (connection.v2.version == State::Version::glimpsed) return "an error came first, and nothing told what it refused";
  switch (credits.base) {
    case Credits::Base::zero:
      break;
    case Credits::Base::in_doubt:
      return "whether the limits of the peer count from 0 is not known";
    case Credits::Base::elsewhere:
      return "the limits of the peer do not count from 0";
  }
  return {};
}

void settle_sends(const Witness& witness, const Case& waited) {
  const Case::SendsAboveLimit& sends = *waited.is<Case::SendsAboveLimit>();
  const bool first = waited.rule == RuleId::v2_credit_initial_exceeded;
  std::string message =
      first ? fmt::format(
                  "The {} sent message number {} before any message of its peer; until then only one may be "
                  "under way.",
                  name(waited.accused), sends.sent + 1)
            : fmt::format("The {} sent its message number {}; its peer's limit was {} (frame {}).",
                          name(waited.accused), sends.sent + 1, sends.limit, waited.evidence.number);
  if (!first && sends.literal) {
    message += fmt::format(" By the letter of the draft, which adds credits to what the peer has sent, it was {}.",
                           *sends.literal);
  } else if (!first && sends.sent == sends.limit) {
    message += " By the letter of the draft this one is still allowed, by its example not.";
  }
  witness.conclude(waited, {.frames = {waited.frame, first ? sends.first : waited.evidence},
                            .by = waited.accused,
                            .xid = waited.xid,
                            .at_most = waited.at_most(),
                            .what = std::move(message)});
}

void accuse_later(const Witness& witness, const trace::Send& event, RuleId rule, std::uint32_t sent, const Beyond& over,
                  Severity severity, std::uint32_t xid) {
  Connection& connection = witness.connection;
  const auto literal = when(over.readings_differ(), over.literal);
  witness.wait({.rule = rule,
                .accused = event.side,
                .frame = event.frame,
                .evidence = connection.v2.of(event.side).credits.from,
                .xid = xid,
                .severity = severity,
                .about = Case::SendsAboveLimit{sent, over.limit, literal, connection.v2.of(event.side).first},
                .settle = settle_sends});
}

/// A limit that stands earlier in the capture than an accused Send was only delivered late.
void reconsider(Connection& connection, Side side, const trace::Send& event, const Credits::Limit& limit) {
  const Credits& credits = connection.v2.of(side).credits;
  std::erase_if(connection.cases, [&](Case& waited) {
    auto* sends = std::get_if<Case::SendsAboveLimit>(&waited.about);
    if (sends == nullptr || waited.accused != side) return false;
    if (event.last.number > waited.frame.number && event.last.time >= waited.frame.time) return false;
    const Beyond over = beyond(credits, limit, sends->sent);
    if (over.resolved < 0) return true;
    waited.rule = RuleId::v2_credit_exceeded;
    sends->limit = over.limit;
    if (over.readings_differ()) sends->literal = over.literal;
    waited.evidence = event.frame;
    waited.severity = sends->literal ? Severity::note : over.severity();
    return false;
  });
}

}  // namespace

const Row rows::v2_credit_limit_invalid{
    .group = 'C',
    .severity = Severity::error,
    .versions = Versions::v2,
    .source = "draft-ietf-nfsv4-rpcrdma-version-two section 4.2.1",
    .who = "sender",
    .title = "A credit limit that no counting from zero explains",
    .explanation =
        "Limits are cumulative counts that start at zero, and differ from the count by less than 2^31 - 1. With any "
        "other value the peer cannot tell whether it may send. A limit slightly below zero points to counters that did "
        "not start at zero, and is a warning.",
    .evidence =
        "rdma_credit against what its sender received and sent by then, in both readings of the draft. Not decided "
        "when the start is missing.",
    .next = "See how the sender of the field initialises its counters, and whether it fills in credits of version 1."};

namespace {

constexpr std::uint64_t furthest = INT32_MAX - 1;

/// It has received what it answered, and at most what was sent: a limit may be as far from either.
[[nodiscard]] bool near_what_came(std::uint32_t limit, std::uint32_t taken, std::uint32_t sent) noexcept {
  return limit - taken <= furthest + (sent - taken);
}

/// What its peer sent before may stand behind it in the capture, or be missing.
void settle_limit(const Witness& witness, const Case& waited) {
  const Case::LimitTooFar& limit = *waited.is<Case::LimitTooFar>();
  Credits& bound = witness.connection.v2.of(other(waited.accused)).credits;
  // Those that stand in front of it in the file were only delivered late.
  std::uint32_t sent = limit.sent;
  for (const RecentSend& each : witness.connection.of(other(waited.accused)).sends) {
    if (each.ordinal > limit.ordinal && each.frame.number < waited.frame.number) ++sent;
  }
  if (witness.connection.order_lost()) sent = bound.sent;
  if (near_what_came(limit.value, limit.taken, sent)) {
    bound.base = Credits::Base::zero;
    return;
  }
  if (!waited.proven() || !all_seen(witness.connection)) {
    witness.unchecked(waited.rule, "a message that it rests on may be missing");
    return;
  }
  bound.base = Credits::Base::elsewhere;
  witness.conclude(waited,
                   {.frames = {waited.frame}, .by = waited.accused, .at_most = waited.severity, .what = limit.what});
}

/// Can this limit be a count from zero? Sets what follows for the side that it binds. False: it is an old one, below
/// what its sender had received since.
[[nodiscard]] bool judge_base(const Witness& witness, const trace::Send& event, std::uint32_t value) {
  Connection& connection = witness.connection;
  Credits& bound = connection.v2.of(other(event.side)).credits;
  const Credits& own = connection.v2.of(event.side).credits;
  const std::int32_t from_taken = ahead(value, bound.least_taken);
  const std::int32_t from_sent = ahead(value, own.sent - 1);  // the present one has been counted
  const bool by_received = near_what_came(value, bound.least_taken, bound.sent);
  const bool by_sent = value - (own.sent - 1) <= furthest;
  if (bound.base != Credits::Base::zero) return true;
  if (by_sent && !by_received) bound.counted = Credits::Counted::from_sent;
  if (by_received && !by_sent && bound.counted == Credits::Counted::either_way) {
    bound.counted = Credits::Counted::from_received;
  }
  if (by_sent || by_received) return true;
  const bool a_little = std::max(from_taken, from_sent) < 0 && std::max(from_taken, from_sent) > a_little_below;
  const bool below_zero = std::max({value, bound.sent, own.sent}) == value && ahead(value, 0) < 0;
  if (a_little && bound.heard && !below_zero) return false;  // earlier ones were counts from 0, and this is one
  const bool started_elsewhere = a_little && !bound.heard;
  bound.base = Credits::Base::in_doubt;
  std::string what =
      fmt::format("The {} lets its peer send up to message number {}; by then it had sent {} and its peer {}. {}",
                  name(event.side), value, own.sent - 1, bound.sent,
                  started_elsewhere ? "Its counters do not seem to begin at 0; credits are not judged further."
                                    : "Limits have to be less than 2^31 - 1 away; credits are not judged further.");
  witness.wait({.rule = RuleId::v2_credit_limit_invalid,
                .accused = event.side,
                .frame = event.frame,
                .severity = started_elsewhere ? Severity::warning : Severity::error,
                .about = Case::LimitTooFar{value, bound.least_taken, bound.sent, connection.of(other(event.side)).sent,
                                           std::move(what)},
                .settle = settle_limit});
  return true;
}

}  // namespace

const Row rows::v2_credit_exceeded{
    .group = 'C',
    .severity = Severity::error,
    .versions = Versions::v2,
    .source = "draft-ietf-nfsv4-rpcrdma-version-two section 4.2.1",
    .who = "sender",
    .title = "A message was sent above the peer's credit limit",
    .explanation =
        "Each message takes one Receive of the peer, whatever it carries. A sender that goes beyond the limit finds no "
        "Receive posted: the Send is retried or the connection lost.",
    .evidence =
        "The Sends counted from the start of the connection, modulo 2^32, against the newest rdma_credit that the "
        "sender had. The draft's words allow one message more than its example, so reaching the limit is a warning; "
        "one RDMA2_GRANT above it is allowed. They also let a peer add its credits to what it has sent, not to what "
        "it has received: a note when the Send is within that limit. Not decided when the start or any packet is "
        "missing.",
    .next =
        "Compare the sender's counter with the frames named. Continued messages are where implementations forget to "
        "count."};

const Row rows::v2_credit_initial_exceeded{
    .group = 'C',
    .severity = Severity::error,
    .versions = Versions::v2,
    .source = "draft-ietf-nfsv4-rpcrdma-version-two sections 4.2.1, 4.3",
    .who = "sender",
    .title = "A second message before anything came from the peer",
    .explanation =
        "Before the first message of the peer its credit limit is 1 and its version not known: one message may be "
        "under way. A second one may find no Receive, or a peer of version 1.",
    .evidence = "Two Sends of one side before any of the other. Not decided when the start or a packet is missing.",
    .next = "Look at the sender's start-up: it has to wait for the answer to its first message."};

void count_send(const Witness& witness, const trace::Send& event, CountedAs what, RecentSend& send) {
  Connection& connection = witness.connection;
  Credits& credits = connection.v2.of(event.side).credits;
  const std::uint32_t before = credits.sent++;
  credits.changed = event.last;
  const RuleId rule = credits.heard ? RuleId::v2_credit_exceeded : RuleId::v2_credit_initial_exceeded;
  send.credits = RecentSend::Credits::uncertain;
  if (connection.v2.version == State::Version::refused) return;  // the server counts as version 1 does
  if (const std::string_view why = uncountable(connection, credits); !why.empty()) {
    witness.unchecked(rule, why);
    return;
  }
  // Delivered late: which limit had arrived by then is not known when limits may also fall.
  const bool late = connection.of(other(event.side)).last_event.number > event.frame.number;
  if (late && credits.lowered) return;
  const Beyond over = beyond(credits, limit_of(connection, event.side), before - credits.spared);
  if (!over.readings_differ()) send.credits = RecentSend::Credits::known;
  send.limit = over.limit;
  send.in_flight = over.limit;
  if (over.resolved < 0) return;
  if (what == CountedAs::grant && credits.spared == 0) {
    credits.spared = 1;
    return;
  }
  // By the letter of the draft the peer has to take it.
  if (over.least == 0 && credits.heard) send.credits = RecentSend::Credits::uncertain;
  send.in_flight += static_cast<std::uint64_t>(over.resolved) + 1U;
  accuse_later(witness, event, rule, before, over, credits.heard ? over.severity() : Severity::error, send.xid);
}

const Row rows::v2_credit_regressed{
    .group = 'C',
    .severity = Severity::note,
    .versions = Versions::v2,
    .repetition = Repetition::once,
    .source = "draft-ietf-nfsv4-rpcrdma-version-two section 4.2.1",
    .who = "sender",
    .title = "A credit limit lower than the one before",
    .explanation = "A peer may lower what it advertises. What is under way by then may still use the higher limit.",
    .evidence = "Two messages of one side, the later one with a lower rdma_credit, modulo 2^32.",
    .next =
        "Nothing to do, unless the requester is slowed down by it: then see why the receiver posts fewer Receives."};

void take_limit(const Witness& witness, const trace::Send& event, std::uint32_t value) {
  Connection& connection = witness.connection;
  Credits& bound = connection.v2.of(other(event.side)).credits;
  const Credits& own = connection.v2.of(event.side).credits;
  if (!all_seen(connection)) return;
  const bool holds = judge_base(witness, event, value);
  if (bound.base != Credits::Base::zero) {
    std::erase_if(connection.cases, [&](const Case& waited) {
      return waited.is<Case::SendsAboveLimit>() != nullptr && waited.accused == other(event.side);
    });
  }
  if (bound.base == Credits::Base::elsewhere) {
    bound.heard = true;
    return;
  }
  if (bound.heard && ahead(value, bound.limits.back().value) < 0) {
    bound.lowered = true;
    if (bound.base == Credits::Base::zero && !witness.again(RuleId::v2_credit_regressed, event.frame)) {
      witness.say(RuleId::v2_credit_regressed,
                  {.frames = {event.frame, bound.from},
                   .what = fmt::format("The {}'s credit limit went down from {} to {}.", name(event.side),
                                       bound.limits.back().value, value)});
    }
  }
  if (!holds) return;
  if (!bound.heard || ahead(value, bound.limits.back().value) > 0) bound.spared = 0;
  if (bound.limits.size() >= most_limits) bound.limits.erase(bound.limits.begin());
  const Credits::Limit limit{event.ordinal, value, value - own.sent + bound.sent};
  if (bound.limits.empty() || bound.limits.back().value != value || bound.limits.back().literal != limit.literal) {
    bound.limits.push_back(limit);
  }
  bound.heard = true;
  bound.from = event.frame;
  bound.changed = event.last;
  reconsider(connection, other(event.side), event, limit);
}

const Row rows::v2_credit_starved{
    .group = 'C',
    .severity = Severity::warning,
    .versions = Versions::v2,
    .source = "draft-ietf-nfsv4-rpcrdma-version-two section 4.2.1.1",
    .who = "receiver",
    .title = "A peer may send nothing and gets no credit",
    .explanation =
        "A receiver may advertise no credit, but has to send RDMA2_GRANT later, and should refresh before half of the "
        "credits are used. Otherwise its peer waits for ever.",
    .evidence =
        "No room for more than 2 s under the newest limit that is known to have arrived, while no Call of the waiting "
        "side is unanswered, or while its continued message is half sent. A server that owes no answer may have "
        "nothing "
        "to send. An idle client without room looks the same, hence a warning.",
    .next = "Look at the receiver's handling of RDMA2_GRANT, and at its pool of Receives."};

namespace {

/// Nothing may be sent, and no answer is due that would bring a limit.
bool dry(Connection& connection, Side side) {
  const SideFacts& facts = connection.v2.of(side);
  if (!facts.credits.heard || facts.credits.base != Credits::Base::zero) return false;
  const Beyond next = beyond(facts.credits, limit_of(connection, side), facts.credits.sent);
  if (next.least < 0) return false;
  if (facts.continuation.open) return true;
  // A server that has answered all has nothing to send, as far as can be told: the next Call brings a limit.
  const bool idle = side == Side::passive && connection.ledger(Side::active).outstanding == 0;
  return !idle && connection.ledger(side).outstanding == 0;
}

}  // namespace

void note_starvation(Connection& connection) {
  if (!all_seen(connection)) return;
  for (const Side side : {Side::active, Side::passive}) {
    Credits& credits = connection.v2.of(side).credits;
    if (credits.dry_since.number != 0 || !dry(connection, side)) continue;
    credits.dry_since = credits.changed;
    credits.dry_from = credits.from;
    credits.dry_limit = beyond(credits, limit_of(connection, side), credits.sent).limit;
  }
}

void watch_starvation(const Witness& witness, FrameRef now, Watched until) {
  Connection& connection = witness.connection;
  if (!all_seen(connection)) return;
  note_starvation(connection);
  for (const Side side : {Side::active, Side::passive}) {
    Credits& credits = connection.v2.of(side).credits;
    if (!credits.heard || credits.base != Credits::Base::zero) continue;
    const bool waiting = dry(connection, side);
    if (waiting && until == Watched::meanwhile) continue;
    const FrameRef since = std::exchange(credits.dry_since, {});
    if (waiting) credits.dry_to_the_end = since;
    if (since.number == 0 || now.time - since.time <= starving) continue;
    witness.say(
        RuleId::v2_credit_starved,
        {.frames = {credits.dry_from, since, now},
         .by = other(side),
         .what = fmt::format("The {} could send nothing for {:.1f} s: its peer's limit of {} was used up, and no "
                             "RDMA2_GRANT came.",
                             name(side), static_cast<double>(now.time - since.time) / 1e9, credits.dry_limit)});
  }
}

void name_overrun(const trace::Refusal& refusal, const RecentSend& send, Suspect& suspect) {
  suspect.rule = RuleId::credit_overrun_fatal;
  suspect.proven = true;
  suspect.culprit = other(refusal.side);
  suspect.message = fmt::format(
      "The {}'s message in frame {} is {} above the limit of {} that its peer had given; the peer had no "
      "Receive for it (frame {}).",
      name(other(refusal.side)), send.frame.number, send.in_flight - send.limit, send.limit, refusal.frame.number);
}

std::string unbacked(Side refuser, FrameRef refused, std::uint64_t limit) {
  return fmt::format("The {} had no Receive for frame {} although it is within the limit of {} that it had given.",
                     name(refuser), refused.number, limit);
}

void judge_missing_receive(const Witness& witness, const trace::Refusal& refusal, RecentSend* send, Suspect& suspect) {
  Connection& connection = witness.connection;
  const Side refuser = refusal.side;
  const FrameRef refused = send != nullptr ? send->frame : refusal.refused_frame;
  const bool known = send != nullptr && send->credits_known() && all_seen(connection);
  const bool over = known && send->in_flight > send->limit;
  if (over) {
    name_overrun(refusal, *send, suspect);
  } else {
    suspect.message = known ? unbacked(refuser, refused, send->limit)
                            : fmt::format(
                                  "The {} had no Receive for frame {}; whose fault that is cannot be told from this "
                                  "capture.",
                                  name(refuser), refused.number);
    suspect.rule = RuleId::rnr_nak_seen;
    if (known) suspect.culprit = refuser;
  }
  witness.say(RuleId::rnr_nak_seen, {.frames = {refusal.frame, refused},
                                     .by = suspect.culprit,
                                     .xid = when(send, &RecentSend::xid),
                                     .what = suspect.message});
}

const Row rows::v2_grant_xid_nonzero{
    .group = 'C',
    .severity = Severity::error,
    .versions = Versions::v2,
    .source = "draft-ietf-nfsv4-rpcrdma-version-two section 6.3.2",
    .who = "sender",
    .title = "RDMA2_GRANT with an XID",
    .explanation =
        "A grant belongs to no transaction: its sender has to write XID 0, and the receiver must not look at it.",
    .evidence = "rdma_xid of RDMA2_GRANT is not 0.",
    .next = "Look at the sender's encoder: a header from an earlier message may be used again."};

const Row rows::v2_grant_has_body{
    .group = 'C',
    .severity = Severity::warning,
    .versions = Versions::v2,
    .source = "draft-ietf-nfsv4-rpcrdma-version-two section 6.3.2",
    .who = "sender",
    .title = "RDMA2_GRANT with something behind its prefix",
    .explanation = "A grant consists of the prefix of 16 octets alone. What follows is lost on the receiver.",
    .evidence = "The length of the Send is not 16. Not decided when packets of it are missing.",
    .next = "Look at the sender's encoder; the length of an earlier message may be used again."};

void judge_grant(const Turn& turn) {
  const trace::Send& event = turn.event;
  if (turn.xid() != 0) {
    turn.say(RuleId::v2_grant_xid_nonzero, {event.frame},
             fmt::format("The {}'s RDMA2_GRANT has XID {:#010x}; it has to be 0.", name(event.side), turn.xid()));
  }
  if (!event.holes && turn.behind() > 0) {
    turn.say(RuleId::v2_grant_has_body, {event.frame},
             fmt::format("The {}'s RDMA2_GRANT has {} behind its prefix of 16.", name(event.side),
                         counted(turn.behind(), "octet")));
  }
}

}  // namespace rpcrdma::referee::v2
