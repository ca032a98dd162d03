// SPDX-License-Identifier: GPL-2.0-or-later
// Group L: why a connection ended, and who is to blame for it.
#include <algorithm>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "referee/cause/causes.hpp"
#include "referee/docket/counted.hpp"
#include "referee/rules/ending.hpp"
#include "referee/rules/rows.hpp"
#include "referee/state/lifetime.hpp"
#include "referee/state/mount.hpp"

namespace rpcrdma::referee {

namespace {

constexpr TimeNs idle_time = 300'000'000'000;  // what Linux clients wait before they close an idle connection
constexpr TimeNs soon_after = 5'000'000'000;
constexpr TimeNs reconnects_within = 60'000'000'000;  // Linux clients wait 5 to 30 s between two attempts
/// Transactions that may still be finished by what was under way when the cause of the end struck.
constexpr std::uint64_t under_way = 2;

/// Who was refused has acknowledged what the other side sent later: both had what they needed. (That the refused Send
/// was acknowledged, too, may be in frames that the capture lacks.)
[[nodiscard]] bool went_on(const Connection& connection, const Suspect& suspect) {
  const SideState& refuser = connection.of(other(suspect.sender));
  const RecentSend* const heard =
      refuser.sends.newest([&](const RecentSend& send) { return send.ordinal <= refuser.acknowledged; });
  return heard != nullptr && heard->frame.number > suspect.frame.number;
}

/// Whose queue pair is in the error state sends nothing again. That the new attempt was acknowledged may be in frames
/// that the capture lacks.
[[nodiscard]] bool tried_again(const Connection& connection, const Suspect& suspect) {
  return connection.of(suspect.sender).last_repeat.number > suspect.frame.number;
}

/// Work that went on was not ended by it. What a refused Send caused is over once that Send is acknowledged.
[[nodiscard]] bool may_have_ended(const Connection& connection, const Suspect& suspect) {
  if (suspect.refused_ordinal != 0) return !went_on(connection, suspect) && !tried_again(connection, suspect);
  return connection.completed <= suspect.completed + under_way;
}

/// The newest one; but a proven cause beats what only followed from it.
[[nodiscard]] const Suspect* decisive(const Connection& connection) {
  const auto newest = std::find_if(connection.suspects.rbegin(), connection.suspects.rend(),
                                   [&](const Suspect& s) { return may_have_ended(connection, s); });
  if (newest == connection.suspects.rend()) return nullptr;
  const auto proven = std::find_if(connection.suspects.begin(), connection.suspects.end(), [&](const Suspect& s) {
    return s.proven && s.refused_ordinal == 0 && may_have_ended(connection, s);
  });
  return proven != connection.suspects.end() ? &*proven : &*newest;
}

/// Packets are missing between the suspected cause and the close: what they held may be the real one (U2).
[[nodiscard]] bool hidden_by_a_gap(const Witness& witness, const Suspect& suspect, FrameRef close) {
  Connection& connection = witness.connection;
  if (suspect.gaps == connection.gaps()) return false;
  witness.unchecked(RuleId::connection_lost,
                    fmt::format("{} (frame {}) may be why the connection ended, but packets are missing from the "
                                "capture between that and the end in frame {}",
                                rule(suspect.rule).name, suspect.frame.number, close.number));
  return true;
}

/// A client leaves when it unmounts; a server, or a client that still waits for replies, has another reason.
[[nodiscard]] bool leaves_in_the_middle(const Connection& connection, Side by) {
  return by == Side::passive ||
         std::any_of(connection.transactions.begin(), connection.transactions.end(), [&](const auto& entry) {
           return entry.second.requester == by && entry.second.surely_open() && !entry.second.malformed();
         });
}

/// For want of a Receive, and what was refused got through all the same: nothing of it is left.
[[nodiscard]] bool recovered_from(const Connection& connection, const Finding& finding) {
  using enum RuleId;
  if (finding.rule != requester_receives_missing && finding.rule != credit_grant_unbacked &&
      finding.rule != rnr_nak_seen) {
    return false;
  }
  return std::none_of(connection.suspects.begin(), connection.suspects.end(),
                      [&](const Suspect& suspect) { return suspect.rule == finding.rule; });
}

/// Nobody was refused and yet one side left: the oldest fault of the other side since which no Call was answered, or
/// that nothing was going on.
[[nodiscard]] std::optional<Cause> reason_to_leave(const Witness& witness, Side by, FrameRef close) {
  Connection& connection = witness.connection;
  const Finding* fault = nullptr;
  if (connection.whole() && leaves_in_the_middle(connection, by)) {
    std::uint64_t last_answer = 0;
    connection.each_answered([&](const Transaction& call) { last_answer = std::max(last_answer, call.reply.number); });
    fault = witness.context.book.oldest(connection.id(), [&](const Finding& finding) {
      const bool blamed = finding.severity > Severity::note && finding.violator && *finding.violator != party(by);
      return blamed && !recovered_from(connection, finding) && rule(finding.rule).group != 'A' &&
             !finding.frames.empty() && finding.frames.front() >= last_answer &&
             close.time - finding.time <= soon_after;
    });
  }
  if (fault != nullptr) {
    Cause cause;
    cause.rule = fault->rule;
    cause.frames = {fault->frames.front(), close.number};
    cause.message =
        fmt::format("The {} closed the connection {} after this: {}", name(by),
                    duration(static_cast<double>(std::max<TimeNs>(close.time - fault->time, 0)) / 1e3), fault->message);
    return cause;
  }
  const FrameRef last = std::max(connection.of(Side::active).last_event, connection.of(Side::passive).last_event,
                                 [](FrameRef a, FrameRef b) { return a.number < b.number; });
  if (last.number == 0 || close.time - last.time < idle_time) return {};
  Cause cause;
  cause.rule = RuleId::cm_dreq;
  cause.frames = {last.number, close.number};
  cause.message = fmt::format("The connection had been idle for {} s; the {} closed it{}.",
                              (close.time - last.time) / 1'000'000'000, name(by),
                              by == Side::active ? ", as Linux clients do after 300 s" : "");
  return cause;
}

void close_with(const Witness& witness, Closed closed, const Suspect& suspect) {
  Connection& connection = witness.connection;
  closed.how = suspect.how;
  closed.frame = suspect.frame;
  closed.by = connection.roles_known() ? suspect.by : std::nullopt;
  closed.cause = Cause{suspect.rule, suspect.proven, suspect.frames, suspect.message};
  if (suspect.proven) connection.fault = suspect.culprit;
  connection.facts.closed = closed;
  if (suspect.rule == RuleId::credit_overrun_fatal &&
      !witness.context.book.has(RuleId::credit_overrun_fatal, connection.id())) {
    witness.say(RuleId::credit_overrun_fatal, {.frames = {suspect.refused, suspect.frame},
                                               .by = suspect.culprit,
                                               .as = Role::requester,
                                               .xid = suspect.xid,
                                               .what = suspect.message + " The connection ended."});
  }
  if (suspect.rule == RuleId::connection_lost) {
    witness.say(suspect.rule, {.frames = {suspect.frame, suspect.refused}, .what = suspect.message});
  }
  if (suspect.finding && suspect.rule == RuleId::credit_grant_unbacked) {
    witness.context.book.at(suspect.finding).severity = Severity::error;
  }
}

/// TCP goes on trying for minutes, but the other side is gone: so many copies, over so long, and nothing from it since.
[[nodiscard]] bool repeats_in_vain(const Connection& connection, Side side) {
  constexpr std::uint64_t copies = 3;
  constexpr TimeNs span = 1'000'000'000;
  const auto& sent = connection.of(side).liveness;
  const auto& silent = connection.of(other(side)).liveness;
  if (!sent || !silent) return false;
  const trace::Liveness::Unheard& unheard = sent->unheard;
  return unheard.copies >= copies && sent->last_copy.time - unheard.first.time >= span &&
         silent->heard.number < unheard.first_repeat.number;
}

/// What proves why it ends. Not what a gap may have hidden.
[[nodiscard]] const Suspect* proven_cause(const Witness& witness, FrameRef end) {
  const Suspect* suspect = decisive(witness.connection);
  return suspect != nullptr && hidden_by_a_gap(witness, *suspect, end) ? nullptr : suspect;
}

}  // namespace

const Row rows::connection_lost{
    .group = 'L',
    .severity = Severity::warning,
    .versions = Versions::both,
    .consequence = true,
    .source = "RFC 8166 sections 3.3 and 4.5",
    .who = "by evidence",
    .title = "The connection ended without an orderly close",
    .explanation =
        "Traffic stopped, was refused or was reset, and nobody said goodbye. Outstanding RPCs are lost and the client "
        "has to reconnect; if it happens again and again the mount crawls or hangs.",
    .evidence =
        "Unanswered retries, a fatal refusal, a reset by who had Calls to answer. A new connection of the same peers "
        "without a close before it is "
        "a note: the close may be missing. The end of the capture proves nothing, and across a gap nobody is blamed.",
    .next =
        "dmesg and rpcrdma:xprtrdma_disconnect, xprtrdma_wc_receive, xprtrdma_wc_send on the client, "
        "rpcrdma:svcrdma_qp_error on the server; rdma statistic show: local_ack_timeout_err (mlx5), retry_exceeded_err "
        "(soft-RoCE); connect_count in /proc/self/mountstats."};

const Row rows::cm_dreq{.group = 'L',
                        .severity = Severity::note,
                        .versions = Versions::both,
                        .source = "IBA",
                        .who = "nobody",
                        .title = "Orderly close",
                        .explanation =
                            "One side asked to close the connection and the other agreed. Linux clients do so after "
                            "five idle minutes and at unmount.",
                        .evidence = "A DREQ, or a TCP FIN on iWARP; the sender is the side that closed.",
                        .next =
                            "Expected after idle time. Close under load: look at the messages just before it, and at "
                            "rpcrdma:xprtrdma_disconnect on the client."};

namespace {

/// Why judge_lost() is asked.
enum class NoticedBy : std::uint8_t {
  close,
  successor,    ///< of the same endpoints
  capture_end,  ///< whose frame may be anybody's
};

/// Its newest frame, bare acknowledgements as well.
[[nodiscard]] FrameRef heard_last(const SideState& state) noexcept {
  const FrameRef heard = state.liveness ? state.liveness->heard : FrameRef{};
  return heard.number > state.last_event.number ? heard : state.last_event;
}

/// Traffic stopped: retransmissions that nobody answered. True when that is proven enough to speak of a loss.
[[nodiscard]] bool retries_exhausted(const Connection& connection, FrameRef successor) {
  const SideState& client = connection.of(Side::active);
  const SideState& server = connection.of(Side::passive);
  const std::uint64_t rounds = std::max(client.repeats, server.repeats);
  if (successor.number != 0 && rounds >= 2 &&
      successor.time - std::max(client.last_repeat.time, server.last_repeat.time) <= reconnects_within) {
    return true;
  }
  if (connection.facts.transport == trace::Transport::iwarp || connection.stage == Connection::Stage::leaving) {
    return repeats_in_vain(connection, Side::active) || repeats_in_vain(connection, Side::passive);
  }
  return rounds >= 7;
}

/// What is repeated proves that nobody answered, as long as the other side was not heard since, and something came of
/// it soon. Later a client would have tried again long ago: what is missing is rather the end.
[[nodiscard]] bool unheard(const Connection& connection, Side side, FrameRef noticed) {
  const SideState& state = connection.of(side);
  const auto& peer = connection.of(other(side)).liveness;
  if (peer && peer->heard.number > state.first_repeat.number) return false;
  return noticed.time - state.last_repeat.time <= reconnects_within || retries_exhausted(connection, {});
}

/// Who repeats itself in vain.
[[nodiscard]] Side stuck_side(const Connection& connection) {
  if (connection.sides[0].repeats < 2 && connection.sides[1].repeats < 2) {
    return repeats_in_vain(connection, Side::passive) ? Side::passive : Side::active;
  }
  return connection.sides[0].repeats >= connection.sides[1].repeats ? Side::active : Side::passive;
}

/// What one side sends in vain.
struct Silence {
  Side stuck = Side::active;
  enum class Of : std::uint8_t { packets, keep_alives } of = Of::packets;
  FrameRef first;  ///< of the repeats
  FrameRef last;
};

[[nodiscard]] std::optional<Silence> silence_of(const Connection& connection, FrameRef noticed) {
  const Side stuck = stuck_side(connection);
  const SideState& state = connection.of(stuck);
  if (state.repeats >= 2) {
    if (!unheard(connection, stuck, noticed)) return std::nullopt;
    return Silence{stuck, Silence::Of::packets, state.first_repeat, state.last_repeat};
  }
  if (!repeats_in_vain(connection, stuck)) return std::nullopt;
  return Silence{stuck, Silence::Of::keep_alives, state.liveness->unheard.first_repeat, state.liveness->last_copy};
}

/// What proves why it is over: a cause before silence, which only follows from it.
struct EndProof {
  const Suspect* cause = nullptr;
  std::optional<Silence> silence;
  [[nodiscard]] bool any() const noexcept { return cause != nullptr || silence; }
};

[[nodiscard]] EndProof end_proof(const Witness& witness, FrameRef noticed) {
  if (const Suspect* cause = proven_cause(witness, noticed)) return {cause, {}};
  return {nullptr, silence_of(witness.connection, noticed)};
}

[[nodiscard]] std::string in_vain_text(const Connection& connection, const Silence& silence) {
  const SideState& state = connection.of(silence.stuck);
  const Side silent = other(silence.stuck);
  if (silence.of == Silence::Of::keep_alives) {
    return fmt::format(
        "The {} asked {} times whether the {} is still there (frames {} to {}) and got no answer: path or peer failed.",
        name(silence.stuck), grouped(state.liveness->unheard.copies + 1), name(silent), silence.first.number,
        silence.last.number);
  }
  const std::uint64_t heard = heard_last(connection.of(silent)).number;
  const std::string repeats =
      fmt::format("The {} sent the same packets again {} times (frames {} to {})", name(silence.stuck),
                  grouped(state.repeats), silence.first.number, silence.last.number);
  if (heard == 0) {
    return fmt::format(
        "{}, and no frame of the {} is in the capture: path or peer failed, or its answers were not captured.", repeats,
        name(silent));
  }
  return fmt::format("{} and got no answer from the {} since frame {}: path or peer failed.", repeats, name(silent),
                     heard);
}

/// `noticed`: where something else shows that it is over; number 0: nothing does.
void lost_in_silence(const Witness& witness, const Silence& silence, FrameRef noticed, NoticedBy by) {
  Connection& connection = witness.connection;
  if (silence.of == Silence::Of::keep_alives) connection.asked_in_vain = silence.stuck;
  Cause cause;
  cause.rule = RuleId::connection_lost;
  cause.frames = {silence.first.number, silence.last.number};
  if (by != NoticedBy::capture_end && noticed.number != silence.last.number) cause.frames.push_back(noticed.number);
  const FrameRef heard = heard_last(connection.of(other(silence.stuck)));
  if (heard.number != 0) cause.frames.push_back(heard.number);
  cause.message = in_vain_text(connection, silence);
  // What is repeated into silence proves it, also in a capture that began later. Not where nobody captured who is
  // silent: an RNR NAK makes its receiver repeat as well.
  const bool seen = connection.trusted() || connection.of(other(silence.stuck)).newest_lack().number <
                                                connection.of(silence.stuck).first_repeat.number;
  const bool proven = seen && heard.number != 0;
  witness.say(RuleId::connection_lost,
              {.frames = {silence.first, silence.last, by == NoticedBy::successor ? noticed : FrameRef{}, heard},
               .at_most = proven ? Severity::error : Severity::note,
               .what = cause.message});
  connection.facts.closed = Closed{Closed::How::timeout, silence.last, {}, std::move(cause)};
}

/// A close that was not seen may stand in a file that is missing.
void lost_unseen(const Witness& witness, FrameRef noticed) {
  Connection& connection = witness.connection;
  if (connection.messages > 0) {
    witness.say(RuleId::connection_lost,
                {.frames = {noticed},
                 .at_most = Severity::note,
                 .what = "The connection ended without a close in the capture: the same endpoints began a new one."});
  }
  connection.facts.closed = Closed{Closed::How::superseded, noticed, {}, {}};
}

void judge_what_is_due(const Witness& witness, const Ending& end) {
  if (!witness.connection.rpcrdma()) return;
  offers_at_end(witness, end);
  judge_missing_errors(witness, end);
  judge_open_calls(witness, end);
}

/// What ended it: the frame in which it was noticed, or the last of its own.
FrameRef judge_lost(const Witness& witness, FrameRef noticed, NoticedBy by, const EndProof& proof) {
  Connection& connection = witness.connection;
  if (connection.over()) return noticed;
  connection.stage = Connection::Stage::over;
  Ending end{by == NoticedBy::capture_end ? connection.last_frame : noticed, Ending::How::lost, {}};
  if (proof.cause != nullptr) {
    close_with(witness, Closed{Closed::How::superseded, noticed, {}, {}}, *proof.cause);
  } else if (proof.silence) {
    // What shows that it was over is the end of something of its own.
    if (by != NoticedBy::close) end.at = proof.silence->last;
    lost_in_silence(witness, *proof.silence, noticed, by);
  } else {
    lost_unseen(witness, noticed);
    // Nobody saw it end: what was due may stand where the capture lacks frames, and how long it was waited for is not
    // known either.
    end = {connection.last_frame, Ending::How::unseen, {}};
  }
  judge_what_is_due(witness, end);
  return end.at;
}

/// What follows may be this connection or another one: what was due may have come, and what was repeated been heard.
void leave_unseen(const Witness& witness, FrameRef noticed) {
  Connection& connection = witness.connection;
  connection.stage = Connection::Stage::over;
  connection.facts.closed = Closed{Closed::How::unseen, noticed, {}, {}};
  witness.unchecked(RuleId::connection_lost, "whether it ended, or goes on as another connection, is not known");
  judge_what_is_due(witness, {connection.last_frame, Ending::How::unseen, {}});
}

/// Refused, and nothing more: the close itself is not in the capture.
[[nodiscard]] bool ended_by_refusal(const Connection& connection) {
  if (connection.suspects.empty()) return false;
  const Suspect& refused = connection.suspects.back();
  if (refused.refused_ordinal == 0) return may_have_ended(connection, refused);
  // An RNR NAK, which its receiver may answer with a retry. That it was one Call too many and fatal takes more than
  // silence: a close, or a successor.
  if (refused.rule == RuleId::credit_overrun_fatal) return false;
  if (refused.gaps != connection.gaps()) return false;
  // Each side says how often the other may try again.
  const auto& retries = connection.of(other(refused.sender)).depths.rnr_retry;
  if (!retries || *retries != 0) return false;
  const SideState& sender = connection.of(refused.sender);
  // The refusal may stand in front of what it refuses, which is not the first thing behind it.
  const std::uint64_t known = std::max(refused.frame.number, refused.refused.number);
  const bool goes_on = std::max(sender.last_repeat.number, sender.last_event.number) > known;
  return !goes_on && may_have_ended(connection, refused);
}

/// Whose FIN, or DREQ, stands behind what it repeated in vain.
[[nodiscard]] std::optional<Side> leaver(const Connection& connection) {
  if (connection.stage != Connection::Stage::leaving) return std::nullopt;
  const FrameRef client = connection.of(Side::active).farewell;
  const FrameRef server = connection.of(Side::passive).farewell;
  const bool client_first = client.number != 0 && (server.number == 0 || client.number < server.number);
  return client_first ? Side::active : Side::passive;
}

[[nodiscard]] Closed closed_by(const Connection& connection, Closed::How how, Side side, FrameRef frame) {
  return {how, frame, when(connection.roles_known(), party(side)), {}};
}

/// It ends as `closed` says, by `side`: known at `now`. `cause`: what proves why; null: nothing does.
void end_as(const Witness& witness, Closed closed, Side side, FrameRef now, const Suspect* cause) {
  Connection& connection = witness.connection;
  connection.stage = Connection::Stage::over;
  const bool orderly = cause == nullptr && closed.how != Closed::How::reset;
  if (cause != nullptr) {
    close_with(witness, closed, *cause);
  } else {
    if (orderly) closed.cause = reason_to_leave(witness, side, now);
    connection.facts.closed = closed;
  }
  judge_what_is_due(witness, {now, orderly ? Ending::How::orderly : Ending::How::cut_off, side});
}

/// Who resets the connection does not answer any more what was asked of it there.
void judge_reset(const Witness& witness, Side by, FrameRef frame) {
  Connection& connection = witness.connection;
  std::uint64_t calls = 0;
  const Transaction* oldest = nullptr;
  for (const auto& [key, call] : connection.transactions) {
    const bool open = call.requester == other(by) && call.surely_open() && !call.malformed();
    // Of two taps one may be ahead: an answer right in front of the reset would stand behind it.
    const bool waited = trace::passed(call.call.time, frame.time, trace::two_taps_apart);
    if (!open || !waited || answer_may_be_unseen(connection, call)) continue;
    ++calls;
    if (oldest == nullptr || call.call.number < oldest->call.number) oldest = &call;
  }
  if (oldest == nullptr) return;
  witness.say(RuleId::connection_lost,
              {.frames = {frame, oldest->call},
               .xid = oldest->xid,
               .what = fmt::format("The {} reset the connection (frame {}) with {} of the {} "
                                   "unanswered.",
                                   name(by), frame.number, counted(calls, "Call"), name(other(by)))});
}

}  // namespace

namespace {

/// A NAK that stops a queue pair, and the connection went on: what was said of it proves nobody's fault.
void acquit_of_naks_without_effect(const Witness& witness) {
  Connection& connection = witness.connection;
  for (const Suspect& suspect : connection.suspects) {
    const bool without_effect = suspect.how == Closed::How::nak && suspect.refused_ordinal == 0 && suspect.finding &&
                                !may_have_ended(connection, suspect);
    if (!without_effect || !witness.context.book.stands(suspect.finding)) continue;
    Finding& finding = witness.context.book.at(suspect.finding);
    finding.severity = std::min(finding.severity, Severity::warning);
    finding.violator.reset();
    finding.role.reset();
    finding.message += " Yet work went on: the NAK did not arrive, or is of an earlier use of the queue pair.";
  }
}

}  // namespace

void dismiss_suspects(const Witness& witness) {
  acquit_of_naks_without_effect(witness);
  witness.connection.suspects.clear();
}

void judge_close(const Witness& witness, const trace::Disconnect& event) {
  Connection& connection = witness.connection;
  using How = trace::Disconnect::How;
  if (connection.over()) return;
  if (by_what_follows(event.how)) {
    const EndProof proof = end_proof(witness, event.frame);
    if (event.how == How::superseded || proof.cause != nullptr) {
      judge_lost(witness, event.frame, NoticedBy::successor, proof);
    } else {
      leave_unseen(witness, event.frame);
    }
    return;
  }
  const Side by = event.how == How::reply ? other(event.side) : event.side;
  const std::optional<Side> left = leaver(connection);
  const Suspect* cause = proven_cause(witness, event.frame);
  // Who gives up says so, to nobody.
  const bool exhausted = (event.how == How::request && connection.of(by).repeats >= 5) ||
                         (event.how == How::reset && repeats_in_vain(connection, by));
  if (cause == nullptr && exhausted) {
    // Unless the other side was heard meanwhile: it has only not taken what is repeated.
    if (const EndProof proof = end_proof(witness, event.frame); proof.any()) {
      judge_lost(witness, event.frame, NoticedBy::close, proof);
      return;
    }
  }
  // A FIN may still be answered, and all that it follows; a DREQ may be.
  const bool leaves = event.how == How::fin || event.how == How::request;
  if (cause == nullptr && leaves && !left && repeats_in_vain(connection, by)) {
    connection.stage = Connection::Stage::leaving;
    if (connection.mount != nullptr) connection.mount->left_unanswered = true;
    return;
  }
  if (left && (event.how != How::reset || event.side == *left)) {
    end_as(witness, closed_by(connection, Closed::How::disconnect, *left, connection.of(*left).farewell), *left,
           event.frame, cause);
    return;
  }
  if (cause == nullptr && (event.how == How::request || event.how == How::reply)) {
    witness.say(RuleId::cm_dreq, {.frames = {event.frame},
                                  .what = fmt::format("The {} closed the connection in good order.", name(by))});
  }
  const Closed::How how = event.how == How::reset ? Closed::How::reset : Closed::How::disconnect;
  if (cause == nullptr && event.how == How::reset) judge_reset(witness, by, event.frame);
  end_as(witness, closed_by(connection, how, by, event.frame), by, event.frame, cause);
}

namespace {

/// It ended with the FIN, or DREQ, that nobody answered. True when there was one.
bool end_if_leaving(const Witness& witness) {
  const std::optional<Side> left = leaver(witness.connection);
  if (!left) return false;
  const FrameRef farewell = witness.connection.of(*left).farewell;
  end_as(witness, closed_by(witness.connection, Closed::How::disconnect, *left, farewell), *left, farewell,
         proven_cause(witness, farewell));
  judge_live_chunks(witness, farewell);
  return true;
}

}  // namespace

void judge_still_open(const Witness& witness, FrameRef last, FrameRef successor) {
  Connection& connection = witness.connection;
  acquit_of_naks_without_effect(witness);
  const SideState& client = connection.of(Side::active);
  const SideState& server = connection.of(Side::passive);
  const bool succeeded = successor.number != 0;
  // TCP repeats itself for minutes: that it does is enough. No adapter tries more often than seven times: who has done
  // so for as long as counts, and has heard nothing since, has given up.
  constexpr TimeNs quiet_for = 2'000'000'000;
  const SideState& stuck = client.repeats >= server.repeats ? client : server;
  const bool quiet = last.time - stuck.last_repeat.time > quiet_for ||
                     connection.facts.transport == trace::Transport::iwarp ||
                     repeats_in_vain(connection, client.repeats >= server.repeats ? Side::active : Side::passive);
  if (succeeded && retries_exhausted(connection, successor)) {
    const EndProof proof = end_proof(witness, successor);
    judge_live_chunks(witness, judge_lost(witness, successor, NoticedBy::successor, proof));
    return;
  }
  const EndProof proof = end_proof(witness, last);
  // Repeats that are acknowledged, each of them, prove nothing.
  const bool silent = !succeeded && quiet && proof.any() && retries_exhausted(connection, {});
  if (silent || ended_by_refusal(connection)) {
    judge_live_chunks(witness, judge_lost(witness, last, NoticedBy::capture_end, proof));
    return;
  }
  if (end_if_leaving(witness)) return;
  judge_what_is_due(witness, {last, Ending::How::capture_end, {}});
}

}  // namespace rpcrdma::referee
