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
  if ((segment.flags & TcpSegment::rst) != 0) release_all();
  // Whoever opens speaks first: nothing of the answer can be acknowledged in that.
  if (!peer.promised && (segment.flags & TcpSegment::ack) != 0 && first_words(direction, segment)) {
    peer.promised = segment.acknowledgement;
  }
  const bool places = segment.wire_length > 0 || (segment.flags & TcpSegment::fin) != 0;
  while (!peer.early.empty() && places && h.order.started() && !h.early.data() &&
         h.order.unwrap(segment.sequence) >= h.order.unwrap(peer.early.front().acknowledgement)) {
    pass_over(h, peer.early.front().acknowledgement, segment.ref);
    release(peer);
  }
  release_proven(segment.ref);
  if (must_wait(h, segment)) {
    if (h.early.hold(segment)) {
      tell_waiting(segment, direction);
      return;
    }
    while (!h.early.empty()) release(h);
  }
  take(h, segment);
  release_proven(segment.ref);
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

void Connection::release(Half& h) {
  take(h, h.early.front());
  h.early.pop();
}

/// The octets that the oldest waiting segment waits for wait themselves.
bool Connection::awaited_waits(const Half& h) const {
  return !h.early.empty() && half(1 - h.direction).early.data_before(h.early.front().acknowledgement);
}

/// Those whose octets have come by now, or have not come for so long that they are missing.
void Connection::release_proven(FrameRef now) {
  for (bool any = true; any;) {
    any = false;
    for (Half& h : halves_) {
      if (h.early.empty()) continue;
      if (!come(h, h.early.front())) {
        if (now.time - h.early.front().ref.time <= EarlySegments::patience) continue;
        // What waits itself is not missing: the other side gives up first.
        if (awaited_waits(h) && !awaited_waits(half(1 - h.direction))) continue;
        h.waited_in_vain = !half(1 - h.direction).order.started();
      }
      release(h);
      any = true;
    }
  }
}

void Connection::release_all() {
  for (;;) {
    Half* oldest = nullptr;
    for (Half& h : halves_) {
      if (h.early.empty()) continue;
      if (oldest == nullptr || h.early.front().ref.number < oldest->early.front().ref.number) oldest = &h;
    }
    if (oldest == nullptr) return;
    Half& newer = half(1 - oldest->direction);
    if (awaited_waits(*oldest) && !awaited_waits(newer)) oldest = &newer;
    release(*oldest);
    release_proven({});
  }
}

}  // namespace rpcrdma::trace::iwarp
