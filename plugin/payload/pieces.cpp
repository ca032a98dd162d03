// SPDX-License-Identifier: GPL-2.0-or-later
#include "payload/pieces.hpp"

#include <algorithm>
#include <array>

namespace rpcrdma::payload {

void Stream::append(wire::Bytes captured, std::uint64_t length) {
  if (captured.size() > length) captured = captured.first(static_cast<std::size_t>(length));
  if (!cut) {
    const std::size_t room = most - std::min(most, octets.size());
    if (captured.size() > room) captured = captured.first(room);
    octets.insert(octets.end(), captured.begin(), captured.end());
    cut = captured.size() < length;
  }
  wire_length += std::min(length, UINT64_MAX - wire_length);
}

void Stream::append_padding(std::size_t length) {
  constexpr std::array<std::uint8_t, 3> zeros{};
  append(wire::Bytes(zeros).first(std::min(length, zeros.size())), length);
}

void Pieces::add(std::uint32_t handle, std::uint64_t offset, std::uint64_t length, wire::Bytes captured) {
  if (length == 0 || length - 1 > UINT64_MAX - offset) return;
  if (captured.size() > length) captured = captured.first(static_cast<std::size_t>(length));
  if (captured.size() > most_octets - std::min(most_octets, pool_.size())) captured = {};
  clear(handle, offset, length);
  const std::size_t begin = pool_.size();
  // Most come in order: one piece a segment is enough.
  const auto after = pieces_.upper_bound({handle, offset});
  if (after != pieces_.begin()) {
    auto& [key, piece] = *std::prev(after);
    const bool follows = key.first == handle && offset - key.second == piece.length && piece.captured == piece.length &&
                         piece.begin + piece.captured == begin;
    if (follows) {
      pool_.insert(pool_.end(), captured.begin(), captured.end());
      piece.length += length;
      piece.captured += captured.size();
      return;
    }
  }
  if (pieces_.size() >= most_pieces) return;
  pieces_[{handle, offset}] = {length, begin, captured.size()};
  pool_.insert(pool_.end(), captured.begin(), captured.end());
}

/// Makes room: pieces inside go, those that reach in or over are shortened.
void Pieces::clear(std::uint32_t handle, std::uint64_t offset, std::uint64_t length) {
  const std::uint64_t last = offset + (length - 1);
  auto at = pieces_.lower_bound({handle, offset});
  if (at != pieces_.begin() && std::prev(at)->first.first == handle) --at;
  while (at != pieces_.end() && at->first.first == handle && at->first.second <= last) {
    const std::uint64_t start = at->first.second;
    const std::uint64_t end = start + (at->second.length - 1);
    if (end < offset) {
      ++at;
      continue;
    }
    const Piece old = at->second;
    if (start < offset) {
      at->second.length = offset - start;
      at->second.captured = static_cast<std::size_t>(std::min<std::uint64_t>(old.captured, offset - start));
      ++at;
    } else {
      at = pieces_.erase(at);
    }
    if (end > last) {
      const auto skip = static_cast<std::size_t>(std::min<std::uint64_t>(old.captured, last - start + 1));
      pieces_[{handle, last + 1}] = {end - last, old.begin + skip, old.captured - skip};
      return;
    }
  }
}

std::map<Pieces::Key, Pieces::Piece>::const_iterator Pieces::holding(std::uint32_t handle, std::uint64_t offset) const {
  const auto after = pieces_.upper_bound({handle, offset});
  if (after == pieces_.begin()) return pieces_.end();
  const auto at = std::prev(after);
  if (at->first.first != handle || offset - at->first.second >= at->second.length) return pieces_.end();
  return at;
}

std::uint64_t Pieces::covered(std::uint32_t handle, std::uint64_t offset, std::uint64_t length) const {
  std::uint64_t done = 0;
  while (done < length) {
    const auto at = holding(handle, offset + done);
    if (at == pieces_.end()) break;
    done += std::min(length - done, at->second.length - (offset + done - at->first.second));
  }
  return done;
}

void Pieces::copy(std::uint32_t handle, std::uint64_t offset, std::uint64_t length, Stream& out) const {
  while (length > 0) {
    const auto at = holding(handle, offset);
    if (at == pieces_.end()) {
      out.append({}, length);
      return;
    }
    const std::uint64_t inside = offset - at->first.second;
    const std::uint64_t step = std::min(length, at->second.length - inside);
    const std::size_t captured = at->second.captured;
    const auto skip = static_cast<std::size_t>(std::min<std::uint64_t>(inside, captured));
    const wire::Bytes octets(pool_.data() + at->second.begin + skip, captured - skip);
    out.append(octets, step);
    offset += step;
    length -= step;
  }
}

}  // namespace rpcrdma::payload
