// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/iwarp/tcp_order.hpp"

#include <algorithm>
#include <utility>

namespace rpcrdma::trace::iwarp {

void TcpOrder::start_at(std::uint32_t sequence) noexcept {
  started_ = true;
  next_ = (Position{1} << 32U) + sequence;
  first_ = next_;
}

Position TcpOrder::unwrap(std::uint32_t sequence) const noexcept {
  const auto ahead = static_cast<std::int32_t>(sequence - static_cast<std::uint32_t>(next_));
  return next_ + static_cast<std::uint64_t>(static_cast<std::int64_t>(ahead));
}

bool TcpOrder::seen_just_now(const Piece& piece, std::uint32_t acknowledgement,
                             std::uint16_t ip_identification) noexcept {
  bool seen = false;
  const bool perhaps = piece.start != next_;  // what comes next in order cannot have been here
  for (const Recent& r : recent_) {
    if (!perhaps) break;
    if (r.start != piece.start || r.wire_length != piece.wire_length || r.acknowledgement != acknowledgement) continue;
    // Nothing tells TCP so soon that its very first octets are lost.
    const bool first = piece.start == first_;
    seen = seen || same_packet({ip_identification, piece.ref}, {r.ip_identification, r.ref}, first);
  }
  recent_[recent_at_] = {piece.start, piece.wire_length, acknowledgement, ip_identification, piece.ref};
  recent_at_ = (recent_at_ + 1) % recent_.size();
  return seen;
}

Arrival TcpOrder::arrive(Piece& piece, std::uint32_t acknowledgement, std::uint16_t ip_identification) {
  const bool duplicate = seen_just_now(piece, acknowledgement, ip_identification);
  if (piece.end() <= next_) {
    if (piece.wire_length <= 1 && piece.end() == next_ && !duplicate) return Arrival::keep_alive;
    return duplicate ? Arrival::capture_duplicate : Arrival::retransmission;
  }
  if (piece.start <= next_) {
    piece.drop_front(next_ - piece.start);
    next_ = piece.end();
    return Arrival::next;
  }
  const Arrival arrival = hold(piece);
  return arrival == Arrival::retransmission && duplicate ? Arrival::capture_duplicate : arrival;
}

Arrival TcpOrder::hold(const Piece& piece) {
  auto at = held_.end();
  while (at != held_.begin() && std::prev(at)->start > piece.start) --at;
  for (auto i = at; i != held_.begin();) {
    --i;
    if (i->start + i->wire_length >= piece.end()) return Arrival::retransmission;
    if (i->start != piece.start) break;
  }
  if (held_.size() >= held_pieces_limit || held_octets_ + piece.octets.size() > held_octets_limit ||
      !budget_.take(piece.octets.size())) {
    return Arrival::full;
  }
  held_octets_ += piece.octets.size();
  Held held;
  held.start = piece.start;
  held.wire_length = piece.wire_length;
  held.ref = piece.ref;
  held.octets.assign(piece.octets.begin(), piece.octets.end());
  held_.insert(at, std::move(held));
  return Arrival::held;
}

std::optional<Piece> TcpOrder::take_ready() {
  while (!held_.empty() && held_.front().start <= next_) {
    taken_ = std::move(held_.front());
    held_.pop_front();
    held_octets_ -= taken_.octets.size();
    budget_.give(taken_.octets.size());
    Piece piece{taken_.start, taken_.wire_length, taken_.octets, taken_.ref, true};
    if (piece.end() <= next_) continue;
    piece.drop_front(next_ - piece.start);
    next_ = piece.end();
    return piece;
  }
  return std::nullopt;
}

std::optional<Hole> TcpOrder::hole() const noexcept {
  if (held_.empty() || held_.front().start <= next_) return std::nullopt;
  return Hole{next_, held_.front().start - next_, held_.front().ref};
}

FrameRef TcpOrder::oldest_beyond(Position position) const noexcept {
  FrameRef found;
  Position from = 0;
  const auto consider = [&](Position start, std::uint32_t length, FrameRef ref) {
    if (start + length <= position) return;
    const Position at = std::max(start, position);
    if (found.number != 0 && (at > from || (at == from && ref.number >= found.number))) return;
    from = at;
    found = ref;
  };
  for (const Recent& r : recent_) consider(r.start, r.wire_length, r.ref);
  for (const Held& held : held_) consider(held.start, held.wire_length, held.ref);
  return found;
}

}  // namespace rpcrdma::trace::iwarp
