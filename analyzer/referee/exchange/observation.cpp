// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/exchange/observation.hpp"

namespace rpcrdma::referee {

namespace {

[[nodiscard]] ExchangeRef reference(TransactionId id) noexcept {
  return {id.generation, static_cast<std::uint32_t>(id.key), (id.key >> 32U) == 0 ? Side::active : Side::passive};
}

}  // namespace

void observe_message(const Witness& witness, const trace::Send& event, MessageSeen::Kind kind,
                     const wire::HeaderV1* header, TransactionId exchange) {
  Connection& connection = witness.connection;
  if (witness.context.observer == nullptr) return;
  MessageSeen seen;
  seen.kind = kind;
  seen.send = &event;
  seen.header = header;
  if (kind == MessageSeen::Kind::done && header != nullptr) {
    for (const Offer& offer : connection.offers) {
      if (offer.requester == event.side && offer.xid == header->fixed.xid) exchange = offer.transaction;
    }
  }
  if (exchange.generation != 0) {
    seen.exchange = reference(exchange);
    const Ledger& ledger = connection.ledger(seen.exchange.requester);
    seen.outstanding = ledger.outstanding;
    seen.granted = ledger.granted;
    if (const Transaction* call = connection.find(exchange)) seen.procedure = call->procedure;
  }
  witness.context.observer->message(connection.facts, seen);
}

void observe_operation(const Witness& witness, OperationSeen seen, Side initiator) {
  Connection& connection = witness.connection;
  if (witness.context.observer == nullptr || !connection.rpcrdma()) return;
  if (seen.length != 0) {
    const MemoryMap::Hit hit =
        connection.of(other(initiator))
            .memory.find(seen.handle, seen.offset, seen.length, seen.kind == OperationSeen::Kind::write);
    if (hit.region != nullptr) {
      seen.exchange = reference(hit.region->owner);
      seen.offer = hit.region->access == Access::offer;
    }
  }
  witness.context.observer->operation(connection.facts, seen);
}

}  // namespace rpcrdma::referee
