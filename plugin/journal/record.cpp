// SPDX-License-Identifier: GPL-2.0-or-later
#include "journal/record.hpp"

namespace rpcrdma::journal {

const Connection* Record::connection(std::uint32_t id) const noexcept {
  const auto at = connections.find(id);
  return at == connections.end() ? nullptr : &at->second;
}

const Exchange* Record::exchange(std::uint32_t connection_id, std::uint32_t id) const noexcept {
  const Connection* known = connection(connection_id);
  if (known == nullptr || id == 0 || id > known->exchanges.size()) return nullptr;
  return &known->exchanges[id - 1];
}

std::uint32_t Record::message_of(std::uint32_t connection_id, std::uint32_t exchange_id, bool call) const {
  const Exchange* known = exchange(connection_id, exchange_id);
  if (known == nullptr) return none;
  for (std::uint32_t at = notes.first(number(call ? known->call : known->reply)); at != none; at = notes[at].next) {
    const Note& note = notes[at];
    if (note.kind != NoteKind::message) continue;
    const Message& message = messages[note.index];
    if (message.connection == connection_id && message.exchange == exchange_id) return note.index;
  }
  return none;
}

}  // namespace rpcrdma::journal
