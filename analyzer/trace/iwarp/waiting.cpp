// SPDX-License-Identifier: GPL-2.0-or-later
// Segments are taken in the order that their acknowledgements prove: what waits, for what, and how long.
#include <algorithm>

#include "trace/iwarp/connection.hpp"
#include "trace/spans.hpp"

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
  if ((segment.flags & TcpSegment::rst) != 0) ProvenOrder::release_all(*this, {});
  // Whoever opens speaks first: nothing of the answer can be acknowledged in that.
  if (!peer.promised && (segment.flags & TcpSegment::ack) != 0 && first_words(direction, segment)) {
    peer.promised = segment.acknowledgement;
  }
  // Where a capture begins in the middle, a segment without data says which octet comes next.
  constexpr std::uint8_t others = TcpSegment::syn | TcpSegment::fin | TcpSegment::rst;
  if (!h.said_next && !h.order.started() && segment.wire_length == 0 && (segment.flags & others) == 0) {
    h.said_next = segment.sequence;
  }
  ProvenOrder::release_proven(*this, segment.ref);
  if (must_wait(h, segment)) {
    if (h.early.hold(segment)) {
      tell_waiting(segment, direction);
      return;
    }
    limit(h, segment.ref);
    while (!h.early.empty()) release(direction);
  }
  take(h, segment);
  ProvenOrder::release_proven(*this, segment.ref);
}

void Connection::tell_waiting(const TcpSegment& segment, int direction) const {
  StreamWatch* const watch = context_.options.streams;
  if (watch == nullptr || live()) return;
  const auto& first = opening_.first[static_cast<std::size_t>(direction)];
  if (first ? *first != segment.sequence : half(direction).order.started()) return;
  const wire::MpaKey key = wire::mpa_key(segment.payload);
  if (key == wire::MpaKey::request || key == wire::MpaKey::reply) watch->waits(segment.ref);
}

namespace {

/// What is missing there has not only changed places with what follows it.
[[nodiscard]] bool overtaken(const Hole& hole, FrameRef now) noexcept {
  return passed(hole.since.time, now.time, change_of_places);
}

}  // namespace

/// What it acknowledges has been seen, or given up.
bool Connection::come(const Half& h, const TcpSegment& segment) const {
  const Half& peer = half(1 - h.direction);
  if ((segment.flags & TcpSegment::ack) == 0) return true;
  if (!peer.order.started()) {
    if (h.waited_in_vain) return true;
    // An MPA Reply answers a Request, wherever the capture has that.
    if (!peer.promised) return wire::mpa_key(segment.payload) != wire::MpaKey::reply;
    return segment.acknowledgement - *peer.promised <= 1;
  }
  const Position acknowledged = peer.order.unwrap(segment.acknowledgement);
  if (acknowledged <= peer.order.next()) return true;  // what is missing of it lies behind that
  const Position said = std::max({peer.end_seen(), peer.fin ? *peer.fin + 1 : 0, peer.acknowledged});
  const std::int64_t ahead = distance(said, acknowledged);
  if (ahead > window_ahead) return true;
  const auto hole = hole_of(peer);
  return ahead <= 0 && (!hole || acknowledged <= hole->start || overtaken(*hole, segment.ref));
}

/// Also behind those of its own direction that wait, unless it was sent before them: of two mirrors one may be ahead.
bool Connection::must_wait(const Half& h, const TcpSegment& segment) const {
  return (!h.early.empty() && !h.early.sent_before_all(segment)) || !come(h, segment);
}

/// What is missing up to there, as what was sent behind it shows, taken or waiting.
std::optional<Hole> Connection::hole_before(const Half& h, Position to) {
  if (h.order.next() >= to) return std::nullopt;
  if (const auto hole = hole_of(h)) return hole;
  const TcpSegment* const behind = h.early.data_from(static_cast<std::uint32_t>(to));
  if (behind == nullptr) return std::nullopt;
  return Hole{h.order.next(), to - h.order.next(), behind->ref};
}

/// What `peer` sent up to there and the capture lacks is given up: `frame` acknowledges it. What stands behind that is
/// not told yet.
void Connection::pass_over(Half& peer, Position to, FrameRef frame) {
  while (peer.order.next() < to) {
    const auto hole = hole_before(peer, to);
    const std::uint64_t left = to - peer.order.next();
    if (!hole) {
      if (left > 1) skip(peer, left, true, frame);  // one may be a FIN
      return;
    }
    skip(peer, std::min<std::uint64_t>(hole->count, left), true, hole->since);
    if (peer.order.next() < to) deliver_ready(peer);
  }
}

/// With all that was sent before what stands behind the octets that it acknowledges.
void Connection::release(int direction) {
  Half& h = half(direction);
  Half& peer = half(1 - direction);
  const TcpSegment& front = h.early.front();
  if (peer.order.started() && (front.flags & TcpSegment::ack) != 0) {
    const Position acknowledged = peer.order.unwrap(front.acknowledgement);
    if (distance(peer.order.next(), acknowledged) <= window_ahead) pass_over(peer, acknowledged, front.ref);
  }
  do {
    take(h, h.early.front());
    h.early.pop();
  } while (!h.early.empty() && peer.order.started() &&
           peer.order.unwrap(h.early.front().acknowledgement) <= peer.order.next());
  deliver_ready(peer);
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
  const Half& peer = half(1 - direction);
  if (peer.order.started()) {
    const auto hole = hole_before(peer, peer.order.unwrap(early(direction).front().acknowledgement));
    if (hole && overtaken(*hole, now)) return true;
  }
  if (!ProvenOrder::waited_long(*this, direction, now)) return false;
  half(direction).waited_in_vain = !peer.order.started();
  return true;
}

}  // namespace rpcrdma::trace::iwarp
