// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/iwarp/window.hpp"

#include <algorithm>
#include <iterator>

#include "wire/crc32c.hpp"

namespace rpcrdma::trace::iwarp {

Position Window::end() const noexcept { return entries_.empty() ? 0 : entries_.back().end(); }

bool Window::append(const Piece& piece) {
  if (piece.wire_length == 0) return true;
  if (entries_.size() >= pieces_limit || used_ + piece.octets.size() > octets_limit ||
      !budget_.take(piece.octets.size())) {
    return false;
  }
  // Octets of dropped entries stay in front until they outweigh the rest.
  const std::size_t stale = octets_.size() - used_;
  if (stale > used_ + 4096) {
    octets_.erase(octets_.begin(), octets_.begin() + static_cast<std::ptrdiff_t>(stale));
    shed_ += stale;
  }
  Entry entry;
  entry.start = piece.start;
  entry.wire_length = piece.wire_length;
  entry.at = shed_ + octets_.size();
  entry.captured = piece.octets.size();
  entry.ref = piece.ref;
  entry.turn = piece.turn;
  entry.segment_start = piece.segment_start;
  octets_.insert(octets_.end(), piece.octets.begin(), piece.octets.end());
  used_ += piece.octets.size();
  entries_.push_back(entry);
  return true;
}

bool Window::append_hole(Position start, std::uint64_t count, FrameRef ref, std::uint64_t turn) {
  if (!entries_.empty() && entries_.back().hole && entries_.back().start + entries_.back().wire_length == start) {
    entries_.back().wire_length += count;
    return true;
  }
  if (entries_.size() >= pieces_limit) return false;
  Entry entry;
  entry.start = start;
  entry.wire_length = count;
  entry.at = shed_ + octets_.size();
  entry.ref = ref;
  entry.turn = turn;
  entry.hole = true;
  entries_.push_back(entry);
  return true;
}

Bytes Window::octets_of(const Entry& entry) const noexcept {
  return Bytes(octets_).subspan(entry.at - shed_, entry.captured);
}

Window::Front Window::front() const noexcept {
  Front front;
  const Entry& entry = entries_.front();
  front.piece.start = entry.start;
  front.piece.ref = entry.ref;
  front.piece.turn = entry.turn;
  front.piece.segment_start = entry.segment_start;
  if (entry.hole) {
    front.hole = entry.wire_length;
  } else {
    front.piece.wire_length = static_cast<std::uint32_t>(entry.wire_length);
    front.piece.octets = octets_of(entry);
  }
  return front;
}

void Window::pop_front() {
  used_ -= entries_.front().captured;
  budget_.give(entries_.front().captured);
  entries_.pop_front();
  if (!entries_.empty()) return;
  shed_ += octets_.size();
  octets_.clear();
}

std::uint64_t Window::drop_before(Position position) {
  std::uint64_t dropped = 0;
  while (!entries_.empty() && entries_.front().end() <= position) {
    if (!entries_.front().hole) dropped += entries_.front().wire_length;
    pop_front();
  }
  if (entries_.empty() || entries_.front().start >= position) return dropped;
  Entry& entry = entries_.front();
  const std::uint64_t count = position - entry.start;
  const auto captured = static_cast<std::size_t>(std::min<std::uint64_t>(count, entry.captured));
  if (!entry.hole) dropped += count;
  entry.start = position;
  entry.wire_length -= count;
  entry.at += captured;
  entry.captured -= captured;
  entry.segment_start = false;
  used_ -= captured;
  budget_.give(captured);
  return dropped;
}

void Window::clear() {
  while (!entries_.empty()) pop_front();
  octets_ = std::vector<std::uint8_t>();
  shed_ = 0;
}

const Window::Entry* Window::find(Position position) const noexcept {
  const auto after = std::upper_bound(entries_.begin(), entries_.end(), position,
                                      [](Position p, const Entry& entry) { return p < entry.start; });
  if (after == entries_.begin()) return nullptr;
  const Entry& entry = *std::prev(after);
  return position < entry.end() ? &entry : nullptr;
}

Window::Have Window::read(Position from, std::size_t count, const wire::Markers& markers, std::uint8_t* out) const {
  if (markers.after(from, count) > end()) return Have::beyond;
  while (count > 0) {
    from += markers.inside(from);
    const Entry* entry = find(from);
    if (entry == nullptr) return Have::beyond;
    const std::uint64_t skip = from - entry->start;
    if (skip >= entry->captured) return Have::cut;
    const auto run =
        static_cast<std::size_t>(std::min<std::uint64_t>({count, entry->captured - skip, markers.until_next(from)}));
    const Bytes octets = octets_of(*entry).subspan(static_cast<std::size_t>(skip), run);
    out = std::copy(octets.begin(), octets.end(), out);
    from += run;
    count -= run;
  }
  return Have::yes;
}

Bytes Window::contiguous(Position from) const noexcept {
  const Entry* entry = find(from);
  if (entry == nullptr || from - entry->start >= entry->captured) return {};
  return octets_of(*entry).subspan(static_cast<std::size_t>(from - entry->start));
}

Position Window::next_piece(Position position) const noexcept {
  const Entry* entry = find(position);
  return entry == nullptr ? end() : entry->end();
}

bool Window::boundary(Position position) const noexcept {
  if (position == end()) return true;
  const Entry* entry = find(position);
  return entry != nullptr && entry->start == position && entry->segment_start;
}

std::optional<std::uint32_t> Window::crc(Position from, Position to) const noexcept {
  std::uint32_t value = 0;
  while (from < to) {
    const Entry* entry = find(from);
    if (entry == nullptr) return std::nullopt;
    const std::uint64_t skip = from - entry->start;
    if (skip >= entry->captured) return std::nullopt;
    const auto run = static_cast<std::size_t>(std::min<std::uint64_t>(to - from, entry->captured - skip));
    value = wire::crc32c(octets_of(*entry).subspan(static_cast<std::size_t>(skip), run), value);
    from += run;
  }
  return value;
}

FrameRef Window::frame_of(Position position) const noexcept {
  const Entry* entry = find(position);
  return entry == nullptr ? FrameRef{} : entry->ref;
}

}  // namespace rpcrdma::trace::iwarp
