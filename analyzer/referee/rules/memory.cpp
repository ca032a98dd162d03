// SPDX-License-Identifier: GPL-2.0-or-later
// Group F: RDMA operations against advertised memory.
#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "referee/docket/cases.hpp"
#include "referee/docket/counted.hpp"
#include "referee/rules/checks.hpp"
#include "referee/rules/long_messages.hpp"
#include "referee/rules/memory_use.hpp"
#include "referee/rules/rows.hpp"
#include "referee/state/lifetime.hpp"

namespace rpcrdma::referee {

namespace {

[[nodiscard]] std::string range(std::uint64_t offset, std::uint64_t length) {
  return fmt::format("{} at {:#x}", counted(length, "octet"), offset);
}

struct RdmaAccess {
  Side initiator;
  FrameRef frame;
  std::uint64_t op;
  std::uint32_t handle;
  std::uint64_t offset;
  std::uint64_t length;
  RdmaVerb verb;
  FrameRef start;  ///< of the operation, when `frame` is a later packet of it
};

}  // namespace

const Row rows::rdma_write_out_of_bounds{
    .group = 'F',
    .severity = Severity::error,
    .versions = Versions::both,
    .needs = {.past = Needs::Past::trusted},
    .source = "RFC 8166 sections 3.4.6 and 4.5.3",
    .who = "responder",
    .title = "An RDMA Write leaves the memory that was offered",
    .explanation =
        "A responder may write only inside the Write and Reply chunk segments of a live call. Outside them the adapter "
        "refuses and the connection ends, or, if the registration happens to be larger, memory of the requester is "
        "overwritten.",
    .evidence =
        "Handle and range of the Write against all segments of outstanding Calls; adjacent segments under one handle "
        "count as one. Not decided across a gap or when the Calls are not in the capture.",
    .next =
        "Requester: rpcrdma:xprtrdma_chunk_write and xprtrdma_chunk_reply show what was offered. Responder: "
        "rpcrdma:svcrdma_decode_wseg and svcrdma_wc_write_err; adapter counters resp_remote_access_errors and "
        "req_remote_access_errors (mlx5)."};

const Row rows::rdma_read_out_of_bounds{
    .group = 'F',
    .severity = Severity::error,
    .versions = Versions::both,
    .needs = {.past = Needs::Past::trusted},
    .source = "RFC 8166 section 3.4.5.1",
    .who = "responder",
    .title = "An RDMA Read leaves the memory that was offered",
    .explanation =
        "A responder may read only inside the Read segments of a live call. Beyond them the adapter refuses and the "
        "connection ends, or data that was never meant for the wire leaves the host.",
    .evidence =
        "Handle and range of the Read Request against the Read segments of outstanding Calls. Reading a part, or "
        "reading twice, is fine. Not decided across a gap, or when the Calls are missing or cut short.",
    .next =
        "Requester: rpcrdma:xprtrdma_chunk_read. Responder: rpcrdma:svcrdma_decode_rseg, svcrdma_post_read_chunk and "
        "svcrdma_wc_read_err."};

const Row rows::rdma_unknown_handle{
    .group = 'F',
    .severity = Severity::error,
    .versions = Versions::both,
    .needs = {.past = Needs::Past::whole},
    .source = "RFC 8166 section 3.1 (derived)",
    .who = "by evidence",
    .title = "An RDMA operation uses a handle that nobody offered",
    .explanation =
        "Every handle has to come from the chunk lists of a live message. One that was never offered is a stale or "
        "corrupted value: the adapter refuses the access and the connection is lost.",
    .evidence =
        "No segment of any message that is remembered carries the handle. A note where a message that offered it may "
        "stand behind what was captured last; not decided while a Call is open whose lists are not known, nor for a "
        "minute, and 128 transactions, behind a gap or the beginning of a capture that begins in the middle.",
    .next =
        "Compare the handle with rpcrdma:svcrdma_decode_rseg or svcrdma_decode_wseg on the server, and with "
        "rpcrdma:xprtrdma_mr_fastreg on the client. A value with swapped octets points at byte order."};

const Row rows::rdma_access_mode{
    .group = 'F',
    .severity = Severity::error,
    .versions = Versions::both,
    .needs = {.past = Needs::Past::trusted},
    .source = "RFC 8166 sections 3.4.5 and 3.4.6",
    .who = "responder",
    .title = "An RDMA operation in the wrong direction for its chunk",
    .explanation =
        "Read chunks are there to be read, Write and Reply chunks to be written. Writing into a Read chunk changes the "
        "data that the call is made of, maybe while it is being sent; reading a Write chunk fetches whatever the "
        "requester's memory held before. Registrations usually grant just the one right, and then the adapter refuses "
        "and the connection is lost.",
    .evidence =
        "An RDMA Write inside a Read chunk, or an RDMA Read inside a Write or Reply chunk, of a live call, where no "
        "chunk of the right kind covers the same range under the same handle. An atomic operation counts as a Write. "
        "Not decided across a gap or when the Call's lists were cut.",
    .next =
        "Responder: rpcrdma:svcrdma_decode_rseg and svcrdma_decode_wseg against the handle of the operation. "
        "Requester: the direction in rpcrdma:xprtrdma_mr_map; adapter counter resp_remote_access_errors (mlx5)."};

const Row rows::rdma_by_requester{
    .group = 'F',
    .severity = Severity::error,
    .versions = Versions::both,
    .needs = {.past = Needs::Past::whole},
    .source = "RFC 8166 section 3.1; version 2 draft section 4",
    .who = "requester",
    .title = "An RDMA Read or Write by a side to which nobody offered memory",
    .explanation =
        "Only the responder of an RPC moves data by RDMA, and only in memory that the requester named. A client whose "
        "server has never sent a chunk list has nothing to read or write; what it touches is a guess, and the adapter "
        "refuses it.",
    .evidence =
        "The client reads or writes although no message of the server, neither a reverse call nor a reply that offers "
        "itself to be read, has named any memory since the connection began. The empty start-up operations of iWARP "
        "are none. Not decided when frames are missing or the start was not captured.",
    .next =
        "Look at the client's data path: a stack that mixes up the roles pushes its data to the server instead of "
        "letting it pull. Server: adapter counter resp_remote_access_errors (mlx5)."};

const Row rows::rdma_write_after_reply{
    .group = 'F',
    .severity = Severity::error,
    .versions = Versions::both,
    .needs = {.past = Needs::Past::trusted},
    .source = "RFC 8166 section 3.4.6; version 2 draft section 4.5.2.3",
    .who = "responder",
    .title = "An RDMA Write follows the reply of its call",
    .explanation =
        "All results have to be written before the Reply is sent: the Reply tells the requester that its memory is "
        "complete and its own again. A later Write overwrites memory that may already belong to something else, or is "
        "refused because the registration is gone.",
    .evidence =
        "The Write stands behind the Reply in the sender's own packet order, and the memory was offered for that call "
        "only. Times and file order are not used. Not decided across a gap.",
    .next =
        "Server: rpcrdma:svcrdma_post_write_chunk against svcrdma_post_send; Linux chains them in the right order. "
        "Client: rpcrdma:xprtrdma_mr_localinv and xprtrdma_mr_reminv."};

const Row rows::rdma_read_after_reply{
    .group = 'F',
    .severity = Severity::error,
    .versions = Versions::both,
    .needs = {.past = Needs::Past::trusted},
    .source = "RFC 8166 section 3.4.5.1; version 2 draft section 4.5.1.3",
    .who = "responder",
    .title = "An RDMA Read follows the reply of its call",
    .explanation =
        "The Reply says that the responder is done with the Read chunks. A later Read finds memory that was "
        "invalidated and ends the connection, or fetches data that has changed since.",
    .evidence =
        "The Read Request stands behind the Reply in the sender's own packet order and hits memory offered for that "
        "call only. Repeated Read Requests are removed first. Not decided across a gap.",
    .next = "Server: rpcrdma:svcrdma_wc_read and svcrdma_read_finished against svcrdma_post_send."};

const Row rows::rdma_after_invalidate{
    .group = 'F',
    .severity = Severity::error,
    .versions = Versions::both,
    .needs = {.past = Needs::Past::trusted},
    .source = "RFC 8797 section 3.2; RFC 8166 section 4.4.1",
    .who = "responder",
    .title = "An RDMA operation with a handle that was invalidated",
    .explanation =
        "A Send With Invalidate makes the requester's adapter forget the registration behind the handle. Whoever sent "
        "it knows that the handle is gone; an operation behind it on the same connection is refused, and every "
        "outstanding RPC is lost with the connection.",
    .evidence =
        "The Read or Write stands behind the Send With Invalidate in the sender's own packet order, and no Call has "
        "named the handle again since. Not decided when frames are missing. Where the call had been answered too, the "
        "rule on operations after the reply speaks as well.",
    .next =
        "Server: inv_rkey in rpcrdma:svcrdma_post_send against svcrdma_wc_write and svcrdma_wc_read. A reply that "
        "invalidates the handle of another call (remote-invalidation-wrong-handle) leads to this."};

const Row rows::read_after_done{.group = 'H',
                                .severity = Severity::error,
                                .versions = Versions::v1,
                                .needs = {.past = Needs::Past::trusted},
                                .source = "reliable-reply draft, Requester Duties",
                                .who = "requester",
                                .title = "An RDMA Read after RDMA_DONE",
                                .explanation =
                                    "With RDMA_DONE the requester gave the memory back. A later Read is refused once "
                                    "the responder has invalidated it, and the connection is lost.",
                                .evidence =
                                    "A Read Request for an offered segment behind RDMA_DONE in the requester's own "
                                    "packet order. Repeated Read Requests are removed first. Not decided across a gap.",
                                .next =
                                    "The requester notifies before its last Read was posted. Responder's adapter: "
                                    "resp_remote_access_errors (mlx5)."};

Case::Use use_of(const JudgedOp& op) { return {op.handle, op.offset, op.length, op.op, op.verb}; }

std::string use_text(Side side, const Case::Use& use) {
  return fmt::format("The {} {} {} of handle {:#010x}{}", name(side), writes(use.verb) ? "wrote" : "read",
                     range(use.offset, use.length), use.handle,
                     use.verb == RdmaVerb::atomic ? " by an atomic operation" : "");
}

namespace {

void mark_guilty(Connection& connection, const Case& waited, HeldFinding finding) {
  JudgedOp* judged = connection.of(waited.accused).ops.newest([&](const JudgedOp& op) {
    return op.op == waited.use()->op && writes(op.verb) == writes(waited.use()->verb);
  });
  if (judged == nullptr) return;
  judged->state = JudgedOp::State::guilty;
  judged->rule = waited.rule;
  judged->finding = std::move(finding);
}

[[nodiscard]] std::string unknown_memory_text(const Connection& of, Side side, const Case::Use& use, RuleId rule) {
  const std::string_view owner = name(other(side)), when = of.completed > kept_finished ? "lately" : "ever";
  return use_text(side, use) +
         (rule == RuleId::rdma_by_requester
              ? fmt::format(", although the {} has not offered any memory: only responders read and write.", owner)
              : fmt::format(", which no message of the {} on this connection {} named.", owner, when));
}

void settle_unknown_memory(const Witness& witness, const Case& waited) {
  const Case::Use& use = *waited.use();
  Connection& connection = witness.connection;
  HeldFinding finding =
      witness.conclude(waited, {.frames = {waited.frame},
                                .by = waited.accused,
                                .as = when(waited.rule == RuleId::rdma_by_requester, Role::requester),
                                .at_most = waited.at_most(),
                                .what = unknown_memory_text(connection, waited.accused, use, waited.rule)});
  connection.of(waited.accused).unknown_ops = true;
  mark_guilty(connection, waited, std::move(finding));
}

void settle_misuse(const Witness& witness, const Case& waited) {
  if (!waited.proven() && !waited.orderly) {
    leave_unproven(witness, waited);  // a Call that offers the memory anew
    return;
  }
  const Case::Misuse& misuse = *waited.is<Case::Misuse>();
  const bool later_packet = misuse.start.number != 0;
  HeldFinding finding = witness.conclude(
      waited, {.frames = {later_packet ? misuse.start : waited.frame, waited.frame, waited.evidence, misuse.ended},
               .by = waited.accused,
               .as = misuse.as,
               .xid = waited.xid,
               .what = use_text(waited.accused, misuse) + misuse.what});
  mark_guilty(witness.connection, waited, std::move(finding));
}

/// The rule that an operation breaks which is not inside.
[[nodiscard]] RuleId broken_by(const MemoryMap::Hit& hit, bool writing) noexcept {
  using Verdict = MemoryMap::Hit::Verdict;
  const bool offer = hit.exposure != nullptr && hit.exposure->access == Access::offer;
  switch (hit.verdict) {
    case Verdict::unknown_handle:
      return RuleId::rdma_unknown_handle;
    case Verdict::retired:
      if (offer) return RuleId::read_after_done;
      return writing ? RuleId::rdma_write_after_reply : RuleId::rdma_read_after_reply;
    case Verdict::outside:
      if (offer && writing) return RuleId::rdma_access_mode;
      return writing ? RuleId::rdma_write_out_of_bounds : RuleId::rdma_read_out_of_bounds;
    case Verdict::wrong_kind:
    case Verdict::inside:
      break;
  }
  return RuleId::rdma_access_mode;
}

/// Why nobody is accused of an operation that is not inside.
struct Excuse {
  JudgedOp::State state = JudgedOp::State::undecided;
  std::string why;
  HeldFinding finding;  ///< about the message that misled it
};

[[nodiscard]] std::optional<Excuse> excuse_of(Connection& connection, Side owner, const RdmaAccess& access,
                                              const MemoryMap::Hit& hit) {
  const Exposure* exposure = hit.exposure;
  // Where the owner's own broken message may name the handle, who acts on it is no violator. Heard before, whatever the
  // order in the file: what acknowledges a message waits for it.
  const Doubtful* doubtful = connection.of(owner).doubtful.newest(
      [&](const Doubtful& message) { return !message.settled && message.may_name(access.handle); });
  // A Call that offered the handle since says what it is worth.
  const bool offered_since =
      exposure != nullptr && doubtful != nullptr && exposure->exposed.number > doubtful->frame.number;
  const bool only_to_read = writes(access.verb) && doubtful != nullptr && doubtful->to_be_read && exposure != nullptr &&
                            exposure->exposed.number == doubtful->frame.number;
  if (doubtful != nullptr && !offered_since && !only_to_read) {
    return Excuse{JudgedOp::State::misled,
                  fmt::format("what the {} exposes in frame {} cannot be told from its header", name(owner),
                              doubtful->frame.number),
                  doubtful->finding};
  }
  if (connection.unread_lists_open(owner)) {
    return Excuse{.why = "the chunk lists of a Call that is open are not known", .finding = {}};
  }
  if (exposure == nullptr) return std::nullopt;
  if (hit.verdict == MemoryMap::Hit::Verdict::outside &&
      exposure->bounds().end == std::numeric_limits<std::uint64_t>::max()) {
    // Where the addresses end, what wraps is as long as it was said to be.
    return Excuse{.why = "a segment that it may mean goes up to the end of the addresses, or beyond", .finding = {}};
  }
  const Transaction* const call = connection.find(exposure->owner);
  if (hit.verdict == MemoryMap::Hit::Verdict::retired && exposure->access != Access::offer && call != nullptr &&
      call->answer_uncertain()) {
    return Excuse{
        .why = fmt::format("whether the message in frame {} answers the Call cannot be told", exposure->retired.number),
        .finding = {}};
  }
  return std::nullopt;
}

/// What an operation that is not inside does wrong, to memory that is known.
struct Offence {
  std::string what;  ///< goes behind use_text()
  FrameRef ended;    ///< what ended the use of the memory; number 0: nothing
};

[[nodiscard]] Offence offence(const RdmaAccess& access, const MemoryMap::Hit& hit) {
  using Verdict = MemoryMap::Hit::Verdict;
  const Exposure& exposure = *hit.exposure;
  const Side owner = other(access.initiator);
  if (hit.verdict == Verdict::retired) {
    return {
        exposure.access == Access::offer
            ? fmt::format(" after its RDMA_DONE (frame {}) said it was finished with it.", exposure.retired.number)
            : fmt::format(" after its answer (frame {}) had ended the use of that memory.", exposure.retired.number),
        exposure.retired};
  }
  if (hit.verdict == Verdict::wrong_kind) {
    return {fmt::format(", which the {} had exposed to be {} only (frame {}).", name(owner),
                        writes(access.verb) ? "read" : "written", exposure.exposed.number),
            {}};
  }
  if (exposure.access == Access::offer && writes(access.verb)) {
    return {fmt::format(", which the {} had only offered to be read (frame {}).", name(owner), exposure.exposed.number),
            {}};
  }
  return {fmt::format("; the {} exposed {} (frame {}).", name(owner), range(hit.region.begin, hit.region.length()),
                      exposure.exposed.number),
          exposure.retired};
}

[[nodiscard]] Case::Use use_of(const RdmaAccess& access) {
  return {access.handle, access.offset, access.length, access.op, access.verb};
}

/// Held back: a Call that offers the memory anew may still be on its way here, behind a hole. False: not judged here.
bool accuse_later(const Witness& witness, RuleId rule, const RdmaAccess& access, const Exposure& exposure,
                  Offence offence) {
  if (!witness.may(rule)) return false;
  witness.wait({.rule = rule,
                .accused = access.initiator,
                .frame = access.frame,
                .evidence = exposure.exposed,
                .xid = Transactions::xid(exposure.owner.key),
                .about = Case::Misuse{use_of(access), access.start, offence.ended,
                                      exposure.access == Access::offer ? Role::requester : Role::responder,
                                      std::move(offence.what)},
                .settle = settle_misuse});
  return true;
}

bool judge_invalidated_before(const Witness& witness, const RdmaAccess& access, const Exposure& exposure) {
  if (exposure.invalidated.number == 0) return false;
  return accuse_later(witness, RuleId::rdma_after_invalidate, access, exposure,
                      {fmt::format(", which it had itself invalidated before (frame {}).", exposure.invalidated.number),
                       exposure.invalidated});
}

void judge_misuse(const Witness& witness, const RdmaAccess& access, const MemoryMap::Hit& hit) {
  using Verdict = MemoryMap::Hit::Verdict;
  if (hit.verdict == Verdict::unknown_handle) {
    // The client has work to do only in memory that the server offered: reverse calls, replies to be read.
    const bool by_requester =
        access.initiator == Side::active && !witness.connection.of(other(access.initiator)).memory.ever();
    const RuleId broken = by_requester ? RuleId::rdma_by_requester : RuleId::rdma_unknown_handle;
    if (witness.may(broken) && witness.connection.unseen_call_may_be_open(access.frame.time)) {
      witness.unchecked(broken, unseen_call);
      return;
    }
    witness.wait({.rule = broken,
                  .accused = access.initiator,
                  .frame = access.frame,
                  .about = Case::UnknownMemory{use_of(access)},
                  .settle = settle_unknown_memory});
    return;
  }
  if (hit.verdict == Verdict::retired && hit.exposure->access != Access::offer) {
    judge_invalidated_before(witness, access, *hit.exposure);
  }
  accuse_later(witness, broken_by(hit, writes(access.verb)), access, *hit.exposure, offence(access, hit));
}

/// Judges one operation against the owner's map and remembers how, for a later refusal.
JudgedOp& judge_access(const Witness& witness, const RdmaAccess& access, MemoryMap::Hit& hit) {
  Connection& connection = witness.connection;
  const Side owner = other(access.initiator);
  hit = connection.of(owner).memory.find(access.handle, access.offset, access.length, writes(access.verb));
  JudgedOp judged;
  judged.op = access.op;
  judged.frame = access.frame;
  judged.verb = access.verb;
  judged.handle = access.handle;
  judged.offset = access.offset;
  judged.length = access.length;
  judged.sends_before = connection.of(access.initiator).sent;
  if (hit.exposure != nullptr) {
    judged.transaction = hit.exposure->owner;
    judged.offer = hit.exposure->access == Access::offer;
  }
  if (hit.verdict == MemoryMap::Hit::Verdict::inside) {
    if (!judge_invalidated_before(witness, access, *hit.exposure)) judged.state = JudgedOp::State::inside;
  } else if (std::optional<Excuse> excuse = excuse_of(connection, owner, access, hit)) {
    witness.unchecked(broken_by(hit, writes(access.verb)), excuse->why);
    judged.state = excuse->state;
    judged.finding = std::move(excuse->finding);
  } else {
    judge_misuse(witness, access, hit);
  }
  return connection.of(access.initiator).ops.add(std::move(judged));
}

/// A later segment of a Write that was judged by its first one: iWARP does not announce how long it will be.
void grow(const Witness& witness, JudgedOp& judged, const trace::Write& event) {
  if (event.handle != judged.handle || event.offset != judged.offset + judged.length) return;
  judged.length += event.length;
  for (Case& waited : witness.connection.cases) {
    Case::Use* use = waited.accused == event.side ? waited.use() : nullptr;
    if (use != nullptr && use->op == event.op && writes(use->verb)) use->length = judged.length;
  }
  const bool unknown = judged.rule == RuleId::rdma_by_requester || judged.rule == RuleId::rdma_unknown_handle;
  if (judged.state != JudgedOp::State::guilty || !judged.finding || !unknown) return;
  Finding& finding = witness.context.book.at(judged.finding);
  if (finding.rule != judged.rule || finding.occurrences > 1) return;
  witness.reword(finding, unknown_memory_text(witness.connection, event.side, use_of(judged), judged.rule));
}

}  // namespace

void judge_write(const Witness& witness, const trace::Write& event) {
  Connection& connection = witness.connection;
  const Side owner = other(event.side);
  if (connection.unjudged()) return;
  if (event.first) {
    const std::uint64_t length = std::max<std::uint64_t>(event.announced, event.length);
    if (length == 0) return;  // touches no memory
    MemoryMap::Hit hit;
    judge_access(witness, {event.side, event.frame, event.op, event.handle, event.offset, length, RdmaVerb::write, {}},
                 hit);
    if (hit.verdict == MemoryMap::Hit::Verdict::inside) {
      keep_written(witness, hit.exposure->owner, event);
      if (Transaction* call = connection.find(hit.exposure->owner)) call->pushed(event.frame, length);
    }
  } else if (event.announced == 0) {
    JudgedOp* judged = connection.of(event.side).ops.newest([&](const JudgedOp& op) { return op.op == event.op; });
    if (judged != nullptr && judged->state == JudgedOp::State::inside) {
      if (Transaction* call = connection.find(judged->transaction)) call->pushed(event.frame, event.length);
      const MemoryMap::Hit hit = connection.of(owner).memory.find(event.handle, event.offset, event.length, true);
      if (hit.verdict != MemoryMap::Hit::Verdict::inside) {
        // The Write as a whole is the offence: its first frame stands in front.
        MemoryMap::Hit again;
        judge_access(witness,
                     {event.side, event.frame, event.op, event.handle, event.offset, event.length, RdmaVerb::write,
                      judged->frame},
                     again);
      }
    } else if (judged != nullptr) {
      grow(witness, *judged, event);
    }
  }
  if (!event.first && connection.body_writes[index(event.side)].left != 0) keep_more_written(witness, event);
  connection.of(owner).memory.touch(event.handle, event.offset, event.length, false, true);
}

void judge_atomic_access(const Witness& witness, const trace::Atomic& event) {
  if (witness.connection.unjudged()) return;
  constexpr std::uint64_t octets = 8;
  MemoryMap::Hit hit;
  JudgedOp& judged = judge_access(
      witness, {event.side, event.frame, event.op, event.handle, event.offset, octets, RdmaVerb::atomic, {}}, hit);
  // Who lets a chunk be written promises no more than that: its owner may refuse it.
  if (judged.state == JudgedOp::State::inside) judged.state = JudgedOp::State::undecided;
}

void judge_read(const Witness& witness, const trace::ReadRequest& event) {
  Connection& connection = witness.connection;
  read_asked(witness, event);
  if (connection.unjudged() || event.length == 0) return;
  MemoryMap::Hit hit;
  const JudgedOp judged = judge_access(
      witness, {event.side, event.frame, event.op, event.handle, event.offset, event.length, RdmaVerb::read, {}}, hit);
  connection.of(other(event.side)).memory.touch(event.handle, event.offset, event.length, true, false);
  if (judged.offer && judged.state == JudgedOp::State::inside) {
    if (Offer* offer = find_offer(connection, judged.transaction)) offer_read(*offer, event.frame);
  }
}

void judge_read_response(const Witness& witness, const trace::ReadResponse& event) {
  Connection& connection = witness.connection;
  read_answered(witness, event);
  if (event.last) {
    JudgedOp* read = connection.of(other(event.side)).ops.newest([&](const JudgedOp& op) { return op.op == event.op; });
    Transaction* call = read != nullptr ? connection.find(read->transaction) : nullptr;
    if (call != nullptr) call->pulled_to(event.frame, read->length);
  }
  if (connection.unjudged()) return;
  use_answered(connection, event.side, event.op, event.frame);
  connection.of(event.side).memory.touch(event.handle, event.offset, event.length, false, false);
  if (!event.octets.empty()) keep_pulled(witness, event);
  if (connection.offers.empty()) return;
  const JudgedOp* judged = connection.of(other(event.side)).ops.newest([&](const JudgedOp& op) {
    return op.op == event.op && !writes(op.verb);
  });
  if (judged == nullptr || !judged->offer || judged->state != JudgedOp::State::inside) return;
  Offer* offer = find_offer(connection, judged->transaction);
  if (offer == nullptr) return;
  offer_content(witness, *offer, event);
  if (event.last) offer_read_answered(witness, *offer, event.frame);
}

}  // namespace rpcrdma::referee
