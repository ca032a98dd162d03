// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/ib/operations.hpp"

#include <algorithm>

namespace rpcrdma::trace::ib {

using wire::IbKind;
using wire::IbPart;

Issued Operations::deliver(const Arrival& a, Sequence at) {
  const wire::IbHeader& h = a.header;
  const bool continues = !wire::begins(h.op.part);
  // A message that is not continued here has lost its end in the hole before this packet.
  if (sending_ && !(h.op.kind == IbKind::send && continues)) emit_cut_send();
  if (writing_ && !(h.op.kind == IbKind::write && continues)) writing_ = false;

  Issued issued;
  switch (h.op.kind) {
    case IbKind::send:
      issued = send(a, at);
      break;
    case IbKind::write:
      issued = write(a, at);
      break;
    case IbKind::read_request:
      issued = read(a, at);
      break;
    case IbKind::atomic_request:
      issued = atomic(a);
      break;
    case IbKind::read_response:
    case IbKind::acknowledge:
    case IbKind::atomic_acknowledge:
    case IbKind::other:
      break;
  }
  if (h.op.immediate) shared_.quality(side_, a.ref, Quality::Kind::immediate);
  hole_ = 0;
  return issued;
}

void Operations::begin_send(const Arrival& a, Sequence at) {
  shared_.fill(send_, side_, a.ref);
  send_.wire_length = 0;
  send_.invalidated.reset();
  send_.immediate = false;
  send_.holes = false;
  send_.ordinal = ++ordinals_;
  send_.sequence = at;
  send_.octets = {};
}

void Operations::append(const Arrival& a) {
  const wire::IbHeader& h = a.header;
  send_.wire_length = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(std::uint64_t{send_.wire_length} + h.payload_length, UINT32_MAX));
  send_last_ = a.ref;
  if (!wire::ends(h.op.part)) {
    SendPart part;
    shared_.fill(part, side_, a.ref);
    part.ordinal = send_.ordinal;
    shared_.sink.on(part);
  }
  if (!contiguous_) return;
  const std::size_t room = max_send_octets - kept_.size();
  const std::size_t n = std::min(room, h.payload.size());
  kept_.insert(kept_.end(), h.payload.begin(), h.payload.begin() + static_cast<std::ptrdiff_t>(n));
  if (n < h.payload.size()) shared_.say_limit(side_, a.ref);
  contiguous_ = n == h.payload_length;
}

Issued Operations::send(const Arrival& a, Sequence at) {
  const wire::IbHeader& h = a.header;
  if (h.op.part == IbPart::only) {
    begin_send(a, at);
    send_.octets = h.payload;
    send_.wire_length = h.payload_length;
  } else if (h.op.part == IbPart::first) {
    begin_send(a, at);
    kept_.clear();
    contiguous_ = true;
    sending_ = true;
    append(a);
  } else if (sending_) {
    if (hole_ != 0) {
      // One packet cannot both end a message and begin the next: it was a Middle, of the path MTU's length. More than
      // one may have been anything; they are taken for the same Send, whose length is then only known from below.
      send_.holes = true;
      contiguous_ = false;
      if (hole_ == 1) send_.wire_length += shared_.mtu;
    }
    append(a);
  } else if (hole_ != 0) {
    // The beginning is missing: still one Send.
    begin_send(a, at);
    kept_.clear();
    contiguous_ = false;
    sending_ = true;
    send_.holes = true;
    append(a);
  } else {
    return {};  // continues nothing, and nothing is missing: not a message
  }
  const Issued issued{Issued::Kind::send, send_.ordinal, send_.wire_length};
  if (wire::ends(h.op.part)) {
    if (h.op.invalidate) send_.invalidated = h.invalidated;
    send_.immediate = h.op.immediate;
    if (sending_) send_.octets = kept_;
    sending_ = false;
    emit_send(a.ref);
  }
  return issued;
}

void Operations::emit_send(FrameRef last) {
  send_.last = last;
  shared_.spoke[index(side_)] = last.number;
  shared_.sink.on(send_);
  send_.octets = {};
}

void Operations::emit_cut_send() {
  sending_ = false;
  if (hole_ == 0) return;  // broken off by its sender: no complete Send
  send_.holes = true;
  send_.octets = kept_;
  emit_send(send_last_);
}

Issued Operations::write(const Arrival& a, Sequence at) {
  const wire::IbHeader& h = a.header;
  if (wire::begins(h.op.part)) {
    write_.op = ++ops_;
    write_.handle = h.key;
    write_.announced = h.dma_length;
    base_ = h.address;
    written_ = 0;
    writing_ = true;
  } else if (!writing_) {
    return {};  // its First is not in the capture: where the octets go is not known
  } else if (hole_ != 0) {
    // Still the same Write if what is missing fits into what was announced.
    const std::uint64_t after = written_ + hole_ * shared_.mtu + h.payload_length;
    const bool fits = h.op.part == IbPart::last ? after == write_.announced : after < write_.announced;
    if (shared_.mtu == 0 || !fits) {
      writing_ = false;
      return {};
    }
    written_ += hole_ * shared_.mtu;
  }
  shared_.fill(write_, side_, a.ref);
  write_.offset = base_ + written_;
  write_.length = h.payload_length;
  write_.octets = h.payload;
  write_.first = wire::begins(h.op.part);
  write_.last = wire::ends(h.op.part);
  write_.sequence = at;
  written_ += h.payload_length;
  if (write_.last) writing_ = false;
  shared_.sink.on(write_);
  write_.octets = {};
  return {Issued::Kind::write, write_.op, static_cast<std::uint32_t>(std::min<std::uint64_t>(written_, UINT32_MAX))};
}

Issued Operations::read(const Arrival& a, Sequence at) {
  ReadRequest r;
  shared_.fill(r, side_, a.ref);
  r.op = ++ops_;
  r.handle = a.header.key;
  r.offset = a.header.address;
  r.length = a.header.dma_length;
  r.sequence = at;
  shared_.sink.on(r);
  return {Issued::Kind::read, r.op, a.header.dma_length};
}

Issued Operations::atomic(const Arrival& a) {
  Atomic event;
  shared_.fill(event, side_, a.ref);
  event.op = ++ops_;
  event.handle = a.header.key;
  event.offset = a.header.address;
  shared_.sink.on(event);
  return {Issued::Kind::atomic, event.op, 0};
}

}  // namespace rpcrdma::trace::ib
