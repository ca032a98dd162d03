// SPDX-License-Identifier: GPL-2.0-or-later
// The notes, and which of them each frame has, in what order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <utility>
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
  void remove(std::uint32_t frame, NoteKind kind, std::uint32_t index);
  /// Those of a frame by what `key` says of each; what is equal stays as it is.
  template <class Key>
  void sort(std::uint32_t frame, Key key) {
    std::vector<std::uint32_t> all;
    for (std::uint32_t at = first(frame); at != none; at = notes_[at].next) all.push_back(at);
    std::stable_sort(all.begin(), all.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return key(notes_[a]) < key(notes_[b]); });
    put(frame, all);
  }
  /// Those of a frame into the frames that `home` says of each, behind what they have.
  template <class Home>
  void spread(std::uint32_t frame, Home home) {
    std::vector<std::uint32_t> stay;
    for (std::uint32_t at = first(frame); at != none;) {
      const std::uint32_t next = std::exchange(notes_[at].next, none);
      const std::uint32_t to = home(notes_[at]);
      if (to == frame) stay.push_back(at);
      if (to != frame) append(to, at);
      at = next;
    }
    put(frame, stay);
  }

 private:
  /// Of a frame: its list may be long, and is added to at its end.
  struct List {
    std::uint32_t first = none;
    std::uint32_t last = none;
  };
  void append(std::uint32_t frame, std::uint32_t note);
  /// The frame has these, in this order.
  void put(std::uint32_t frame, const std::vector<std::uint32_t>& notes);
  [[nodiscard]] List& list(std::uint32_t frame);

  std::deque<Note> notes_;
  std::vector<std::vector<List>> pages_;  ///< by frame number
};

}  // namespace rpcrdma::journal
