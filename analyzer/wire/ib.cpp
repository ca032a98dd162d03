// SPDX-License-Identifier: GPL-2.0-or-later
#include "wire/ib.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace rpcrdma::wire {
namespace {

constexpr std::uint8_t reth = 16;
constexpr std::uint8_t aeth = 4;
constexpr std::uint8_t immdt = 4;
constexpr std::uint8_t ieth = 4;
constexpr std::uint8_t atomic_eth = 28;
constexpr std::uint8_t atomic_ack_eth = 8;
constexpr std::uint8_t deth = 8;

constexpr IbOpcode rc(IbKind kind, IbPart part, std::uint8_t extended, bool immediate = false,
                      bool invalidate = false) {
  return {IbService::rc, kind, part, extended, immediate, invalidate};
}

constexpr std::array<IbOpcode, 256> make_opcodes() {
  std::array<IbOpcode, 256> t{};
  constexpr std::array<IbService, 8> services{IbService::rc,      IbService::uc,         IbService::rd,
                                              IbService::ud,      IbService::congestion, IbService::xrc,
                                              IbService::unknown, IbService::unknown};
  for (std::size_t i = 0; i < t.size(); ++i) t[i].service = services[i >> 5U];

  t[0x00] = rc(IbKind::send, IbPart::first, 0);
  t[0x01] = rc(IbKind::send, IbPart::middle, 0);
  t[0x02] = rc(IbKind::send, IbPart::last, 0);
  t[0x03] = rc(IbKind::send, IbPart::last, immdt, true);
  t[0x04] = rc(IbKind::send, IbPart::only, 0);
  t[0x05] = rc(IbKind::send, IbPart::only, immdt, true);
  t[0x06] = rc(IbKind::write, IbPart::first, reth);
  t[0x07] = rc(IbKind::write, IbPart::middle, 0);
  t[0x08] = rc(IbKind::write, IbPart::last, 0);
  t[0x09] = rc(IbKind::write, IbPart::last, immdt, true);
  t[0x0A] = rc(IbKind::write, IbPart::only, reth);
  t[0x0B] = rc(IbKind::write, IbPart::only, reth + immdt, true);
  t[0x0C] = rc(IbKind::read_request, IbPart::only, reth);
  t[0x0D] = rc(IbKind::read_response, IbPart::first, aeth);
  t[0x0E] = rc(IbKind::read_response, IbPart::middle, 0);
  t[0x0F] = rc(IbKind::read_response, IbPart::last, aeth);
  t[0x10] = rc(IbKind::read_response, IbPart::only, aeth);
  t[0x11] = rc(IbKind::acknowledge, IbPart::only, aeth);
  t[0x12] = rc(IbKind::atomic_acknowledge, IbPart::only, aeth + atomic_ack_eth);
  t[0x13] = rc(IbKind::atomic_request, IbPart::only, atomic_eth);
  t[0x14] = rc(IbKind::atomic_request, IbPart::only, atomic_eth);
  t[0x16] = rc(IbKind::send, IbPart::last, ieth, false, true);
  t[0x17] = rc(IbKind::send, IbPart::only, ieth, false, true);

  t[ud_send_only] = {IbService::ud, IbKind::send, IbPart::only, deth, false, false};
  t[0x65] = {IbService::ud, IbKind::send, IbPart::only, deth + immdt, true, false};
  return t;
}

constexpr auto opcodes = make_opcodes();

}  // namespace

const IbOpcode& ib_opcode(std::uint8_t opcode) noexcept { return opcodes[opcode]; }

namespace {

[[nodiscard]] std::optional<DecodeError> decode(Bytes octets, std::size_t wire_length, IbHeader& h) noexcept {
  wire_length = std::max(wire_length, octets.size());
  if (wire_length < bth_octets + icrc_octets) return DecodeError{Fault::invalid, "BTH", 0};
  if (octets.size() < bth_octets) return DecodeError{Fault::truncated, "BTH", octets.size()};

  const std::uint8_t* p = octets.data();
  if ((p[1] & 0x0FU) != 0) return DecodeError{Fault::unsupported, "transport version", 1};

  h.opcode = p[0];
  h.op = opcodes[h.opcode];
  h.pad = static_cast<std::uint8_t>((p[1] >> 4U) & 3U);
  h.partition = load_be16(p + 2);
  h.destination_qp = load_be24(p + 5);
  h.ack_request = (p[8] & 0x80U) != 0;
  h.psn = load_be24(p + 9);
  if (h.op.kind == IbKind::other) return std::nullopt;

  const std::size_t headers = bth_octets + h.op.extended;
  if (wire_length < headers + h.pad + icrc_octets) return DecodeError{Fault::invalid, "packet length", bth_octets};
  if (octets.size() < headers) return DecodeError{Fault::truncated, "extended headers", octets.size()};

  const std::uint8_t* e = p + bth_octets;
  if (h.op.service == IbService::ud) {
    h.queue_key = load_be32(e);
    h.source_qp = load_be24(e + 5);
    e += deth;
  }
  switch (h.op.kind) {
    case IbKind::write:
      if (!begins(h.op.part)) break;
      [[fallthrough]];
    case IbKind::read_request:
      h.address = load_be64(e);
      h.key = load_be32(e + 8);
      h.dma_length = load_be32(e + 12);
      e += reth;
      break;
    case IbKind::read_response:
      if (h.op.part == IbPart::middle) break;
      [[fallthrough]];
    case IbKind::acknowledge:
    case IbKind::atomic_acknowledge:
      h.syndrome = e[0];
      h.msn = load_be24(e + 1);
      break;
    case IbKind::atomic_request:
      h.address = load_be64(e);
      h.key = load_be32(e + 8);
      break;
    case IbKind::send:
    case IbKind::other:
      break;
  }
  if (h.op.immediate) h.immediate = load_be32(e);
  if (h.op.invalidate) h.invalidated = load_be32(e);

  const std::size_t length = wire_length - headers - h.pad - icrc_octets;
  h.payload_length = static_cast<std::uint32_t>(std::min<std::size_t>(length, UINT32_MAX));
  h.payload = octets.subspan(headers, std::min(length, octets.size() - headers));
  return std::nullopt;
}

}  // namespace

// Filled where it is handed out: nothing else is decoded as often.
Decoded<IbHeader> decode_ib(Bytes octets, std::size_t wire_length) noexcept {
  Decoded<IbHeader> decoded(tl::in_place);
  if (const auto wrong = decode(octets, wire_length, *decoded)) decoded = tl::make_unexpected(*wrong);
  return decoded;
}

std::uint64_t rnr_wait(std::uint8_t timer) noexcept {
  constexpr std::uint64_t unit = 10'000;
  constexpr std::array<std::uint16_t, 32> units{0,    1,    2,    3,    4,    6,     8,     12,    16,    24,   32,
                                                48,   64,   96,   128,  192,  256,   384,   512,   768,   1024, 1536,
                                                2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152};
  constexpr std::uint64_t longest = 65536;  // code 0
  const std::uint64_t count = units[timer & 0x1FU];
  return unit * (count == 0 ? longest : count);
}

}  // namespace rpcrdma::wire
