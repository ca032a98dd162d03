// SPDX-License-Identifier: GPL-2.0-or-later
// How a TCP connection ends: FIN, RST, new use of its ports, end of the capture; and what is known of both sides then.
#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "trace/iwarp/connection.hpp"

namespace rpcrdma::trace::iwarp {

/// Nothing else of this side is there. What its peer acknowledged meanwhile it has sent.
void Connection::start_before_fin(Half& h, std::uint32_t fin) {
  const std::uint32_t said = h.first_acknowledged ? fin - *h.first_acknowledged : 0;
  start_at(h, said < far_away ? fin - said : fin);
}

/// Its receiver passes over one whose number is far from what it expects (RFC 9293 section 3.10.7.4).
bool Connection::may_reset(const Half& h, const TcpSegment& segment) noexcept {
  if (!h.order.started()) return true;
  const Position at = h.order.unwrap(segment.sequence);
  const auto near = [&](Position expected) {
    const std::int64_t off = distance(expected, at);
    return off <= window_ahead && off >= -window_behind;
  };
  return near(h.end_seen()) || near(h.acknowledged);
}

/// It is the number that its receiver expects, as far as that is known: behind what was acknowledged, and not beyond
/// what was seen.
bool Connection::surely_resets(const Half& h, const TcpSegment& segment) noexcept {
  if (!h.order.started()) return true;
  const Position at = h.order.unwrap(segment.sequence);
  return at >= h.acknowledged && at <= std::max(h.end_seen(), h.fin ? *h.fin + 1 : 0);
}

/// Nothing stands behind a FIN: one in front of what this side has sent is none of this connection's.
bool Connection::may_finish(const Half& h, std::uint32_t fin) noexcept {
  if (!h.order.started()) return true;
  const Position end = h.order.unwrap(fin);
  return end >= h.end_seen() && end + 1 >= h.acknowledged;
}

void Connection::take_reset(Half& h, const TcpSegment& segment) {
  if (!may_reset(h, segment)) return;
  reset_in_doubt();
  if (surely_resets(h, segment)) {
    reset(h, segment.ref);
  } else if (!over_) {
    const Half& peer = half(1 - h.direction);
    doubtful_reset_ = DoubtfulReset{h.direction, segment.ref,
                                    peer.order.started() ? peer.end_seen() : std::numeric_limits<Position>::max()};
  }
}

/// Nothing has shown that its sender went on: it was the end.
void Connection::reset_in_doubt() {
  if (!doubtful_reset_) return;
  const DoubtfulReset doubtful = *std::exchange(doubtful_reset_, std::nullopt);
  reset(half(doubtful.direction), doubtful.frame);
}

void Connection::reset(Half& h, FrameRef frame) {
  if (over_) return;
  for (Half& each : halves_) close_holes(each, frame, true);
  advance(frame, true);
  over_ = true;
  tell_liveness(frame);
  if (live() && !h.closed && !rejected_) {
    Disconnect e;
    e.connection = id_;
    e.side = side(h.direction);
    e.frame = frame;
    e.how = Disconnect::How::reset;
    context_.sink.on(e);
  }
  h.closed = true;
  for (Half& each : halves_) each.framing.silence();
}

void Connection::finish(FrameRef last) {
  ProvenOrder::release_all(*this, {});
  if (status_ == Status::given_up) return;
  reset_in_doubt();
  for (Half& each : halves_) tell_acknowledged(each);
  for (Half& each : halves_) close_holes(each, last, true);
  advance(last, true);
  tell_liveness(last);
}

void Connection::supersede(int direction, FrameRef frame, Disconnect::How how) {
  finish(frame);
  if (!live() || rejected_ || halves_[0].closed || halves_[1].closed) return;
  Disconnect e;
  e.connection = id_;
  e.side = side(direction);
  e.frame = frame;
  e.how = how;
  context_.sink.on(e);
}

/// What a side has acknowledged beyond the newest octet of the capture is missing, and nothing behind it will show so.
/// Only said, not skipped: it may still stand later in the file.
void Connection::tell_lost_tail(Half& h, FrameRef frame) {
  if (!live() || h.tail_told || !h.order.started() || h.order.hole() || h.acknowledged <= h.order.next() + 1) return;
  h.tail_told = true;
  note_missing(h, h.order.next(), h.acknowledged - h.order.next());
  messages_->gap(side(h.direction), h.acknowledged - h.order.next(), true, frame);
}

/// Did the second of the two directions close first? What acknowledges a FIN was sent after it had come.
bool Connection::fins_exchanged() const noexcept {
  const auto [one, another] = std::tie(halves_[0], halves_[1]);
  if (!one.fin || !another.fin) return false;
  if (one.fin_acknowledges > *another.fin) return true;
  return another.fin_acknowledges <= *one.fin && another.fin_frame.number < one.fin_frame.number;
}

/// The peer's FIN acknowledges one octet more than there were, and an FPDU has no single octet: this side's FIN, which
/// the capture lacks. Known once all that the peer said before is.
void Connection::find_missing_fin(Half& h) const {
  const Half& peer = half(1 - h.direction);
  const bool peer_ended = peer.fin && peer.order.next() >= *peer.fin;
  if (h.fin || !h.seen || !peer_ended || !h.order.started() || peer.fin_acknowledges != h.end_seen() + 1) return;
  h.fin = h.end_seen();
  h.fin_frame = peer.fin_frame;
  h.fin_missing = true;
}

/// What its peer said in front of the FIN, and before it had that, waits for something else: it comes first.
bool Connection::said_before_fin(const Half& h) const {
  const EarlySegments& waiting = half(1 - h.direction).early;
  if (waiting.empty() || waiting.front().ref.number >= h.fin_frame.number) return false;
  return h.order.unwrap(waiting.front().acknowledgement) <= *h.fin;
}

/// FIN, once everything before it was delivered.
void Connection::close_half(Half& h) {
  if (!h.fin || h.closed || h.order.next() < *h.fin || said_before_fin(h)) return;
  tell_lost_tail(half(1 - h.direction), h.fin_frame);
  tell_liveness(h.fin_frame);
  if (live() && !rejected_) {
    Disconnect e;
    e.connection = id_;
    e.side = side(h.direction);
    e.frame = h.fin_frame;
    e.how = Disconnect::How::fin;
    e.shown_by_peer = h.fin_missing;
    context_.sink.on(e);
  }
  // What it repeats may still come through, and the FIN behind it.
  Liveness now;
  h.copies.tell(now, h.acknowledged);
  if (now.copies != 0) liveness_told_ = false;
  h.closed = true;
  h.framing.silence();
  over_ = halves_[0].closed && halves_[1].closed;
}

void Connection::tell_liveness(FrameRef frame) {
  if (!live() || liveness_told_) return;
  liveness_told_ = true;
  for (const int direction : {active_, 1 - active_}) {
    const Half& h = half(direction);
    Liveness e;
    e.connection = id_;
    e.side = side(direction);
    e.frame = frame;
    e.heard = e.acknowledging = h.heard.frame();
    e.window_closed = h.window_closed;
    h.networks.tell(e.networks);
    e.missing = h.missing;
    e.places = h.places;
    if (h.order.started()) {
      e.amount = h.order.next() - h.origin - h.passed_over;
      e.unacknowledged = h.order.oldest_beyond(h.acknowledged);
      if (h.unseen.to && h.order.unwrap(*h.unseen.to) <= h.origin) e.before_capture = h.unseen.advanced;
      h.copies.tell(e, h.acknowledged);
      e.denied = half(1 - direction).heard.frame();  // each segment acknowledges, and that one no more
    } else {
      e.before_capture = h.unseen.advanced;  // more and more was acknowledged of what nobody captured
    }
    context_.sink.on(e);
  }
}

}  // namespace rpcrdma::trace::iwarp
