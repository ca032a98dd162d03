// SPDX-License-Identifier: GPL-2.0-or-later
// Group F: what InfiniBand can do and RPC-over-RDMA never does.
#include <fmt/format.h>

#include "referee/rules/checks.hpp"
#include "referee/rules/rows.hpp"

namespace rpcrdma::referee {

const Row rows::unexpected_opcode{
    .group = 'F',
    .severity = Severity::warning,
    .versions = Versions::both,
    .repetition = Repetition::few,
    .source = "RFC 8166 section 3.1 (derived); version 2 draft section 4 (derived)",
    .who = "sender",
    .title = "An RDMA opcode that RPC-over-RDMA never uses",
    .explanation =
        "The protocol is made of Sends, with or without invalidation, and of RDMA Reads and Writes. Immediate data and "
        "atomic operations have no meaning in it: an immediate value takes a Receive or is dropped, an atomic "
        "operation changes memory that nobody exposed for it.",
    .evidence =
        "An InfiniBand opcode with immediate data, or an atomic one, on a connection known to carry RPC-over-RDMA. "
        "Connections that carry something else are not judged.",
    .next =
        "Find out whether another protocol shares the queue pair; otherwise look at the work requests the sender posts "
        "(IB_WR_SEND_WITH_IMM, IB_WR_RDMA_WRITE_WITH_IMM, IB_WR_ATOMIC_*)."};

namespace {

void say_unexpected(const Witness& witness, const trace::EventBase& event) {
  witness.say(RuleId::unexpected_opcode,
              {.frames = {event.frame},
               .by = event.side,
               .what = fmt::format("The {} used immediate data or an atomic operation; RPC-over-RDMA has neither.",
                                   name(event.side))});
}

}  // namespace

void judge_immediate(const Witness& witness, const trace::Quality& event) {
  if (witness.connection.rpcrdma()) say_unexpected(witness, event);  // else another protocol's business
}

void judge_atomic(const Witness& witness, const trace::Atomic& event) {
  say_unexpected(witness, event);
  judge_atomic_access(witness, event);
}

}  // namespace rpcrdma::referee
