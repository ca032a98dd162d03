// SPDX-License-Identifier: GPL-2.0-or-later
// Group M: the quality of the capture, decided before anyone is blamed.
#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "referee/docket/cases.hpp"
#include "referee/docket/counted.hpp"
#include "referee/docket/resting.hpp"
#include "referee/rules/checks.hpp"
#include "referee/rules/rows.hpp"
#include "referee/rules/symptoms.hpp"

namespace rpcrdma::referee {

namespace {

/// How many transactions have to come whole after a gap until "never seen" proves something again: twice what can be
/// outstanding, so that what was open in the missing frames has been resolved (U2). What was seen open is kept.
[[nodiscard]] std::uint64_t recovery(const Connection& connection) noexcept {
  std::uint64_t most = 64;
  for (const Ledger& ledger : connection.credits) most = std::max<std::uint64_t>(most, std::min(ledger.limit(), 4096U));
  return 2 * most;
}

}  // namespace

const Row rows::capture_gap{
    .group = 'M',
    .severity = Severity::note,
    .versions = Versions::both,
    .repetition = Repetition::once,
    .source = "observation",
    .who = "nobody",
    .title = "The capture lacks packets of this connection",
    .explanation =
        "Packets that the receiver did get are not in the file. From there on nothing is judged that depends on them, "
        "until as many calls are over as prove that whatever was open at that time is: twice the credits, and at least "
        "128.",
    .evidence = "Sequence numbers that were never seen although later ones were acknowledged.",
    .next =
        "tcpdump's 'packets dropped by kernel', a larger buffer (-B), a shorter snap length (-s), the mirror port's "
        "drop counters. Capturing an adapter directly reports no drops even when there are some."};

namespace {

/// What `side` sent from here on is not known for a while: what was judged in the belief that it had sent nothing more
/// than was heard is taken back.
void lose_sight(const Witness& witness, Side side) {
  Connection& connection = witness.connection;
  // What was held back behind the hole was judged without it.
  const std::uint64_t since = connection.of(side).last_event.number;
  const bool any_order = connection.order_lost();
  std::erase_if(connection.cases, [&](const Case& waited) {
    return waited.accused == other(side) && (any_order || waited.frame.number > since);
  });
  std::erase_if(connection.about_answers, [&](const AboutAnswer& about) {
    if (about.requester != side) return false;
    take_back(witness, about);
    return true;
  });
}

[[nodiscard]] Connection::FileOrder order_shown_by(trace::Quality::Kind kind) noexcept {
  using Kind = trace::Quality::Kind;
  if (kind == Kind::shuffled) return Connection::FileOrder::shuffled;
  return kind == Kind::late ? Connection::FileOrder::skewed : Connection::FileOrder::swapped;
}

[[nodiscard]] Doubt doubt_of(trace::Gap::Kind kind) noexcept {
  switch (kind) {
    case trace::Gap::Kind::missing:
      break;
    case trace::Gap::Kind::headless:
      return Doubt::headless;
    case trace::Gap::Kind::unaligned:
      return Doubt::framing_lost;
  }
  return Doubt::frames_missing;
}

void say_gap(const Witness& witness, const trace::Gap& event) {
  const Connection& connection = witness.connection;
  ConnectionFacts& facts = witness.connection.facts;
  const std::string amount = counted(event.count, facts.transport == trace::Transport::iwarp ? "octet" : "packet");
  switch (event.kind) {
    case trace::Gap::Kind::missing:
      if (witness.connection.of(event.side).events == 0) break;  // the whole direction is missing: that is said instead
      facts.gaps += event.count;
      witness.say(
          RuleId::capture_gap,
          {.frames = {event.frame},
           .what = fmt::format("The capture lacks {} that the {} sent{}. Until {} are over, what rests on having "
                               "seen everything is not judged.",
                               amount, name(event.side), event.proven ? " and its peer acknowledged" : "",
                               counted(connection.trusted_from - connection.completed, "more transaction"))});
      break;
    case trace::Gap::Kind::headless:
      witness.unchecked(
          RuleId::capture_gap,
          fmt::format("the header of the FPDU in frame {} is not whole in the capture", event.frame.number));
      break;
    case trace::Gap::Kind::unaligned:
      witness.unchecked(RuleId::capture_gap,
                        fmt::format("where the FPDUs of {} that the {} sent in front of frame {} begin is not known",
                                    amount, name(event.side), event.frame.number));
      break;
  }
}

/// Something that `side` sent, and that would be known by `frame`, is not.
void miss(const Witness& witness, Side side, FrameRef frame, Doubt why) {
  Connection& connection = witness.connection;
  SideState& state = connection.of(side);
  ++state.gaps;
  state.newest_gap = frame;
  if (connection.mount != nullptr) {
    connection.mount->gaps.note(connection.id(), frame);
    outcomes_missing(connection.mount->nfs);
  }
  connection.distrust(recovery(connection), why);
  for (SideState& each : connection.sides) each.reads.clear();
  for (Ledger& ledger : connection.credits) ledger.full_since = {};
  lose_sight(witness, side);
  for (Offer& offer : connection.offers) offer.undecidable = true;
}

}  // namespace

void judge_gap(const Witness& witness, const trace::Gap& event) {
  miss(witness, event.side, event.frame, doubt_of(event.kind));
  take_back_what_rests(witness, event.side, event.frame);
  // What is missing was sent before what stands behind it, whenever the hole is given up. And who has refused one for
  // good takes nothing more of it: the queue pair is in the error state, the stream is over.
  const std::uint64_t behind = event.overtaken_in.number;
  for (Suspect& suspect : witness.connection.suspects) {
    const bool not_taken = suspect.refused_ordinal == 0 && suspect.by == party(other(event.side));
    if (not_taken || (behind != 0 && behind < suspect.frame.number)) ++suspect.gaps;
  }
  witness.connection.of(event.side).gap_amount += event.count;
  say_gap(witness, event);
}

void judge_gap_behind_close(const Witness& witness, const trace::Gap& event) {
  doubt_left_offers(witness, event.side);
  take_back_what_rests(witness, event.side, event.frame);
}

void judge_missing_farewell(const Witness& witness, const trace::Disconnect& answer) {
  const Side left = other(answer.side);
  if (witness.connection.of(left).events == 0) return;  // the whole direction is missing: that is said instead
  ++witness.connection.of(left).gap_amount;
  ++witness.connection.facts.gaps;
  miss(witness, left, answer.frame, Doubt::frames_missing);
  take_back_what_rests(witness, left, answer.frame);
  witness.say(RuleId::capture_gap,
              {.frames = {answer.frame},
               .what = fmt::format("The capture lacks the disconnect request (DREQ) of the {}, which this answers, and "
                                   "perhaps what stood in front of it.",
                                   name(left))});
}

void lose_input(const Witness& witness, FrameRef behind) {
  for (const Side side : {Side::active, Side::passive}) miss(witness, side, behind, Doubt::input_lost);
}

const Row rows::frame_truncated{
    .group = 'M',
    .severity = Severity::note,
    .versions = Versions::both,
    .source = "observation",
    .who = "nobody",
    .title = "Frames were cut short by the snap length",
    .explanation =
        "Sizes are still judged by the length on the wire. What stands in the missing octets, such as chunk lists or "
        "private data, is not judged.",
    .evidence = "Captured length below the length on the wire.",
    .next = "Capture with -s 0, or with at least 512 octets to keep headers, chunk lists and private data."};

const Row rows::capture_reordered{
    .group = 'M',
    .severity = Severity::note,
    .versions = Versions::both,
    .source = "observation",
    .who = "nobody",
    .title = "Frames stand in the file in another order than on the wire",
    .explanation = "Packets are put back into sequence order before anything is judged.",
    .evidence = "Packet sequence numbers against file order.",
    .next = "Usual with several receive queues or two capture interfaces; reordercap puts a file in order by time."};

const Row rows::capture_time_backwards{
    .group = 'M',
    .severity = Severity::note,
    .versions = Versions::both,
    .source = "observation",
    .who = "nobody",
    .title = "Time stamps go backwards",
    .explanation =
        "The clock was set during the capture or two sources were joined. Latencies and timeouts around that place are "
        "not reliable; the order of packets is not affected.",
    .evidence = "A frame with an earlier time stamp than the one before it.",
    .next = "Use one clock (PTP or the adapter's) for all capture points; --merge for two taps."};

const Row rows::icrc_bad{
    .group = 'M',
    .severity = Severity::note,
    .versions = Versions::both,
    .source = "IBA; RFC 5044",
    .who = "nobody",
    .title = "Checksums do not match",
    .explanation =
        "The invariant CRC (RoCE, InfiniBand) or the MPA CRC does not fit the packet. Captured on the sending host "
        "that is usual, because the adapter fills it in later; from a mirror port it means damage on the way.",
    .evidence =
        "ICRC or CRC-32c of the first packets of a connection, of all with --check-crc. The packets are judged all the "
        "same.",
    .next = "Captured on the wire: link errors in ethtool -S and rdma statistic show (rx_icrc_encapsulated on mlx5)."};

void judge_quality(Context& context, Connection* connection, const trace::Quality& event) {
  using Kind = trace::Quality::Kind;
  const ConnectionId id = connection != nullptr ? connection->id() : 0;
  const auto say = [&](RuleId rule, std::string message) {
    context.book.add(
        {.rule = rule, .connection = id, .frames = {event.frame}, .message = std::move(message), .habit = true});
  };
  switch (event.kind) {
    case Kind::frame_truncated:
      say(RuleId::frame_truncated,
          "Frames were cut by the capture (snap length). Sizes are taken from the headers; what stood in the missing "
          "octets is not judged.");
      break;
    case Kind::checksum_bad:
      say(RuleId::icrc_bad,
          "A checksum (ICRC or MPA CRC) does not match. Captures taken on the sending host often show that; the frame "
          "is used all the same.");
      break;
    case Kind::reordered:
    case Kind::late:
    case Kind::shuffled:
      if (connection != nullptr) lose_order(Witness{context, *connection}, order_shown_by(event.kind));
      say(RuleId::capture_reordered,
          "Packets stand in the file in another order than they were sent; they were sorted by "
          "sequence number.");
      break;
    case Kind::resent:
      if (connection != nullptr) lose_order(Witness{context, *connection}, order_shown_by(event.kind));
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
        connection->of(event.side).cannot_be_read(event.frame);
      }
      context.book.unchecked(RuleId::capture_gap, id,
                             fmt::format("the FPDU framing of the stream was lost near frame {}", event.frame.number));
      break;
    case Kind::input_lost:  // of all connections: lose_input()
      break;
    case Kind::unplaced:
      context.unplaced = event.frame;
      break;
    case Kind::mpa_cut:
      if (connection != nullptr) {
        connection->distrust(recovery(*connection), Doubt::framing_lost);
        connection->of(event.side).cannot_be_read(event.frame);
        ++connection->messages_cut;
        lose_sight(Witness{context, *connection}, event.side);
      }
      context.book.unchecked(
          RuleId::capture_gap, id,
          fmt::format("the capture cut frame {} where an MPA frame or an FPDU begins: where the next ones "
                      "begin is not known for a while",
                      event.frame.number));
      break;
    case Kind::immediate:
      if (connection != nullptr) judge_immediate(Witness{context, *connection}, event);
      break;
  }
}

const Row rows::capture_duplicate{.group = 'M',
                                  .severity = Severity::note,
                                  .versions = Versions::both,
                                  .repetition = Repetition::once,
                                  .source = "observation",
                                  .who = "nobody",
                                  .title = "The capture holds the same frames twice",
                                  .explanation =
                                      "Two taps or a mirror of two ports record each packet more than once. Copies are "
                                      "removed and not counted as retransmissions.",
                                  .evidence = "The same packet with the same octets within a very short time.",
                                  .next = "Mirror one port only, or capture on one interface of a bond."};

void judge_repeat(const Witness& witness, const trace::Repeated& event) {
  Connection& connection = witness.connection;
  using Kind = trace::Repeated::Kind;
  constexpr TimeNs same_round = 10'000'000;
  switch (event.kind) {
    case Kind::capture_duplicate:
    case Kind::handshake_copy:
      witness.say(RuleId::capture_duplicate,
                  {.frames = {event.frame},
                   .what = "The capture holds the same packet twice (mirror port or two taps); it counts once."});
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
      if (event.side == Side::passive && connection.ready_seen && connection.messages == 0 && !connection.over()) {
        ++connection.accepted_again.times;
        connection.accepted_again.last = event.frame;
      }
      break;
  }
}

const Row rows::capture_start_missing{
    .group = 'M',
    .severity = Severity::note,
    .versions = Versions::both,
    .source = "observation",
    .who = "nobody",
    .title = "The start of the connection is not in the capture",
    .explanation =
        "Without the handshake nobody can say what sizes were agreed, whether remote invalidation is allowed, and how "
        "many calls were open. Rules that need it are not judged.",
    .evidence = "The first frame of the connection is data, not a REQ or an MPA Request.",
    .next =
        "Start the capture before the mount, or unmount and mount again while it runs. A Linux client also reconnects "
        "by itself after five idle minutes."};

void judge_missing_start(const Witness& witness, FrameRef frame) {
  witness.say(
      RuleId::capture_start_missing,
      {.frames = {frame},
       .what = "The start of this connection is not in the capture: private data, thresholds and earlier Calls are not "
               "known, and nothing that needs them is judged."});
  witness.unchecked(RuleId::inline_threshold_exceeded, "the handshake is not in the capture");
}

const Row rows::capture_one_way{.group = 'M',
                                .severity = Severity::note,
                                .versions = Versions::both,
                                .source = "observation",
                                .who = "nobody",
                                .title = "Only one direction of the connection was captured",
                                .explanation =
                                    "Calls cannot be matched with replies, and what the other side granted or offered "
                                    "is not known. Rules on credits, memory and lifetime are not judged.",
                                .evidence = "Packets of one side only, no acknowledgements or answers from the other.",
                                .next =
                                    "Mirror both directions of the port, or capture on the host; RoCE through the "
                                    "adapter's own sniffing needs both transmit and receive."};

void judge_one_way(const Witness& witness, Side seen) {
  witness.say(
      RuleId::capture_one_way,
      {.frames = {witness.connection.facts.opened},
       .what = fmt::format("Only the {}'s frames are in the capture: credits, bounds and lifetimes cannot be judged.",
                           name(seen))});
  for (const RuleId rule : {RuleId::credit_limit_exceeded, RuleId::rdma_unknown_handle, RuleId::reply_without_call}) {
    witness.unchecked(rule, "only one direction is in the capture");
  }
}

const Row rows::not_rpcrdma{
    .group = 'M',
    .severity = Severity::note,
    .versions = Versions::both,
    .source = "observation",
    .who = "nobody",
    .title = "The connection carries something else",
    .explanation =
        "Its messages do not look like RPC-over-RDMA again and again: another protocol uses RDMA here (iSER, NVMe over "
        "fabrics, SMB Direct, MPI). Nothing on it is judged.",
    .evidence = "XID, version and message type words that make no sense, message after message.",
    .next = "If it should be NFS, check which service answers on that port: rdma resource show cm_id."};

void judge_other_protocol(const Witness& witness, FrameRef frame) {
  witness.say(
      RuleId::not_rpcrdma,
      {.frames = {frame}, .what = "This connection carries something other than RPC-over-RDMA; it is not judged."});
}

const Row rows::capture_sampled{
    .group = 'N',
    .severity = Severity::note,
    .versions = Versions::both,
    .source = "observation",
    .who = "nobody",
    .title = "The capture is a sample",
    .explanation =
        "Packets are missing all over both directions: a sampling or overloaded mirror. The mount itself may be in the "
        "best of health; nothing that needs what is missing is judged.",
    .evidence =
        "More than 5 % of the packets (InfiniBand) or octets (TCP) of both directions are missing, in more than 20 "
        "places. One burst is capture-gap.",
    .next = "Capture on the host (tcpdump with ibdump, or on the Ethernet device), or with a mirror that keeps up."};

void judge_sampling(const MountWitness& witness, const Mount& mount) {
  Symptom symptom;
  std::uint64_t missing = 0;
  std::uint64_t all = 0;
  for (const Life& life : mount.lives) {
    if (!life.sampled()) continue;
    for (const auto& side : life.liveness) {
      missing += side->missing;
      all += side->missing + side->amount;
    }
    if (symptom.frames.empty()) symptom.frames = {life.opened};
    if (symptom.connections.size() < Mount::most_connections_named) symptom.connections.push_back(life.id);
    ++symptom.times;
  }
  if (symptom.frames.empty()) return;
  --symptom.times;
  symptom.owes = Owes::nobody;
  symptom.what = fmt::format(
      "The capture is a sample: {:.0f} % of what went over {} is missing, all over both "
      "directions.",
      100.0 * static_cast<double>(missing) / static_cast<double>(std::max<std::uint64_t>(all, 1)),
      counted(symptom.times, "connection"));
  witness.say(RuleId::capture_sampled, std::move(symptom));
}

}  // namespace rpcrdma::referee
