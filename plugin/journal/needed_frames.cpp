// SPDX-License-Identifier: GPL-2.0-or-later
#include "journal/needed_frames.hpp"

#include "journal/notes.hpp"

namespace rpcrdma::journal {

namespace {

const NeededFrames::Frames no_frames;

}  // namespace

void NeededFrames::add(Shown shown, std::uint32_t earlier) {
  add_one(shown.told, earlier);
  if (shown.own != shown.told) add_one(shown.own, earlier);
}

void NeededFrames::add_one(std::uint32_t frame, std::uint32_t earlier) {
  if (earlier == 0 || earlier >= frame) return;
  Frames& frames = by_frame_[frame];
  if (frames.empty() || frames.back() != earlier) frames.push_back(earlier);
}

const NeededFrames::Frames& NeededFrames::of(std::uint32_t frame) const noexcept {
  const auto at = by_frame_.find(frame);
  return at == by_frame_.end() ? no_frames : at->second;
}

void NeededFrames::operation(std::uint32_t connection, std::uint32_t exchange, std::uint32_t frame) {
  Frames& frames = operations_[exchange_key(connection, exchange)];
  if (frames.empty() || frames.back() != frame) frames.push_back(frame);
}

void NeededFrames::put_together(std::uint32_t connection, std::uint32_t exchange, Shown shown) {
  const auto at = operations_.find(exchange_key(connection, exchange));
  if (at == operations_.end()) return;
  for (const std::uint32_t frame : at->second) add(shown, frame);
  operations_.erase(at);
}

}  // namespace rpcrdma::journal
