// SPDX-License-Identifier: GPL-2.0-or-later
// Group F: who is to blame when an access to memory is refused.
#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "referee/cause/causes.hpp"
#include "referee/cause/not_taken.hpp"
#include "referee/docket/counted.hpp"
#include "referee/rules/rows.hpp"

namespace rpcrdma::referee {

const Row rows::remote_access_error{
    .group = 'F',
    .severity = Severity::error,
    .versions = Versions::both,
    .source = "RFC 8166 section 4.5.3; IBA; RFC 5040; RFC 5041",
    .who = "by evidence",
    .title = "An adapter refused access to memory",
    .explanation =
        "Memory named in a chunk has to stay registered with the right access until the reply. If the adapter refuses "
        "a Read or Write, both queue pairs stop, every outstanding RPC is lost, and the client reconnects.",
    .evidence =
        "NAK 0x62, or a Terminate for a protection or tagged-buffer error. Outside what was offered, or after the "
        "reply, the initiator is at fault; inside a live segment the owner of the memory is. Undecided when the "
        "capture lacks packets.",
    .next =
        "rdma statistic show: resp_remote_access_errors and req_remote_access_errors (mlx5). Client: "
        "rpcrdma:xprtrdma_mr_fastreg, xprtrdma_mr_localinv and mrs_recycled in /proc/self/mountstats. Server: "
        "rpcrdma:svcrdma_wc_read_err, svcrdma_wc_write_err, svcrdma_qp_error."};

const Row rows::offer_invalidated_early{
    .group = 'H',
    .severity = Severity::warning,
    .versions = Versions::v1,
    .source = "reliable-reply draft, Pull Completion",
    .who = "responder",
    .title = "The responder took its offer back before it was pulled",
    .explanation =
        "A responder may give up waiting after a while, but a requester that is still reading then loses its "
        "connection.",
    .evidence =
        "A Read inside the offer is refused with NAK 0x62 or a Terminate before RDMA_DONE. A warning within the pull "
        "timeout, a note later. The specification names no number. Not decided across a gap.",
    .next = "The responder's timeout for pending replies, and its adapter's resp_remote_access_errors (mlx5)."};

const Row rows::cancelled_write_hazard{
    .group = 'I',
    .severity = Severity::note,
    .versions = Versions::both,
    .source = "RFC 8166 section 4.4.1",
    .who = "requester",
    .title = "A write arrived for a call the requester had given up",
    .explanation =
        "A requester that abandons a call invalidates its memory; a responder that knows nothing of it still writes, "
        "and the adapter's refusal ends the connection. The requester may take its memory back, but it pays with the "
        "connection.",
    .evidence = "NAK 0x62 or a Terminate for a Write that belongs to an old call. Not decided across a gap.",
    .next =
        "See whether processes were killed or timed out (soft mounts, timeo and retrans) on the client at that time."};

namespace {

/// The octets of an open Call's chunk, under another handle: not those of a Call that is missing from the capture.
[[nodiscard]] bool meant_for_open_call(const Connection& connection, Side owner, const Case::Use& use) {
  constexpr std::size_t most_looked_at = 256;
  const auto holds = [&](const wire::Segment& segment) {
    return use.length != 0 && use.length <= segment.length && use.offset >= segment.offset &&
           use.offset - segment.offset <= segment.length - use.length;
  };
  const auto in = [&](const wire::WriteChunk& chunk) { return std::any_of(chunk.begin(), chunk.end(), holds); };
  std::size_t looked_at = 0;
  for (const auto& [key, call] : connection.transactions) {
    if (call.requester != owner || !call.surely_open()) continue;  // of others no more are kept than are looked at here
    if (++looked_at > most_looked_at) return false;
    if (writes(use.verb)) {
      if (std::any_of(call.writes.begin(), call.writes.end(), in) || (call.reply_chunk && in(*call.reply_chunk))) {
        return true;
      }
    } else if (std::any_of(call.reads.begin(), call.reads.end(),
                           [&](const wire::ReadSegment& read) { return holds(read.target); })) {
      return true;
    }
  }
  return false;
}

/// The operation that was refused; null: it is not known.
[[nodiscard]] JudgedOp* refused_operation(Connection& connection, const trace::Refusal& refusal) {
  using Refused = trace::Refusal::Refused;
  switch (refusal.refused) {
    case Refused::read:
    case Refused::write:
    case Refused::atomic: {
      const bool writing = refusal.refused != Refused::read;
      return refusal.refused_op == 0 ? nullptr : connection.of(other(refusal.side)).ops.newest([&](const JudgedOp& op) {
        return op.op == refusal.refused_op && writes(op.verb) == writing;
      });
    }
    case Refused::unknown:
      // A NAK has the PSN of what it refuses: the capture lacks that.
      if (refusal.kind != trace::Refusal::Kind::terminate) return nullptr;
      return NotTaken(connection, refusal).access();
    case Refused::send:
    case Refused::nothing:
      break;
  }
  return nullptr;
}

/// It had been answered in full, as it had if the Call was whose data it fetches: what is refused is a later copy of
/// it. Whether the memory was its owner's again by then, the capture need not show.
[[nodiscard]] bool answered_already(Connection& connection, Side initiator, const JudgedOp& judged) {
  if (writes(judged.verb)) return false;
  if (!connection.of(initiator).reads.waits(judged.op)) return true;
  const Transaction* call = connection.find(judged.transaction);
  return !judged.offer && (call == nullptr || call->answered());
}

/// What was held back about it is certain: the owner itself says that it gives no such access. Not so where no message
/// named the memory: one that is missing may have, wrongly.
void settle_refused(const Witness& witness, const trace::Refusal& refusal, std::uint64_t op) {
  std::vector<Case> certain;
  std::erase_if(witness.connection.cases, [&](Case& waited) {
    if (waited.use() == nullptr || waited.use()->op != op || waited.accused == refusal.side) return false;
    certain.push_back(std::move(waited));
    return true;
  });
  for (Case& waited : certain) {
    const bool known = waited.is<Case::UnknownMemory>() == nullptr;
    const bool sure = known || meant_for_open_call(witness.connection, refusal.side, *waited.use());
    waited.settled_by = sure ? Case::SettledBy::proof : Case::SettledBy::refusal;
    waited.settle(witness, waited);
  }
}

/// It broke a rule, and that was refused.
void suspect_initiator(const Witness& witness, const trace::Refusal& refusal, const JudgedOp& judged,
                       Suspect& suspect) {
  suspect.rule = judged.rule;
  suspect.proven = true;
  suspect.culprit = other(refusal.side);
  const Finding& finding = witness.context.book.at(judged.finding);
  const auto& frames = finding.frames;
  // Of very many only the first are told one by one.
  const bool told = std::find(frames.begin(), frames.end(), judged.frame.number) != frames.end();
  suspect.message = told ? finding.message
                         : fmt::format("The {} did in frame {} what {} is about, as often before.",
                                       name(other(refusal.side)), judged.frame.number, rule(judged.rule).name);
  suspect.message += fmt::format(" The {} refused it (frame {}).", name(refusal.side), refusal.frame.number);
}

/// It did what a broken message of the owner says.
void suspect_misleading_owner(const Witness& witness, const trace::Refusal& refusal, const JudgedOp& judged,
                              Suspect& suspect) {
  FindingBook& book = witness.context.book;
  book.evidence(judged.finding, judged.frame);
  book.evidence(judged.finding, refusal.frame);
  const Finding& misled_by = book.at(judged.finding);
  suspect.rule = misled_by.rule;
  suspect.proven = true;
  suspect.culprit = refusal.side;
  suspect.frames.insert(suspect.frames.begin(), misled_by.frames.front());
  suspect.message = fmt::format("{} The {} acted on it (frame {}) and was refused (frame {}).", misled_by.message,
                                name(other(refusal.side)), judged.frame.number, refusal.frame.number);
}

/// A Read inside of what was offered.
void suspect_early_end(const Witness& witness, const trace::Refusal& refusal, const JudgedOp& judged,
                       Suspect& suspect) {
  Offer* offer = find_offer(witness.connection, judged.transaction);
  if (offer != nullptr) offer->refused = refusal.frame;
  const FrameRef offered = offer != nullptr ? offer->frame : FrameRef{};
  const bool early = offer == nullptr || refusal.frame.time - offer->frame.time < witness.context.options.pull_timeout;
  suspect.culprit = refusal.side;
  suspect.message = fmt::format(
      "The {} refused a Read of memory it had offered (frame {}) before any RDMA_DONE: it took the memory back{}.",
      name(refusal.side), refusal.frame.number, early ? " early" : " after a while, as it may");
  suspect.finding = witness.say(RuleId::offer_invalidated_early, {.frames = {judged.frame, refusal.frame, offered},
                                                                  .by = refusal.side,
                                                                  .as = Role::responder,
                                                                  .xid = Transactions::xid(judged.transaction.key),
                                                                  .at_most = early ? Severity::warning : Severity::note,
                                                                  .what = suspect.message});
}

/// Inside of what a Call exposes.
void suspect_registration(const Witness& witness, const trace::Refusal& refusal, const JudgedOp& judged,
                          Suspect& suspect) {
  const std::uint32_t xid = Transactions::xid(judged.transaction.key);
  suspect.proven = true;
  suspect.culprit = refusal.side;
  suspect.message = fmt::format(
      "The {}'s RDMA {} (frame {}) stays inside the memory that the {} exposed for XID {:#010x}, yet the {} refused it "
      "(frame {}): its registration does not hold what its message promised.",
      name(other(refusal.side)), writes(judged.verb) ? "Write" : "Read", judged.frame.number, name(refusal.side), xid,
      name(refusal.side), refusal.frame.number);
  const Transaction* call = witness.connection.find(judged.transaction);
  const FrameRef exposed = call != nullptr ? call->call : FrameRef{};
  suspect.finding = witness.say(RuleId::remote_access_error, {.frames = {judged.frame, refusal.frame, exposed},
                                                              .by = refusal.side,
                                                              .as = Role::requester,
                                                              .xid = xid,
                                                              .what = suspect.message});
  if (!writes(judged.verb) || call == nullptr || refusal.frame.time - call->call.time <= stale_call) return;
  witness.say(RuleId::cancelled_write_hazard,
              {.frames = {judged.frame, call->call, refusal.frame},
               .by = refusal.side,
               .as = Role::requester,
               .xid = xid,
               .what = fmt::format("The refused Write belongs to a Call {:.1f} s old: its application may have given "
                                   "up and the memory be in other use.",
                                   static_cast<double>(refusal.frame.time - call->call.time) / 1e9)});
}

/// Why nobody is to blame for a refused access, as far as it shows.
[[nodiscard]] std::string undecided_text(Connection& connection, const trace::Refusal& refusal,
                                         const JudgedOp* judged) {
  const Side initiator = other(refusal.side);
  const std::string_view refuser = name(refusal.side);
  if (judged != nullptr && judged->state == JudgedOp::State::guilty) {
    return fmt::format(
        "The {} refused access to memory that no message in this capture names (frame {}); whether one is missing that "
        "did cannot be told.",
        refuser, refusal.frame.number);
  }
  if (judged != nullptr && judged->state == JudgedOp::State::inside &&
      answered_already(connection, initiator, *judged)) {
    return fmt::format(
        "The {} refused a repetition (frame {}) of an RDMA Read that it had answered (frame {}); whether its memory "
        "had "
        "to be open by then cannot be told.",
        refuser, refusal.frame.number, judged->frame.number);
  }
  if (judged == nullptr && refusal.refused_op != 0 && connection.of(initiator).ops.full()) {
    return fmt::format(
        "The {} refused access to its memory (frame {}), and more followed the refused operation (frame {}) than the "
        "analyzer remembers: which side is at fault is not known.",
        refuser, refusal.frame.number, refusal.refused_frame.number);
  }
  if (refusal.refused == trace::Refusal::Refused::unknown && refusal.kind != trace::Refusal::Kind::terminate) {
    return fmt::format(
        "The {} refused access to its memory (frame {}); the packet that it refused is not in the capture.", refuser,
        refusal.frame.number);
  }
  return fmt::format(
      "The {} refused access to its memory (frame {}); which side is at fault cannot be told from this capture.",
      refuser, refusal.frame.number);
}

void suspect_nobody(const Witness& witness, const trace::Refusal& refusal, const JudgedOp* judged, Suspect& suspect) {
  suspect.message = undecided_text(witness.connection, refusal, judged);
  witness.say(
      RuleId::remote_access_error,
      {.frames = {refusal.refused_frame, refusal.frame}, .at_most = Severity::warning, .what = suspect.message});
}

}  // namespace

void judge_access_refused(const Witness& witness, const trace::Refusal& refusal) {
  using State = JudgedOp::State;
  Connection& connection = witness.connection;
  const Side initiator = other(refusal.side);
  JudgedOp* judged = refused_operation(connection, refusal);
  Suspect suspect;
  suspect.rule = RuleId::remote_access_error;
  suspect.how = refusal.kind == trace::Refusal::Kind::terminate ? Closed::How::terminate : Closed::How::nak;
  suspect.frame = refusal.frame;
  suspect.by = party(refusal.side);
  suspect.frames = {judged != nullptr ? judged->frame.number : refusal.refused_frame.number, refusal.frame.number};
  if (judged != nullptr) {
    settle_refused(witness, refusal, judged->op);
  } else {
    // A Read that is not in the capture: it may have been one of an offer.
    for (Offer& offer : connection.offers) {
      if (offer.requester == initiator) offer.refused = refusal.frame;
    }
  }
  const bool guilty = judged != nullptr && judged->state == State::guilty;
  if (guilty) witness.context.book.evidence(judged->finding, refusal.frame);
  if (guilty && witness.context.book.at(judged->finding).severity != Severity::note) {
    suspect_initiator(witness, refusal, *judged, suspect);
  } else if (judged != nullptr && judged->state == State::misled && judged->finding) {
    suspect_misleading_owner(witness, refusal, *judged, suspect);
  } else if (judged != nullptr && judged->state == State::inside && connection.trusted() &&
             !answered_already(connection, initiator, *judged)) {
    if (judged->offer) {
      suspect_early_end(witness, refusal, *judged, suspect);
    } else {
      suspect_registration(witness, refusal, *judged, suspect);
    }
  } else {
    suspect_nobody(witness, refusal, judged, suspect);
  }
  std::erase(suspect.frames, 0U);
  connection.suspect(std::move(suspect));
}

}  // namespace rpcrdma::referee
