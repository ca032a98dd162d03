// SPDX-License-Identifier: GPL-2.0-or-later
#include "payload/pieces.hpp"

#include <algorithm>

namespace rpcrdma::payload {

void Stream::append(wire::Bytes captured, std::uint64_t length) {
  if (captured.size() > length) captured = captured.first(static_cast<std::size_t>(length));
  if (!cut) {
    octets.insert(octets.end(), captured.begin(), captured.end());
    cut = captured.size() < length;
  }
  wire_length += length;
}

void Pieces::add(std::uint32_t handle, std::uint64_t offset, std::uint64_t length, wire::Bytes captured) {
  if (length == 0 || offset + length < offset) return;
  if (captured.size() > length) captured = captured.first(static_cast<std::size_t>(length));
  if (captured.size() > most_octets - std::min(most_octets, pool_.size())) captured = {};
  // Most come in order: one piece a segment is enough.
  auto before = pieces_.upper_bound({handle, offset});
  if (before != pieces_.begin()) {
    auto& [key, piece] = *std::prev(before);
    const bool follows = key.first == handle && key.second + piece.length == offset && piece.captured == piece.length &&
                         piece.begin + piece.captured == pool_.size();
    if (follows) {
      pool_.insert(pool_.end(), captured.begin(), captured.end());
      piece.length += length;
      piece.captured += captured.size();
      return;
    }
  }
  if (pieces_.size() >= most_pieces) return;
  auto [at, fresh] = pieces_.try_emplace({handle, offset});
  if (!fresh && at->second.length > length) return;  // the same again, and less of it
  at->second = {length, pool_.size(), captured.size()};
  pool_.insert(pool_.end(), captured.begin(), captured.end());
}

std::map<Pieces::Key, Pieces::Piece>::const_iterator Pieces::holding(std::uint32_t handle, std::uint64_t offset) const {
  const auto after = pieces_.upper_bound({handle, offset});
  if (after == pieces_.begin()) return pieces_.end();
  const auto at = std::prev(after);
  if (at->first.first != handle || offset - at->first.second >= at->second.length) return pieces_.end();
  return at;
}

bool Pieces::covers(std::uint32_t handle, std::uint64_t offset, std::uint64_t length) const {
  while (length > 0) {
    const auto at = holding(handle, offset);
    if (at == pieces_.end()) return false;
    const std::uint64_t step = std::min(length, at->first.second + at->second.length - offset);
    offset += step;
    length -= step;
  }
  return true;
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
