// SPDX-License-Identifier: GPL-2.0-or-later
// What is kept of a capture, by frame, from its first frame to the closing of the file.
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>

#include "journal/needed_frames.hpp"
#include "journal/notes.hpp"
#include "journal/notes_by_frame.hpp"

namespace rpcrdma::journal {

[[nodiscard]] inline std::uint32_t number(trace::FrameRef frame) noexcept {
  return static_cast<std::uint32_t>(frame.number);
}

/// Notes name what they are about by its index, which stays good.
struct Record {
  NotesByFrame notes;
  std::deque<Message> messages;
  std::deque<Unplaced> unplaced;
  std::deque<Payload> payloads;
  std::deque<Operation> operations;
  std::deque<Part> parts;
  std::deque<Handshake> handshakes;
  std::unordered_map<std::uint32_t, Connection> connections;  ///< by the referee's number
  std::unordered_map<std::uint32_t, Repeat> repeats;          ///< by frame
  NeededFrames needed;

  [[nodiscard]] const Connection* connection(std::uint32_t id) const noexcept;
  /// That a note is about; 0: which one is not known yet.
  [[nodiscard]] std::uint32_t connection_of(const Note& note) const noexcept;
  /// By the referee's numbers; null: there is none.
  [[nodiscard]] const Exchange* exchange(std::uint32_t connection_id, std::uint32_t id) const noexcept;
};

}  // namespace rpcrdma::journal
