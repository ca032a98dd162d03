// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/state/offers.hpp"

#include <algorithm>

#include "referee/state/connection.hpp"

namespace rpcrdma::referee {

Offer* oldest_open_offer(Connection& connection, Side requester, std::uint32_t xid) {
  const auto at = std::find_if(connection.offers.begin(), connection.offers.end(), [&](const Offer& offer) {
    return offer.answers(requester, xid) && offer.done.number == 0;
  });
  return at == connection.offers.end() ? nullptr : &*at;
}

Offer* newest_offer(Connection& connection, Side requester, std::uint32_t xid) {
  const auto at = std::find_if(connection.offers.rbegin(), connection.offers.rend(),
                               [&](const Offer& offer) { return offer.answers(requester, xid); });
  return at == connection.offers.rend() ? nullptr : &*at;
}

Offer* find_offer(Connection& connection, TransactionId transaction) {
  const auto at = std::find_if(connection.offers.rbegin(), connection.offers.rend(),
                               [&](const Offer& offer) { return offer.transaction == transaction; });
  return at == connection.offers.rend() ? nullptr : &*at;
}

void offer_read(Offer& offer, FrameRef frame) {
  ++offer.reads;
  ++offer.reads_outstanding;
  offer.waited = 0;
  offer.counted_to = frame.time;
  offer.last_read = frame;
}

bool offer_pulled(Connection& connection, const Offer& offer) {
  MemoryMap& memory = connection.of(other(offer.requester)).memory;
  std::uint64_t pulled = 0;
  for (const wire::Segment& segment : offer.segments) {
    const Exposure* exposure = memory.of(offer.transaction, segment.handle, Access::offer);
    const auto region = exposure != nullptr ? exposure->at(segment.offset) : std::nullopt;
    if (region) pulled += exposure->touched.within(region->begin, region->end);
  }
  return pulled >= offer.length;
}

}  // namespace rpcrdma::referee
