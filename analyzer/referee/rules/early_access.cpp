// SPDX-License-Identifier: GPL-2.0-or-later
// Group F: RDMA operations ahead of the Call that offers the memory.
#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "referee/docket/cases.hpp"
#include "referee/rules/checks.hpp"
#include "referee/rules/memory_use.hpp"
#include "referee/rules/rows.hpp"

namespace rpcrdma::referee {

const Row rows::rdma_before_call{
    .group = 'F',
    .severity = Severity::error,
    .versions = Versions::both,
    .source = "RFC 8166 section 3.4.5.1 (derived)",
    .who = "responder",
    .title = "An RDMA operation ahead of the call that offers the memory",
    .explanation =
        "A responder learns handles from the call and can use them only once it has it. An operation that comes first "
        "was built from something else, a guess or an earlier use of the same buffers; the memory may not be "
        "registered yet, and what is read may not be the call's data.",
    .evidence =
        "The operation uses a handle and a range that a later Call names and none before did, and the requester sent "
        "something else between the two, or answered the Read long before, so that the order of the file is the order "
        "on the wire. Where nothing lies between, two capture points or adapters may have changed the order, and it is "
        "not decided; neither across a gap.",
    .next =
        "Responder: rpcrdma:svcrdma_decode_rseg and svcrdma_decode_wseg against svcrdma_wc_read and svcrdma_wc_write. "
        "Make sure that one capture point saw both directions."};

namespace {

/// A Call whose lists are not known, or not whose they are, may be what an operation in front of it was for. Then it
/// cannot be told whether that handle was never offered or only used too early.
void doubt_unknown_access(const Witness& witness, const trace::Send& event, const Transaction& call, Lists lists) {
  while (JudgedOp* op = witness.connection.of(other(call.requester)).ops.newest([&](const JudgedOp& each) {
    return each.state == JudgedOp::State::guilty && each.rule == RuleId::rdma_unknown_handle &&
           may_offer(event, lists, each.handle, each.frame);
  })) {
    op->state = JudgedOp::State::undecided;
    witness.context.book.withdraw(op->finding);
    op->finding = {};
    witness.unchecked(RuleId::rdma_unknown_handle, lists_unread);
  }
}

}  // namespace

void judge_early_access(const Witness& witness, const trace::Send& event, const Transaction& call, Lists lists) {
  Connection& connection = witness.connection;
  SideState& responder = connection.of(other(call.requester));
  if (!responder.unknown_ops) return;
  if (!call.lists_known) return doubt_unknown_access(witness, event, call, lists);
  const auto names = [](const wire::Segment& segment, const JudgedOp& op) {
    return segment.handle == op.handle && segment.length >= op.length && op.offset >= segment.offset &&
           op.offset - segment.offset <= segment.length - op.length;
  };
  const auto in = [&](const wire::WriteChunk& chunk, const JudgedOp& op) {
    return std::any_of(chunk.begin(), chunk.end(), [&](const wire::Segment& s) { return names(s, op); });
  };
  const auto offered = [&](const JudgedOp& op) {
    if (!writes(op.verb)) {
      return std::any_of(call.reads.begin(), call.reads.end(),
                         [&](const wire::ReadSegment& read) { return names(read.target, op); });
    }
    return std::any_of(call.writes.begin(), call.writes.end(),
                       [&](const wire::WriteChunk& chunk) { return in(chunk, op); }) ||
           (call.reply_chunk && in(*call.reply_chunk, op));
  };
  while (JudgedOp* op = responder.ops.newest([&](const JudgedOp& each) {
    return each.state == JudgedOp::State::guilty && each.rule == RuleId::rdma_unknown_handle && offered(each);
  })) {
    // Not a stray handle: the Call that names it was on its way, behind something that this requester sent before.
    op->rule = RuleId::rdma_before_call;
    connection.of(call.requester).memory.touch(op->handle, op->offset, op->length, !writes(op->verb), writes(op->verb));
    Finding& finding = witness.context.book.at(op->finding);
    if (finding.occurrences > 1) continue;
    finding.rule = RuleId::rdma_before_call;
    finding.xid = call.xid;
    finding.role = Role::responder;
    witness.reword(finding, use_text(other(call.requester), use_of(*op)) +
                                fmt::format(" before the Call that offers it (frame {}) was sent.", call.call.number));
    witness.context.book.evidence(op->finding, call.call);
  }
}

}  // namespace rpcrdma::referee
