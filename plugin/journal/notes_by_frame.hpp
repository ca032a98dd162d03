// SPDX-License-Identifier: GPL-2.0-or-later
// The notes, and which of them each frame has, in what order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <vector>

#include "journal/notes.hpp"

namespace rpcrdma::journal {

class NotesByFrame {
 public:
  /// First note of a frame, or `none`; the others by Note::next. Indices stay good; references only until add().
  [[nodiscard]] std::uint32_t first(std::uint32_t frame) const noexcept;
  [[nodiscard]] const Note& operator[](std::uint32_t index) const noexcept { return notes_[index]; }
  /// Behind those that the frame has.
  void add(std::uint32_t frame, NoteKind kind, std::uint32_t index);
  /// Out of one frame, behind those of another. False: the first one does not have it.
  bool move(std::uint32_t from, std::uint32_t to, NoteKind kind, std::uint32_t index);
  void remove(std::uint32_t frame, NoteKind kind, std::uint32_t index) { (void)take_out(frame, kind, index); }
  /// Those of a frame by what `key` says of each; what is equal stays as it is.
  template <class Key>
  void sort(std::uint32_t frame, Key key) {
    std::vector<std::uint32_t> all;
    for (std::uint32_t at = first(frame); at != none; at = notes_[at].next) all.push_back(at);
    std::stable_sort(all.begin(), all.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return key(notes_[a]) < key(notes_[b]); });
    std::uint32_t* link = all.empty() ? nullptr : &head(frame);
    for (const std::uint32_t note : all) {
      *link = note;
      link = &notes_[note].next;
    }
    if (link != nullptr) *link = none;
  }

 private:
  void append(std::uint32_t frame, std::uint32_t note);
  /// `none`: the frame does not have it.
  [[nodiscard]] std::uint32_t take_out(std::uint32_t frame, NoteKind kind, std::uint32_t index);
  [[nodiscard]] std::uint32_t& head(std::uint32_t frame) noexcept;

  std::deque<Note> notes_;
  std::vector<std::vector<std::uint32_t>> pages_;  ///< first note by frame number
};

}  // namespace rpcrdma::journal
