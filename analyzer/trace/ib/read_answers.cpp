// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/ib/read_answers.hpp"

#include "trace/spans.hpp"

#include <algorithm>

namespace rpcrdma::trace::ib {

void ReadAnswers::asked(Sequence at, std::uint32_t span, std::uint64_t op, const wire::IbHeader& h, FrameRef ref) {
  Read r;
  r.at = at;
  r.span = span;
  r.handle = h.key;
  r.length = h.dma_length;
  r.offset = h.address;
  r.op = op;
  // Without any response in the capture there is nothing to lose track of.
  if (!reads_.push_back(r) && !seen_.empty()) shared_.say_limit(requester_, ref);
  if (idle_) {
    floor_ = at;
    idle_ = false;
  }
}

void ReadAnswers::mtu_known() {
  for (std::size_t i = 0; i < reads_.size(); ++i)
    if (reads_[i].span == 0) reads_[i].span = read_span(reads_[i].length, shared_.mtu);
}

void ReadAnswers::known_span(Sequence at, std::uint32_t span) {
  if (Read* r = covering(at); r != nullptr && r->at == at) r->span = span;
}

ReadAnswers::Read* ReadAnswers::covering(Sequence at) noexcept {
  const bool here = latest_ < reads_.size() && reads_[latest_].at <= at &&
                    (latest_ + 1 == reads_.size() || at < reads_[latest_ + 1].at);
  if (!here && !search(at)) return nullptr;
  Read& r = reads_[latest_];
  return at - r.at < widest(r) ? &r : nullptr;
}

/// The newest one that begins at or in front of it. False: none does.
bool ReadAnswers::search(Sequence at) noexcept {
  std::size_t low = 0;
  std::size_t high = reads_.size();
  while (low < high) {
    const std::size_t mid = (low + high) / 2;
    if (reads_[mid].at <= at) {
      low = mid + 1;
    } else {
      high = mid;
    }
  }
  if (low == 0) return false;
  latest_ = low - 1;
  return true;
}

/// What is missing first was asked for again, and comes next. Behind `patience` it may have come, unseen.
bool ReadAnswers::awaited_again(FrameRef now) const noexcept {
  return resumed_.ref.number != 0 && floor_ >= resumed_.next && !passed(resumed_.ref.time, now.time, patience);
}

void ReadAnswers::answer(const Arrival& a, Sequence at) {
  if (at >= resumed_.next) resumed_.next = at + 1;
  Read* read = covering(at);
  if (read == nullptr || (!idle_ && at < floor_) || idle_) {
    // Either seen before, or to a request that is not in the capture.
    if (read != nullptr && late(at)) {
      --shared_.packets[index(other(requester_))].missing;
      deliver(a, at, *read);
    } else if (read != nullptr || at < floor_) {
      repeated(a, at);
    }
    return;
  }
  if (at == floor_) {
    if (!held_.empty()) shared_.say_filled(other(requester_), a.ref, held_.foremost(), retried_frame_);
    deliver(a, at, *read);
    advance(at + 1, *read);
    drain();
    return;
  }
  if (!held_.empty() && at < held_.last())
    shared_.say_filled(other(requester_), a.ref, held_.foremost(), retried_frame_);
  if (const HeldPacket* same = held_.hold(at, a)) {
    const bool twice =
        same->mark == a.mark && close_together(same->ref.time, a.ref.time) && retried_frame_ < same->ref.number;
    shared_.repeated(other(requester_), a.ref,
                     twice ? Repeated::Kind::capture_duplicate : Repeated::Kind::retransmission);
    return;
  }
  if (held_.over_bound()) {
    shared_.say_limit(other(requester_), a.ref);
    give_up(held_.first(), a.ref);
  } else if (passed(held_.since(), a.ref.time, patience)) {
    give_up(held_.first(), a.ref);
  }
}

void ReadAnswers::deliver(const Arrival& a, Sequence at, Read& read) {
  const wire::IbHeader& h = a.header;
  seen_.push_back({at, a.mark, a.ref});
  ++shared_.packets[index(other(requester_))].seen;
  std::uint64_t skipped = (at - read.at) * shared_.mtu;
  if (shared_.mtu == 0 && at != read.at)
    skipped = h.payload_length <= read.length ? read.length - h.payload_length : 0;  // the last one
  ++read.delivered;
  ReadResponse r;
  shared_.fill(r, other(requester_), a.ref);
  r.op = read.op;
  r.handle = read.handle;
  r.offset = read.offset + skipped;
  r.length = h.payload_length;
  r.octets = h.payload;
  r.last = read.span != 0 ? read.delivered == read.span : h.op.part == wire::IbPart::only;
  if (r.last && read.span == 0) read.span = 1;
  shared_.sink.on(r);
}

/// The response before `past`, to this READ, was the newest one due.
void ReadAnswers::advance(Sequence past, const Read& read) {
  floor_ = past;
  if (past - read.at < widest(read)) return;
  // The next READ's first response is due; those answered long ago are forgotten.
  std::size_t next = 0;
  while (next < reads_.size() && reads_[next].at < past) ++next;
  if (next < reads_.size()) {
    floor_ = reads_[next].at;
  } else {
    idle_ = true;
  }
  constexpr std::size_t remembered = 16;
  while (next > remembered) {
    reads_.pop_front();
    --next;
  }
}

void ReadAnswers::drain() {
  while (!held_.empty() && !idle_ && held_.first() <= floor_) {
    const Sequence at = held_.first();
    const HeldPacket p = held_.take_first();
    Read* read = covering(at);
    if (read == nullptr || at < floor_) continue;
    deliver(p.arrival(), at, *read);
    advance(at + 1, *read);
    held_.waiting_since(p.ref.time);
  }
}

void ReadAnswers::give_up(Sequence upto, FrameRef ref) {
  while (!held_.empty() && !idle_ && held_.first() <= upto) {
    const Sequence to = held_.first();
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < reads_.size(); ++i) {
      const Read& r = reads_[i];
      const Sequence from = std::max(r.at, floor_);
      const Sequence end = std::min<Sequence>(r.at + widest(r), to);
      if (from >= end) continue;
      count += end - from;
      if (missing_.size() >= max_missing) missing_.erase(missing_.begin());
      missing_.emplace_back(from, end);
    }
    if (count != 0) shared_.gap(other(requester_), ref, count, false, false);
    floor_ = to;
    held_.waiting_since(ref.time);
    drain();
  }
}

bool ReadAnswers::late(Sequence at) noexcept {
  for (std::size_t i = 0; i < missing_.size(); ++i) {
    const auto [from, to] = missing_[i];
    if (at < from || at >= to) continue;
    missing_.erase(missing_.begin() + static_cast<std::ptrdiff_t>(i));
    if (from < at) missing_.emplace_back(from, at);
    if (at + 1 < to) missing_.emplace_back(at + 1, to);
    return true;
  }
  return false;
}

void ReadAnswers::repeated(const Arrival& a, Sequence at) {
  auto kind = Repeated::Kind::retransmission;
  for (std::size_t i = seen_.size(); i-- > 0;) {
    const Seen& s = seen_[i];
    if (s.at != at) continue;
    if (s.mark == a.mark && close_together(s.ref.time, a.ref.time) && retried_frame_ < s.ref.number)
      kind = Repeated::Kind::capture_duplicate;
    break;
  }
  if (kind == Repeated::Kind::retransmission) {
    if (repeats_.hold(a, at, retried_frame_)) {
      kind = Repeated::Kind::capture_duplicate;
    } else {
      repeats_.add(a, at);
    }
  }
  shared_.repeated(other(requester_), a.ref, kind);
}

void ReadAnswers::finish(FrameRef last) {
  if (!held_.empty() && !idle_) give_up(held_.last(), last);
}

}  // namespace rpcrdma::trace::ib
