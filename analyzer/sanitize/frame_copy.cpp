// SPDX-License-Identifier: GPL-2.0-or-later
#include "sanitize/frame_copy.hpp"

#include <algorithm>
#include <optional>

#include "sanitize/checksums.hpp"
#include "sanitize/cm_draft.hpp"
#include "sanitize/header_copy.hpp"
#include "sanitize/ip_copy.hpp"
#include "trace/iwarp/plain_nfs.hpp"
#include "wire/cm.hpp"
#include "wire/ddp.hpp"
#include "wire/icrc.hpp"

namespace rpcrdma::sanitize {
namespace {

using trace::PassedLayer;
using wire::Bytes;
using Kind = PassedLayer::Kind;

/// Octets of the extended headers of which it is understood what they are: not the operands of atomic operations.
std::size_t understood(const wire::IbOpcode& op) noexcept {
  constexpr std::size_t address_and_key = 12;
  constexpr std::size_t acknowledgement = 4;
  switch (op.kind) {
    case wire::IbKind::atomic_request:
      return address_and_key;
    case wire::IbKind::atomic_acknowledge:
      return acknowledgement;
    default:
      return op.extended;
  }
}

/// Whether such packets are met at all on links that carry NFS: else something else may use the port.
bool in_use(const wire::IbHeader& header) noexcept {
  if (header.op.kind != wire::IbKind::other) return true;
  switch (header.op.service) {
    case wire::IbService::rc:
    case wire::IbService::uc:
    case wire::IbService::xrc:
      return true;
    default:
      return header.opcode == wire::congestion_notification;
  }
}

/// Where a checksum stands that covers all of the layer; nullopt: there is none.
std::optional<std::size_t> checksum_at(const PassedLayer& layer) noexcept {
  const Bytes octets = layer.layer.octets;
  switch (layer.kind) {
    case Kind::udp:
      return 6;
    case Kind::tcp:
      return 16;
    case Kind::icmp:
      return 2;
    case Kind::gre:
      return !octets.empty() && (octets[0] & 0x80U) != 0 ? std::optional<std::size_t>(4) : std::nullopt;
    default:
      return std::nullopt;
  }
}

}  // namespace

/// ICMP quotes the beginning of what it is about.
void FrameCopy::undelivered() {
  constexpr std::size_t icmp_header = 8;
  constexpr std::size_t quoted_start = 8;  // of TCP; all of UDP
  if (layers_.size() == 0) return;
  const PassedLayer& last = *(layers_.end() - 1);
  if (last.kind != Kind::icmp || last.layer.octets.size() <= icmp_header) return;
  const Bytes quoted = last.layer.octets.subspan(icmp_header);
  const std::size_t header = ip_header(quoted);
  if (header == 0 || quoted.size() < header + quoted_start || !out_.holds(quoted.data(), quoted.size())) return;
  copy_ip(out_, quoted, pseudonyms_);
  out_.keep(quoted, header, quoted_start);
  if (quoted[0] >> 4U == 4) {
    std::uint8_t* const to = out_.at(quoted.data());
    correct_internet(to + 10, internet_difference(quoted.first(header), {to, header}));
  }
  if (opened_.undelivered.what == trace::Undelivered::What::request) {
    const std::size_t at = header + quoted_start;
    message_of_cm(quoted.subspan(at), quoted.size() - at);
  }
}

/// From the BTH on, and all of it that is quoted or captured.
void FrameCopy::message_of_cm(Bytes packet, std::size_t wire_length) {
  const auto header = wire::decode_ib(packet, wire_length);
  if (!header || header->payload.empty()) return;
  out_.keep(packet, 0, wire::bth_octets + understood(header->op));
  Draft draft(header->payload);
  draft_cm(draft, pseudonyms_);
  std::copy(draft.octets().begin(), draft.octets().end(), out_.at(header->payload.data()));
}

void FrameCopy::infiniband() {
  const Bytes packet = opened_.ib.octets;
  if (!out_.holds(packet.data(), packet.size())) return;
  const auto header = wire::decode_ib(packet, opened_.ib.wire_length);
  if (!header) {
    // Cut in its headers, or something else: then the octets by which that is known.
    const bool cut = header.error().fault == wire::Fault::truncated && !packet.empty();
    out_.keep(packet, 0, cut ? wire::bth_octets + understood(wire::ib_opcode(packet[0])) : 2);
    return;
  }
  if (!in_use(*header)) {
    out_.keep(packet, 0, 2);
    return;
  }
  out_.keep(packet, 0, wire::bth_octets + understood(header->op));
  if (packet.size() >= opened_.ib.wire_length && packet.size() >= wire::bth_octets + wire::icrc_octets) {
    out_.keep(packet.data() + packet.size() - wire::icrc_octets, wire::icrc_octets);
  }
  if (header->payload.empty()) return;
  const std::span<std::uint8_t> payload(out_.at(header->payload.data()), header->payload.size());
  if (header->op.service == wire::IbService::rc) {
    places_.fill(frame_, opened_, payload);
  } else if (header->op.service == wire::IbService::ud && header->destination_qp == wire::cm_queue_pair) {
    Draft draft(header->payload);
    draft_cm(draft, pseudonyms_);
    std::copy(draft.octets().begin(), draft.octets().end(), payload.begin());
  }
}

/// Markers stand among the octets of FPDUs and hold nothing but a length.
void FrameCopy::markers(const Places::InStream& at) {
  const Bytes payload = opened_.tcp.payload;
  const std::uint64_t end = at.position + payload.size();
  for (const FpduAt& fpdu : places_.fpdus(at.stream, at.position, end)) {
    if (!fpdu.markers.used) continue;
    std::uint64_t position = fpdu.start - std::min(fpdu.start, wire::Markers::octets);
    const std::uint64_t last = fpdu.end + wire::Markers::octets;
    while (position < last) {
      const std::uint64_t left = fpdu.markers.inside(position);
      if (left == 0) {
        position += fpdu.markers.until_next(position);
        continue;
      }
      for (std::uint64_t i = 0; i < left; ++i, ++position) {
        if (position >= at.position && position < end) out_.keep(payload.data() + (position - at.position), 1);
      }
    }
  }
}

/// An FPDU whose end is not in the capture was never told of: its head alone is understood.
void FrameCopy::last_fpdu(const Places::InStream& at) {
  const Bytes payload = opened_.tcp.payload;
  const std::uint64_t end = at.position + payload.size();
  const auto fpdus = places_.fpdus(at.stream, at.position, end + 1);
  for (std::size_t i = 0; i < fpdus.size(); ++i) {
    if (fpdus[i].end >= end) continue;
    const bool next = i + 1 < fpdus.size() && fpdus[i + 1].start <= fpdus[i].end + wire::Markers::octets;
    if (next) continue;
    const wire::Markers& marks = fpdus[i].markers;
    const std::uint64_t start = fpdus[i].end + marks.inside(fpdus[i].end);
    if (start < at.position || start + 4 > end) continue;
    const Bytes head = payload.subspan(static_cast<std::size_t>(start - at.position));
    const wire::DdpControl control = wire::ddp_control(head.data() + 2);
    if (!control.plausible()) continue;
    out_.keep(head.data(), std::min(head.size(), wire::fpdu_length_octets + control.header_length()));
  }
}

void FrameCopy::crc(const Places::InStream& at) {
  const Bytes payload = opened_.tcp.payload;
  const std::uint64_t end = at.position + payload.size();
  for (const FpduAt& fpdu : places_.fpdus(at.stream, at.position, end)) {
    if (fpdu.opening) continue;
    // Its octets, or those of them that are in this frame
    for (std::uint64_t i = 0; i < wire::fpdu_crc_octets; ++i) {
      const std::uint64_t position = fpdu.crc_at() + i;
      if (position < at.position || position >= end) continue;
      const std::uint8_t* const original = payload.data() + (position - at.position);
      *out_.at(original) = static_cast<std::uint8_t>(*original ^ (fpdu.crc_flip >> (8U * i)));
    }
  }
}

void FrameCopy::tcp() {
  const Bytes payload = opened_.tcp.payload;
  if (payload.empty() || !out_.holds(payload.data(), payload.size())) return;
  Places::InStream at;
  if (!places_.in_stream(frame_.ref.number, at)) return;
  places_.fill(frame_, opened_, {out_.at(payload.data()), payload.size()});
  const bool of_rdma = !places_.fpdus(at.stream, at.position, at.position + payload.size()).empty();
  if (!of_rdma) out_.keep(payload.data(), trace::iwarp::plain_nfs_head(payload));
  markers(at);
  last_fpdu(at);
  crc(at);
}

void FrameCopy::invariant_crc() {
  const trace::IbPacket& ib = opened_.ib;
  if (!out_.holds(ib.octets.data(), ib.octets.size()) || !out_.holds(ib.network.data(), ib.network.size())) return;
  if (ib.octets.size() < ib.wire_length || ib.octets.size() < wire::bth_octets + wire::icrc_octets) return;
  const std::size_t covered = ib.octets.size() - wire::icrc_octets;
  const auto layout = trace::icrc_layout(ib);
  const auto before = wire::icrc(layout, ib.network, ib.octets.first(covered));
  const auto after =
      wire::icrc(layout, {out_.at(ib.network.data()), ib.network.size()}, {out_.at(ib.octets.data()), covered});
  if (!before || !after) return;
  std::uint8_t* const crc = out_.at(ib.octets.data() + covered);
  for (unsigned i = 0; i < 4; ++i) crc[i] = static_cast<std::uint8_t>(crc[i] ^ ((*before ^ *after) >> (8U * i)));
}

/// From the innermost on: each covers those inside of it.
void FrameCopy::internet_checksums() {
  for (const PassedLayer* layer = layers_.end(); layer != layers_.begin();) {
    --layer;
    const Bytes before = layer->layer.octets;
    if (before.empty() || !out_.holds(before.data(), before.size())) continue;
    std::uint8_t* const to = out_.at(before.data());
    if (layer->kind == Kind::ipv4) {
      const std::size_t header = ip_header(before);
      if (header < 20 || header > before.size()) continue;
      correct_internet(to + 10, internet_difference(before.first(header), {to, header}));
      continue;
    }
    const auto at = checksum_at(*layer);
    if (!at || before.size() < *at + 2) continue;
    if (wire::load_be16(before.data() + *at) == 0 && layer->kind == Kind::udp) continue;  // none was made
    std::uint32_t difference = internet_difference(before, {to, before.size()});
    const bool alone = layer->kind == Kind::gre || layer == layers_.begin() ||
                       (layer->kind == Kind::icmp && (layer - 1)->kind == Kind::ipv4);
    if (!alone) difference += of_addresses((layer - 1)->layer.octets);
    correct_internet(to + *at, difference);
    if (layer->kind == Kind::udp && wire::load_be16(to + *at) == 0) to[*at] = to[*at + 1] = 0xFF;
  }
}

/// What the addresses of an IP packet make to the checksums inside of it.
std::uint32_t FrameCopy::of_addresses(Bytes ip) noexcept {
  if (ip.empty() || !out_.holds(ip.data(), ip.size())) return 0;
  const bool v4 = ip[0] >> 4U == 4;
  const std::size_t size = v4 ? 4 : 16;
  std::uint32_t difference = 0;
  for (const std::size_t at : {v4 ? std::size_t{12} : std::size_t{8}, destination_at(ip)}) {
    if (at + size > ip.size()) continue;
    difference += internet_difference(ip.subspan(at, size), {out_.at(ip.data() + at), size});
  }
  return difference;
}

wire::Bytes FrameCopy::of(const trace::Frame& frame) {
  frame_ = frame;
  trace::open_frame(frame, opened_, &fragments_, &layers_);
  out_.begin(frame.octets);
  copy_headers(out_, frame, layers_, pseudonyms_);
  switch (opened_.content) {
    case trace::Content::infiniband:
      infiniband();
      invariant_crc();
      break;
    case trace::Content::tcp:
      tcp();
      break;
    case trace::Content::undelivered:
      undelivered();
      break;
    case trace::Content::nothing:
    case trace::Content::tunnel:
    case trace::Content::unknown_link:
      break;
  }
  internet_checksums();
  return out_.octets();
}

}  // namespace rpcrdma::sanitize
