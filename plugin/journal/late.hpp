// SPDX-License-Identifier: GPL-2.0-or-later
// What had to wait, for a hole to be filled for example, is told behind its own frame: it is shown in the one that is
// being read, and in its own once the file is read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "journal/record.hpp"
#include "trace/frame.hpp"

namespace rpcrdma::journal {

class Late {
 public:
  struct Told {
    NoteKind kind = NoteKind::message;
    std::uint32_t index = none;
    std::uint32_t shown = 0;
  };

  /// The frame that is being read; null: the file is at its end.
  void reads(const trace::Frame* frame) noexcept { current_ = frame; }
  [[nodiscard]] const trace::Frame* current() const noexcept { return current_; }
  /// Where something of that frame is shown, which is told now.
  [[nodiscard]] std::uint32_t shown_in(std::uint32_t own) const noexcept {
    return current_ != nullptr ? number(current_->ref) : own;
  }
  /// A note of that frame, for as long as the file is read.
  void add(Record& record, NoteKind kind, std::uint32_t index, std::uint32_t shown, std::uint32_t own);
  /// What was told in `shown` in the order of its own frames, each direction for itself: a Reply may come in front of
  /// its Call.
  void in_order_of_frames(Record& record, std::uint32_t shown);
  /// The file is read: each note into its own frame.
  void bring_home(Record& record) const;
  /// As it was told.
  [[nodiscard]] const std::vector<Told>& all() const noexcept { return told_; }

 private:
  const trace::Frame* current_ = nullptr;
  std::vector<Told> told_;
  std::size_t in_order_ = 0;  ///< of these
};

}  // namespace rpcrdma::journal
