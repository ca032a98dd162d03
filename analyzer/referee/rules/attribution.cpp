// SPDX-License-Identifier: GPL-2.0-or-later
// Group L: why a connection ended, and who is to blame for it.
#include <algorithm>

#include <fmt/format.h>

#include "referee/rules/checks.hpp"

namespace rpcrdma::referee {

namespace {

[[nodiscard]] const Suspect* decisive(const Connection& connection) {
  for (auto at = connection.suspects.rbegin(); at != connection.suspects.rend(); ++at) {
    // A proven cause beats what only followed from it; work that went on was not ended by it.
    if (connection.completed <= at->completed + 2 || at->refused_ordinal != 0) {
      for (auto earlier = connection.suspects.begin(); earlier != connection.suspects.end(); ++earlier) {
        if (earlier->proven && earlier->refused_ordinal == 0 && connection.completed <= earlier->completed + 2)
          return &*earlier;
      }
      return &*at;
    }
  }
  return nullptr;
}

void close_with(Context& context, Connection& connection, Closed closed, const Suspect& suspect) {
  closed.how = suspect.how;
  closed.frame = suspect.frame;
  closed.by = suspect.by;
  closed.cause = Cause{suspect.rule, suspect.proven, suspect.frames, suspect.message};
  connection.facts.closed = closed;
  if (suspect.rule == RuleId::credit_overrun_fatal &&
      !context.book.has(RuleId::credit_overrun_fatal, connection.id())) {
    FrameRef refused;
    refused.number = suspect.frames.empty() ? 0 : suspect.frames.front();
    refused.time = suspect.frame.time;
    context.book.add({RuleId::credit_overrun_fatal,
                      connection.id(),
                      {refused, suspect.frame},
                      suspect.message + " The connection ended.",
                      std::nullopt,
                      std::nullopt,
                      suspect.culprit,
                      Role::requester});
  }
  if (suspect.finding && suspect.rule == RuleId::credit_grant_unbacked) {
    context.book.at(*suspect.finding).severity = Severity::error;
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
