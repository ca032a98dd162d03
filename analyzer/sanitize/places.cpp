// SPDX-License-Identifier: GPL-2.0-or-later
#include "sanitize/places.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <string_view>

#include "wire/crc32c.hpp"

namespace rpcrdma::sanitize {
namespace {

/// The first segment of a stream gets a position above this, so that older octets still have one.
constexpr std::uint64_t origin = std::uint64_t{1} << 32U;
/// Another connection of the same ports begins far from all that the one before can have reached.
constexpr std::uint64_t apart = std::uint64_t{1} << 40U;

std::uint64_t unwrap(std::uint64_t near, std::uint32_t sequence) noexcept {
  const auto distance = static_cast<std::int32_t>(sequence - static_cast<std::uint32_t>(near));
  return near + static_cast<std::uint64_t>(static_cast<std::int64_t>(distance));
}

std::optional<wire::IbHeader> connected(const trace::Opened& opened) {
  if (opened.content != trace::Content::infiniband) return std::nullopt;
  const auto header = wire::decode_ib(opened.ib.octets, opened.ib.wire_length);
  if (!header || header->op.service != wire::IbService::rc) return std::nullopt;
  return *header;
}

/// Octets that follow each other from there on but for markers, run by run. Answers where they end.
template <class Run>
std::uint64_t between_markers(const wire::Markers& markers, std::uint64_t at, wire::Bytes octets, Run&& run) {
  while (!octets.empty()) {
    at += markers.inside(at);
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(octets.size(), markers.until_next(at)));
    run(at, octets.first(count));
    octets = octets.subspan(count);
    at += count;
  }
  return at;
}

/// What the octets in front of its CRC make to it, in the original. Markers are the same in the copy, and left out.
std::uint32_t original_crc(const FpduAt& fpdu, const trace::StreamPart& part) {
  const std::array<std::uint8_t, wire::fpdu_length_octets> length{static_cast<std::uint8_t>(part.length >> 8U),
                                                                  static_cast<std::uint8_t>(part.length)};
  std::vector<std::uint8_t> octets(static_cast<std::size_t>(fpdu.crc_at() - fpdu.start), 0);
  std::uint64_t at = fpdu.start;
  for (const wire::Bytes known : {wire::Bytes(length), part.octets, part.pad}) {
    at = between_markers(fpdu.markers, at, known, [&](std::uint64_t to, wire::Bytes run) {
      const auto from = std::min<std::size_t>(to - fpdu.start, octets.size());
      std::copy_n(run.begin(), std::min(run.size(), octets.size() - from),
                  octets.begin() + static_cast<std::ptrdiff_t>(from));
    });
  }
  return wire::crc32c(octets);
}

}  // namespace

std::uint64_t Places::identity(const trace::IbPacket& packet, const wire::IbHeader& header) {
  const auto text = [](wire::Bytes octets) {
    return std::string_view(reinterpret_cast<const char*>(octets.data()), octets.size());
  };
  constexpr std::uint64_t mix = 0x9E3779B97F4A7C15U;
  std::uint64_t out = std::hash<std::string_view>{}(text(header.payload));
  out = (out ^ std::hash<std::string_view>{}(text(packet.source.octets))) * mix;
  out = (out ^ std::hash<std::string_view>{}(text(packet.destination.octets))) * mix;
  out = (out ^ (std::uint64_t{header.destination_qp} << 32U | header.psn)) * mix;
  return (out ^ out >> 29U ^ header.opcode) * mix;
}

void Places::note(const trace::Frame& frame, const trace::Opened& opened) {
  if (const auto header = connected(opened)) {
    if (header->payload_length == 0) return;
    rows_.push_back({frame.ref.number, identity(opened.ib, *header), 0, header->payload_length, false});
    return;
  }
  if (opened.content != trace::Content::tcp) return;
  const trace::TcpSegment& tcp = opened.tcp;
  const bool syn = (tcp.flags & trace::TcpSegment::syn) != 0;
  if (tcp.wire_length == 0 && !syn) return;
  StreamKey key{};
  auto to = std::copy(tcp.source.octets.begin(), tcp.source.octets.end(), key.begin());
  to = std::copy(tcp.destination.octets.begin(), tcp.destination.octets.end(), to);
  for (const std::uint16_t port : {tcp.source_port, tcp.destination_port}) {
    *to++ = static_cast<std::uint8_t>(port >> 8U);
    *to++ = static_cast<std::uint8_t>(port);
  }
  const auto [at, fresh] = numbers_.try_emplace(key, streams_.size());
  if (fresh) streams_.emplace_back();
  Stream& stream = streams_[at->second];
  const std::uint32_t first = tcp.sequence + (syn ? 1U : 0U);
  if (!stream.began) {
    stream.newest = origin + first;
  } else if (syn && stream.syn != tcp.sequence) {
    stream.newest = ((stream.newest / apart + 1) * apart + origin) + first;
  }
  if (syn) stream.syn = tcp.sequence;
  stream.began = true;
  const std::uint64_t position = unwrap(stream.newest, first);
  stream.newest = std::max(stream.newest, position);
  if (tcp.wire_length != 0) rows_.push_back({frame.ref.number, at->second, position, tcp.wire_length, true});
}

const Places::Row* Places::row(std::uint64_t frame) const {
  const auto at = std::lower_bound(rows_.begin(), rows_.end(), frame,
                                   [](const Row& row, std::uint64_t number) { return row.frame < number; });
  return at != rows_.end() && at->frame == frame ? &*at : nullptr;
}

Spot Places::packet(std::uint64_t frame) const {
  const Row* of = row(frame);
  if (of == nullptr || of->segment) return {};
  return {Spot::In::packet, of->which, 0, 0, of->length, {}};
}

Spot Places::stream(const trace::StreamPart& part, std::uint32_t skip, std::uint32_t length) const {
  const Row* of = row(part.first.number);
  if (of == nullptr || !of->segment) return {};
  Spot out{Spot::In::stream, of->which,   unwrap(of->position, static_cast<std::uint32_t>(part.start)), skip,
           length,           part.markers};
  // Markers are where they are from any position that differs from theirs by whole intervals.
  out.markers.base = out.start + wire::Markers::interval - (part.start - part.markers.base) % wire::Markers::interval;
  out.markers.base %= wire::Markers::interval;
  return out;
}

void Places::fpdu(const trace::StreamPart& part, bool opening) {
  const Spot spot = stream(part, 0, 0);
  if (spot.in != Spot::In::stream) return;
  Stream& of = streams_[spot.which];
  const std::uint64_t length = part.end - part.start;
  FpduAt& fpdu = of.fpdus.emplace_back(FpduAt{spot.start, spot.start + length, spot.markers, opening, 0});
  if (!opening) fpdu.crc_flip = original_crc(fpdu, part);
  of.longest_fpdu = std::max(of.longest_fpdu, length);
}

std::size_t Places::keep(wire::Bytes octets) {
  const std::size_t at = store_.size();
  store_.insert(store_.end(), octets.begin(), octets.end());
  return at;
}

void Places::write(Stream& stream, std::uint64_t at, wire::Bytes octets) {
  const auto length = static_cast<std::uint32_t>(octets.size());
  stream.writes.push_back({at, length, keep(octets)});
  stream.longest = std::max(stream.longest, length);
}

void Places::put(const Spot& spot, std::uint32_t offset, wire::Bytes octets) {
  if (spot.in == Spot::In::nothing || octets.empty()) return;
  if (spot.in == Spot::In::packet) {
    packets_[spot.which].push_back({spot.skip + offset, static_cast<std::uint32_t>(octets.size()), keep(octets)});
    return;
  }
  Stream& of = streams_[spot.which];
  between_markers(spot.markers, spot.markers.after(spot.start, spot.skip + offset), octets,
                  [&](std::uint64_t at, wire::Bytes run) { write(of, at, run); });
}

void Places::settle() {
  for (Stream& stream : streams_) {
    std::stable_sort(stream.writes.begin(), stream.writes.end(),
                     [](const Write& a, const Write& b) { return a.at < b.at; });
    std::stable_sort(stream.fpdus.begin(), stream.fpdus.end(),
                     [](const FpduAt& a, const FpduAt& b) { return a.start < b.start; });
    std::vector<std::uint8_t> copy;
    for (FpduAt& fpdu : stream.fpdus) {
      if (fpdu.opening) continue;
      copy.assign(static_cast<std::size_t>(fpdu.crc_at() - fpdu.start), 0);
      write_out(stream, fpdu.start, copy);
      fpdu.crc_flip ^= wire::crc32c(copy);
    }
  }
}

void Places::write_out(const Write& write, std::uint64_t base, std::span<std::uint8_t> to) const {
  const std::uint64_t from = std::max(write.at, base);
  const std::uint64_t end = std::min(write.at + write.length, base + to.size());
  if (from >= end) return;
  std::copy_n(store_.begin() + static_cast<std::ptrdiff_t>(write.kept + (from - write.at)), end - from,
              to.begin() + static_cast<std::ptrdiff_t>(from - base));
}

void Places::write_out(const Stream& stream, std::uint64_t position, std::span<std::uint8_t> to) const {
  const std::uint64_t first = position > stream.longest ? position - stream.longest : 0;
  auto at = std::lower_bound(stream.writes.begin(), stream.writes.end(), first,
                             [](const Write& write, std::uint64_t from) { return write.at < from; });
  for (; at != stream.writes.end() && at->at < position + to.size(); ++at) write_out(*at, position, to);
}

void Places::fill(const trace::Frame& frame, const trace::Opened& opened, std::span<std::uint8_t> to) const {
  const Row* of = row(frame.ref.number);
  if (of == nullptr) return;
  if (!of->segment) {
    if (opened.content != trace::Content::infiniband) return;
    const auto found = packets_.find(of->which);
    if (found == packets_.end()) return;
    for (const Write& write : found->second) write_out(write, 0, to);
    return;
  }
  if (opened.content != trace::Content::tcp) return;
  write_out(streams_[of->which], of->position, to);
}

bool Places::in_stream(std::uint64_t frame, InStream& out) const {
  const Row* of = row(frame);
  if (of == nullptr || !of->segment) return false;
  out = {of->which, of->position};
  return true;
}

std::span<const FpduAt> Places::fpdus(std::uint64_t stream, std::uint64_t from, std::uint64_t to) const {
  const Stream& of = streams_[stream];
  const auto before = [](const FpduAt& fpdu, std::uint64_t position) { return fpdu.start < position; };
  const std::uint64_t first = from > of.longest_fpdu ? from - of.longest_fpdu : 0;
  auto begin = std::lower_bound(of.fpdus.begin(), of.fpdus.end(), first, before);
  while (begin != of.fpdus.end() && begin->end < from) ++begin;
  const auto end = std::lower_bound(begin, of.fpdus.end(), to, before);
  return {begin, end};
}

}  // namespace rpcrdma::sanitize
