// SPDX-License-Identifier: GPL-2.0-or-later
#include "wireshark/finding_places.hpp"

#include <algorithm>

namespace rpcrdma::plugin {

namespace {

constexpr std::uint64_t no_xid = UINT64_MAX;
using trace::Side;

[[nodiscard]] DrawnNote of(std::uint32_t connection, std::uint64_t xid, Side sender, std::uint32_t place) noexcept {
  return {connection, xid, sender == Side::active ? 1U : 0U, place};
}

/// What a note is about, and who sent it.
[[nodiscard]] DrawnNote about(const journal::Journal& journal, const journal::Note& note, std::uint32_t place) {
  const auto of_exchange = [&](const auto& what) {
    const journal::Exchange* exchange = journal.exchange(what.connection, what.exchange);
    return of(what.connection, exchange != nullptr ? exchange->xid : no_xid, what.sender, place);
  };
  switch (note.kind) {
    case journal::NoteKind::message: {
      const journal::Message& message = journal.message(note.index);
      return of(message.connection, message.xid, message.sender, place);
    }
    case journal::NoteKind::unplaced:  // of which nothing is judged yet
      return of(0, journal.unplaced(note.index).xid, journal::Side::active, place);
    case journal::NoteKind::payload:
      return of_exchange(journal.payload(note.index));
    case journal::NoteKind::operation:
      return of_exchange(journal.operation(note.index));
    case journal::NoteKind::part:
      return of(journal.part(note.index).connection, no_xid, journal.part(note.index).sender, place);
    case journal::NoteKind::handshake:
      break;
  }
  return of(journal.handshake(note.index).connection, no_xid, journal.handshake(note.index).sender, place);
}

[[nodiscard]] bool in_front(const DrawnNote& a, const DrawnNote& b) noexcept {
  if (a.connection != b.connection) return a.connection < b.connection;
  if (a.xid != b.xid) return a.xid < b.xid;
  if (a.by_client != b.by_client) return a.by_client < b.by_client;
  return a.place < b.place;
}

/// Plus one; 0: there is none.
[[nodiscard]] std::uint32_t newest(const DrawnNote* notes, std::uint32_t count, DrawnNote wanted) {
  wanted.place = UINT32_MAX;
  const DrawnNote* behind = std::upper_bound(notes, notes + count, wanted, in_front);
  if (behind == notes) return 0;
  const DrawnNote& last = *(behind - 1);
  const bool fits =
      last.connection == wanted.connection && last.xid == wanted.xid && last.by_client == wanted.by_client;
  return fits ? last.place + 1 : 0;
}

/// Of who is at fault, or else of either side. Plus one; 0: there is none.
[[nodiscard]] std::uint32_t newest(const DrawnNote* notes, std::uint32_t count, std::uint64_t xid,
                                   const referee::Finding& finding) {
  const std::uint32_t client = newest(notes, count, of(finding.connection, xid, Side::active, 0));
  const std::uint32_t server = newest(notes, count, of(finding.connection, xid, Side::passive, 0));
  const bool known = finding.violator.has_value();
  if (known && *finding.violator == referee::Party::client && client != 0) return client;
  if (known && *finding.violator != referee::Party::client && server != 0) return server;
  return std::max(client, server);
}

}  // namespace

const FindingPlaces* finding_places(const Drawn* drawn, wmem_allocator_t* pool) {
  auto* places = static_cast<FindingPlaces*>(wmem_alloc0(pool, sizeof(FindingPlaces)));
  places->by_xid = static_cast<DrawnNote*>(wmem_alloc(pool, (drawn->notes + 1U) * sizeof(DrawnNote)));
  places->by_sender = static_cast<DrawnNote*>(wmem_alloc(pool, (drawn->notes + 1U) * sizeof(DrawnNote)));
  std::uint32_t at = drawn->journal->first(drawn->frame);
  for (std::uint32_t place = 0; place < drawn->notes; ++place, at = drawn->journal->note(at).next) {
    if (drawn->trees[place] == nullptr) continue;
    const DrawnNote note = about(*drawn->journal, drawn->journal->note(at), place);
    places->by_xid[places->count] = places->by_sender[places->count] = note;
    places->by_sender[places->count++].xid = no_xid;
  }
  std::sort(places->by_xid, places->by_xid + places->count, in_front);
  std::sort(places->by_sender, places->by_sender + places->count, in_front);
  return places;
}

std::uint32_t place_of(const FindingPlaces& places, const referee::Finding& finding) {
  std::uint32_t found = finding.xid ? newest(places.by_xid, places.count, *finding.xid, finding) : 0;
  if (found == 0) found = newest(places.by_sender, places.count, no_xid, finding);
  return found == 0 ? journal::none : found - 1;
}

}  // namespace rpcrdma::plugin
