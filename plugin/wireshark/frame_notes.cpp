// SPDX-License-Identifier: GPL-2.0-or-later
#include "wireshark/frame_notes.hpp"

#include <algorithm>

namespace rpcrdma::plugin {

namespace {

using journal::NoteKind;

template <class T>
[[nodiscard]] T* array(wmem_allocator_t* pool, std::uint32_t count) {
  return count == 0 ? nullptr : static_cast<T*>(wmem_alloc(pool, count * sizeof(T)));
}

[[nodiscard]] bool message_in_front(const Behind& a, const Behind& b) noexcept {
  return a.message != b.message ? a.message < b.message : a.place < b.place;
}

void add_payload(FrameNotes& notes, const journal::Journal& journal, const journal::Payload& payload, Behind at) {
  if (!payload.call && payload.exchange != 0) {
    notes.answered.first[notes.answered.count++] = journal::exchange_key(payload.connection, payload.exchange);
  }
  if (payload.message == journal::none) return;
  if (payload.home.number == journal.message(payload.message).last_frame) notes.behind[notes.behind_count++] = at;
}

}  // namespace

bool Numbers::has(std::uint64_t number) const noexcept {
  return count != 0 && std::binary_search(first, first + count, number);
}

const Behind* FrameNotes::behind_message(std::uint32_t message) const noexcept {
  return std::lower_bound(behind, behind + behind_count, Behind{message, 0, 0}, message_in_front);
}

FrameNotes notes_of(const journal::Journal& journal, std::uint32_t frame, wmem_allocator_t* pool) {
  FrameNotes notes;
  std::uint32_t payloads = 0;
  for (std::uint32_t at = journal.first(frame); at != journal::none; at = journal.note(at).next) {
    const NoteKind kind = journal.note(at).kind;
    ++notes.count;
    if (kind == NoteKind::payload) ++payloads;
    if (kind != NoteKind::payload && kind != NoteKind::handshake) notes.carries_rdma = true;
  }
  if (payloads == 0) return notes;  // the rest is asked of RPC messages alone
  notes.messages.first = array<std::uint64_t>(pool, notes.count);
  notes.answered.first = array<std::uint64_t>(pool, payloads);
  notes.behind = array<Behind>(pool, payloads);
  std::uint32_t place = 0;
  for (std::uint32_t at = journal.first(frame); at != journal::none; at = journal.note(at).next, ++place) {
    const journal::Note& note = journal.note(at);
    if (note.kind == NoteKind::message) notes.messages.first[notes.messages.count++] = note.index;
    if (note.kind != NoteKind::payload) continue;
    const journal::Payload& payload = journal.payload(note.index);
    add_payload(notes, journal, payload, {payload.message, place, at});
  }
  std::sort(notes.messages.first, notes.messages.first + notes.messages.count);
  std::sort(notes.answered.first, notes.answered.first + notes.answered.count);
  std::sort(notes.behind, notes.behind + notes.behind_count, message_in_front);
  return notes;
}

}  // namespace rpcrdma::plugin
