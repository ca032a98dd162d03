// SPDX-License-Identifier: GPL-2.0-or-later
#include "journal/record.hpp"

namespace rpcrdma::journal {

const Connection* Record::connection(std::uint32_t id) const noexcept {
  const auto at = connections.find(id);
  return at == connections.end() ? nullptr : &at->second;
}

std::uint32_t Record::connection_of(const Note& note) const noexcept {
  switch (note.kind) {
    case NoteKind::message:
      return messages[note.index].connection;
    case NoteKind::unplaced:
      break;
    case NoteKind::payload:
      return payloads[note.index].connection;
    case NoteKind::operation:
      return operations[note.index].connection;
    case NoteKind::part:
      return parts[note.index].connection;
    case NoteKind::handshake:
      return handshakes[note.index].connection;
  }
  return 0;
}

const Exchange* Record::exchange(std::uint32_t connection_id, std::uint32_t id) const noexcept {
  const Connection* known = connection(connection_id);
  return known == nullptr ? nullptr : known->exchange(id);
}

}  // namespace rpcrdma::journal
