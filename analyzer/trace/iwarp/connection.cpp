// SPDX-License-Identifier: GPL-2.0-or-later
// TCP of one connection: order, acknowledgements, holes. How a connection is opened: opening.cpp. What has to wait:
// waiting.cpp. How it ends: ending.cpp.
#include "trace/iwarp/connection.hpp"

#include <algorithm>

#include "trace/spans.hpp"
#include "wire/ddp.hpp"

namespace rpcrdma::trace::iwarp {
namespace {

/// So many in a row that are far away are another connection's.
constexpr int far_limit = 16;
/// After so long without a word the ports may belong to another connection, whose beginning is not in the capture.
constexpr TimeNs reused_after = 60'000'000'000;
/// With only one direction in the capture nobody says what was received: a retransmission comes soon or not at all.
constexpr std::size_t one_way_pieces = 64;
constexpr TimeNs one_way_wait = 1'000'000'000;

}  // namespace

bool Context::service_port(std::uint16_t port) const noexcept {
  const auto& ports = options.service_ports;
  return std::find(ports.begin(), ports.end(), port) != ports.end();
}

Connection::Connection(const Context& context, const Ends& ends, const TcpOpening& opening)
    : context_(context),
      ends_(ends),
      opening_(opening),
      service_(context.service_port(ends.port[0]) || context.service_port(ends.port[1])),
      halves_{{{*this, 0}, {*this, 1}}} {
  for (Half& h : halves_) {
    const auto& first = opening_.first[static_cast<std::size_t>(h.direction)];
    if (!first) continue;
    h.order.start_at(*first);
    h.origin = h.order.next();
    h.seen = true;
  }
  if (opening_.opener) {
    if (opening_.syn.number != opening_.answer.number) half(*opening_.opener).heard.see(opening_.syn);
    half(1 - *opening_.opener).heard.see(opening_.answer);
    half(*opening_.opener).promised = opening_.answered;
  }
}

void Connection::Half::fpdu(const Fpdu& fpdu) {
  // A Terminate speaks of what its sender has received: say first what of that is not in the capture.
  if (!fpdu.undecided && fpdu.ulpdu.size() >= 2 &&
      wire::ddp_control(fpdu.ulpdu.data()).rdmap() == wire::RdmapOpcode::terminate) {
    owner.tell_lost_tail(owner.half(1 - direction), fpdu.first);
  }
  if (StreamWatch* watch = owner.context_.options.streams; watch != nullptr) [[unlikely]] {
    watch->fpdu({fpdu.start, fpdu.end, fpdu.first, fpdu.last, framing.markers(), fpdu.ulpdu, fpdu.ulpdu_length,
                 fpdu.pad, fpdu.start - origin});
  }
  owner.messages_->fpdu(owner.side(direction), fpdu);
}
void Connection::Half::crc_bad(FrameRef frame) {
  owner.messages_->quality(owner.side(direction), Quality::Kind::checksum_bad, frame);
}
void Connection::Half::mpa_bad(FrameRef frame) {
  if (owner.messages_) owner.messages_->quality(owner.side(direction), Quality::Kind::mpa_bad, frame);
}
void Connection::Half::mpa_cut(FrameRef frame) {
  if (owner.messages_) owner.messages_->quality(owner.side(direction), Quality::Kind::mpa_cut, frame);
}
void Connection::Half::skipped(std::uint64_t octets, FrameRef frame) {
  // Before the connection is open, what was skipped is the rest of something that began before the capture.
  if (owner.live()) owner.messages_->gap(owner.side(direction), octets, false, frame, Gap::Kind::unaligned);
}

/// What it acknowledges is far from all that `peer` has sent.
bool Connection::acknowledges_others(const Half& peer, const TcpSegment& segment) noexcept {
  if ((segment.flags & TcpSegment::ack) == 0 || !peer.order.started()) return false;
  const Position at = peer.order.unwrap(segment.acknowledgement);
  const std::int64_t off = distance(peer.end_seen(), at);
  return off > window_behind || off < -window_behind;
}

Epoch Connection::epoch_of(int direction, const TcpSegment& segment) noexcept {
  Half& h = half(direction);
  const TimeNs heard = std::max(halves_[0].heard.frame().time, halves_[1].heard.frame().time);
  const bool silent = passed(heard, segment.ref.time, reused_after);
  const bool syn = (segment.flags & TcpSegment::syn) != 0;
  const bool opens = wire::mpa_key(segment.payload) == wire::MpaKey::request;
  const Epoch elsewhere = syn || opens ? Epoch::next : Epoch::not_known;
  // Where this side begins may not be known, but where its peer was when the silence began.
  if (silent && acknowledges_others(half(1 - direction), segment)) return elsewhere;
  if (!h.order.started()) return Epoch::this_one;
  const Position at = h.order.unwrap(segment.sequence + (syn ? 1U : 0U));
  if (syn && at == h.origin) return Epoch::this_one;
  if (syn) {
    // Who has an open connection does not take it, and says where that is (RFC 9293 section 3.10.7.4).
    const bool asks = (segment.flags & TcpSegment::ack) == 0 && segment.wire_length == 0;
    const bool ended = over_ || halves_[0].fin || halves_[1].fin;
    return asks && live() && !ended && !silent ? Epoch::in_doubt : Epoch::next;
  }
  const std::int64_t off = distance(h.end_seen(), at);
  if (silent && (off > window_behind || off < -window_behind)) return elsewhere;
  if (segment.wire_length == 0) return Epoch::this_one;
  if (off > far_away || off < -far_away) return ++h.far >= far_limit ? Epoch::next : Epoch::this_one;
  h.far = 0;
  if (at == h.origin || !opens) return Epoch::this_one;
  const bool again = halves_[0].fin || halves_[1].fin || over_ || off > window_ahead || off < -window_behind;
  return again ? Epoch::next : Epoch::this_one;
}

EpochBefore Connection::said(FrameRef now) const noexcept {
  EpochBefore all;
  all.ended = now;
  for (std::size_t i = 0; i < 2; ++i) {
    const Half& h = halves_[i];
    const Half& peer = halves_[1 - i];
    if (h.order.started()) {
      const Position end = std::max(h.end_seen(), h.fin ? *h.fin + 1 : 0);
      all.said[i] = {static_cast<std::uint32_t>(h.origin) - 1, static_cast<std::uint32_t>(end)};
    } else if (h.promised) {
      // Nothing of it has come, but its peer has had it.
      all.said[i] = {*h.promised - 1, peer.early.empty() ? *h.promised : peer.early.newest().acknowledgement};
    }
  }
  return all;
}

bool Connection::may_be_own(int direction, const TcpSegment& segment) const noexcept {
  const Half& h = half(direction);
  if (!h.order.started()) return false;
  const std::int64_t off = distance(h.origin, h.order.unwrap(segment.sequence));
  return off >= -1 && off <= window_ahead;
}

/// The SYN of this side, which opened the connection, a second time in the capture.
bool Connection::repeats_syn(const Half& h, const TcpSegment& segment) const noexcept {
  const FrameRef& first = opening_.opener == h.direction ? opening_.syn : opening_.answer;
  return (segment.flags & TcpSegment::syn) != 0 && first.number != 0 && same_packet({0, first}, {0, segment.ref}, true);
}

void Connection::take(Half& h, const TcpSegment& segment) {
  if (status_ == Status::given_up) return;
  Half& peer = half(1 - h.direction);
  h.seen = true;
  const bool copied = segment.wire_length == 0 && (repeats_syn(h, segment) || h.bare_lately.copied(segment));
  if (!copied) h.heard.see(segment.ref);
  const bool ends = (segment.flags & (TcpSegment::fin | TcpSegment::rst)) != 0;
  const bool sent_before =
      h.bare && segment.wire_length > 0 && peer.order.unwrap(segment.acknowledgement) < h.bare->position;
  if (!sent_before) tell_acknowledged(h);
  // What it might have changed places with would have come by now.
  const bool in_its_place = peer.bare && passed(peer.bare->frame.time, segment.ref.time, change_of_places);
  if (ends || in_its_place) tell_acknowledged(peer);
  if ((segment.flags & TcpSegment::ack) != 0) acknowledge(peer, segment);
  if (ends || (segment.wire_length > 0 && !sent_before)) tell_acknowledged(h);
  if ((segment.flags & TcpSegment::rst) != 0) {
    take_reset(h, segment);
    return;
  }
  if (segment.window != 0) {
    h.window_closed = {};
  } else if (h.window_closed.number == 0) {
    h.window_closed = segment.ref;
  }
  const std::uint32_t sequence = segment.sequence + ((segment.flags & TcpSegment::syn) != 0 ? 1U : 0U);
  if (segment.wire_length > 0 && !over_) payload(h, segment, sequence);
  if (segment.wire_length == 0 && !copied) without_data(h, peer, segment);
  if ((segment.flags & TcpSegment::fin) != 0 && !h.fin && may_finish(h, sequence + segment.wire_length)) {
    reset_in_doubt();
    if (!h.order.started()) start_before_fin(h, sequence + segment.wire_length);
    h.fin = h.order.unwrap(sequence + segment.wire_length);
    h.fin_frame = segment.ref;
    if ((segment.flags & TcpSegment::ack) != 0 && peer.order.started()) {
      h.fin_acknowledges = peer.order.unwrap(segment.acknowledgement);
    }
    close_holes(h, segment.ref, false);
  }
  const bool idle =
      live() && halves_[0].framing.direct() && halves_[1].framing.direct() && !halves_[0].fin && !halves_[1].fin;
  if (!idle) advance(segment.ref, false);
}

void Connection::without_data(Half& h, const Half& peer, const TcpSegment& segment) {
  constexpr std::uint8_t others = TcpSegment::syn | TcpSegment::fin | TcpSegment::rst;
  if ((segment.flags & others) != 0) return;
  if (!h.order.started()) {
    if (behind_start(h, segment.sequence) == 0) return;
    start(h, segment, segment.sequence);
  }
  const Position at = h.order.unwrap(segment.sequence);
  // One octet back, and none of it: the peer has to answer at once (RFC 9293 section 3.8.4).
  if (at + 1 == h.order.next()) h.copies.ask(h.acknowledged, peer.heard.frame(), segment.ref);
  if (at > std::max(h.order.next(), h.sent_to.position) && distance(h.order.next(), at) <= window_ahead) {
    h.sent_to = {at, segment.ref};
  }
}

void Connection::acknowledge_unseen(Half& sender, const TcpSegment& segment) noexcept {
  UnseenAcknowledged& unseen = sender.unseen;
  const std::uint32_t more = unseen.to ? segment.acknowledgement - *unseen.to : 0;
  if (more >= far_away || (unseen.to && more == 0)) return;
  if (unseen.to) unseen.advanced = segment.ref;
  unseen.to = segment.acknowledgement;
}

void Connection::acknowledge(Half& sender, const TcpSegment& segment) {
  if (!sender.order.started()) {
    acknowledge_unseen(sender, segment);
    if (!sender.first_acknowledged) sender.first_acknowledged = segment.acknowledgement;
    // One octet may be a FIN, and that of a side of which there is nothing else is no answer to miss.
    const std::uint32_t said = sender.promised ? segment.acknowledgement - *sender.promised : 0;
    if (said == 0 || (!sender.seen && (said == 1 || said > far_away))) return;
    start_at(sender, *sender.promised);  // the capture lacks what was sent first
  }
  const Position at = sender.order.unwrap(segment.acknowledgement);
  if (at <= sender.origin) acknowledge_unseen(sender, segment);
  if (at <= sender.acknowledged || distance(sender.order.next(), at) > far_away) return;
  const bool lives_on = doubtful_reset_ && doubtful_reset_->direction == 1 - sender.direction;
  if (lives_on && at > doubtful_reset_->answered_to) doubtful_reset_.reset();  // it acknowledges what came behind that
  sender.acknowledged = at;
  Half& peer = half(1 - sender.direction);
  // It has asked, and says nothing more before it has its answer.
  const Handshake* const asked = peer.handshake.get();
  const bool answered = asked != nullptr && asked->request && at > sender.origin &&
                        segment.sequence == static_cast<std::uint32_t>(asked->end);
  if (answered) note_where_fpdus_begin(sender);
  close_holes(sender, segment.ref, false);
  peer.bare = BareAcknowledgement{at, segment.ref};
}

void Connection::tell_acknowledged(Half& h) {
  if (h.bare && live()) messages_->acknowledged(side(h.direction), h.bare->position, h.bare->frame);
  h.bare.reset();
}

bool Connection::copy(int direction, const TcpSegment& segment) {
  half(direction).networks.add(segment.seen_in);
  if (!live()) return false;
  Repeated repeated;
  repeated.kind = Repeated::Kind::capture_duplicate;
  repeated.connection = id_;
  repeated.side = side(direction);
  repeated.frame = segment.ref;
  context_.sink.on(repeated);
  return true;
}

void Connection::start_at(Half& h, std::uint32_t sequence) {
  h.order.start_at(sequence);
  h.origin = h.order.next();
  if (live()) messages_->origin(side(h.direction), h.origin);
}

/// So far behind where it was said to begin: what lies between is missing. One octet may be a keep-alive's.
std::uint32_t Connection::behind_start(const Half& h, std::uint32_t sequence) noexcept {
  const std::uint32_t behind = sequence - h.promised.value_or(h.said_next.value_or(sequence));
  return behind > 1 && behind < window_ahead ? behind : 0;
}

void Connection::start(Half& h, const TcpSegment& segment, std::uint32_t sequence) {
  start_at(h, sequence - behind_start(h, sequence));
  const bool mpa_due = half(1 - h.direction).handshake != nullptr;
  const bool mpa = segment.payload.size() >= 4 && wire::mpa_key(segment.payload) != wire::MpaKey::none;
  if (!mpa_due && !mpa) h.framing.begin_search(h.origin);
}

void Connection::payload(Half& h, const TcpSegment& segment, std::uint32_t sequence) {
  if (!h.order.started()) start(h, segment, sequence);
  if (first_payload_.number == 0) first_payload_ = segment.ref;
  ++pieces_;
  h.payload += segment.wire_length;
  Piece piece;
  piece.start = h.order.unwrap(sequence);
  piece.wire_length = segment.wire_length;
  piece.octets = segment.payload.first(std::min<std::size_t>(segment.payload.size(), segment.wire_length));
  piece.ref = segment.ref;
  const std::int64_t off = distance(h.order.next(), piece.start);
  if (off > far_away || off < -far_away) return;
  h.reach = std::max(h.reach, piece.end());
  if (h.handshake && h.handshake->request && !h.handshake->followed && piece.start >= h.handshake->end) {
    h.handshake->followed = true;
    if (piece.start == h.handshake->end) note_where_fpdus_begin(half(1 - h.direction));
  }

  const Position start = piece.start;
  const Position end = piece.end();
  auto kind = Repeated::Kind::retransmission;
  bool rest = false;
  switch (h.order.arrive(piece, segment.acknowledgement, segment.ip_identification)) {
    case Arrival::next:
      if (piece.start != start) repeat(h, start, piece.start, segment.ref);
      deliver(h, piece);
      deliver_ready(h);
      close_holes(h, segment.ref, false);
      return;
    case Arrival::held:
      close_holes(h, segment.ref, false);
      return;
    case Arrival::full: {
      limit(h, segment.ref);
      close_holes(h, segment.ref, true);
      give_up(h, piece.start > h.order.next() ? piece.start - h.order.next() : 0, false, segment.ref);
      if (h.order.arrive(piece, segment.acknowledgement, segment.ip_identification) != Arrival::next) return;
      deliver(h, piece);
      deliver_ready(h);
      return;
    }
    case Arrival::keep_alive:
      // One octet that nobody has acknowledged is more than a question, unless it asks whether the window has opened.
      if (piece.end() <= h.acknowledged) {
        h.copies.ask(h.acknowledged, half(1 - h.direction).heard.frame(), segment.ref);
      } else if (half(1 - h.direction).window_closed.number == 0) {
        repeat(h, start, end, segment.ref);
      }
      return;
    case Arrival::retransmission:
      rest = !repeat(h, start, end, segment.ref);
      break;
    case Arrival::capture_duplicate:
      kind = Repeated::Kind::capture_duplicate;
      h.heard.unsee(segment.ref);
      break;
  }
  if (!live()) return;
  Repeated repeated;
  repeated.kind = kind;
  repeated.rest = rest;
  repeated.connection = id_;
  repeated.side = side(h.direction);
  repeated.frame = segment.ref;
  context_.sink.on(repeated);
}

void Connection::deliver(Half& h, Piece piece) {
  piece.turn = ++turn_;
  Framing::Kept kept = h.framing.push(piece, live(), h);
  if (kept == Framing::Kept::none && make_way(h, piece.ref)) kept = h.framing.push(piece, live(), h);
  if (kept != Framing::Kept::all) limit(h, piece.ref);
  const auto lost = [&h] {
    return h.framing.state() == Framing::State::search || h.framing.state() == Framing::State::silent;
  };
  const bool lost_before = lost();
  // Behind a hole much may have waited: it must not pile up again.
  while (live() && !h.framing.window().empty() && h.framing.state() != Framing::State::start) {
    (void)align(h, false);
    if (!h.framing.ready()) break;
    while (h.framing.ready()) h.framing.drain_one(h);
  }
  // Where its FPDUs lie may never be found: what this one says is not in the capture.
  if (lost_before && lost() && piece.octets.size() < piece.wire_length) h.mpa_cut(piece.ref);
}

void Connection::deliver_ready(Half& h) {
  while (const auto piece = h.order.take_ready()) deliver(h, *piece);
}

/// Too much waits for the connection to be opened: it is opened or given up now. True: try again.
bool Connection::make_way(Half& h, FrameRef now) {
  crowded_ = true;
  advance(now, false);
  if (status_ == Status::given_up) return false;
  // An MPA frame or a first FPDU of this size cannot be.
  if (!h.framing.window().empty()) h.framing.begin_search(h.framing.window().begin());
  return true;
}

void Connection::limit(Half& h, FrameRef frame) {
  if (!live() || h.limit_told) return;
  h.limit_told = true;
  messages_->quality(side(h.direction), Quality::Kind::limit_reached, frame);
}

/// What is missing in front of the first octets, or the FIN, that wait for it.
std::optional<Hole> Connection::hole_of(const Half& h) {
  auto hole = h.order.hole();
  if (!hole && h.fin && *h.fin > h.order.next() && h.order.held() == 0) {
    hole = Hole{h.order.next(), *h.fin - h.order.next(), h.fin_frame};
  }
  return hole;
}

/// The last octets are missing: only the receiver's acknowledgement tells, or what their sender says without data (one
/// octet more may be a FIN).
std::optional<Hole> Connection::lost_tail(const Half& h, FrameRef now) {
  if (h.acknowledged > h.order.next() + 1) return Hole{h.order.next(), h.acknowledged - h.order.next(), now};
  if (h.sent_to.position <= h.order.next() + 1) return std::nullopt;
  return Hole{h.order.next(), h.sent_to.position - h.order.next(), h.sent_to.frame};
}

void Connection::look_for_holes(Half& h, FrameRef now, bool all) {
  while (h.order.started()) {
    auto hole = hole_of(h);
    if (!hole && all && !h.tail_told) hole = lost_tail(h, now);
    if (!hole) return;
    const bool proven = h.acknowledged > hole->start;
    const bool one_way =
        !half(1 - h.direction).seen && (h.order.held() >= one_way_pieces || now.time - hole->since.time > one_way_wait);
    if (proven) {
      // What lies beyond the acknowledgement may still come again.
      give_up(h, std::min(hole->count, h.acknowledged - hole->start), true, hole->since);
    } else if (all || one_way) {
      give_up(h, hole->count, false, hole->since);
    } else {
      return;
    }
  }
}

void Connection::give_up(Half& h, std::uint64_t count, bool proven, FrameRef frame) {
  if (count == 0) return;
  skip(h, count, proven, frame);
  deliver_ready(h);
}

/// What stands behind it is to be delivered after that.
void Connection::skip(Half& h, std::uint64_t count, bool proven, FrameRef frame) {
  const Position from = h.order.next();
  h.order.skip(count);
  h.passed_over += count;
  note_missing(h, from, count);
  if (live()) {
    messages_->gap(side(h.direction), count, proven, frame);
  } else {
    keep_gap(h, {from, count, proven, frame, turn_ + 1});
  }
  Piece hole;
  hole.start = from;
  hole.ref = frame;
  hole.turn = ++turn_;
  Framing::Kept kept = h.framing.hole(hole, count, live(), h);
  if (kept == Framing::Kept::none && make_way(h, frame)) kept = h.framing.hole(hole, count, live(), h);
  if (kept != Framing::Kept::all) limit(h, frame);
}

/// False: no more than the rest of what is sent again.
bool Connection::repeat(Half& h, Position start, Position end, FrameRef again) {
  // A segment may begin in front of what is open.
  if (start < h.acknowledged && end > h.acknowledged) start = h.acknowledged;
  return h.copies.add(start, h.acknowledged, half(1 - h.direction).heard.frame(), h.order.oldest_beyond(start), again);
}

/// Octets that follow on others are missing in the same place.
void Connection::note_missing(Half& h, Position from, std::uint64_t count) {
  h.missing += count;
  if (h.missing_to != from) ++h.places;
  h.missing_to = from + count;
}

void Connection::keep_gap(Half& h, const EarlyGap& gap) {
  if (h.early_gaps.size() < Window::pieces_limit) {
    h.early_gaps.push_back(gap);
  } else {
    h.early_gaps.back().count += gap.count;
  }
}

/// The gap that nothing in front of it waits to be told before.
const Connection::EarlyGap* Connection::due(const Half& h) noexcept {
  if (h.early_gaps.empty()) return nullptr;
  const bool in_front = h.framing.ready() && h.framing.window().begin() < h.early_gaps.front().start;
  return in_front ? nullptr : &h.early_gaps.front();
}

/// What both directions hold, as it would have been delivered if the connection had been open.
bool Connection::drain(bool last) {
  bool any = false;
  for (;;) {
    Half* next = nullptr;
    std::uint64_t turn = 0;
    for (Half& h : halves_) {
      const EarlyGap* gap = due(h);
      if (gap == nullptr && !h.framing.ready()) continue;
      const std::uint64_t at = gap != nullptr ? gap->turn : h.framing.window().front().piece.turn;
      if (next == nullptr || at < turn) {
        next = &h;
        turn = at;
      }
    }
    if (next == nullptr) return any;
    if (const EarlyGap* gap = due(*next)) {
      messages_->gap(side(next->direction), gap->count, gap->proven, gap->frame);
      next->early_gaps.pop_front();
    } else {
      next->framing.drain_one(*next);
      // Behind a hole it goes on in its turn.
      if (next->framing.state() == Framing::State::search) (void)advance_half(*next, last || complete(*next));
    }
    any = true;
  }
}

void Connection::advance(FrameRef now, bool last) {
  bool progress = true;
  while (progress && status_ != Status::given_up) {
    progress = false;
    const bool ending = last || halves_[0].fin || halves_[1].fin;
    for (Half& h : halves_) {
      progress = advance_half(h, last || complete(h) || (ending && !live())) || progress;
    }
    if (status_ == Status::pending) {
      try_open(now, ending);
      progress = progress || live();
    }
    if (live()) progress = drain(last) || progress;
  }
  if (status_ == Status::given_up) return;
  for (Half& h : halves_) find_missing_fin(h);
  const int first = fins_exchanged() ? 1 : 0;
  for (const int direction : {first, 1 - first}) close_half(half(direction));
}

}  // namespace rpcrdma::trace::iwarp
