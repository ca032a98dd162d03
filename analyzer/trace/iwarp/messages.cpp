// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/iwarp/messages.hpp"

#include <algorithm>
#include <utility>

namespace rpcrdma::trace::iwarp {
namespace {

/// Octets of one Send that are kept; RFC 8797 cannot announce more than a quarter of this.
constexpr std::size_t send_octets_limit = 1U << 20U;
constexpr std::size_t send_octets_kept = 16U << 10U;
constexpr std::size_t unacknowledged_limit = 4096;
constexpr std::size_t reads_limit = 4096;

}  // namespace

template <class Event>
Event Messages::event(Side side, FrameRef frame) const {
  Event e;
  e.connection = connection_;
  e.side = side;
  e.frame = frame;
  return e;
}

std::uint64_t Messages::sequence(Side side, const Fpdu& fpdu) const noexcept { return fpdu.start - of(side).origin; }

void Messages::quality(Side side, Quality::Kind kind, FrameRef frame) {
  auto e = event<Quality>(side, frame);
  e.kind = kind;
  sink_.on(e);
}

void Messages::gap(Side side, std::uint64_t octets, bool proven, FrameRef frame, Gap::Kind kind) {
  Half& half = of(side);
  half.gap_since_write += octets;
  half.gap_since_send = true;
  auto e = event<Gap>(side, frame);
  e.kind = kind;
  e.count = octets;
  e.proven = proven;
  sink_.on(e);
}

void Messages::fpdu(Side side, const Fpdu& fpdu) {
  if (ready_due_ && side == Side::active) {
    ready_due_ = false;
    sink_.on(event<ConnectReady>(side, fpdu.first));
  }
  Half& half = of(side);
  ++half.fpdus;
  if (fpdu.undecided || fpdu.ulpdu.size() < 2) {
    unreadable(side, fpdu);
    return;
  }
  const wire::DdpControl control = wire::ddp_control(fpdu.ulpdu.data());
  if (set_up_ && half.fpdus == 1 && swallow_set_up(side, fpdu, control)) return;
  switch (control.rdmap()) {
    case wire::RdmapOpcode::write:
      on_write(side, fpdu);
      break;
    case wire::RdmapOpcode::read_request:
      on_read_request(side, fpdu, false);
      break;
    case wire::RdmapOpcode::read_response:
      on_read_response(side, fpdu);
      break;
    case wire::RdmapOpcode::terminate:
      on_terminate(side, fpdu);
      break;
    default:
      on_send(side, fpdu, control);
      break;
  }
}

/// RFC 6581 section 9.2: the first FPDU of a peer-to-peer connection is an operation without data.
bool Messages::swallow_set_up(Side side, const Fpdu& fpdu, const wire::DdpControl& control) {
  const std::uint32_t data = fpdu.ulpdu_length - static_cast<std::uint32_t>(control.header_length());
  if (control.rdmap() == wire::RdmapOpcode::read_request) {
    const auto request = wire::decode_read_request(
        fpdu.ulpdu.subspan(std::min(fpdu.ulpdu.size(), wire::ddp_untagged_length)), wire::read_request_length);
    if (!request || request->size != 0) return false;
    on_read_request(side, fpdu, true);
    return true;
  }
  if (data != 0 || control.rdmap() == wire::RdmapOpcode::terminate) return false;
  if (control.send()) {
    if (side != Side::active) return false;
    if (const auto header = wire::decode_ddp_header(fpdu.ulpdu, fpdu.ulpdu_length)) of(side).next_msn = header->msn + 1;
  }
  if (control.rdmap() == wire::RdmapOpcode::read_response) on_read_response(side, fpdu);
  return true;
}

/// The length is known and nothing else: the capture ends before the control octets, or what they are is undecided.
void Messages::unreadable(Side side, const Fpdu& fpdu) {
  Half& half = of(side);
  if (half.assembling) {
    half.send.holes = true;
    half.whole_so_far = false;
  }
  gap(side, fpdu.end - fpdu.start, half.acknowledged >= fpdu.end, fpdu.first, Gap::Kind::headless);
}

void Messages::begin_send(Side side, const Fpdu& fpdu, const wire::DdpControl& control,
                          const wire::Decoded<wire::DdpHeader>& header) {
  Half& half = of(side);
  half.assembling = true;
  half.msn_known = false;
  half.whole_so_far = true;
  half.octets.clear();
  half.send = event<Send>(side, fpdu.first);
  half.send.ordinal = ++half.sends;
  half.send.sequence = sequence(side, fpdu);
  if (header) {
    half.msn_known = true;
    half.msn = header->msn;
    half.next_msn = header->msn + 1;
    if (header->message_offset != 0) {  // its beginning is missing
      half.send.holes = true;
      half.whole_so_far = false;
      half.send.wire_length = header->message_offset;
    }
  } else if (half.next_msn) {
    half.msn = (*half.next_msn)++;
  }
  if (control.invalidates() && fpdu.ulpdu.size() >= 6) half.send.invalidated = wire::load_be32(fpdu.ulpdu.data() + 2);
  SentSend& sent = half.sent.add();
  sent.ordinal = half.sends;
  sent.msn = half.msn;
  sent.frame = fpdu.first;
}

void Messages::abandon_send(Side side) {
  Half& half = of(side);
  half.send.holes = true;
  half.send.octets = half.octets;
  half.assembling = false;
  sink_.on(half.send);
  half.octets.clear();
}

void Messages::on_send(Side side, const Fpdu& fpdu, const wire::DdpControl& control) {
  Half& half = of(side);
  const auto header = wire::decode_ddp_header(fpdu.ulpdu, fpdu.ulpdu_length);
  // Where something is missing, only their headers tell which message FPDUs belong to.
  const bool behind_gap = std::exchange(half.gap_since_send, false);
  const bool another = header && half.msn_known ? header->msn != half.msn : behind_gap;
  if (half.assembling && another) abandon_send(side);
  if (!half.assembling) {
    // A capture that begins inside of a message: nobody can use its end.
    if (half.sends == 0 && !set_up_ && header && header->message_offset != 0) return;
    begin_send(side, fpdu, control, header);
    if (!header && behind_gap) {
      half.send.holes = true;
      half.whole_so_far = false;
    }
  }
  Send& send = half.send;
  if (header && header->message_offset != send.wire_length) {
    send.holes = true;
    half.whole_so_far = false;
    send.wire_length = std::max(send.wire_length, header->message_offset);
  }
  const std::uint32_t data = fpdu.ulpdu_length - static_cast<std::uint32_t>(wire::ddp_untagged_length);
  const Bytes octets = fpdu.ulpdu.subspan(std::min(fpdu.ulpdu.size(), wire::ddp_untagged_length));
  const bool fits = half.octets.size() + octets.size() <= send_octets_limit;
  if (!fits) quality(side, Quality::Kind::limit_reached, fpdu.first);
  send.wire_length += std::min(data, ~std::uint32_t{0} - send.wire_length);
  half.sent[0].length = send.wire_length;
  send.last = fpdu.last;
  if (control.invalidates() && !send.invalidated && fpdu.ulpdu.size() >= 6) {
    send.invalidated = wire::load_be32(fpdu.ulpdu.data() + 2);
  }
  if (control.last && half.octets.empty()) {
    send.octets = half.whole_so_far ? octets : Bytes{};
    end_send(side, fpdu);
    return;
  }
  if (half.whole_so_far && fits) half.octets.insert(half.octets.end(), octets.begin(), octets.end());
  half.whole_so_far = half.whole_so_far && fits && octets.size() == data;
  if (!control.last) {
    SendPart part = event<SendPart>(side, fpdu.last);
    part.ordinal = send.ordinal;
    sink_.on(part);
    return;
  }
  send.octets = half.octets;
  end_send(side, fpdu);
}

void Messages::end_send(Side side, const Fpdu& fpdu) {
  Half& half = of(side);
  half.assembling = false;
  sink_.on(half.send);
  half.send.octets = {};
  half.octets.clear();
  if (half.octets.capacity() > send_octets_kept) half.octets = std::vector<std::uint8_t>();
  if (half.unacknowledged.size() >= unacknowledged_limit) half.unacknowledged.pop_front();
  half.unacknowledged.push_back({fpdu.end, half.send.ordinal});
  if (half.acknowledged >= fpdu.end) report_acknowledged(other(side), fpdu.last);
}

void Messages::acknowledged(Side by, Position position, FrameRef frame) {
  Half& half = of(other(by));
  if (position <= half.acknowledged) return;
  half.acknowledged = position;
  if (!half.unacknowledged.empty()) report_acknowledged(by, frame);
}

void Messages::report_acknowledged(Side by, FrameRef frame) {
  Half& half = of(other(by));
  std::uint64_t ordinal = 0;
  while (!half.unacknowledged.empty() && half.unacknowledged.front().end <= half.acknowledged) {
    ordinal = half.unacknowledged.front().ordinal;
    half.unacknowledged.pop_front();
  }
  if (ordinal == 0) return;
  auto e = event<Acknowledged>(by, frame);
  e.ordinal = ordinal;
  sink_.on(e);
}

void Messages::remember_stag(Half& half, std::uint32_t stag) {
  if (half.stags.size() == 0 || half.stags[0] != stag) half.stags.add() = stag;
}

void Messages::on_write(Side side, const Fpdu& fpdu) {
  Half& half = of(side);
  const auto header = wire::decode_ddp_header(fpdu.ulpdu, fpdu.ulpdu_length);
  if (!header) {
    unreadable(side, fpdu);
    return;
  }
  remember_stag(half, header->stag);
  auto e = event<Write>(side, fpdu.first);
  e.handle = header->stag;
  e.offset = header->offset;
  e.length = fpdu.ulpdu_length - static_cast<std::uint32_t>(wire::ddp_tagged_length);
  e.octets = fpdu.ulpdu.subspan(wire::ddp_tagged_length);
  e.last = header->control.last;
  e.sequence = sequence(side, fpdu);
  // Behind a gap the same Write may go on further up.
  const bool goes_on = half.writing && half.write_handle == e.handle && e.offset >= half.write_next &&
                       e.offset - half.write_next <= half.gap_since_write;
  half.gap_since_write = 0;
  if (!goes_on) {
    e.first = true;
    half.write_op = ++ops_;
    half.write_handle = e.handle;
  }
  e.op = half.write_op;
  half.write_next = e.offset + e.length;
  half.writing = !e.last;
  SentWrite& write = half.writes.add();
  write.op = e.op;
  write.handle = e.handle;
  write.offset = e.offset;
  write.frame = fpdu.first;
  WholeWrite& whole = e.first ? half.whole_writes.add() : half.whole_writes[0];
  if (e.first) whole = {e.op, e.handle, e.offset, e.offset, fpdu.first};
  whole.to = e.offset + e.length;
  sink_.on(e);
}

void Messages::on_read_request(Side side, const Fpdu& fpdu, bool set_up) {
  Half& half = of(side);
  const auto header = wire::decode_ddp_header(fpdu.ulpdu, fpdu.ulpdu_length);
  const auto request = wire::decode_read_request(
      fpdu.ulpdu.subspan(std::min(fpdu.ulpdu.size(), wire::ddp_untagged_length)),
      fpdu.ulpdu_length - std::min<std::size_t>(fpdu.ulpdu_length, wire::ddp_untagged_length));
  if (!header || !request) {
    if (request || request.error().fault == wire::Fault::truncated) {
      unreadable(side, fpdu);
    } else {
      quality(side, Quality::Kind::mpa_bad, fpdu.first);
    }
    return;
  }
  if (half.reads.size() >= reads_limit) {
    half.reads.pop_front();
    quality(side, Quality::Kind::limit_reached, fpdu.first);
  }
  SentRead& read = half.reads.emplace_back();
  read.op = set_up ? 0 : ++ops_;
  read.msn = header->msn;
  read.request = *request;
  read.frame = fpdu.first;
  read.set_up = set_up;
  if (set_up) return;
  auto e = event<ReadRequest>(side, fpdu.first);
  e.op = read.op;
  e.handle = request->source_stag;
  e.offset = request->source_offset;
  e.length = request->size;
  e.sequence = sequence(side, fpdu);
  sink_.on(e);
}

void Messages::on_read_response(Side side, const Fpdu& fpdu) {
  Half& asker = of(other(side));
  const auto header = wire::decode_ddp_header(fpdu.ulpdu, fpdu.ulpdu_length);
  if (!header) {
    unreadable(side, fpdu);
    return;
  }
  remember_stag(of(side), header->stag);
  const std::uint32_t length = fpdu.ulpdu_length - static_cast<std::uint32_t>(wire::ddp_tagged_length);
  // Answers come in the order of the requests: whatever stands before the one that fits will not be answered.
  auto fits = [&](const SentRead& read) {
    const std::uint64_t at = header->offset - read.request.sink_offset;
    return read.request.sink_stag == header->stag && at >= read.answered && at <= read.request.size &&
           length <= read.request.size - at;
  };
  if (asker.reads.empty()) return;
  if (!fits(asker.reads.front())) [[unlikely]] {
    const auto at = std::find_if(asker.reads.begin(), asker.reads.end(), fits);
    if (at == asker.reads.end()) return;  // the request is not in the capture
    asker.reads.erase(asker.reads.begin(), at);
  }
  SentRead& read = asker.reads.front();
  const std::uint64_t into = header->offset - read.request.sink_offset;
  read.answered = into + length;
  const bool last = header->control.last || read.answered >= read.request.size;
  if (!read.set_up) {
    auto e = event<ReadResponse>(side, fpdu.first);
    e.op = read.op;
    e.handle = read.request.source_stag;
    e.offset = read.request.source_offset + into;
    e.length = length;
    e.octets = fpdu.ulpdu.subspan(wire::ddp_tagged_length);
    e.last = last;
    sink_.on(e);
  }
  if (!last) return;
  asker.answered_reads.add() = read;
  asker.reads.pop_front();
}

Expectation Messages::expectation(Side side) const {
  const Half& half = of(side);
  Expectation expected;
  expected.send_msn = half.next_msn;
  expected.stag_count = std::min(half.stags.size(), expected.stags.size());
  for (std::size_t i = 0; i < expected.stag_count; ++i) expected.stags[i] = half.stags[i];
  return expected;
}

}  // namespace rpcrdma::trace::iwarp
