// SPDX-License-Identifier: GPL-2.0-or-later
// Segments are taken in the order that their acknowledgements prove: what waits, for what, and how long.
#include <algorithm>

#include "trace/iwarp/connection.hpp"

namespace rpcrdma::trace::iwarp {

/// What the side that opens the connection says first.
bool Connection::first_words(int direction, const TcpSegment& segment) const {
  if (segment.wire_length == 0) return false;
  const auto& first = opening_.first[static_cast<std::size_t>(direction)];
  return (opening_.opener == direction && first == segment.sequence) ||
         wire::mpa_key(segment.payload) == wire::MpaKey::request;
}

void Connection::segment(int direction, const TcpSegment& segment) {
  if (status_ == Status::given_up) return;
  Half& h = half(direction);
  Half& peer = half(1 - direction);
  h.networks.add(segment.seen_in);
  // What begins behind the octets that are waited for shows that they do not come.
  if ((segment.flags & TcpSegment::rst) != 0) ProvenOrder::release_all(*this, {});
  // Whoever opens speaks first: nothing of the answer can be acknowledged in that.
  if (!peer.promised && (segment.flags & TcpSegment::ack) != 0 && first_words(direction, segment)) {
    peer.promised = segment.acknowledgement;
  }
  const bool places = segment.wire_length > 0 || (segment.flags & TcpSegment::fin) != 0;
  while (!peer.early.empty() && places && h.order.started() && !h.early.data() &&
         h.order.unwrap(segment.sequence) >= h.order.unwrap(peer.early.front().acknowledgement)) {
    pass_over(h, peer.early.front().acknowledgement, segment.ref);
    release(1 - direction);
  }
  ProvenOrder::release_proven(*this, segment.ref);
  if (must_wait(h, segment)) {
    if (h.early.hold(segment)) {
      tell_waiting(segment, direction);
      return;
    }
    while (!h.early.empty()) release(direction);
  }
  take(h, segment);
  ProvenOrder::release_proven(*this, segment.ref);
}

/// The capture lacks what `h` sent up to there: said before what its peer sent when it had that.
void Connection::pass_over(Half& h, std::uint32_t sequence, FrameRef frame) {
  const Position to = h.order.unwrap(sequence);
  while (h.order.next() < to) {
    const auto hole = h.order.hole();
    const std::uint64_t left = to - h.order.next();
    give_up(h, hole ? std::min(hole->count, left) : left, true, frame);
  }
}

void Connection::tell_waiting(const TcpSegment& segment, int direction) const {
  StreamWatch* const watch = context_.options.streams;
  if (watch == nullptr || live()) return;
  const auto& first = opening_.first[static_cast<std::size_t>(direction)];
  if (first ? *first != segment.sequence : half(direction).order.started()) return;
  const wire::MpaKey key = wire::mpa_key(segment.payload);
  if (key == wire::MpaKey::request || key == wire::MpaKey::reply) watch->waits(segment.ref);
}

/// What it acknowledges has been seen. One octet more may be a FIN.
bool Connection::come(const Half& h, const TcpSegment& segment) const {
  const Half& peer = half(1 - h.direction);
  if ((segment.flags & TcpSegment::ack) == 0) return true;
  if (!peer.order.started()) {
    if (h.waited_in_vain) return true;
    // An MPA Reply answers a Request, wherever the capture has that.
    if (!peer.promised) return wire::mpa_key(segment.payload) != wire::MpaKey::reply;
    return segment.acknowledgement - *peer.promised <= 1;
  }
  const std::int64_t ahead =
      distance(std::max(peer.reach, peer.order.next()), peer.order.unwrap(segment.acknowledgement));
  return ahead <= 1 || ahead > window_ahead;
}

/// Also behind those of its own direction that wait, unless it was sent before them: of two mirrors one may be ahead.
bool Connection::must_wait(const Half& h, const TcpSegment& segment) const {
  return (!h.early.empty() && !h.early.sent_before_all(segment)) || !come(h, segment);
}

void Connection::release(int direction) {
  Half& h = half(direction);
  take(h, h.early.front());
  h.early.pop();
}

bool Connection::front_come(int direction) const {
  const Half& h = half(direction);
  return come(h, h.early.front());
}

/// The octets that the oldest waiting segment acknowledges wait themselves.
bool Connection::awaited_waits(int direction) const {
  const EarlySegments& waiting = early(direction);
  return !waiting.empty() && early(1 - direction).data_before(waiting.front().acknowledgement);
}

bool Connection::front_given_up(int direction, FrameRef now) {
  if (!ProvenOrder::waited_long(*this, direction, now)) return false;
  half(direction).waited_in_vain = !half(1 - direction).order.started();
  return true;
}

}  // namespace rpcrdma::trace::iwarp
