// SPDX-License-Identifier: GPL-2.0-or-later
#include "journal/notes_by_frame.hpp"

namespace rpcrdma::journal {

namespace {

constexpr std::size_t page_frames = 4096;

}  // namespace

std::uint32_t NotesByFrame::first(std::uint32_t frame) const noexcept {
  const std::size_t page = frame / page_frames;
  if (page >= pages_.size() || pages_[page].empty()) return none;
  return pages_[page][frame % page_frames].first;
}

NotesByFrame::List& NotesByFrame::list(std::uint32_t frame) {
  const std::size_t page = frame / page_frames;
  if (pages_.size() <= page) pages_.resize(page + 1);
  if (pages_[page].empty()) pages_[page].resize(page_frames);
  return pages_[page][frame % page_frames];
}

void NotesByFrame::add(std::uint32_t frame, NoteKind kind, std::uint32_t index) {
  notes_.push_back({kind, index, none});
  append(frame, static_cast<std::uint32_t>(notes_.size() - 1));
}

void NotesByFrame::append(std::uint32_t frame, std::uint32_t note) {
  List& of = list(frame);
  (of.first == none ? of.first : notes_[of.last].next) = note;
  of.last = note;
}

void NotesByFrame::put(std::uint32_t frame, const std::vector<std::uint32_t>& notes) {
  if (notes.empty() && first(frame) == none) return;
  list(frame) = {};
  for (const std::uint32_t note : notes) {
    notes_[note].next = none;
    append(frame, note);
  }
}

void NotesByFrame::remove(std::uint32_t frame, NoteKind kind, std::uint32_t index) {
  std::vector<std::uint32_t> others;
  for (std::uint32_t at = first(frame); at != none; at = notes_[at].next) {
    if (notes_[at].kind != kind || notes_[at].index != index) others.push_back(at);
  }
  put(frame, others);
}

}  // namespace rpcrdma::journal
