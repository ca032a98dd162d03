// SPDX-License-Identifier: GPL-2.0-or-later
// Group L: why a connection ended, and who is to blame for it.
#include <algorithm>

#include <fmt/format.h>

#include "referee/rules/checks.hpp"

namespace rpcrdma::referee {

namespace {

constexpr TimeNs idle_time = 300'000'000'000;  // what Linux clients wait before they close an idle connection
constexpr TimeNs soon_after = 5'000'000'000;
/// Transactions that may still be finished by what was under way when the cause of the end struck.
constexpr std::uint64_t under_way = 2;

/// Work that went on was not ended by it. What a refused Send caused is over once that Send is acknowledged.
[[nodiscard]] bool may_have_ended(const Connection& connection, const Suspect& suspect) {
  return connection.completed <= suspect.completed + under_way || suspect.refused_ordinal != 0;
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
[[nodiscard]] bool hidden_by_a_gap(Context& context, const Connection& connection, const Suspect& suspect,
                                   FrameRef close) {
  if (suspect.gaps == connection.gaps()) return false;
  context.book.unchecked(RuleId::connection_lost, connection.id(),
                         fmt::format("{} (frame {}) may be why the connection ended, but packets are missing from the "
                                     "capture between that and the end in frame {}",
                                     rule(suspect.rule).name, suspect.frame.number, close.number));
  return true;
}

/// A client leaves when it unmounts; a server, or a client that still waits for replies, has another reason.
[[nodiscard]] bool leaves_in_the_middle(const Connection& connection, Side by) {
  return by == Side::passive ||
         std::any_of(connection.transactions.begin(), connection.transactions.end(), [&](const auto& entry) {
           return entry.second.requester == by && entry.second.answers == 0 && !entry.second.malformed;
         });
}

/// Nobody was refused and yet one side left: the oldest fault of the other side since which no Call was answered, or
/// that nothing was going on.
[[nodiscard]] std::optional<Cause> reason_to_leave(Context& context, const Connection& connection, Side by,
                                                   FrameRef close) {
  std::uint64_t last_answer = 0;
  for (const TransactionId& id : connection.finished) {
    const auto call = connection.transactions.find(id.key);
    if (call != connection.transactions.end()) last_answer = std::max(last_answer, call->second.reply.number);
  }
  const Finding* fault = nullptr;
  if (connection.whole() && leaves_in_the_middle(connection, by)) {
    fault = context.book.oldest(connection.id(), [&](const Finding& finding) {
      const bool blamed = finding.severity > Severity::note && finding.violator && *finding.violator != party(by);
      return blamed && rule(finding.rule).group != 'A' && !finding.frames.empty() &&
             finding.frames.front() >= last_answer && close.time - finding.time <= soon_after;
    });
  }
  if (fault != nullptr) {
    Cause cause;
    cause.rule = fault->rule;
    cause.frames = {fault->frames.front(), close.number};
    cause.message =
        fmt::format("The {} closed the connection {:.3f} s after this: {}", name(by),
                    static_cast<double>(std::max<TimeNs>(close.time - fault->time, 0)) / 1e9, fault->message);
    return cause;
  }
  const FrameRef last = std::max(connection.of(Side::active).last_event, connection.of(Side::passive).last_event,
                                 [](FrameRef a, FrameRef b) { return a.number < b.number; });
  if (last.number == 0 || close.time - last.time < idle_time) return std::nullopt;
  Cause cause;
  cause.rule = RuleId::cm_dreq;
  cause.frames = {last.number, close.number};
  cause.message =
      fmt::format("The connection had been idle for {} s; the {} closed it, as Linux clients do after 300 s.",
                  (close.time - last.time) / 1'000'000'000, name(by));
  return cause;
}

void close_with(Context& context, Connection& connection, Closed closed, const Suspect& suspect) {
  closed.how = suspect.how;
  closed.frame = suspect.frame;
  closed.by = suspect.by;
  closed.cause = Cause{suspect.rule, suspect.proven, suspect.frames, suspect.message};
  connection.facts.closed = closed;
  if (suspect.rule == RuleId::credit_overrun_fatal &&
      !context.book.has(RuleId::credit_overrun_fatal, connection.id())) {
    context.book.add({RuleId::credit_overrun_fatal,
                      connection.id(),
                      {suspect.refused, suspect.frame},
                      suspect.message + " The connection ended.",
                      std::nullopt,
                      std::nullopt,
                      suspect.culprit,
                      Role::requester});
  }
  if (suspect.finding && suspect.rule == RuleId::credit_grant_unbacked) {
    context.book.at(suspect.finding).severity = Severity::error;
  }
}

}  // namespace

void judge_close(Context& context, Connection& connection, const trace::Disconnect& event) {
  using How = trace::Disconnect::How;
  if (connection.over) return;
  if (event.how == How::superseded) {
    judge_lost(context, connection, event.frame, event.frame);
    return;
  }
  connection.over = true;
  const Side by = event.how == How::reply ? other(event.side) : event.side;
  Closed closed;
  closed.how = event.how == How::reset ? Closed::How::reset : Closed::How::disconnect;
  closed.frame = event.frame;
  closed.by = party(by);

  const Suspect* suspect = decisive(connection);
  if (suspect != nullptr && hidden_by_a_gap(context, connection, *suspect, event.frame)) suspect = nullptr;
  const bool exhausted = event.how == How::request && connection.of(by).repeats >= 5;
  bool orderly = event.how != How::reset;
  if (suspect != nullptr) {
    close_with(context, connection, closed, *suspect);
    orderly = false;
  } else if (exhausted) {
    connection.over = false;
    judge_lost(context, connection, event.frame, {});
    orderly = false;
  } else {
    if (orderly) closed.cause = reason_to_leave(context, connection, by, event.frame);
    connection.facts.closed = closed;
    if (event.how == How::request || event.how == How::reply) {
      context.book.add({RuleId::cm_dreq,
                        connection.id(),
                        {event.frame},
                        fmt::format("The {} closed the connection in good order.", name(by)),
                        std::nullopt,
                        std::nullopt,
                        std::nullopt,
                        std::nullopt});
    }
  }
  if (connection.rpcrdma()) {
    offers_at_end(context, connection, event.frame, false, by, orderly);
    judge_missing_errors(context, connection, event.frame, false, by);
    judge_open_calls(context, connection, event.frame, true, by == Side::active);
  }
}

bool retries_exhausted(const Connection& connection, bool successor) {
  const std::uint64_t rounds = std::max(connection.sides[0].repeats, connection.sides[1].repeats);
  if (successor) return rounds >= 2;
  if (connection.facts.transport == trace::Transport::iwarp) return false;  // TCP may still be trying
  return rounds >= 7;
}

void judge_lost(Context& context, Connection& connection, FrameRef noticed, FrameRef superseded_by) {
  if (connection.over) return;
  connection.over = true;
  const Suspect* suspect = decisive(connection);
  if (suspect != nullptr && hidden_by_a_gap(context, connection, *suspect, noticed)) suspect = nullptr;
  Closed closed;
  closed.frame = noticed;
  if (suspect != nullptr) {
    close_with(context, connection, closed, *suspect);
  } else {
    const Side stuck = connection.sides[0].repeats >= connection.sides[1].repeats ? Side::active : Side::passive;
    const SideState& state = connection.of(stuck);
    const bool silent = state.repeats >= 2;
    closed.how = silent ? Closed::How::timeout : Closed::How::superseded;
    if (silent) {
      closed.frame = state.last_repeat;
      Cause cause;
      cause.rule = RuleId::connection_lost;
      cause.frames = {state.first_repeat.number, state.last_repeat.number};
      if (noticed.number != state.last_repeat.number) cause.frames.push_back(noticed.number);
      cause.message = fmt::format(
          "The {} sent the same packets again {} times (frames {} to {}) and got no answer from the {} "
          "since frame {}: path or peer failed.",
          name(stuck), state.repeats, state.first_repeat.number, state.last_repeat.number, name(other(stuck)),
          connection.of(other(stuck)).last_event.number);
      closed.cause = std::move(cause);
    }
    if (silent || connection.messages > 0) {
      context.book.add({RuleId::connection_lost,
                        connection.id(),
                        {silent ? state.first_repeat : noticed, silent ? state.last_repeat : FrameRef{}, superseded_by},
                        closed.cause
                            ? closed.cause->message
                            : std::string("The connection ended without a close in the capture: the same endpoints "
                                          "began a new one."),
                        connection.trusted() ? std::nullopt : std::optional(Severity::note),
                        std::nullopt,
                        std::nullopt,
                        std::nullopt});
    }
    connection.facts.closed = std::move(closed);
  }
  if (connection.rpcrdma()) {
    offers_at_end(context, connection, noticed, false, std::nullopt, false);
    judge_missing_errors(context, connection, noticed, false, std::nullopt);
    judge_open_calls(context, connection, noticed, true, false);
  }
}

}  // namespace rpcrdma::referee
