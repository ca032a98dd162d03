// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/exchange/observation.hpp"

#include <optional>

#include "referee/state/mount.hpp"

namespace rpcrdma::referee {

namespace {

[[nodiscard]] ExchangeRef reference(TransactionId id) noexcept {
  return {id.generation, Transactions::xid(id.key), (id.key >> 32U) == 0 ? Side::active : Side::passive};
}

/// Messages of version 2 that are only counted: of an early draft, behind the close, astray.
void decode_unjudged(const trace::Send& event, std::optional<wire::HeaderV2>& header) {
  const auto fixed = wire::decode_fixed_words(event.octets, event.wire_length);
  if (!fixed || fixed->version != 2) return;
  const auto draft = wire::earlier_draft(event.octets, event.wire_length) ? wire::Draft::earlier : wire::Draft::newest;
  if (!wire::decode_header_v2(event.octets, event.wire_length, header.emplace(), draft)) header.reset();
}

}  // namespace

void observe_message(const Witness& witness, const trace::Send& event, MessageSeen::Kind kind, Headers headers,
                     TransactionId exchange) {
  Connection& connection = witness.connection;
  if (witness.context.observer == nullptr) return;
  MessageSeen seen;
  seen.kind = kind;
  seen.send = &event;
  seen.header = headers.version1;
  seen.header2 = headers.version2;
  std::optional<wire::HeaderV2> unjudged;
  if (headers.version1 == nullptr && headers.version2 == nullptr) {
    decode_unjudged(event, unjudged);
    if (unjudged) seen.header2 = &*unjudged;
  }
  if (kind == MessageSeen::Kind::done && headers.version1 != nullptr) {
    for (const Offer& offer : connection.offers) {
      if (offer.requester == event.side && offer.xid == headers.version1->fixed.xid) exchange = offer.transaction;
    }
  }
  if (exchange.generation != 0) {
    seen.exchange = reference(exchange);
    const Ledger& ledger = connection.ledger(seen.exchange.requester);
    seen.outstanding = ledger.outstanding;
    seen.granted = ledger.granted;
    if (const Transaction* call = connection.find(exchange)) {
      seen.procedure = call->procedure;
      seen.operation = call->operation;
      const bool answer = event.side != call->requester && call->reply.number == event.frame.number;
      // Of copies on several connections the first answer counts, as it does for the mount.
      const bool first = call->answers == 1 && call->answered_as.number == 0;
      if (answer && first) seen.times = times_of(*call, event);
    }
  }
  // Where its Call is not in the capture, what it grants is known all the same.
  const bool orphan = exchange.generation == 0 && kind == MessageSeen::Kind::reply;
  if (orphan) seen.granted = connection.ledger(other(event.side)).granted;
  witness.context.observer->message(connection.facts, seen);
}

void observe_operation(const Witness& witness, OperationSeen seen, Side initiator) {
  Connection& connection = witness.connection;
  if (witness.context.observer == nullptr || !connection.rpcrdma()) return;
  if (seen.length != 0) {
    const MemoryMap::Hit hit =
        connection.of(other(initiator))
            .memory.find(seen.handle, seen.offset, seen.length, seen.kind == OperationSeen::Kind::write);
    if (hit.exposure != nullptr) {
      seen.exchange = reference(hit.exposure->owner);
      seen.offer = hit.exposure->access == Access::offer;
    }
  }
  witness.context.observer->operation(connection.facts, seen);
}

}  // namespace rpcrdma::referee
