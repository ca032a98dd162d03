// SPDX-License-Identifier: GPL-2.0-or-later
// Group M: the quality of the capture, decided before anyone is blamed.
#include <algorithm>

#include <fmt/format.h>

#include "referee/counted.hpp"
#include "referee/rules/checks.hpp"

namespace rpcrdma::referee {

namespace {

/// How many transactions have to come whole after a gap until "never seen" proves something again: twice what can be
/// outstanding, so that every XID that was open at the gap has been resolved (U2).
[[nodiscard]] std::uint64_t recovery(const Connection& connection) noexcept {
  std::uint64_t most = 64;
  for (const Ledger& ledger : connection.credits) most = std::max<std::uint64_t>(most, std::min(ledger.limit(), 4096U));
  return 2 * most;
}

}  // namespace

void judge_gap(Context& context, Connection& connection, const trace::Gap& event) {
  SideState& state = connection.of(event.side);
  ++state.gaps;
  state.gap_amount += event.count;
  connection.facts.gaps += event.count;
  connection.distrust(recovery(connection), Doubt::frames_missing);
  for (SideState& side : connection.sides) side.reads.clear();
  for (Ledger& ledger : connection.credits) ledger.full_since = {};
  // What was held back behind the hole was judged without it.
  const std::uint64_t since = state.last_event.number;
  std::erase_if(connection.pending, [&](const Pending& pending) {
    return pending.side == other(event.side) && pending.frame.number > since;
  });
  for (Offer& offer : connection.offers) offer.undecidable = true;
  context.book.fold(
      {RuleId::capture_gap,
       connection.id(),
       {event.frame},
       fmt::format("The capture lacks {} that the {} sent{}. Until every Call that was open is resolved, what "
                   "rests on having seen everything is not judged.",
                   connection.facts.transport == trace::Transport::iwarp ? counted(event.count, "octet")
                                                                         : counted(event.count, "packet"),
                   name(event.side), event.proven ? " and its peer acknowledged" : ""),
       std::nullopt,
       std::nullopt,
       std::nullopt,
       std::nullopt});
}

void judge_quality(Context& context, Connection* connection, const trace::Quality& event) {
  using Kind = trace::Quality::Kind;
  const ConnectionId id = connection != nullptr ? connection->id() : 0;
  const auto say = [&](RuleId rule, std::string message) {
    context.book.fold(
        {rule, id, {event.frame}, std::move(message), std::nullopt, std::nullopt, std::nullopt, std::nullopt});
  };
  switch (event.kind) {
    case Kind::frame_truncated:
      say(RuleId::frame_truncated,
          "Frames were cut by the capture (snap length). Sizes are taken from the headers; what stood in the missing "
          "octets "
          "is not judged.");
      break;
    case Kind::checksum_bad:
      say(RuleId::icrc_bad,
          "A checksum (ICRC or MPA CRC) does not match. Captures taken on the sending host often show that; the frame "
          "is "
          "used all the same.");
      break;
    case Kind::reordered:
      say(RuleId::capture_reordered,
          "Packets stand in the file in another order than they were sent; they were sorted by "
          "sequence number.");
      break;
    case Kind::time_backwards:
      say(RuleId::capture_time_backwards,
          "The clock of the capture jumps backwards; times and latencies are unreliable.");
      break;
    case Kind::limit_reached:
      if (connection != nullptr) {
        connection->distrust(recovery(*connection), Doubt::bound);
      }
      context.book.unchecked(
          RuleId::capture_gap, id,
          fmt::format("a limit on what is kept in memory was reached near frame {}", event.frame.number));
      break;
    case Kind::mpa_bad:
      if (connection != nullptr) {
        connection->distrust(recovery(*connection), Doubt::framing_lost);
      }
      context.book.unchecked(RuleId::capture_gap, id,
                             fmt::format("the FPDU framing of the stream was lost near frame {}", event.frame.number));
      break;
    case Kind::immediate_or_atomic:
      if (connection != nullptr) judge_opcode(context, *connection, event);
      break;
  }
}

void judge_repeat(Context& context, Connection& connection, const trace::Repeated& event) {
  using Kind = trace::Repeated::Kind;
  constexpr TimeNs same_round = 10'000'000;
  switch (event.kind) {
    case Kind::capture_duplicate:
      context.book.fold({RuleId::capture_duplicate,
                         connection.id(),
                         {event.frame},
                         "The capture holds the same packet twice (mirror port or two taps); it counts once.",
                         std::nullopt,
                         std::nullopt,
                         std::nullopt,
                         std::nullopt});
      break;
    case Kind::retransmission: {
      ++connection.facts.operations.retransmitted;
      SideState& state = connection.of(event.side);
      if (state.repeats == 0 || event.frame.time - state.last_repeat.time > same_round) ++state.repeats;
      if (state.repeats == 1 && state.first_repeat.number == 0) state.first_repeat = event.frame;
      state.last_repeat = event.frame;
      break;
    }
    case Kind::handshake:
      ++connection.handshake_repeats;
      break;
  }
}

void judge_missing_start(Context& context, Connection& connection, FrameRef frame) {
  context.book.add(
      {RuleId::capture_start_missing,
       connection.id(),
       {frame},
       "The start of this connection is not in the capture: private data, thresholds and earlier Calls are not "
       "known, and nothing that needs them is judged.",
       std::nullopt,
       std::nullopt,
       std::nullopt,
       std::nullopt});
  context.book.unchecked(RuleId::inline_threshold_exceeded, connection.id(), "the handshake is not in the capture");
}

}  // namespace rpcrdma::referee
