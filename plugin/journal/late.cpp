// SPDX-License-Identifier: GPL-2.0-or-later
#include "journal/late.hpp"

#include <utility>

namespace rpcrdma::journal {

namespace {

/// The frame that what a note says belongs to.
[[nodiscard]] std::uint32_t home_of(const Record& record, const Note& note, std::uint32_t shown) {
  if (note.kind == NoteKind::message) return record.messages[note.index].last_frame;
  if (note.kind == NoteKind::payload) return number(record.payloads[note.index].home);
  return shown;
}

}  // namespace

void Late::add(Record& record, NoteKind kind, std::uint32_t index, std::uint32_t shown, std::uint32_t own) {
  if (shown != own) told_.push_back({kind, index, shown});
  record.notes.add(shown, kind, index);
}

void Late::bring_home(Record& record) const {
  std::uint32_t done = 0;
  for (const Told& told : told_) {
    if (std::exchange(done, told.shown) == told.shown) continue;  // what one frame told follows each other
    record.notes.spread(told.shown, [&](const Note& note) { return home_of(record, note, told.shown); });
  }
}

void Late::in_order_of_frames(Record& record, std::uint32_t shown) {
  if (told_.size() == in_order_) return;
  in_order_ = told_.size();
  record.notes.sort(shown, [&](const Note& note) { return home_of(record, note, shown); });
}

}  // namespace rpcrdma::journal
