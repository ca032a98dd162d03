// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/ib/stream.hpp"

#include "trace/spans.hpp"

#include <algorithm>
#include <utility>

namespace rpcrdma::trace::ib {

using wire::AethType;
using wire::IbKind;
using wire::IbPart;

namespace {

constexpr Sequence under_way = 1U << 16U;  // no sender has more packets under way
/// Who goes on, be it behind what the capture lacks, or with what it sends again, does so no farther from where it was.
constexpr Sequence nearby = 4096;

}  // namespace

void Stream::synchronise(std::uint32_t psn) noexcept {
  expected_ = acknowledged_ = first_seen_ = sequence_origin + psn;
  synchronised_ = true;
}

void Stream::request(const Arrival& a) {
  const wire::IbHeader& h = a.header;
  const bool first = !requests_seen_;
  requests_seen_ = true;
  if (not_ready_.number != 0) wait_over(a.ref);
  learn_mtu(a);
  if (!synchronised_) synchronise(h.psn);
  const Sequence at = unwrap(expected_, h.psn);
  if (open_read_) guess_span(at);
  if (goes_on_in_doubt(at)) deny_hole();
  if (at == expected_) {
    if (held_.empty()) {
      accept(a, at);
      return;
    }
    shared_.say_filled(side_, a.ref, held_.foremost(), retried_frame_);
    accept(a, at);
    drain(acknowledged_);
    held_.waiting_since(a.ref.time);
  } else if (at > expected_) {
    hold(a, at);
  } else if (first && changed_places(a, at)) {
    expected_ = first_seen_ = at;
    unseen_in_ = {};
    accept(a, at);
    report_acknowledged(a.ref);
  } else {
    repeated(a, at);
  }
}

/// The capture begins with the answer to this request, right in front of it: of two that changed places the first.
bool Stream::changed_places(const Arrival& a, Sequence at) const noexcept {
  return started_by_.number != 0 && at + 1 == expected_ && acknowledged_ == expected_ && held_.empty() &&
         !passed(started_by_.time, a.ref.time, change_of_places);
}

void Stream::accept(const Arrival& a, Sequence at) {
  const wire::IbHeader& h = a.header;
  answers_nak(a);
  lost_read_ = false;
  if (h.op.kind == IbKind::send && wire::begins(h.op.part)) answers_.requester_went_on(a.ref);
  if (wire::ends(h.op.part)) ++messages_;

  ++shared_.packets[index(side_)].seen;
  const FrameRef perhaps = perhaps_sent_behind(a);
  shared_.overtaken_in[index(side_)] =
      perhaps.number != 0 ? perhaps : held_.foremost();  // what is held comes behind it
  const Issued issued = operations_.deliver(a, at);
  shared_.overtaken_in[index(side_)] = {};
  Sent sent{at, 1, issued.length, issued.kind, issued.op, a.ref, a.mark};
  if (h.op.kind == IbKind::read_request) {
    const bool known = shared_.mtu != 0 || h.dma_length <= 256;
    if (known && h.dma_length > 256) sent.span = read_span(h.dma_length, shared_.mtu);
    if (known) {
      open_read_.reset();
    } else {
      open_read_ = sent;
    }
    answers_.asked(at, known ? sent.span : 0, issued.op, h, a.ref);
  }
  history_.add(sent, acknowledged_);
  if (issued.kind == Issued::Kind::send && wire::ends(h.op.part)) unacknowledged_.push_back({at, issued.op});
  expected_ = at + sent.span;
}

void Stream::hold(const Arrival& a, Sequence at) {
  if (!held_.empty() && at < held_.last()) shared_.say_filled(side_, a.ref, held_.foremost(), retried_frame_);
  if (const HeldPacket* same = held_.hold(at, a)) {
    const bool twice =
        same->mark == a.mark && close_together(same->ref.time, a.ref.time) && retried_frame_ < same->ref.number;
    shared_.repeated(side_, a.ref, twice ? Repeated::Kind::capture_duplicate : Repeated::Kind::retransmission);
    if (twice) return;
    answers_nak(a);
    copies_.add(at, acknowledged_, shared_.heard[index(other(side_))].frame(), same->ref, a.ref);
    return;
  }
  answers_nak(a);
  shared_.waits(side_, a.ref, a.header);
  const bool full = held_.over_bound();
  if (full) shared_.say_limit(side_, a.ref);
  if (full || passed(held_.since(), a.ref.time, patience)) {
    pass_holes(held_.first() + 1, false, a.ref);
    held_.waiting_since(a.ref.time);
  }
}

/// What is in front of `proven` has arrived at the other side: that does not wait for its turn.
void Stream::drain(Sequence proven) {
  while (!held_.empty() && held_.first() <= expected_) {
    if (held_.first() >= proven && held_.first_ref().number > turn_ends_) return;
    const Sequence at = held_.first();
    const HeldPacket p = held_.take_first();
    if (at == expected_) {
      accept(p.arrival(), at);
    } else {
      repeated(p.arrival(), at);  // inside a READ's range: its span was not known when the packet came
    }
  }
}

/// Gives up every hole before a held packet that lies before `upto`.
void Stream::pass_holes(Sequence upto, bool proven, FrameRef ref) {
  while (!held_.empty() && held_.first() < upto) {
    // Known since both are there, whichever stands first in the file.
    const FrameRef behind = held_.first_ref();
    if (held_.first() > expected_) {
      lose(held_.first() - expected_, proven, behind.number > ref.number ? behind : ref, behind);
    }
    drain(upto);
  }
}

void Stream::lose(std::uint64_t count, bool proven, FrameRef ref, FrameRef behind) {
  front_ = Front::settled;  // how many messages were among these is not known
  shared_.gap(side_, ref, count, proven, expected_ == lost_to_, behind);
  operations_.hole(count);
  open_read_.reset();
  expected_ += count;
  lost_to_ = expected_;
}

bool Stream::not_yet_asked(const wire::IbHeader& header, bool from_start) const noexcept {
  if (!synchronised_ || (!requests_seen_ && !from_start) || open_read_) return false;
  // One more response to a READ Request that is not in the capture.
  if (lost_read_ && header.op.kind == IbKind::read_response && !wire::begins(header.op.part)) return false;
  if (header.op.kind == IbKind::acknowledge) {
    const AethType type = wire::aeth_type(header.syndrome);
    if (type == AethType::reserved) return false;
    if (type == AethType::nak && wire::aeth_value(header.syndrome) == wire::nak_psn_sequence) return false;
  }
  const Sequence at = unwrap(expected_, header.psn);
  return at >= expected_ && at - expected_ < under_way;
}

bool Stream::overtaken(std::uint32_t psn, TimeNs now) const noexcept {
  return !held_.empty() && held_.last() >= unwrap(expected_, psn) && passed(held_.since(), now, change_of_places);
}

bool Stream::far_off(std::uint32_t psn) const noexcept {
  if (!synchronised_ || open_read_) return false;
  const Sequence at = unwrap(expected_, psn);
  return at + nearby < expected_ || at > newest() + nearby;
}

bool Stream::may_use(std::uint32_t psn) const noexcept {
  const Sequence at = unwrap(expected_, psn);
  return at >= first_seen_ && at < newest() + under_way;
}

std::optional<EpochBefore::Used> Stream::used() const noexcept {
  if (!synchronised_) return {};
  const Sequence from = std::max(first_seen_, newest() - std::min(newest(), under_way));
  return EpochBefore::Used{static_cast<std::uint32_t>(from) & wire::psn_mask,
                           static_cast<std::uint32_t>(newest() + nearby) & wire::psn_mask};
}

void Stream::response(const Arrival& a) {
  const wire::IbHeader& h = a.header;
  learn_mtu(a);
  const bool ack = h.op.kind == IbKind::acknowledge;
  const AethType type = ack ? wire::aeth_type(h.syndrome) : AethType::ack;
  if (type == AethType::reserved) return;
  // An ACK covers the packet it names; a NAK only what is before.
  const bool refused = type != AethType::ack;
  if (!synchronised_) {
    synchronise((h.psn + (refused ? 0U : 1U)) & wire::psn_mask);
    if (ack && !refused) started_by_ = a.ref;
  }
  const Sequence at = unwrap(expected_, h.psn);

  if (refused) {
    // Of a packet in front of the first one: that was of an earlier use of the queue pair.
    if (start_known_ && at < first_seen_) return;
    acknowledge(at, a.ref);
    refusal(a, at);
    return;
  }
  if (ack && at < first_seen_) acknowledge_unseen(at + 1, a.ref);
  if (open_read_ || guessed_read_) end_read(a, at);
  const bool next_is_held = !held_.empty() && held_.first() <= at;
  if (lost_read_ && at == expected_ && !next_is_held && h.op.kind == IbKind::read_response &&
      !wire::begins(h.op.part)) {
    // One more response to a READ Request that is not in the capture: no further packet is missing.
    operations_.hole(1);
    ++expected_;
  }
  const bool beyond = at >= expected_;
  if (ack && front_ == Front::counted && at >= first_seen_ && !beyond) look_in_front(h.msn, a.ref);
  if (ack && copied_acknowledgement(a, at)) shared_.not_heard(other(side_), a.ref);
  acknowledge(at + 1, a.ref);
  if (h.op.kind != IbKind::read_response) return;
  if (beyond && expected_ == at + 1) lost_read_ = true;
  answers_.answer(a, at);
  drain(acknowledged_);
}

/// It says again what was said a moment ago, and no request came again to ask for that.
bool Stream::copied_acknowledgement(const Arrival& a, Sequence at) {
  if (at < acknowledged_ && acknowledgements_.hold(a, at, retried_frame_)) return true;
  acknowledgements_.add(a, at);
  return false;
}

/// Its receiver has completed more messages than the capture has, where none is missing behind the first of these
/// (InfiniBand specification, volume 1, section 9.7.5.1.2: MSN). Each was one packet at least.
void Stream::look_in_front(std::uint32_t acknowledged_messages, FrameRef ref) {
  constexpr std::int32_t plausible = 1 << 16;
  const std::int32_t missing = psn_distance(messages_ & wire::psn_mask, acknowledged_messages);
  if (missing <= 0 || missing > plausible) return;
  front_ = Front::settled;
  shared_.gap(side_, ref, static_cast<std::uint64_t>(missing), true, false);
}

void Stream::doubt(Sequence end, FrameRef answer) {
  doubtful_.reset();
  const bool more_than_one = expected_ == lost_to_;
  if (requests_seen_ && !open_read_ && !more_than_one) doubtful_ = {expected_, end, acknowledged_, answer, false};
}

/// A responder never takes back what it acknowledged. Two answers may have changed places in the file: where both
/// acknowledge what was sent in front of them, a lower one soon behind tells nothing.
void Stream::weigh_doubt(Sequence end, FrameRef answer) noexcept {
  if (!doubtful_ || end > doubtful_->from || end <= doubtful_->acknowledged) return;
  const Sent* newest = history_.find(end - 1);
  if (newest == nullptr) return;
  const bool sent_behind = newest->ref.number > doubtful_->answer.number;
  if (!sent_behind && !passed(doubtful_->answer.time, answer.time, change_of_places)) return;
  doubtful_->contradicted = true;
  doubtful_->acknowledged = end;
}

/// The requester goes on where that hole begins. What it sends again looks the same, unless the answer is contradicted,
/// or acknowledges more than any sender has under way.
bool Stream::goes_on_in_doubt(Sequence at) const noexcept {
  if (!doubtful_ || expected_ != doubtful_->to || at < doubtful_->from || at >= doubtful_->to) return false;
  const bool near_its_begin = at - doubtful_->from < under_way;
  return near_its_begin && (doubtful_->contradicted || expected_ - at >= under_way);
}

/// Nothing is missing there: what the answer in doubt acknowledged was never sent before it.
void Stream::deny_hole() {
  const std::uint64_t count = doubtful_->to - doubtful_->from;
  shared_.not_missing(side_, count);
  operations_.no_hole(count);
  expected_ = doubtful_->from;
  acknowledged_ = doubtful_->acknowledged;
  lost_to_ = 0;
  lost_read_ = false;
  doubtful_.reset();
}

/// Everything before `end` has arrived at the other side.
void Stream::acknowledge(Sequence end, FrameRef ref) {
  weigh_doubt(end, ref);
  if (end > expected_) {
    pass_holes(end, true, ref);
    // A READ of unknown span may reach as far.
    const bool in_read = open_read_ && end - open_read_->at <= read_span(open_read_->length, 256);
    if (end > expected_ && !in_read) {
      doubt(end, ref);
      lose(end - expected_, true, ref);
    }
    drain(end);
    held_.waiting_since(ref.time);
  }
  if (end <= acknowledged_) return;
  acknowledged_ = end;
  report_acknowledged(ref);
}

/// The same, and the capture begins behind `end`.
void Stream::acknowledge_unseen(Sequence end, FrameRef ref) noexcept {
  if (end <= acknowledged_unseen_) return;
  acknowledged_unseen_ = end;
  unseen_in_ = ref;
}

void Stream::report_acknowledged(FrameRef ref) {
  std::uint64_t ordinal = 0;
  while (!unacknowledged_.empty() && unacknowledged_.front().last < acknowledged_) {
    ordinal = unacknowledged_.front().ordinal;
    unacknowledged_.pop_front();
  }
  if (ordinal == 0) return;
  Acknowledged event;
  shared_.fill(event, other(side_), ref);
  event.ordinal = ordinal;
  shared_.sink.on(event);
}

namespace {

/// The receiver's queue pair takes nothing any more.
[[nodiscard]] bool final(const wire::IbHeader& header) noexcept {
  return wire::aeth_type(header.syndrome) == AethType::nak &&
         wire::aeth_value(header.syndrome) != wire::nak_psn_sequence;
}

}  // namespace

namespace {

[[nodiscard]] Refusal::Kind refusal_kind(std::uint8_t syndrome) noexcept {
  if (wire::aeth_type(syndrome) == AethType::rnr_nak) return Refusal::Kind::rnr;
  switch (wire::aeth_value(syndrome)) {
    case wire::nak_psn_sequence:
      return Refusal::Kind::nak_sequence;
    case wire::nak_invalid_request:
      return Refusal::Kind::invalid_request;
    case wire::nak_remote_access:
      return Refusal::Kind::remote_access;
    case wire::nak_remote_operational:
      return Refusal::Kind::remote_operational;
    default:
      return Refusal::Kind::nak_other;
  }
}

}  // namespace

void Stream::refusal(const Arrival& a, Sequence at) {
  const wire::IbHeader& h = a.header;
  // After a NAK that ends the connection, of the same packet, there can be only copies of it: of a second mirror
  // perhaps, which may come a while later.
  const bool copy = std::any_of(naks_.begin(), naks_.end(), [&](const Nak& nak) {
    const bool same = nak.psn == h.psn && nak.syndrome == h.syndrome && nak.msn == h.msn;
    return same && (final(h) || (!nak.answered && close_together(nak.ref.time, a.ref.time)));
  });
  if (copy) {
    shared_.repeated(other(side_), a.ref, Repeated::Kind::capture_duplicate);
    return;
  }
  constexpr std::size_t lately = 4;
  if (naks_.size() >= lately) naks_.pop_back();
  naks_.insert(naks_.begin(), {h.psn, h.msn, h.syndrome, false, a.ref});
  denied_ = a.ref;
  denied_at_ = at;
  denial_ = wire::aeth_type(h.syndrome) == AethType::rnr_nak ? Liveness::Denial::not_ready : Liveness::Denial::lacks;

  Refusal r;
  shared_.fill(r, other(side_), a.ref);
  r.kind = refusal_kind(h.syndrome);
  if (r.kind == Refusal::Kind::nak_sequence) {
    asked_again(a.ref);
    note_unseen(at, a.ref);
  }
  if (r.kind == Refusal::Kind::rnr) {
    not_ready_ = a.ref;
    wait_ = static_cast<TimeNs>(wire::rnr_wait(wire::aeth_value(h.syndrome)));
  }

  name_refused(r, at);
  shared_.sink.on(r);
}

/// Only the arrival of something behind it makes its receiver ask for it (InfiniBand specification, volume 1, section
/// 9.7.5.2.8).
void Stream::note_unseen(Sequence asked_for, FrameRef nak) {
  const Sent* const newest = history_.newest();
  if (asked_for < expected_ || !held_.empty() || newest == nullptr) return;
  asked_unseen_ = {nak, newest->ref, {}};
}

FrameRef Stream::perhaps_sent_behind(const Arrival& request) noexcept {
  if (!asked_unseen_ || request.ref.number < asked_unseen_->nak.number) return {};
  // All is sent again at once. Who has paused, and has an acknowledgement of all, has come to what is new.
  const FrameRef newest = std::exchange(asked_unseen_->newest, request.ref);
  const bool paused = newest.number != 0 && passed(newest.time, request.ref.time, change_of_places);
  if (!paused || acknowledged_ < expected_) return asked_unseen_->in_front;
  asked_unseen_.reset();
  return {};
}

/// What comes before the time of the RNR NAK has passed is not sent again. A clock that stands tells nothing.
void Stream::wait_over(FrameRef now) noexcept {
  const TimeNs since = elapsed(not_ready_.time, now.time);
  if (since == 0 || since >= wait_) asked_again(not_ready_);
}

void Stream::asked_again(FrameRef frame) noexcept {
  if (frame.number == not_ready_.number) not_ready_ = {};
  asked_frame_ = std::max(asked_frame_, frame.number);
  retried_frame_ = std::max(retried_frame_, frame.number);
  answers_.retried(frame);
}

void Stream::answers_nak(const Arrival& request) noexcept {
  for (Nak& nak : naks_) {
    const bool later = nak.ref.number < request.ref.number;  // what was held may be older
    nak.answered = nak.answered || (later && request.header.psn == nak.psn);
  }
}

void Stream::name_refused(Refusal& r, Sequence at) {
  if (const Sent* sent = history_.find(at)) {
    r.refused_frame = sent->ref;
    r.refused_op = sent->op;
    switch (sent->kind) {
      case Issued::Kind::send:
        r.refused = Refusal::Refused::send;
        r.refused_length = history_.message_length(at);
        break;
      case Issued::Kind::write:
        r.refused = Refusal::Refused::write;
        break;
      case Issued::Kind::read:
        r.refused = Refusal::Refused::read;
        break;
      case Issued::Kind::atomic:
        r.refused = Refusal::Refused::atomic;
        break;
      case Issued::Kind::unknown:
        break;
    }
  } else if (const HeldPacket* held = held_.find(at)) {
    r.refused_frame = held->ref;
  }
}

/// Packets that are older than any sender would send again: another epoch of the queue pair, its handshake not in the
/// capture. After some of them the stream goes on from there.
bool Stream::stranger(const Arrival& a, Sequence at) {
  constexpr unsigned enough = 16;
  if (expected_ - at < under_way) {
    strangers_ = 0;
    return false;
  }
  if (++strangers_ < enough) return false;
  strangers_ = 0;
  const Sequence again = at + (Sequence{1} << 24U);
  pass_holes(again, false, a.ref);
  if (again < expected_) return false;
  lose(again - expected_, false, a.ref);
  accept(a, again);
  return true;
}

void Stream::repeated(const Arrival& a, Sequence at) {
  if (stranger(a, at)) return;
  auto kind = Repeated::Kind::retransmission;
  const Sent* sent = history_.find(at);
  const bool copied = sent != nullptr && sent->at == at && sent->mark == a.mark &&
                      close_together(sent->ref.time, a.ref.time) && retried_frame_ < sent->ref.number;
  if (copied || repeats_.hold(a, at, asked_frame_)) {
    kind = Repeated::Kind::capture_duplicate;
  } else {
    repeats_.add(a, at);
    retried_frame_ = a.ref.number;
    answers_.retried(a.ref);
    const bool inside = sent != nullptr && sent->kind == Issued::Kind::read && at > sent->at;
    if (inside && a.header.op.kind == IbKind::read_request) answers_.resumed(at, a.ref);
    answers_nak(a);
    copies_.add(at, acknowledged_, shared_.heard[index(other(side_))].frame(), sent != nullptr ? sent->ref : FrameRef{},
                a.ref);
  }
  shared_.repeated(side_, a.ref, kind);
}

void Stream::learn_mtu(const Arrival& a) {
  const wire::IbHeader& h = a.header;
  const bool whole = h.op.part == IbPart::first || h.op.part == IbPart::middle;
  if (whole && h.payload_length != shared_.mtu && wire::is_mtu(h.payload_length)) {
    if (std::exchange(shared_.mtu, h.payload_length) != 0) correct_newest_read();
  }
  if (shared_.mtu == 0 || (!open_read_ && !guessed_read_)) return;
  if (guessed_read_) correct_guess(read_span(guessed_read_->length, shared_.mtu), a.ref);
  if (!open_read_) return;
  settle_read(read_span(open_read_->length, shared_.mtu));
  answers_.mtu_known();
}

/// The handshake named another path MTU than is in use: the READ that was sent last ends elsewhere.
void Stream::correct_newest_read() {
  const Sent* const newest = history_.newest();
  const bool read = newest != nullptr && newest->kind == Issued::Kind::read && !open_read_;
  if (!read || expected_ != newest->at + newest->span) return;
  const Sequence at = newest->at;
  const std::uint32_t span = read_span(newest->length, shared_.mtu);
  history_.respan(at, span);
  answers_.known_span(at, span);
  expected_ = at + span;
  drain(acknowledged_);
}

/// The request behind a READ of unknown span tells where it ends, if some path MTU agrees and nothing is missing.
void Stream::guess_span(Sequence next) {
  if (next <= open_read_->at) return;
  const Sequence span = next - open_read_->at;
  for (std::uint32_t mtu = 256; mtu <= 4096; mtu *= 2) {
    if (read_span(open_read_->length, mtu) != span) continue;
    guessed_read_ = open_read_;
    guessed_read_->span = static_cast<std::uint32_t>(span);
    settle_read(guessed_read_->span);
    return;
  }
}

/// Its last response tells where a READ of unknown span ends, and so does what acknowledges the request right behind
/// its first PSN: responses alone acknowledge a READ.
void Stream::end_read(const Arrival& a, Sequence at) {
  const bool ack = a.header.op.kind == IbKind::acknowledge;
  if (!ack && !wire::ends(a.header.op.part)) return;
  const auto span_of = [&](const Sent& read) -> Sequence {
    if (ack) return at == read.at + 1 ? 1 : 0;
    return at >= read.at && at - read.at < read_span(read.length, 256) ? at + 1 - read.at : 0;
  };
  if (guessed_read_) {
    if (const Sequence span = span_of(*guessed_read_)) correct_guess(static_cast<std::uint32_t>(span), a.ref);
  }
  if (!open_read_) return;
  if (const Sequence span = span_of(*open_read_)) settle_read(static_cast<std::uint32_t>(span));
}

void Stream::settle_read(std::uint32_t span) {
  history_.respan(open_read_->at, span);
  answers_.known_span(open_read_->at, span);
  if (expected_ == open_read_->at + 1) expected_ = open_read_->at + span;
  open_read_.reset();
  drain(acknowledged_);
}

/// Where it ends is known: what stood between it and the request behind it is missing.
void Stream::correct_guess(std::uint32_t span, FrameRef ref) {
  const Sent guessed = *guessed_read_;
  guessed_read_.reset();
  if (span >= guessed.span) return;
  history_.respan(guessed.at, span);
  answers_.known_span(guessed.at, span);
  shared_.gap(side_, ref, guessed.span - span, false, false);
}

void Stream::tell(Liveness& event) const noexcept {
  if (const Sent* oldest = history_.oldest_beyond(acknowledged_)) {
    event.unacknowledged = oldest->ref;
  } else if (const HeldPacket* held = held_.oldest_from(acknowledged_)) {
    event.unacknowledged = held->ref;
  }
  event.before_capture = unseen_in_;
  copies_.tell(event, acknowledged_);
  if (denied_at_ == acknowledged_) {
    event.denied = denied_;
    event.denial = denial_;
  }
}

void Stream::close(FrameRef ref) {
  if (!held_.empty()) pass_holes(held_.last() + 1, false, ref);
}

void Stream::finish(FrameRef last) {
  close(last);
  answers_.finish(last);
}

}  // namespace rpcrdma::trace::ib
