// SPDX-License-Identifier: GPL-2.0-or-later
#include "journal/notes_by_frame.hpp"

#include <utility>

namespace rpcrdma::journal {

namespace {

constexpr std::size_t page_frames = 4096;

}  // namespace

std::uint32_t NotesByFrame::first(std::uint32_t frame) const noexcept {
  const std::size_t page = frame / page_frames;
  if (page >= pages_.size() || pages_[page].empty()) return none;
  return pages_[page][frame % page_frames];
}

/// Of a frame that has its page.
std::uint32_t& NotesByFrame::head(std::uint32_t frame) noexcept {
  return pages_[frame / page_frames][frame % page_frames];
}

void NotesByFrame::add(std::uint32_t frame, NoteKind kind, std::uint32_t index) {
  append(frame, static_cast<std::uint32_t>(notes_.size()));
  notes_.push_back({kind, index, none});
}

void NotesByFrame::append(std::uint32_t frame, std::uint32_t note) {
  const std::size_t page = frame / page_frames;
  if (pages_.size() <= page) pages_.resize(page + 1);
  if (pages_[page].empty()) pages_[page].assign(page_frames, none);
  std::uint32_t* link = &head(frame);
  while (*link != none) link = &notes_[*link].next;
  *link = note;
}

std::uint32_t NotesByFrame::take_out(std::uint32_t frame, NoteKind kind, std::uint32_t index) {
  if (first(frame) == none) return none;
  for (std::uint32_t* link = &head(frame); *link != none; link = &notes_[*link].next) {
    Note& note = notes_[*link];
    if (note.kind == kind && note.index == index) return std::exchange(*link, std::exchange(note.next, none));
  }
  return none;
}

bool NotesByFrame::move(std::uint32_t from, std::uint32_t to, NoteKind kind, std::uint32_t index) {
  const std::uint32_t note = take_out(from, kind, index);
  if (note != none) append(to, note);
  return note != none;
}

}  // namespace rpcrdma::journal
