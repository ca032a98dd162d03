// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/state/sums.hpp"

#include "referee/state/connection.hpp"
#include "referee/state/procedures.hpp"
#include "wire/rpc.hpp"

namespace rpcrdma::referee {

void sum_up(Connection& connection) {
  ConnectionFacts& facts = connection.facts;
  const Ledger& ledger = connection.credits[0];
  facts.credits.requested = ledger.requested;
  facts.credits.granted = ledger.granted;
  facts.credits.outstanding_peak = ledger.peak;
  facts.credits.stalls = ledger.stalls;
  LatencyHistogram all;
  all.add(connection.other_latency);
  for (const auto& [id, procedure] : connection.procedures) {
    const auto& [program, version, number] = id;
    LatencyHistogram both;
    both.add(procedure.latency);
    both.add(procedure.reverse);
    all.add(procedure.latency);
    facts.procedures.push_back({program, version, number, wire::procedure_name(program, version, number),
                                procedure.calls, both.facts(), operations_of(procedure, program)});
  }
  facts.latency = all.facts();
}

}  // namespace rpcrdma::referee
